/** `yardgraph copy`: from any database to any other, all or nothing, and compared. */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createKey } from '../../../src/auth/keys.ts';
import { StartError } from '../../../src/errors.ts';
import { asset, location, recordKinds } from '../../../src/records/index.ts';
import { createKeyStore, findOrCreateWorkspace } from '../../../src/store/admin/api-keys.ts';
import { copyTables } from '../../../src/store/admin/copy.ts';
import { createWorkspaces } from '../../../src/store/admin/workspaces.ts';
import { type Database, openDatabase } from '../../../src/store/database.ts';
import { createStoreOpener } from '../../../src/store/workspace-store.ts';
import { runCommand } from '../../support/command.ts';
import { createDatabase, createFile } from '../../support/database.ts';
import { change, insert, withKey } from '../../support/insert.ts';
import { addWorkspace, nobody, numberOf, storeOpener } from '../../support/open-store.ts';
import { anyRecord, kinds } from '../../support/records.ts';

/** In each of two workspaces: over a page of the copy. */
const perKind = 60;

const silent = { start: () => {}, step: () => {} };

describe.each([
  ['a file to a server', createFile, createDatabase],
  ['a server to a file', createDatabase, createFile],
] as const)('a copy from %s:', (_, createSource, createTarget) => {
  let source: Awaited<ReturnType<typeof createDatabase>>;
  let target: Awaited<ReturnType<typeof createDatabase>>;
  let from: Database;
  let to: Database;

  beforeEach(async () => {
    source = await createSource();
    target = await createTarget();
    from = await openDatabase(source.url);
  });

  afterEach(async () => {
    await from.close();
    await source.remove();
    await target.remove();
  });

  const now = '2026-03-01T00:00:00.000Z';

  const contents = async (database: Database) =>
    Promise.all(
      ['ours', 'theirs'].flatMap((workspace) => [
        ...recordKinds.map((kind) => storeOpener(database)(workspace).list(kind)),
        storeOpener(database)(workspace).changes({ after: 0, limit: 10_000, withBefore: true }),
        storeOpener(database)(workspace).importRuns({ limit: 10 }),
      ]),
    );

  test('whatever records there may be arrive as they were, and the command says how many', async () => {
    const newKey = { workspace: 'ours', user: 'erp', readOnly: true, expires: 60_000, label: 'ERP' };
    await addWorkspace(from, 'ours');
    const { key } = await createKey(createKeyStore(from), newKey);
    for (const workspace of ['ours', 'theirs']) {
      for (const { kind } of kinds) {
        const inputs = fc.sample(anyRecord(kind), { numRuns: perKind, seed: 7 });
        // Valid because the records are of the kind.
        await insert(storeOpener(from)(workspace), kind, inputs as never);
      }
    }

    // Some of each are changed, of the second page, too.
    for (const { kind } of kinds) {
      const store = storeOpener(from)('theirs');
      for (const { id } of (await store.list(kind)).slice(-25))
        await change(store, kind, id, { externalIds: null } as never);
    }
    const gone = await findOrCreateWorkspace(from, 'gone');
    await insert(createStoreOpener(from)(gone, { author: nobody }), location, [{}]);
    await createWorkspaces(from, recordKinds).remove('gone');
    const request = { operation: 'POST /locations', key: 'import 1', requestHash: 'x' };
    const ours = { number: numberOf('ours'), name: 'ours' };
    const importing = createStoreOpener(from)(ours, { author: nobody, importRun: 'import-1' });
    const keyed = await insert(withKey(importing, request), location, [{ name: 'North yard' }]);

    const { code, out, err } = await runCommand({}, 'copy', '--from', source.url, '--to', target.url);

    // Three workspaces, one of which was deleted, each record, the API key, each row of the log, each number, an import and the key of a request, once when it is written and once when it is compared.
    const changes = 2 * kinds.length * perKind + 25 * kinds.length + 1;
    const steps = 2 * (3 + 2 * kinds.length * perKind + 1 + 1 + changes + 3 + 1 + 1);
    expect([code, err]).toEqual([0, expect.stringMatching(new RegExp(`^100% ${steps}/${steps} done$`, 'm'))]);
    expect(out.split('\n').map((line) => line.replace(/ +/g, ' '))).toEqual(
      [
        'workspace 3',
        ...recordKinds.map((kind) => `${kind.label} ${2 * perKind + (kind === location ? 1 : 0)}`),
        'API key 1',
        `change ${changes}`,
        'change number 3',
        'import run 1',
        'idempotency key 1',
      ].map((counted) => expect.stringMatching(`^${counted} records, the same in both: [0-9a-f]{64}$`)),
    );
    to = await openDatabase(target.url);
    expect(await contents(to)).toEqual(await contents(from));
    const nearest = {
      orderBy: [{ field: 'distance', direction: 'asc', from: { latitude: 53, longitude: 8 } }],
    } as const;
    const [copied, original] = [to, from].map((database) => storeOpener(database)('ours').list(location, nearest));
    expect(await copied).toEqual(await original);
    const all = await storeOpener(to)('ours').list(asset);
    const found = await storeOpener(to)('ours').list(asset, { where: { field: 'externalIds', key: 'toString' } });
    expect(found).toEqual(all.filter((it) => it.externalIds && Object.hasOwn(it.externalIds, 'toString')));
    expect(await createKeyStore(to).list()).toEqual([key]);
    const newer = await findOrCreateWorkspace(to, 'newer');
    expect(newer.number).toBeGreaterThan(Math.max(gone.number, numberOf('ours')));
    const last = await storeOpener(from)('ours').lastChange();
    await insert(storeOpener(to)('ours'), location, [{}]);
    expect(await storeOpener(to)('ours').lastChange()).toBe(last + 1);
    expect(await insert(withKey(storeOpener(to)('ours'), request), location, [{ name: 'North yard' }])).toEqual(keyed);
    expect(await storeOpener(to)('ours').lastChange()).toBe(last + 1);
    await to.close();
  });

  test('asset categories keep their parents, whichever of their ids is greater', async () => {
    // Over three pages. Both databases refuse a record whose parent is not there yet.
    const ids = Array.from({ length: 250 }, (_, index) => `category_${String(index).padStart(3, '0')}`);
    for (const [workspace, chain] of [
      ['ours', ids],
      ['theirs', ids.toReversed()],
    ] as const)
      for (const [index, id] of chain.entries())
        await from.run(
          `insert into asset_categories (workspace_id, id, parent_id, created_at, updated_at) values ($1, $2, $3, '${now}', '${now}')`,
          [numberOf(workspace), id, chain[index - 1] ?? null],
        );
    to = await openDatabase(target.url);

    await copyTables(from, to, recordKinds, silent);

    expect(await contents(to)).toEqual(await contents(from));
    await to.close();
  });

  test('a target that holds anything, in any workspace, is left as it is', async () => {
    to = await openDatabase(target.url);
    await insert(storeOpener(from)('ours'), location, [{}]);
    await insert(storeOpener(to)('theirs'), location, [{}]);
    const kept = await contents(to);
    await to.close();

    const { code, out, err } = await runCommand({}, 'copy', '--from', source.url, '--to', target.url);

    expect([code, out, err]).toEqual([1, '', 'the target is not empty: it has location records']);
    to = await openDatabase(target.url);
    expect(await contents(to)).toEqual(kept);
    await to.close();
  });

  test('records that arrive otherwise than they were sent are noticed, and nothing is kept', async () => {
    await insert(storeOpener(from)('ours'), location, [{ name: 'Yard', latitude: 1 }]);
    to = await openDatabase(target.url);
    const { inserts } = to.dialect;
    const forgetful: Database = {
      ...to,
      dialect: {
        ...to.dialect,
        inserts: (kind, records) =>
          inserts(
            kind,
            records.map((record) => ({ ...record, latitude: null })),
          ),
      },
    };

    await expect(copyTables(from, forgetful, recordKinds, silent)).rejects.toThrow(
      new StartError('the location records differ from the originals after the copy: nothing was kept'),
    );

    expect((await contents(to)).flat()).toEqual([]);
    await to.close();
  });

  test('what is written to the source meanwhile is left out as a whole', async () => {
    await insert(
      storeOpener(from)('ours'),
      location,
      Array.from({ length: 4_500 }, () => ({})),
    );
    const writer = await openDatabase(source.url);
    to = await openDatabase(target.url);
    let written: Promise<unknown> | undefined;

    const copied = await copyTables(from, to, recordKinds, {
      start: () => {},
      step: () => {
        written ??= insert(storeOpener(writer)('zzz'), location, [{}]);
      },
    });

    expect(copied.find(({ table }) => table === location)?.records).toBe(4_500);
    await written;
    expect(await storeOpener(from)('zzz').count(location)).toBe(1);
    await writer.close();
    await to.close();
  });
});
