/** Renaming and deleting whole workspaces: what they move and delete, and that they touch no other workspace. */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createKeyring } from '../../src/auth/keyring.ts';
import { createKey, revokeKey } from '../../src/auth/keys.ts';
import { ServiceError, StartError } from '../../src/errors.ts';
import { asset, assetCategory, location, recordKinds } from '../../src/records/index.ts';
import { createRecords } from '../../src/services/create-records.ts';
import { deleteRecords } from '../../src/services/delete-records.ts';
import { withIdempotencyKey } from '../../src/services/idempotent-session.ts';
import { updateRecords } from '../../src/services/update-records.ts';
import { type ApiKey, createKeyStore, workspaceOfKey } from '../../src/store/api-keys.ts';
import { type Database, openDatabase } from '../../src/store/database.ts';
import { DatabaseError } from '../../src/store/database-error.ts';
import { openName } from '../../src/store/workspace-log.ts';
import { createWorkspaces, sizeOf } from '../../src/store/workspaces.ts';
import { createOwnDatabase } from '../support/database.ts';
import { byEffort } from '../support/effort.ts';
import { change, insert } from '../support/insert.ts';
import { storeOpener } from '../support/open-store.ts';
import { anyRecord, kinds } from '../support/records.ts';

let database: Database;
let remove: () => Promise<void>;

beforeEach(async () => {
  const created = await createOwnDatabase();
  remove = created.remove;
  database = await openDatabase(created.url);
});

afterEach(async () => {
  await database.close();
  await remove();
});

const now = '2026-03-01T00:00:00.000Z';

const workspaces = () => createWorkspaces(database, recordKinds);
const store = (workspace: string) => storeOpener(database)(workspace);
/** As the command does. */
async function newKey(workspace: string) {
  await openName(database.dialect, database.run, workspace);
  return createKey(createKeyStore(database), { workspace, user: 'erp', readOnly: false });
}

const changesOf = (workspace: string, after = 0) =>
  store(workspace).changes({ after, limit: 10_000, withBefore: true });

/** All records, changes and keys of a workspace, without its name. */
async function contents(workspace: string) {
  const records = await Promise.all(recordKinds.map((kind) => store(workspace).list(kind)));
  const changes = await changesOf(workspace);
  const keys = (await createKeyStore(database).list()).filter((key) => workspaceOfKey(key) === workspace);
  const withoutName = (record: object) => ({ ...record, workspaceId: undefined });
  return {
    records: records.map((list) => list.map(withoutName)),
    changes: changes.map(withoutName),
    keys: keys.map(({ id }) => id).toSorted(),
  };
}

const empty = { records: recordKinds.map(() => []), changes: [], keys: [] };

/** Three levels of categories, of which some have ids before those of their parents. */
async function plantCategories(workspace: string): Promise<void> {
  for (const [id, parentId] of [
    ['5', null],
    ['1', '5'],
    ['9', '1'],
    ['4', '4'],
  ]) {
    await database.run(
      `insert into asset_categories (workspace_id, id, parent_id, created_at, updated_at) values ($1, $2, $3, '${now}', '${now}')`,
      [workspace, `category_${id}`, parentId && `category_${parentId}`],
    );
  }
}

test('rename moves all records of all kinds and all keys, and says how many', async () => {
  for (const { kind } of kinds) await insert(store('acme'), kind, fc.sample(anyRecord(kind), 20) as never);
  await plantCategories('acme');
  await newKey('acme');
  const before = await contents('acme');

  const moved = await workspaces().rename('acme', 'harbour');

  expect([sizeOf(moved), moved.keys.length]).toEqual([20 * kinds.length + 4, 1]);
  expect(await contents('harbour')).toEqual(before);
  expect(await contents('acme')).toEqual(empty);
});

describe('the log of changes', () => {
  const names = async (workspace: string) => (await store(workspace).list(location)).map(({ name }) => name);

  test('moves with its numbers and earlier versions, and goes on under the new name, where cursors remain valid', async () => {
    const [yard] = await insert(store('acme'), location, [{ name: 'North yard' }]);
    const id = yard?.id ?? '';
    await change(store('acme'), location, id, { name: 'South yard' });

    await workspaces().rename('acme', 'harbour');
    await insert(store('harbour'), location, [{ name: 'Dock' }]);

    expect(await changesOf('acme')).toEqual([]);
    const changes = await changesOf('harbour');
    expect(changes.map(({ number, action }) => [number, action])).toEqual([
      [1, 'created'],
      [2, 'updated'],
      [4, 'created'],
    ]);
    expect(await changesOf('harbour', 2)).toEqual(changes.slice(2));
    expect(await store('harbour').versions(location, [{ id, number: 1 }])).toEqual([
      { ...yard, workspaceId: 'harbour' },
    ]);
  });

  test('of records deleted under the new name stays before that of the moved ones', async () => {
    const [gone] = await insert(store('harbour'), location, [{ name: 'gone' }]);
    await store('harbour').transaction((inside) => inside.delete(location, gone ? [gone] : [], now));
    await insert(store('acme'), location, [{ name: 'a' }, { name: 'b' }]);
    await insert(store('acme'), location, [{ name: 'c' }]);
    const [moved] = [await changesOf('acme')];

    await workspaces().rename('acme', 'harbour');

    const changes = await changesOf('harbour');
    expect(changes.map(({ action }) => action)).toEqual(['created', 'deleted', 'created', 'created', 'created']);
    const read = await changesOf('harbour', 2);
    expect(read.map(({ id }) => id)).toEqual(moved?.map(({ id }) => id));
    expect(await store('harbour').lastChange()).toBeGreaterThanOrEqual(read.at(-1)?.number ?? Number.NaN);
  });

  test('is deleted with the workspace, whose next change has a greater number than any before', async () => {
    await insert(store('acme'), location, [{ name: 'a' }, { name: 'b' }]);
    await workspaces().remove('acme');
    expect(await changesOf('acme')).toEqual([]);

    await insert(store('acme'), location, [{ name: 'other' }]);

    expect((await changesOf('acme')).map(({ number }) => number)).toEqual([4]);
  });

  test('ends, for those who follow it, at the last number, even if no change has it', async () => {
    const limits = { maxTextLength: 100, maxExternalIds: 10, maxRecordLength: 1_000, maxResponseLength: 1_000_000 };
    const end = async (workspace: string, after: number) => {
      const { end, ...page } = await store(workspace)
        .within(limits)
        .changePage({ after, limit: 50, withBefore: false });
      expect(page).toEqual({ changes: [], hasMore: false });
      expect(end).toBe(await store(workspace).lastChange());
      return end;
    };
    await insert(store('acme'), location, [{ name: 'a' }, { name: 'b' }]);

    await workspaces().rename('acme', 'harbour');
    expect([await end('acme', 2), await end('harbour', 2)]).toEqual([3, 3]);

    await workspaces().remove('harbour');
    expect([await end('harbour', 0), await end('harbour', 3)]).toEqual([4, 4]);
  });

  test('shows a running service that what it has cached is out of date, also of records from before there was a log', async () => {
    await insert(store('acme'), location, [{ name: 'a' }]);
    await database.run('delete from changes');
    await database.run('delete from change_numbers');
    const shared = storeOpener(database);
    const list = async (workspace: string) => {
      const make = async () => ({ names: await names(workspace), length: 1, isInMemory: true });
      return (await shared(workspace).derive('names', make)).names;
    };
    expect([await list('acme'), await list('harbour')]).toEqual([['a'], []]);

    await workspaces().rename('acme', 'harbour');
    expect([await list('acme'), await list('harbour')]).toEqual([[], ['a']]);
    await workspaces().remove('harbour');
    expect(await list('harbour')).toEqual([]);

    // As many changes as there were before the workspace was deleted.
    await insert(store('yard'), location, [{ name: 'a' }]);
    expect(await list('yard')).toEqual(['a']);
    await workspaces().remove('yard');
    await insert(store('yard'), location, [{ name: 'b' }]);
    expect(await list('yard')).toEqual(['b']);
  });

  test('moves with the keys of requests, so that they can still be repeated, except for those in use under the new name', async () => {
    await insert(store('acme'), location, [{ name: 'a' }]);
    const key = (workspace: string, name: string, result: number) =>
      database.knex('idempotency_keys').insert({
        ...{ workspace_id: workspace, operation: 'POST /locations', key: name, request_hash: 'x', created_at: now },
        result: JSON.stringify({ before: 0, after: 1, returned: [result] }),
      });
    await key('acme', 'free', 1);
    await key('acme', 'used', 2);
    await key('harbour', 'used', 3);

    await workspaces().rename('acme', 'harbour');

    const results = async () => {
      const rows = await database.knex('idempotency_keys').orderBy(['workspace_id', 'key']);
      return rows.map(({ workspace_id, key, result }) => [workspace_id, key, JSON.parse(result).returned]);
    };
    expect(await results()).toEqual([
      ['harbour', 'free', [1]],
      ['harbour', 'used', [3]],
    ]);
    await workspaces().remove('harbour');
    expect(await results()).toEqual([]);
  });

  test('moves with the keys of requests, also if its numbers change', async () => {
    const session = (workspace: string) => ({ store: store(workspace), userId: 'erp', mayWrite: true });
    const withKey = (workspace: string, key: string) =>
      withIdempotencyKey(session(workspace), { operation: 'mutation x', key, requestHash: 'x' }, () => {});
    const create = (workspace: string) =>
      createRecords(withKey(workspace, 'create'), location, [{ value: { name: 'late' } }]);
    const rename = (workspace: string, id: string) =>
      updateRecords(withKey(workspace, 'update'), location, [{ id, change: { value: { name: 'later' } } }]);
    const remove = (workspace: string, id: string) =>
      deleteRecords(withKey(workspace, 'delete'), location, [{ value: id }], { references: 'refuse', maxCleared: 1 });
    const writeAll = async (workspace: string, ids: readonly string[]) => [
      await create(workspace),
      await rename(workspace, ids[0] ?? ''),
      await remove(workspace, ids[1] ?? ''),
    ];
    const gone = await insert(store('harbour'), location, [{ name: 'd' }, { name: 'e' }, { name: 'f' }]);
    await store('harbour').transaction((inside) => inside.delete(location, gone, now));
    const ids = (await insert(store('acme'), location, [{ name: 'b' }, { name: 'c' }])).map(({ id }) => id);
    const first = await writeAll('acme', ids);

    await workspaces().rename('acme', 'harbour');
    await change(store('harbour'), location, ids[0] ?? '', { name: 'changed since' });

    const underNewName = (records: readonly object[]) => records.map((it) => ({ ...it, workspaceId: 'harbour' }));
    expect(await writeAll('harbour', ids)).toEqual(first.map(underNewName));
    expect(await names('harbour')).toEqual(['changed since', 'late']);
  });
});

describe('under a name that was given up, a process that has not noticed yet', () => {
  const closed = new ServiceError(503, 'the workspace is being renamed or deleted, try again');
  const limits = { maxTextLength: 100, maxExternalIds: 10, maxRecordLength: 1_000, maxResponseLength: 1_000_000 };
  const session = () => ({ store: store('acme'), userId: 'erp', mayWrite: true });
  let ids: string[];

  beforeEach(async () => {
    await newKey('acme');
    await newKey('yard');
    ids = (await insert(store('acme'), location, [{ name: 'a' }, { name: 'b' }])).map(({ id }) => id);
  });

  const giveUp = {
    rename: () => workspaces().rename('acme', 'harbour'),
    remove: () => workspaces().remove('acme'),
  };
  const key = { operation: 'mutation x', key: 'again', requestHash: 'x' };

  test.each<[string, () => Promise<unknown>]>([
    ['creates nothing', () => insert(store('acme'), location, [{ name: 'c' }])],
    [
      'creates nothing however many changes there were',
      () =>
        insert(
          store('acme'),
          location,
          Array.from({ length: 1_000 }, () => ({ name: 'c' })),
        ),
    ],
    [
      'creates nothing in a transaction',
      () => store('acme').transaction((inside) => insert(inside, location, [{ name: 'c' }])),
    ],
    ['creates nothing with a key', () => insert(store('acme').withIdempotencyKey(key), location, [{ name: 'c' }])],
    [
      'gets no other error for a record that was there',
      () => updateRecords(session(), location, [{ id: ids[0] ?? '', change: { value: { name: 'c' } } }]),
    ],
    [
      'stores no key for a write that changes nothing',
      () =>
        store('acme')
          .withIdempotencyKey(key)
          .transaction(async () => 'nothing'),
    ],
    [
      'reads nothing of the feed',
      () => store('acme').within(limits).changePage({ after: 0, limit: 9, withBefore: false }),
    ],
    ['reads no cursor', () => store('acme').lastChange()],
    ['finds no version', () => store('acme').versions(location, [{ id: ids[0] ?? '', number: 1 }])],
  ])('%s, but gets 503', async (_, work) => {
    for (const end of [giveUp.rename, giveUp.remove]) {
      await end();

      await expect(work()).rejects.toEqual(closed);

      expect(await contents('acme')).toEqual(empty);
      expect(await database.knex('idempotency_keys')).toEqual([]);
      if (end === giveUp.rename) await workspaces().rename('harbour', 'acme');
    }
  });

  test('does not fail what others write in the same group', async () => {
    await workspaces().rename('acme', 'harbour');
    const shared = storeOpener(database);

    const outcomes = await Promise.allSettled(
      ['yard', 'acme', 'harbour', 'yard'].map((name) => insert(shared(name), location, [{ name: 'c' }])),
    );

    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
    expect(await store('yard').count(location)).toBe(2);
  });

  test('does not get an empty page of a feed that moves while the page is read', async () => {
    const { read } = database;
    let isMoved = false;
    const moving: Database = {
      ...database,
      forWorkspace: (...of) => ({
        ...database.forWorkspace(...of),
        read: async (sql, values) => {
          if (sql.includes('from changes') && !sql.includes('change_numbers') && !isMoved) {
            isMoved = true;
            await workspaces().rename('acme', 'harbour');
          }
          return read(sql, values);
        },
      }),
    };
    const feed = storeOpener(moving)('acme').within(limits);

    await expect(feed.changePage({ after: 0, limit: 9, withBefore: false })).rejects.toEqual(closed);
    expect(isMoved).toBe(true);
  });
});

test('a workspace that gets its old name back can be written again', async () => {
  await newKey('acme');
  await insert(store('acme'), location, [{ name: 'a' }]);

  await workspaces().rename('acme', 'harbour');
  expect(await workspaces().isClosed('acme')).toBe(true);
  await workspaces().rename('harbour', 'acme');
  expect(await workspaces().isClosed('acme')).toBe(false);
  await insert(store('acme'), location, [{ name: 'b' }]);

  expect((await changesOf('acme')).map(({ number }) => number)).toEqual([1, 4]);
});

test('without any key, the service stays open: default can be written after it was renamed or deleted', async () => {
  await insert(store('default'), location, [{ name: 'a' }]);
  await workspaces().rename('default', 'acme');
  await insert(store('default'), location, [{ name: 'b' }]);
  await workspaces().remove('default');
  await insert(store('default'), location, [{ name: 'c' }]);

  expect(await store('default').count(location)).toBe(1);
});

test('keys of a renamed workspace give access to it, also after it is renamed again and back', async () => {
  const { text, key } = await newKey('acme');
  const workspaceOfRequest = async () => (await createKeyring(database).identify(text)).workspaceId;

  await workspaces().rename('acme', 'harbour');
  expect(await workspaceOfRequest()).toBe('harbour');
  // The name is free again: its new keys have nothing to do with the old ones.
  const { key: other } = await newKey('acme');
  await workspaces().rename('harbour', 'yard');
  expect(await workspaceOfRequest()).toBe('yard');
  await workspaces().remove('acme');
  await workspaces().rename('yard', 'acme');
  expect(await workspaceOfRequest()).toBe('acme');

  const stored = await createKeyStore(database).list();
  expect(stored.map(({ id }: ApiKey) => id)).toEqual([key.id]);
  expect(stored.map(({ id }) => id)).not.toContain(other.id);
});

test('a key of a renamed workspace can be revoked by its prefix', async () => {
  const { text, key } = await newKey('acme');
  await workspaces().rename('acme', 'harbour');

  await revokeKey(createKeyStore(database), key.id);

  await expect(createKeyring(database).identify(text)).rejects.toThrow('the API key is not valid');
});

test('rename to a workspace that has keys but no records adds to its keys', async () => {
  await insert(store('default'), location, [{ name: 'North yard' }]);
  const { text } = await newKey('acme');

  await workspaces().rename('default', 'acme');

  expect(await store('acme').count(location)).toBe(1);
  expect((await createKeyring(database).identify(text)).workspaceId).toBe('acme');
});

describe('refused, with nothing changed:', () => {
  const prepare = async () => {
    for (const workspace of ['acme', 'yard']) {
      await insert(store(workspace), asset, [{ name: 'Crane', uid: 'crane' }]);
      await newKey(workspace);
    }
    return [await contents('acme'), await contents('yard')];
  };

  test.each<[string, () => Promise<unknown>, string]>([
    [
      'rename to a workspace that has records',
      () => workspaces().rename('acme', 'yard'),
      'the workspace yard has records: a workspace is renamed only to a name without records',
    ],
    ['rename to the same name', () => workspaces().rename('acme', 'acme'), 'the workspace is called acme already'],
    [
      'rename of a workspace that does not exist',
      () => workspaces().rename('acm', 'x'),
      'there is no workspace acm: see node dist/src/cli.js workspaces list',
    ],
    [
      'delete of a workspace that does not exist',
      () => workspaces().remove('acm'),
      'there is no workspace acm: see node dist/src/cli.js workspaces list',
    ],
  ])('%s', async (_, work, message) => {
    const before = await prepare();

    await expect(work()).rejects.toThrow(new StartError(message));

    expect([await contents('acme'), await contents('yard')]).toEqual(before);
  });

  test('delete of the workspace with the only keys, without which the service would be open', async () => {
    await insert(store('default'), location, [{ name: 'North yard' }]);
    await newKey('acme');

    await expect(workspaces().remove('acme')).rejects.toThrow(/^acme has the only API keys/);
    expect((await contents('acme')).keys).toHaveLength(1);

    await workspaces().remove('default');
    expect(await contents('default')).toEqual(empty);
  });
});

test('of two deletes at once that would leave no key, one is refused', async () => {
  await newKey('acme');
  await newKey('yard');

  const outcomes = await Promise.allSettled([workspaces().remove('acme'), workspaces().remove('yard')]);

  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  expect(await createKeyStore(database).list()).toHaveLength(1);
});

// Quadratic, it would take minutes.
test.each([
  ['0A000', 'the tables are distributed by workspace (Citus), so no workspace can be renamed: nothing was changed'],
  ['XX000', 'database error: XX000'],
  ['23503', 'records were written meanwhile: stop the service, and try again; nothing was changed'],
])('rename says why it is impossible where the database reports %s', async (code, message) => {
  await insert(store('acme'), location, [{ name: 'North yard' }]);
  const failing: Database = {
    ...database,
    transaction: (work, ...options) =>
      database.transaction(
        (run, ...others) =>
          work(
            async (sql, values) => {
              if (sql.includes('update')) throw new DatabaseError(`database error: ${code}`, code);
              return run(sql, values);
            },
            ...others,
          ),
        ...options,
      ),
  };

  await expect(createWorkspaces(failing, recordKinds).rename('acme', 'harbour')).rejects.toThrow(message);
});

test('60,000 nested categories are moved and deleted without a search of all of them for each', async () => {
  const categories = Array.from({ length: 60_000 }, (_, index) => ({ id: `category_${index}`, parent: index >> 1 }));
  const values = categories.map(({ id, parent }) => `('acme', '${id}', 'category_${parent}', 'now', 'now')`);
  const now = "'2026-03-01T00:00:00.000Z'";
  for (let start = 0; start < values.length; start += 10_000) {
    const rows = values
      .slice(start, start + 10_000)
      .join(', ')
      .replaceAll("'now'", now);
    await database.run(
      `insert into asset_categories (workspace_id, id, parent_id, created_at, updated_at) values ${rows}`,
    );
  }

  await workspaces().rename('acme', 'harbour');
  expect(await store('harbour').count(assetCategory)).toBe(60_000);
  await workspaces().remove('harbour');
  expect(await store('harbour').count(assetCategory)).toBe(0);
});

test('list counts the records of each kind and the keys, of workspaces with only one of them too', async () => {
  await insert(store('default'), location, [{}, {}]);
  await insert(store('default'), assetCategory, [{}]);
  await newKey('acme');

  const list = await workspaces().list();

  expect(list.map(({ name, keys }) => [name, keys.length])).toEqual([
    ['acme', 1],
    ['default', 0],
  ]);
  expect(list.map(({ records }) => [records.get('locations'), records.get('asset_categories')])).toEqual([
    [0, 0],
    [2, 1],
  ]);
});

test('no sequence of renames and deletes touches another workspace', async () => {
  const names = ['acme', 'acme-2', 'default', 'yard'];
  const name = fc.constantFrom(...names);
  const step = fc.oneof(
    fc.record({ do: fc.constant('add' as const), name }),
    fc.record({ do: fc.constant('key' as const), name }),
    fc.record({ do: fc.constant('rename' as const), name, to: name }),
    fc.record({ do: fc.constant('remove' as const), name }),
  );
  const all = async () => new Map(await Promise.all(names.map(async (it) => [it, await contents(it)] as const)));
  const hasRecords = ({ records }: Awaited<ReturnType<typeof contents>>) => records.flat().length > 0;
  const size = (it: Awaited<ReturnType<typeof contents>>) => it.records.flat().length + it.keys.length;

  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 12 }), async (steps) => {
      for (const current of steps) {
        const before = await all();
        const own = before.get(current.name) ?? empty;
        const expected = new Map(before);
        if (current.do === 'add') {
          await insert(store(current.name), location, [{ name: current.name }]);
          // The same uid in every workspace, if it is not taken.
          await insert(store(current.name), asset, [{ name: 'Crane', uid: 'crane' }]).catch(() => {});
          continue;
        }
        if (current.do === 'key') {
          await newKey(current.name);
          continue;
        }
        const otherKeys = [...before].some(([it, { keys }]) => it !== current.name && keys.length > 0);
        const isAllowed =
          size(own) > 0 &&
          (current.do === 'remove'
            ? own.keys.length === 0 || otherKeys
            : current.to !== current.name && !hasRecords(before.get(current.to) ?? empty));
        const work =
          current.do === 'remove' ? workspaces().remove(current.name) : workspaces().rename(current.name, current.to);
        const outcome = await work.then(
          () => true,
          (error) => {
            if (!(error instanceof StartError)) throw error;
            return false;
          },
        );
        expect(outcome).toBe(isAllowed);
        if (isAllowed) {
          await openName(database.dialect, database.run, current.name);
          expected.set(current.name, { ...empty, records: empty.records.map(() => []) });
          if (current.do === 'rename') {
            const keys = [...own.keys, ...(before.get(current.to)?.keys ?? [])].toSorted();
            expected.set(current.to, { records: own.records, changes: own.changes, keys });
          }
        }
        expect(await all()).toEqual(expected);
      }
    }),
    { numRuns: byEffort({ small: 5, middle: 12, long: 200 }) },
  );
});
