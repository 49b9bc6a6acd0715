/** Group commit, with a transaction that a test can make fail. */

import { beforeEach, expect, test } from 'vitest';
import { conflict, mayBeStored, unavailable } from '../../src/errors.ts';
import { location } from '../../src/records/index.ts';
import { DatabaseError, StatementFailed, WorkspaceDeleted } from '../../src/store/connections/database-error.ts';
import type { Run } from '../../src/store/connections/driver.ts';
import type { Statements } from '../../src/store/connections/transactions.ts';
import type { Dialect } from '../../src/store/query/dialect.ts';
import { changes } from '../../src/store/query/tables.ts';
import { sqliteDialect } from '../../src/store/sqlite/dialect.ts';
import { createGroupCommit, type GroupCommit } from '../../src/store/writes/group-commit.ts';
import { type Check, creationOf } from '../support/insert.ts';
import { nobody, numberOf } from '../support/open-store.ts';

/** The names of the records that each transaction tried to store. */
let transactions: string[][];
/** Milliseconds that each of them may wait for a lock. */
let lockTimeouts: (number | undefined)[];
/** The workspaces that transactions of their own were begun for. */
let workspaces: number[];
/** The error with which the database rejects a transaction with these names, or undefined if it accepts it. */
let refuse: (names: string[], lockTimeout?: number) => Error | undefined;
let groups: GroupCommit;

beforeEach(() => {
  transactions = [];
  lockTimeouts = [];
  workspaces = [];
  refuse = () => undefined;
  const inserts: Dialect['inserts'] = function* (table, records) {
    if (table !== changes) yield { sql: 'insert', values: records.map(({ name }) => name) };
  };
  const withChanges: Dialect['withChanges'] = (_, additions) => ({
    sql: 'insert',
    values: additions.flatMap(({ records }) => records).map(({ name }) => name),
  });
  const dialect: Dialect = { ...sqliteDialect, inserts, withChanges };
  const transaction: Statements['transaction'] = async (work, { lockTimeout } = {}) => {
    lockTimeouts.push(lockTimeout);
    const names: string[] = [];
    const run: Run = async (sql, values = []) => {
      if (sql === 'insert') names.push(...values.map(String));
      return [];
    };
    const result = await work(run, ({ sql, values }) => run(sql, values));
    transactions.push(names);
    const error = refuse(names, lockTimeout);
    if (error) throw error;
    return result;
  };
  const forWorkspace = (workspaceId: number) => {
    workspaces.push(workspaceId);
    return { transaction } as Statements;
  };
  const database = { transaction, forWorkspace };
  groups = createGroupCommit(database, dialect, { concurrentGroups: 1 }, { connectionTimeout: 100 });
});

const acceptAll: Check = async () => {};

const tooSlow = new StatementFailed('57014').message;

const add = (name: string, check = acceptAll, workspace = 'acme') => addAll([{ name }], check, workspace);

/** Each in a workspace of its own, which has its name. */
const addApart = (...names: string[]) => names.map((name) => add(name, acceptAll, name));

const addAll = (records: { name: string }[], check = acceptAll, workspace = 'acme') =>
  groups.add({
    workspaceId: numberOf(workspace),
    ...creationOf(location, records, undefined, check),
    author: nobody,
    usage: { statements: 0 },
  });

const outcomesOf = async (additions: Promise<unknown>[]) =>
  (await Promise.allSettled(additions)).map((outcome) =>
    outcome.status === 'fulfilled' ? 'stored' : outcome.reason.message,
  );

test('additions that arrive together share one transaction', async () => {
  expect(await outcomesOf([add('a'), add('b'), add('c')])).toEqual(['stored', 'stored', 'stored']);
  expect(transactions).toEqual([['a', 'b', 'c']]);
});

test('an addition that arrives while a transaction runs is in the next one', async () => {
  let second: Promise<unknown> | undefined;
  await add('a', async () => {
    second = add('b');
  });
  await second;

  expect(transactions).toEqual([['a'], ['b']]);
});

test('no addition is settled before the transaction has ended, not even one that its check rejects', async () => {
  const settled: string[] = [];
  refuse = () => {
    expect(settled).toEqual([]);
    return undefined;
  };
  const refused = add('a', async () => {
    throw conflict([]);
  }).catch(() => settled.push('a'));

  await Promise.all([refused, add('b').then(() => settled.push('b'))]);

  expect(transactions).toEqual([['b']]);
  expect(settled.toSorted()).toEqual(['a', 'b']);
});

test('if the database rejects a group, each check looks up unique values, and rejects only its own addition', async () => {
  refuse = (names) => (names.includes('taken') ? new DatabaseError('taken') : undefined);
  const taken = () =>
    add('taken', async (_store, uniqueness) => {
      if (uniqueness === 'lookup') throw conflict([{ path: [], message: 'taken' }]);
    });

  expect(await outcomesOf([add('a'), taken(), add('b')])).toEqual(['stored', 'taken', 'stored']);
  expect(transactions).toEqual([
    ['a', 'taken', 'b'],
    ['a', 'b'],
  ]);
});

test('an addition that always fails does not fail the others', async () => {
  refuse = (names) => (names.includes('poison') ? new DatabaseError('poison') : undefined);

  expect(await outcomesOf([add('a'), add('poison'), add('b')])).toEqual(['stored', 'poison', 'stored']);
  expect(transactions.slice(2)).toEqual([['a'], ['poison'], ['b']]);
});

test.each([mayBeStored('perhaps', 'x'), mayBeStored('perhaps, it took too long', '57014'), unavailable('away', 'x')])(
  'when the outcome is unknown, or the database is unavailable, the whole group fails without a retry: $message',
  async (error) => {
    refuse = () => error;

    expect(await outcomesOf([add('a'), add('b')])).toEqual([error.message, error.message]);
    expect(transactions).toEqual([['a', 'b']]);
  },
);

test('an addition that times out in a group is retried alone, and one that times out alone is not retried', async () => {
  refuse = (names) => (names.includes('stuck') ? new StatementFailed('57014') : undefined);

  expect(await outcomesOf([add('a'), add('stuck'), add('b')])).toEqual(['stored', tooSlow, 'stored']);
  expect(transactions.map((names) => names.length)).toEqual([3, 1, 1, 1]);

  transactions = [];
  expect(await outcomesOf([add('stuck')])).toEqual([tooSlow]);
  expect(transactions).toEqual([['stuck']]);
});

test('an addition that waits for a lock is stored alone, with as much time as it needs; those of other workspaces are not', async () => {
  refuse = (names, lockTimeout) => (names.includes('a') && lockTimeout ? new StatementFailed('55P03') : undefined);

  expect(await outcomesOf(addApart('a', 'b', 'c'))).toEqual(['stored', 'stored', 'stored']);

  expect(transactions.slice(0, 1)).toEqual([['a', 'b', 'c']]);
  expect(transactions.slice(1).toSorted()).toEqual([['a'], ['a'], ['b'], ['c']]);
  expect(lockTimeouts.filter((timeout) => timeout === undefined)).toHaveLength(1);
  expect(transactions[lockTimeouts.indexOf(undefined)]).toEqual(['a']);
  expect(workspaces.toSorted()).toEqual(['a', 'a', 'b', 'c'].map(numberOf).toSorted());
});

test('while an addition waits for a lock, those that arrive share transactions, except in its workspace', async () => {
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  refuse = (names, lockTimeout) => (names.includes('stuck') && lockTimeout ? new StatementFailed('55P03') : undefined);
  let isAlone = () => {};
  const alone = new Promise<void>((resolve) => (isAlone = resolve));
  const wait: Check = async () => {
    if (lockTimeouts.at(-1) !== undefined) return;
    isAlone();
    await released;
  };
  const stuck = add('stuck', wait);
  await alone;
  transactions = [];

  expect(await outcomesOf([add('a'), ...addApart('b', 'c')])).toEqual(['stored', 'stored', 'stored']);
  release();
  await stuck;

  expect(transactions.toSorted()).toEqual([['a'], ['b', 'c'], ['stuck']]);
});

test.each([new StatementFailed('08006'), new WorkspaceDeleted()])(
  'what may concern only one workspace fails only its additions, and is not retried alone: $cause',
  async (error) => {
    refuse = (names) => (names.includes('a') ? error : undefined);

    expect(await outcomesOf([...addApart('a', 'b', 'c'), add('d', acceptAll, 'b')])).toEqual([
      error.message,
      ...['stored', 'stored', 'stored'],
    ]);

    expect(transactions).toHaveLength(4);
    expect(transactions.slice(1).toSorted()).toEqual([['a'], ['b', 'd'], ['c']]);
  },
);

test('while additions of a workspace conflict, its other additions are stored alone, at most two at a time', async () => {
  refuse = (names) => (names.length > 1 ? new DatabaseError('conflict') : undefined);
  let running = 0;
  const peaks: number[] = [];
  const slowly = (name: string) =>
    add(name, async (_store, uniqueness) => {
      running += 1;
      if (uniqueness === 'lookup') peaks.push(running);
      await new Promise(setImmediate);
      running -= 1;
    });
  const first = ['a', 'b', 'c', 'd', 'e'].map(slowly);
  await Promise.race(first);
  transactions = [];

  const later = ['f', 'g', 'h'].map(slowly);

  expect(await outcomesOf([...first, ...later])).toEqual(Array(8).fill('stored'));
  expect(transactions.every((names) => names.length === 1)).toBe(true);
  expect(Math.max(...peaks.slice(5))).toBe(2);
});

test('an addition that waits too long for others of its workspace that conflict is rejected, and not stored', async () => {
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const wait: Check = (_store, uniqueness) => (uniqueness === 'lookup' ? released : Promise.resolve());
  refuse = (names) => (names.length === 3 ? new StatementFailed('57014') : undefined);

  const [first, second, third] = ['a', 'b', 'c'].map((name) => add(name, wait));
  await expect(third).rejects.toMatchObject({ status: 503, message: 'the database is not available, try again' });
  release();

  await Promise.all([first, second]);
  expect(transactions).toEqual([['a', 'b', 'c'], ['a'], ['b']]);
});

test('once the additions of a failed group are stored, additions of the workspace share transactions again', async () => {
  refuse = (names) => (names.length > 1 && names.includes('a') ? new DatabaseError('conflict') : undefined);
  const failed = ['a', 'b'].map((name) => add(name));
  await Promise.race(failed);
  const meanwhile = ['c', 'd', 'e'].map((name) => add(name));
  await Promise.all(failed);
  transactions = [];

  await Promise.all(['f', 'g', 'h'].map((name) => add(name)));

  expect(transactions).toContainEqual(expect.arrayContaining(['f', 'g', 'h']));
  await Promise.all(meanwhile);
});

test('additions with long texts are spread over several transactions', async () => {
  const long = (letter: string) => letter.repeat(3_000_000);

  await Promise.all([add(long('a')), add(long('b')), add('c')]);

  expect(transactions.map((names) => names.length)).toEqual([1, 2]);
});

test('additions with many external IDs are spread over several transactions', async () => {
  const externalIds = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`system ${n}`, 'x']));
  const records = Array.from({ length: 200 }, () => ({ name: 'many', externalIds }));

  await Promise.all([addAll(records), addAll(records), add('a')]);

  expect(transactions.map((names) => names.length)).toEqual([200, 201]);
});

test('an addition of many records waits for the next transaction', async () => {
  const records = Array.from({ length: 3_000 }, () => ({ name: 'many' }));
  const many = () => addAll(records);

  await Promise.all([add('a'), many(), add('b')]);

  expect(transactions.map((names) => names.length)).toEqual([1, 3_001]);
});

test('workspaces take turns: an addition does not wait for all that another workspace has sent before', async () => {
  const batch = Array.from({ length: 2_000 }, () => ({ name: 'acme' }));
  const batches = Array.from({ length: 5 }, () => addAll(batch));
  const others = ['a', 'b'].map((name) => addAll(Array(300).fill({ name }), acceptAll, 'other'));

  await Promise.all([...batches, ...others]);

  expect(transactions.map((names) => [names.length, names.at(-1)])).toEqual([
    [2_000, 'acme'],
    [600, 'b'],
    [2_000, 'acme'],
    [2_000, 'acme'],
    [2_000, 'acme'],
    [2_000, 'acme'],
  ]);
});

test('small additions of other workspaces join a large one, and do not wait for further large ones', async () => {
  const batch = (name: string) => Array.from({ length: 5_000 }, () => ({ name }));
  const large = ['large', 'larger'].map((name) => addAll(batch(name), acceptAll, name));

  await Promise.all([...large, ...addApart('small', 'smaller')]);

  expect(transactions.map((names) => [...new Set(names)])).toEqual([['large', 'small', 'smaller'], ['larger']]);
});
