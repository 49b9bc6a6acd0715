/** Transactions that wait for SQLite's only writer share commits: each is stored or undone alone, and acknowledged after the commit. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openDatabase } from '../../../src/store/database.ts';
import { defaultOptions } from '../../../src/store/database-settings.ts';
import { openOwnDatabase, useDatabase } from '../../support/own-database.ts';

const database = useDatabase();
let sent: string[];

// The time in which others join a commit passes only where a test lets it, however slow the machine is.
beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

beforeEach(async () => {
  await database.run('create table notes (workspace integer, text text unique)');
  sent = [];
  database.knex.on('query', ({ sql }: { sql: string }) => sent.push(sql));
});

const small = { workspaceId: 1, isSmall: true, maxAttempts: 1 };

const insert = (workspace: number, text: string, isSmall = true) =>
  database.transaction((run) => run('insert into notes values (?, ?)', [workspace, text]), {
    workspaceId: workspace,
    maxAttempts: 1,
    isSmall,
  });

const stored = async () =>
  (await database.read('select text from notes order by rowid')).map(({ text }) => String(text));

test('those that wait are stored by one commit, and one that fails is undone alone', async () => {
  const failing = () =>
    database.transaction(async (run) => {
      await run('insert into notes values (1, ?)', ['half']);
      await run('insert into notes values (1, ?)', ['a']);
    }, small);
  const results = await Promise.allSettled([insert(1, 'a'), insert(1, 'b'), failing(), insert(1, 'c')]);

  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
  expect(sent.filter((sql) => sql === 'commit')).toHaveLength(1);
  expect(await stored()).toEqual(['a', 'b', 'c']);
});

test('those that wait longer than for a connection fail, whatever is before them', async () => {
  const { url, close } = await openOwnDatabase();
  const hurried = await openDatabase(url, { ...defaultOptions, connectionTimeout: 50 });
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const slow = hurried.transaction(() => released);
  const waiting = hurried.transaction((run) => run('select 1'));

  await expect(waiting).rejects.toThrow('the database is not available, try again');
  release();
  await slow;
  await hurried.close();
  await close();
});

test('a workspace does not wait for all transactions of another one', async () => {
  await Promise.all([...['a', 'b', 'c', 'd'].map((text) => insert(1, text)), insert(2, 'other')]);
  expect((await stored()).indexOf('other')).toBeLessThanOrEqual(1);
});

test('nothing small is acknowledged later because something large has joined it', async () => {
  await Promise.all([insert(1, 'small'), insert(1, 'large', false), insert(1, 'also small')]);
  expect(sent.filter((sql) => sql === 'commit')).toHaveLength(2);
  expect(await stored()).toEqual(['small', 'also small', 'large']);
});

test('something small waits for one large transaction at most', async () => {
  const slow = (text: string) =>
    database.transaction(
      async (run) => {
        // Longer than others join a commit.
        vi.advanceTimersByTime(60);
        await run('insert into notes values (1, ?)', [text]);
      },
      { ...small, isSmall: false },
    );
  await Promise.all([slow('large'), slow('second'), slow('third'), insert(1, 'small')]);

  expect(await stored()).toEqual(['large', 'small', 'second', 'third']);
});

test('each is acknowledged after the commit, also one that fails because of what another has written', async () => {
  const order: string[] = [];
  const { driver } = database;
  const query = driver.query.bind(driver);
  vi.spyOn(driver, 'query').mockImplementation(async (connection, sql, ...rest) => {
    const rows = await query(connection, sql, ...rest);
    if (sql === 'commit') order.push('committed');
    return rows;
  });
  const told = (written: Promise<unknown>) =>
    written.then(
      () => order.push('stored'),
      () => order.push('refused'),
    );
  await Promise.all([insert(1, 'a'), insert(1, 'a'), insert(1, 'b')].map(told));

  expect(order[0]).toBe('committed');
  expect(order.slice(1).toSorted()).toEqual(['refused', 'stored', 'stored']);
});

test('one that was undone is told that nothing of it is stored if the commit fails, of which the others cannot know', async () => {
  const { driver } = database;
  const query = driver.query.bind(driver);
  vi.spyOn(driver, 'query').mockImplementation(async (connection, sql, ...rest) => {
    if (sql === 'commit') throw Object.assign(new Error('full'), { code: 'SQLITE_FULL' });
    return query(connection, sql, ...rest);
  });
  const results = await Promise.allSettled([insert(1, 'a'), insert(1, 'a'), insert(1, 'b')]);

  expect(results.map((result) => result.status === 'rejected' && result.reason.type)).toEqual([
    'urn:yardgraph:may-be-stored',
    'urn:yardgraph:disk-full',
    'urn:yardgraph:may-be-stored',
  ]);
});

test('if the database undoes all of them, those before the one that failed are stored all the same', async () => {
  const failing = () =>
    database.transaction(async (run) => {
      await run('rollback');
      throw new Error('the database has undone everything');
    }, small);
  const results = await Promise.allSettled([insert(1, 'before'), failing(), insert(1, 'after')]);

  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect((await stored()).toSorted()).toEqual(['after', 'before']);
});
