/** Results stored under the key of a request: what a repeat returns after a lost commit, and how long they are kept. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { asset } from '../../src/records/index.ts';
import { createSession } from '../../src/services/write.ts';
import { startSweep } from '../../src/store/admin/result-sweep.ts';
import type { WorkspaceStore } from '../../src/store/workspace-store.ts';
import type { IdempotencyKey } from '../../src/store/writes/idempotency.ts';
import { eventually } from '../support/clock.ts';
import { isPostgres } from '../support/database.ts';
import { inSteps, insert } from '../support/insert.ts';
import { storeOpener } from '../support/open-store.ts';
import { useDatabase } from '../support/own-database.ts';

const database = useDatabase();
let store: WorkspaceStore;

beforeEach(() => {
  store = storeOpener(database)('ours');
});

afterEach(() => void vi.restoreAllMocks());

const keyOf = (text: string): IdempotencyKey => ({ operation: 'test', key: text, requestHash: 'hash' });

const keyed = (text: string, own = store) => {
  const session = createSession(own, { userId: null, mayWrite: true });
  return session.with({ key: { ...keyOf(text), onRepeat: () => {} } });
};

const keys = async () => (await database.read('select key from idempotency_keys order by key')).map(({ key }) => key);

describe('If the connection is lost during the commit', () => {
  /** The first commit, or statement that is a transaction by itself, reports an error: after it was carried out, or before. */
  function loseCommit(isStored: boolean): void {
    const { driver } = database;
    const query = driver.query.bind(driver);
    let isLost = false;
    vi.spyOn(driver, 'query').mockImplementation(async (connection, sql, values, setUp) => {
      const commits = sql === 'commit' || /^(?:insert into new_|with taken)/.test(sql);
      if (isLost || !commits) return query(connection, sql, values, setUp);
      isLost = true;
      if (isStored) await query(connection, sql, values, setUp);
      throw Object.assign(new Error('lost'), { code: isPostgres ? '08006' : 'SQLITE_IOERR' });
    });
  }

  test.each([
    ['a creation', (own: Pick<WorkspaceStore, 'transaction'>) => insert(own, asset, [{ name: 'Crane' }])],
    [
      'a transaction',
      (own: Pick<WorkspaceStore, 'transaction'>) =>
        inSteps(own, async (steps) => steps.add(asset, [{ name: 'Crane' }])),
    ],
  ])('the result of %s that was stored all the same is returned', async (_, write) => {
    loseCommit(true);
    expect(await write(keyed('a'))).toMatchObject([{ name: 'Crane' }]);
    expect(await store.lastChange()).toBe(1);
  });

  test('and nothing is found, the error says that it may be stored, and a repeat stores it', async () => {
    loseCommit(false);
    const write = () => insert(keyed('a'), asset, [{ name: 'Crane' }]);

    const what = isPostgres ? 'connection lost during commit' : 'the outcome of the commit is unknown';
    await expect(write()).rejects.toMatchObject({
      status: 503,
      type: 'urn:yardgraph:may-be-stored',
      message: `${what}: retry with the same Idempotency-Key, which stores the records once`,
    });
    expect(await write()).toMatchObject([{ name: 'Crane' }]);
    expect(await store.lastChange()).toBe(1);
  });
});

/** Stores rows of a time, beside what requests store. */
const storeOld = (count: number, createdAt: string) =>
  database.transaction(async (run) => {
    const rows = Array.from({ length: count }, (_, n) => `(2, '${createdAt} ${n}', 'test', '', '${createdAt}', '{}')`);
    await run(
      `insert into idempotency_keys (workspace_id, key, operation, request_hash, created_at, result) values ${rows.join()}`,
    );
  });

const countKeys = async () => (await keys()).length;

test('a key is forgotten after 24 hours, slice by slice, and not before', async () => {
  await insert(keyed('a'), asset, [{ name: 'Crane' }]);
  const hours = (n: number) => new Date(Date.now() - n * 3_600_000).toISOString();
  for (const n of [25, 30, 48]) await storeOld(900, hours(n));
  await storeOld(10, hours(23));
  const slices: number[] = [];
  const { run } = database;
  const counting = {
    ...database,
    run: async (sql: string, values?: readonly unknown[]) => {
      const before = await countKeys();
      const rows = await run(sql, values);
      slices.push(before - (await countKeys()));
      return rows;
    },
  };

  const end = startSweep(counting, { info: () => {}, warn: (error) => slices.push(Number.NaN, String(error).length) });
  const total = () => slices.reduce((sum, size) => sum + size, 0);
  await eventually(() => expect(total()).toBe(2_700));
  end();

  expect(await countKeys()).toBe(11);
  expect(Math.max(...slices)).toBeLessThanOrEqual(1_800);
  expect(await keys()).toContain('a');
  expect(await insert(keyed('a'), asset, [{ name: 'Crane' }])).toHaveLength(1);
  expect(await store.lastChange()).toBe(1);
});
