/** Databases of earlier versions: migrated, they give the same responses as before, and everything works on. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { rotateKey } from '../../src/auth/keys.ts';
import { listApiKeys } from '../../src/commands/keys.ts';
import { listWorkspaces } from '../../src/commands/workspaces.ts';
import { type Config, loadConfig } from '../../src/config.ts';
import { location, recordKinds } from '../../src/records/index.ts';
import { createKeyStore } from '../../src/store/admin/api-keys.ts';
import { createWorkspaces } from '../../src/store/admin/workspaces.ts';
import { openDatabase } from '../../src/store/database.ts';
import { migrationNames } from '../../src/store/schema/migrations.ts';
import {
  clientOf,
  compareResponses,
  earlierDatabase,
  migrationsOf,
  startAndCompare,
  versions,
} from '../support/earlier-databases.ts';
import { byEffort } from '../support/effort.ts';
import { insert } from '../support/insert.ts';
import { addWorkspace, storeOpener } from '../support/open-store.ts';
import { startService } from '../support/service.ts';

/** What a command prints as JSON. */
async function printed(command: (config: Config, options: { json: boolean }) => Promise<void>, url: string) {
  const log = vi.spyOn(console, 'log').mockReturnValue();
  const error = vi.spyOn(console, 'error').mockReturnValue();
  try {
    await command(loadConfig({ DATABASE_URL: url }), { json: true });
    return JSON.parse(String(log.mock.lastCall?.[0]));
  } finally {
    log.mockRestore();
    error.mockRestore();
  }
}

/** The first versions that had API keys, and a log of changes. */
const withKeys = '0002';
const withLog = '0005';

/** A key's text without its secret. */
const prefixOf = (text: string) => text.slice(0, -44);

const byPrefix = (keys: readonly { prefix: string }[]) => keys.toSorted((a, b) => (a.prefix < b.prefix ? -1 : 1));

test('there is a database of every migration but the newest two, which may come together', () => {
  expect(versions).toEqual(expect.arrayContaining(migrationNames.slice(0, -2).map((name) => name.slice(0, 4))));
});

/** Those from which the most migrations run, with which keys and the log began, and the newest; in the long form, all. */
const migrated = byEffort({
  small: versions.filter((version) => ['0001', withKeys, withLog, versions.at(-1)].includes(version)),
  long: versions,
});

describe.each(migrated)('a database of migration %s', (version) => {
  let earlier: Awaited<ReturnType<typeof earlierDatabase>>;
  let service: Awaited<ReturnType<typeof startService>>;
  const as = (name: string) => clientOf(service, earlier, name);

  beforeAll(async () => {
    earlier = await earlierDatabase(version);
    service = await startService({ DATABASE_URL: earlier.url });
  });

  afterAll(async () => {
    await service?.stop();
    await earlier?.remove();
  });

  test('is migrated, with all its workspaces and keys', async () => {
    expect(await service.database.knex('knex_migrations').orderBy('id').pluck('name')).toEqual(migrationNames);

    const workspaces = await printed(listWorkspaces, earlier.url);
    const keys = await printed(listApiKeys, earlier.url);

    const sizes = earlier.responses
      .filter(({ query }) => query === 'records')
      .map(({ response }) => ({
        workspace: response.assetCategories.nodes[0].workspaceId,
        recordsByKind: Object.fromEntries(
          Object.entries<{ totalCount: number }>(response).map(([kind, { totalCount }]) => [kind, totalCount]),
        ),
      }));
    expect(workspaces).toMatchObject(sizes.toSorted((a, b) => (a.workspace < b.workspace ? -1 : 1)));
    expect(workspaces).toMatchObject(earlier.lists.workspaces ?? workspaces);
    expect(byPrefix(keys)).toMatchObject(byPrefix(earlier.lists.keys ?? keys));
    const { gone: _, ...texts } = earlier.keys;
    expect(new Set(keys.map(({ prefix }: { prefix: string }) => prefix))).toEqual(
      new Set(Object.values(texts).map(({ text }) => prefixOf(text))),
    );
  });

  test('responds as before', async () => {
    await compareResponses(service, earlier);
  });

  test.runIf(version >= withKeys)('knows its keys: each gives access to its workspace, if it is valid', async () => {
    for (const [name, { workspace }] of Object.entries(earlier.keys)) {
      const { status, body } = await as(name).get('/asset-categories');
      expect([name, status]).toEqual([name, workspace === null ? 401 : 200]);
      if (workspace === null) continue;
      expect(new Set(body.map(({ workspaceId }: { workspaceId: string }) => workspaceId))).toEqual(
        new Set([workspace]),
      );
      const write = await as(name).post('/locations', [{ name: 1 }]);
      expect([name, write.status]).toEqual([name, name === 'dashboard' ? 403 : 400]);
    }
    const { rotated } = earlier.keys;
    if (!rotated) return;
    const again = rotateKey(createKeyStore(service.database), prefixOf(rotated.text), 1_000);
    await expect(again).rejects.toThrow('the previous secret is valid until');
  });

  test.runIf(version >= withLog)('has its feeds: a consumer goes on after its cursor', async () => {
    const { responses, queries } = earlier;
    for (const { key, response } of responses.filter(({ query }) => query === 'changes')) {
      const { nodes } = response.changes;
      expect(nodes.length).toBeGreaterThan(0);
      for (const index of [0, nodes.length >> 1, nodes.length - 1]) {
        const after = `changes(first: 1000, after: "${nodes[index].cursor}")`;
        const { changes } = await as(key).data(String(queries.changes).replace('changes(first: 1000)', after));
        expect(changes).toEqual({ ...response.changes, nodes: nodes.slice(index + 1) });
      }
    }
  });

  test.runIf(version >= withLog)(
    'repeats responses to requests with an Idempotency-Key, and stores nothing',
    async () => {
      for (const { key, path, body, idempotencyKey, response } of earlier.repeated) {
        const cursor = await as(key).data('{ changeCursor }');
        const again = await as(key).post(path, body, { 'idempotency-key': idempotencyKey });
        expect(again.body.data ?? again.body).toEqual(response);
        expect(again.headers['idempotency-replayed']).toBe('true');
        const other = await as(key).post('/locations', [{ name: 'Other' }], { 'idempotency-key': idempotencyKey });
        expect(other.status).toBe(path === '/locations' ? 409 : 201);
        const { changeCursor } = await as(key).data('{ changeCursor }');
        expect(Number(changeCursor) - Number(cursor.changeCursor)).toBe(path === '/locations' ? 0 : 1);
      }
    },
  );

  test('can be written: changes get the next numbers, and uids stay unique', async () => {
    const names = Object.entries(earlier.keys).filter(([name, key]) => key.workspace && name !== 'dashboard');
    for (const name of names.length > 0 ? names.map(([name]) => name) : ['open']) {
      const { changeCursor } = await as(name).data('{ changeCursor }');
      const { parent } = await as(name).data('{ parent: assetCategories(first: 1) { nodes { id } } }');
      const [child] = await as(name).create('/asset-categories', { name: 'New', parentId: parent.nodes[0].id });

      const { changes } = await as(name).data(
        `{ changes(after: "${changeCursor}") { nodes { cursor record { id } } endCursor } }`,
      );

      const cursor = String(Number(changeCursor) + 1);
      expect(changes).toEqual({ nodes: [{ cursor, record: { id: child.id } }], endCursor: cursor });
    }
    const owner = version < withKeys ? 'open' : 'erp';
    const upsert = `mutation { upsertLocations(by: { externalId: "erp" }, input: [
      { externalIds: { erp: "4711" }, city: "Hamburg" }]) { outcome } }`;
    expect(await as(owner).data(upsert)).toEqual({ upsertLocations: [{ outcome: 'UPDATED' }] });
    expect((await as(owner).post('/assets', [{ name: 'Crane', uid: 'C-7' }])).status).toBe(409);
  });

  test('finds its records by their external IDs', async () => {
    for (const { key, response } of earlier.responses.filter(({ query }) => query === 'records')) {
      for (const { id, externalIds } of response.locations.nodes) {
        if (externalIds === null) continue;
        const { found } = await as(key).data(
          'query ($value: String!) { found: locationByExternalId(key: "erp", value: $value) { id } }',
          { value: externalIds.erp },
        );
        expect(found).toEqual({ id });
      }
    }
  });

  test.runIf(Number(version) < migrationNames.length)(
    'responds as before also after its migrations were rolled back and have run again',
    async () => {
      const copy = await earlierDatabase(version);
      onTestFinished(copy.remove);
      const migrated = await openDatabase(copy.url);
      await insert(storeOpener(migrated)('lost'), location, [{ name: 'Yard' }]);
      await addWorkspace(migrated, 'lost');
      await createWorkspaces(migrated, recordKinds).remove('lost');
      await migrated.close();
      const { knex, close } = await openDatabase(copy.url);
      const applied = () => knex('knex_migrations').orderBy('id').pluck('name');

      await knex.migrate.rollback();
      const rolledBack = await applied();
      await knex.migrate.latest();
      await close();

      expect(rolledBack).toEqual(migrationsOf(version));
      await startAndCompare(copy);
    },
  );
});
