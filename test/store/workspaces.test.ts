/** Renaming and deleting whole workspaces: what keeps working, what is deleted, and that no other workspace is touched. */
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { createKey } from '../../src/auth/keys.ts';
import { StartError } from '../../src/errors.ts';
import { asset, location, recordKinds } from '../../src/records/index.ts';
import { createKeyStore, findOrCreateWorkspace } from '../../src/store/admin/api-keys.ts';
import { createWorkspaces } from '../../src/store/admin/workspaces.ts';
import { createStoreOpener, type WorkspaceStore } from '../../src/store/workspace-store.ts';
import { isPostgres } from '../support/database.ts';
import { byEffort } from '../support/effort.ts';
import { inSteps, insert } from '../support/insert.ts';
import { nobody } from '../support/open-store.ts';
import { useDatabase } from '../support/own-database.ts';

const database = useDatabase();

const now = '2026-03-01T00:00:00.000Z';

const workspaces = () => createWorkspaces(database, recordKinds);
/** As a request is opened for the workspace that has this name now. */
const store = async (name: string): Promise<WorkspaceStore> =>
  createStoreOpener(database)(await findOrCreateWorkspace(database, name), { author: nobody });

const newKey = (workspace: string) => createKey(createKeyStore(database), { workspace, user: 'erp', readOnly: false });

const namesIn = async (name: string) => (await (await store(name)).list(location)).map((record) => record.name);

/** All records, changes and keys of a workspace, without its name. */
async function contents(workspace: string) {
  const records = await Promise.all(recordKinds.map(async (kind) => (await store(workspace)).list(kind)));
  const changes = await (await store(workspace)).changes({ after: 0, limit: 10_000, withBefore: true });
  const keys = (await createKeyStore(database).list()).filter((key) => key.workspace.name === workspace);
  const withoutName = (record: object) => ({ ...record, workspaceId: undefined });
  return {
    records: records.map((list) => list.map(withoutName)),
    changes: changes.map(withoutName),
    keys: keys.map(({ id }) => id).toSorted(),
  };
}

const empty = { records: recordKinds.map(() => []), changes: [], keys: [] };

test('rename changes one row, however much a workspace holds', async () => {
  await insert(await store('acme'), location, [{ name: 'a' }, { name: 'b' }]);
  await newKey('acme');
  const writes: string[] = [];
  database.knex.on(
    'query',
    ({ sql }: { sql: string }) => void (/^(?:update|insert|delete)/.test(sql) && writes.push(sql)),
  );

  await workspaces().rename('acme', 'harbour');

  expect(writes).toEqual([expect.stringMatching(/^update workspaces set name/)]);
});

test('a workspace is not deleted if it is another one than was shown', async () => {
  await newKey('yard');
  await newKey('acme');
  const shown = await workspaces().findExisting('acme');
  await workspaces().rename('acme', 'harbour');
  await newKey('acme');
  await expect(workspaces().remove('acme', shown)).rejects.toThrow('acme has become the name of another workspace');
  expect((await workspaces().findExisting('acme')).keys).toHaveLength(1);
});

test('the number of a deleted workspace is not used again, not even if it was the greatest', async () => {
  const numbers = new Set<number>();
  for (let round = 0; round < 3; round += 1) {
    numbers.add((await findOrCreateWorkspace(database, 'last')).number);
    await insert(await store('last'), location, [{}]);
    await workspaces().remove('last');
  }
  expect(numbers.size).toBe(3);
});

test('a workspace whose records were deleted keeps its history: none gets its name', async () => {
  await insert(await store('acme'), location, [{ name: 'a' }]);
  await insert(await store('gone'), location, [{}]);
  const gone = await (await store('gone')).list(location);
  await inSteps(await store('gone'), async (steps) => steps.delete(location, gone, now));

  await expect(workspaces().rename('acme', 'gone')).rejects.toThrow(
    new StartError(
      'the workspace gone has had records, whose history would be lost: choose another name, or delete it first',
    ),
  );
  expect(await namesIn('acme')).toEqual(['a']);
});

test('a delete that ends halfway, as by kill -9, leaves all that the workspace holds', async () => {
  await newKey('acme');
  await newKey('yard');
  await insert(await store('acme'), location, [{ name: 'a' }]);
  const before = await contents('acme');
  const { driver } = database;
  const query = driver.query.bind(driver);
  vi.spyOn(driver, 'query').mockImplementation(async (connection, sql, ...rest) => {
    if (/^delete from .?api_keys/.test(sql)) throw new Error('the connection is lost');
    return query(connection, sql, ...rest);
  });

  await expect(workspaces().remove('acme')).rejects.toThrow();
  vi.restoreAllMocks();

  expect(await contents('acme')).toEqual(before);
});

test('of two deletes at once that would leave no key, one is refused', async () => {
  await newKey('acme');
  await newKey('yard');
  const outcomes = await Promise.allSettled([workspaces().remove('acme'), workspaces().remove('yard')]);
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  expect(await createKeyStore(database).list()).toHaveLength(1);
});

test('no sequence of renames and deletes touches another workspace', async () => {
  const names = ['acme', 'acme-2', 'default', 'yard'];
  const name = fc.constantFrom(...names);
  const step = fc.record({ do: fc.constantFrom('add', 'key', 'rename', 'remove'), name, to: name });
  const all = async () => new Map(await Promise.all(names.map(async (it) => [it, await contents(it)] as const)));
  const hasRecords = ({ records }: Awaited<ReturnType<typeof contents>>) => records.flat().length > 0;
  const size = (it: Awaited<ReturnType<typeof contents>>) => it.records.flat().length + it.keys.length;

  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 12 }), async (steps) => {
      let before = await all();
      for (const current of steps) {
        const own = before.get(current.name) ?? empty;
        if (current.do === 'add') {
          await insert(await store(current.name), location, [{ name: current.name }]);
          // The same uid in every workspace, if it is not taken.
          await insert(await store(current.name), asset, [{ name: 'Crane', uid: 'crane' }]).catch(() => {});
        } else if (current.do === 'key') await newKey(current.name);
        if (current.do === 'add' || current.do === 'key') {
          before.set(current.name, await contents(current.name));
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
        const [outcome] = await Promise.allSettled([work]);
        if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(StartError);
        expect(outcome.status === 'fulfilled').toBe(isAllowed);
        const expected = new Map(before);
        if (isAllowed) expected.set(current.name, empty);
        if (isAllowed && current.do === 'rename') {
          const keys = [...own.keys, ...(before.get(current.to)?.keys ?? [])].toSorted();
          expected.set(current.to, { ...own, keys });
        }
        before = await all();
        expect(before).toEqual(expected);
      }
    }),
    { numRuns: byEffort({ small: isPostgres ? 1 : 2, long: 200 }) },
  );
});
