/** Group commit, with a transaction that a test can make fail. */

import { beforeEach, expect, test } from 'vitest';
import { conflict, mayBeStored, unavailable } from '../../src/errors.ts';
import { location } from '../../src/records/index.ts';
import { DatabaseError, WorkspaceDeleted } from '../../src/store/connections/database-error.ts';
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
/** The workspaces that transactions of their own were begun for. */
let workspaces: number[];
/** The error with which the database rejects a transaction with these names, or undefined if it accepts it. */
let refuse: (names: string[]) => Error | undefined;
let groups: GroupCommit;
/** Creates it as for Postgres, with groups for each workspace, or as for SQLite. */
let create: (hasGroupsByWorkspace: boolean) => void;

beforeEach(() => {
  transactions = [];
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
  const transaction: Statements['transaction'] = async (work) => {
    const names: string[] = [];
    const run: Run = async (sql, values = []) => {
      if (sql === 'insert') names.push(...values.map(String));
      return [];
    };
    const result = await work(run, ({ sql, values }) => run(sql, values));
    transactions.push(names);
    const error = refuse(names);
    if (error) throw error;
    return result;
  };
  const forWorkspace = (workspaceId: number) => {
    workspaces.push(workspaceId);
    return { transaction } as Statements;
  };
  const database = { transaction, forWorkspace };
  create = (hasGroupsByWorkspace) => {
    groups = createGroupCommit(database, dialect, { hasGroupsByWorkspace });
  };
  create(false);
});

const acceptAll: Check = async () => {};

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

test('an addition whose workspace is being deleted fails alone', async () => {
  refuse = (names) => (names.includes('a') ? new WorkspaceDeleted() : undefined);

  expect(await outcomesOf(addApart('a', 'b', 'c'))).toEqual([new WorkspaceDeleted().message, 'stored', 'stored']);
});

test('where each workspace has groups of its own, one does not wait for another', async () => {
  create(true);
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const stuck = add('stuck', () => released, 'a');
  const behind = add('behind', acceptAll, 'a');

  expect(await outcomesOf([add('b', acceptAll, 'b'), add('c', acceptAll, 'b')])).toEqual(['stored', 'stored']);
  release();
  await Promise.all([stuck, behind]);

  expect(transactions).toEqual([
    ['b', 'c'],
    ['stuck', 'behind'],
  ]);
  expect(workspaces).toEqual(['a', 'b'].map(numberOf));
});

test('additions with long texts are spread over several transactions', async () => {
  const long = (letter: string) => letter.repeat(3_000_000);

  await Promise.all([add(long('a')), add(long('b')), add('c')]);

  expect(transactions.map((names) => names.length)).toEqual([2, 1]);
});

test('additions with many external IDs are spread over several transactions', async () => {
  const externalIds = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`system ${n}`, 'x']));
  const records = Array.from({ length: 200 }, () => ({ name: 'many', externalIds }));

  await Promise.all([addAll(records), addAll(records), add('a')]);

  expect(transactions.map((names) => names.length)).toEqual([201, 200]);
});

test('an addition of many records waits for the next transaction, and small ones do not wait for it', async () => {
  const records = Array.from({ length: 3_000 }, () => ({ name: 'many' }));
  const many = () => addAll(records);

  await Promise.all([add('a'), many(), add('b')]);

  expect(transactions.map((names) => names.length)).toEqual([2, 3_000]);
});

test('small additions of other workspaces join a large one, and do not wait for further large ones', async () => {
  const batch = (name: string) => Array.from({ length: 5_000 }, () => ({ name }));
  const large = ['large', 'larger'].map((name) => addAll(batch(name), acceptAll, name));

  await Promise.all([...large, ...addApart('small', 'smaller')]);

  expect(transactions.map((names) => [...new Set(names)])).toEqual([['large', 'small', 'smaller'], ['larger']]);
});
