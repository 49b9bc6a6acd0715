/** Group commit, with a transaction that a test can make fail. */
import { beforeEach, expect, test } from 'vitest';
import { conflict, mayBeStored, unavailable } from '../../src/errors.ts';
import { location } from '../../src/records/index.ts';
import { DatabaseError } from '../../src/store/database-error.ts';
import type { Engine, Row, Run } from '../../src/store/engine.ts';
import { type Addition, createGroupCommit } from '../../src/store/group-commit.ts';

/** What each transaction tried to store: the names of the records. */
let transactions: string[][];
/** What the database says to a transaction with these names; nothing when all is well. */
let refuse: (names: string[]) => Error | undefined;
let groups: ReturnType<typeof createGroupCommit<Run>>;

beforeEach(() => {
  transactions = [];
  refuse = () => undefined;
  // Sound because these are all that group commit uses of an engine.
  const engine = {
    groupsAtOnce: 1,
    inserts: function* (_table: unknown, records: readonly Row[]) {
      yield { sql: 'insert', values: records.map(({ name }) => name) };
    },
  } as Partial<Engine> as Engine;
  const transaction = async <T>(work: (run: Run, runAlone: Run) => Promise<T>): Promise<T> => {
    const names: string[] = [];
    const run: Run = async (_sql, values = []) => {
      names.push(...values.map(String));
      return [];
    };
    const result = await work(run, run);
    transactions.push(names);
    const error = refuse(names);
    if (error) throw error;
    return result;
  };
  groups = createGroupCommit({ transaction }, engine, (run) => run);
});

const add = (name: string, check: Addition<Run>['check'] = async () => {}) =>
  groups.add({ workspaceId: 'acme', kind: location, records: [{ name }], check });

const outcomesOf = async (additions: Promise<void>[]) =>
  (await Promise.allSettled(additions)).map((outcome) =>
    outcome.status === 'fulfilled' ? 'stored' : outcome.reason.message,
  );

test('what arrives together is one transaction', async () => {
  expect(await outcomesOf([add('a'), add('b'), add('c')])).toEqual(['stored', 'stored', 'stored']);
  expect(transactions).toEqual([['a', 'b', 'c']]);
});

test('what arrives while a transaction runs is the next one', async () => {
  let second: Promise<void> | undefined;
  await add('a', async () => {
    second = add('b');
  });
  await second;

  expect(transactions).toEqual([['a'], ['b']]);
});

test('nobody is told anything before the transaction has ended, whoever is refused neither', async () => {
  const told: string[] = [];
  refuse = () => {
    expect(told).toEqual([]);
    return undefined;
  };
  const refused = add('a', async () => {
    throw conflict([]);
  }).catch(() => told.push('a'));

  await Promise.all([refused, add('b').then(() => told.push('b'))]);

  expect(transactions).toEqual([['b']]);
  expect(told.toSorted()).toEqual(['a', 'b']);
});

test('a check is told to be careful when the database has refused the group, and refuses its own only', async () => {
  refuse = (names) => (names.includes('taken') ? new DatabaseError('taken') : undefined);
  const taken = () =>
    add('taken', async (_run, isCareful) => {
      if (isCareful) throw conflict([{ path: [], message: 'taken' }]);
    });

  expect(await outcomesOf([add('a'), taken(), add('b')])).toEqual(['stored', 'taken', 'stored']);
  expect(transactions).toEqual([
    ['a', 'taken', 'b'],
    ['a', 'b'],
  ]);
});

test('one that breaks every transaction it is in breaks its own only', async () => {
  refuse = (names) => (names.includes('poison') ? new DatabaseError('poison') : undefined);

  expect(await outcomesOf([add('a'), add('poison'), add('b')])).toEqual(['stored', 'poison', 'stored']);
  expect(transactions.slice(2)).toEqual([['a'], ['poison'], ['b']]);
});

test.each([mayBeStored('perhaps', 'x'), mayBeStored('perhaps, it took too long', '57014'), unavailable('away', 'x')])(
  'when nobody knows what is stored, or the database is away, all are told, and nothing is tried again: $message',
  async (error) => {
    refuse = () => error;

    expect(await outcomesOf([add('a'), add('b')])).toEqual([error.message, error.message]);
    expect(transactions).toEqual([['a', 'b']]);
  },
);

test('one that waits until its time is up lets the others go, and is not tried again without them', async () => {
  refuse = (names) => (names.includes('stuck') ? unavailable('too slow', '57014') : undefined);

  expect(await outcomesOf([add('a'), add('stuck'), add('b')])).toEqual(['stored', 'too slow', 'stored']);
  expect(transactions.map((names) => names.length)).toEqual([3, 1, 1, 1]);

  transactions = [];
  expect(await outcomesOf([add('stuck')])).toEqual(['too slow']);
  expect(transactions).toEqual([['stuck']]);
});

test('what a workspace adds while others of its additions are in conflict is not stored in groups, two at a time at most', async () => {
  refuse = (names) => (names.length > 1 ? new DatabaseError('conflict') : undefined);
  let running = 0;
  const peaks: number[] = [];
  const slowly = (name: string) =>
    add(name, async (_run, isCareful) => {
      running += 1;
      if (isCareful) peaks.push(running);
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

test('once the additions of a failed group are stored, others of the workspace share transactions again', async () => {
  refuse = (names) => (names.length > 1 && names.includes('a') ? new DatabaseError('conflict') : undefined);
  const failed = ['a', 'b'].map((name) => add(name));
  await Promise.race(failed);
  const meanwhile = ['c', 'd', 'e'].map((name) => add(name));
  await Promise.all(failed);
  transactions = [];

  await Promise.all(['f', 'g', 'h'].map((name) => add(name)));

  expect(transactions).toContainEqual(['f', 'g', 'h']);
  await Promise.all(meanwhile);
});

test('long texts are few to a transaction', async () => {
  const long = (letter: string) => letter.repeat(3_000_000);

  await Promise.all([add(long('a')), add(long('b')), add('c')]);

  expect(transactions.map((names) => names.length)).toEqual([1, 2]);
});

test('an addition of many records does not wait for others, nor they for it', async () => {
  const records = Array.from({ length: 3_000 }, () => ({ name: 'many' }));
  const many = () => groups.add({ workspaceId: 'acme', kind: location, records, check: async () => {} });

  await Promise.all([add('a'), many(), add('b')]);

  expect(transactions.map((names) => names.length)).toEqual([1, 3_000, 1]);
});
