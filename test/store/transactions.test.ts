/** Transactions whose statements are sent at once, and what happens if one of them fails. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../src/store/database.ts';
import { defaultOptions } from '../../src/store/database-settings.ts';
import { createDatabase, isPostgres } from '../support/database.ts';

/** Takes longer than the timeout, and would insert a row. */
const tooSlow = isPostgres
  ? 'insert into numbers select 2 from pg_sleep(60)'
  : 'insert into numbers with recursive n(i) as (values (1) union all select i + 1 from n limit 90000000) select count(*) from n';

let database: Database;
let remove: () => Promise<void>;

beforeEach(async () => {
  const { url, remove: removeDatabase } = await createDatabase({ empty: true });
  remove = removeDatabase;
  database = await openDatabase(url, { ...defaultOptions, statementTimeout: 200 });
  await database.run('create table numbers (n integer)');
});

afterEach(async () => {
  await database.close();
  await remove();
});

const insert = (n: number) => `insert into numbers values (${n})`;

const storedNumbers = async () => (await database.read('select n from numbers order by n')).map(({ n }) => n);

test('statements sent at once run one at a time, in the order sent', async () => {
  const { query } = database.driver;
  const started: string[] = [];
  let running = 0;
  database.driver.query = async (connection, sql, values) => {
    started.push(running === 0 ? sql : `${sql}, at the same time as another`);
    running += 1;
    return query(connection, sql, values).finally(() => (running -= 1));
  };

  await database.transaction((run) => Promise.all([run(insert(1)), run(insert(2)), run(insert(3))]));

  expect(started.slice(1)).toEqual([insert(1), insert(2), insert(3), 'commit']);
});

test('statements behind one that fails do not run, and fail with its error', async () => {
  const outcomes: PromiseSettledResult<unknown>[] = [];

  const transaction = database.transaction(async (run) => {
    outcomes.push(...(await Promise.allSettled([run(insert(1)), run(tooSlow), run(insert(3)), run(insert(4))])));
  });

  // Not committed either, though the work has not passed on the error.
  await expect(transaction).rejects.toThrow('the database is not available, try again');
  const [first, ...others] = outcomes;
  expect(first?.status).toBe('fulfilled');
  expect(new Set(others.map((outcome) => outcome.status === 'rejected' && outcome.reason)).size).toBe(1);
  expect(others[0]).toMatchObject({ status: 'rejected', reason: { status: 503 } });
  expect(await storedNumbers()).toEqual([]);
});

test('work that fails while a statement runs is rolled back when the statement has ended', async () => {
  const transaction = database.transaction(async (run) => {
    await run(insert(1));
    void run(insert(2));
    throw new Error('changed its mind');
  });

  await expect(transaction).rejects.toThrow('changed its mind');
  expect(await storedNumbers()).toEqual([]);
});
