/** Group commit, with a transaction that a test can make fail. */

import { beforeEach, expect, test } from 'vitest';
import { mayBeStored, unavailable } from '../../src/errors.ts';
import type { CreateOf } from '../../src/model/record-kind.ts';
import { location, project } from '../../src/records/index.ts';
import { DatabaseError, WorkspaceDeleted } from '../../src/store/connections/database-error.ts';
import type { Statement } from '../../src/store/connections/driver.ts';
import type { Statements } from '../../src/store/connections/transactions.ts';
import type { NewRecords } from '../../src/store/query/dialect.ts';
import { sqliteDialect } from '../../src/store/sqlite/dialect.ts';
import { type Addition, createGroupCommit, type GroupCommit } from '../../src/store/writes/group-commit.ts';
import { creationOf } from '../support/insert.ts';
import { nobody, numberOf } from '../support/open-store.ts';

/** The names of the records that each statement tried to store. */
let statements: string[][];
/** The workspaces that transactions of their own were begun for. */
let workspaces: number[];
/** Throws, now or later, if the database refuses a statement with these names. */
let run: (names: string[]) => unknown;
let groups: GroupCommit;
/** Creates it as for Postgres, with groups for each workspace, or as for SQLite. */
let create: (hasGroupsByWorkspace: boolean) => void;

beforeEach(() => {
  statements = [];
  workspaces = [];
  run = () => {};
  const withChanges = (_: unknown, additions: readonly NewRecords[]): Statement => ({
    sql: 'insert',
    values: additions.flatMap(({ records }) => records).map(({ name }) => name),
  });
  const runAlone: Statements['runAlone'] = async ({ values }) => {
    statements.push(values.map(String));
    await run(values.map(String));
  };
  const forWorkspace = (workspaceId: number) => {
    workspaces.push(workspaceId);
    return { runAlone } as Statements;
  };
  create = (hasGroupsByWorkspace) => {
    const database = { runAlone, forWorkspace, read: async () => [] };
    groups = createGroupCommit(database, { ...sqliteDialect, withChanges }, { hasGroupsByWorkspace });
  };
  create(false);
});

const addAll = (
  records: readonly CreateOf<typeof location>[],
  workspace = 'acme',
  references: Addition['references'] = new Map(),
) =>
  groups.add({
    ...creationOf(location, records).addition,
    references,
    workspaceId: numberOf(workspace),
    author: nobody,
    usage: { statements: 0 },
  });

const add = (name: string, workspace = 'acme') => addAll([{ name }], workspace);

const outcomesOf = async (additions: Promise<unknown>[]) =>
  (await Promise.allSettled(additions)).map((outcome) =>
    outcome.status === 'rejected' ? outcome.reason.message : outcome.value === undefined ? 'refused' : 'stored',
  );

/** Makes the database refuse statements with this name. */
const refuse = (refused: string, error: Error) => {
  run = (names) => {
    if (names.includes(refused)) throw error;
  };
};

test('additions that arrive together share one statement', async () => {
  expect(await outcomesOf([add('a'), add('b'), add('c')])).toEqual(['stored', 'stored', 'stored']);
  expect(statements).toEqual([['a', 'b', 'c']]);
});

test('an addition that arrives while a statement runs is in the next one', async () => {
  let second: Promise<unknown> | undefined;
  run = () => {
    second ??= add('b');
  };
  await add('a');
  await second;

  expect(statements).toEqual([['a'], ['b']]);
});

test('no addition is settled before its statement has ended', async () => {
  let isSettled = false;
  run = async () => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(isSettled).toBe(false);
  };
  await Promise.all(['a', 'b'].map((name) => add(name).then(() => (isSettled = true))));

  expect(isSettled).toBe(true);
});

test('additions of another kind are in another statement', async () => {
  const wall = groups.add({
    ...creationOf(project, [{ name: 'wall' }]).addition,
    workspaceId: numberOf('acme'),
    author: nobody,
    usage: { statements: 0 },
  });
  await Promise.all([add('a'), wall, add('b')]);

  expect(statements).toEqual([['wall'], ['a', 'b']]);
});

test('an addition that the database refuses does not fail the others', async () => {
  refuse('taken', new DatabaseError('taken'));

  expect(await outcomesOf([add('a'), add('b'), add('taken'), add('c')])).toEqual([
    'stored',
    'stored',
    'refused',
    'stored',
  ]);
  expect(statements).toEqual([['a', 'b', 'taken', 'c'], ['a', 'b'], ['taken', 'c'], ['taken'], ['c']]);
});

test('additions that refer to no record are found by lookups, and the others share one more statement', async () => {
  const lost = (name: string) => addAll([{ name }], 'acme', new Map([[project, ['project_1']]]));
  run = (names) => {
    if (names.some((name) => name.startsWith('lost'))) throw new DatabaseError('a reference has no record');
  };

  expect(await outcomesOf([add('a'), lost('lost 1'), add('b'), lost('lost 2'), add('c')])).toEqual([
    'stored',
    'refused',
    'stored',
    'refused',
    'stored',
  ]);
  expect(statements).toEqual([
    ['a', 'lost 1', 'b', 'lost 2', 'c'],
    ['a', 'b', 'c'],
  ]);
});

test.each([mayBeStored('perhaps', 'x'), mayBeStored('perhaps, it took too long', '57014'), unavailable('away', 'x')])(
  'when the outcome is unknown, or the database is unavailable, the whole group fails without a retry: $message',
  async (error) => {
    refuse('a', error);

    expect(await outcomesOf([add('a'), add('b')])).toEqual([error.message, error.message]);
    expect(statements).toEqual([['a', 'b']]);
  },
);

test('an addition whose workspace is being deleted is refused alone', async () => {
  refuse('a', new WorkspaceDeleted());

  expect(await outcomesOf(['a', 'b', 'c'].map((name) => add(name, name)))).toEqual(['refused', 'stored', 'stored']);
});

test('where each workspace has groups of its own, one does not wait for another', async () => {
  create(true);
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  run = (names) => names.includes('stuck') && released;
  const stuck = [add('stuck', 'a'), add('behind', 'a')];

  expect(await outcomesOf([add('b', 'b'), add('c', 'b')])).toEqual(['stored', 'stored']);
  release();

  expect(await outcomesOf(stuck)).toEqual(['stored', 'stored']);
  expect(statements).toEqual([
    ['stuck', 'behind'],
    ['b', 'c'],
  ]);
  expect(workspaces).toEqual(['a', 'b'].map(numberOf));
});

test('additions with long texts are spread over several statements', async () => {
  const long = (letter: string) => letter.repeat(3_000_000);

  await Promise.all([add(long('a')), add(long('b')), add('c')]);

  expect(statements.map((names) => names.length)).toEqual([2, 1]);
});

test('additions with many external IDs are spread over several statements', async () => {
  const externalIds = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`system ${n}`, 'x']));
  const records = Array.from({ length: 200 }, () => ({ name: 'many', externalIds }));

  await Promise.all([addAll(records), addAll(records), add('a')]);

  expect(statements.map((names) => names.length)).toEqual([201, 200]);
});

test('an addition of many records waits for the next statement, and small ones do not wait for it', async () => {
  const many = (count: number) => addAll(Array.from({ length: count }, () => ({ name: 'many' })));

  await Promise.all([add('a'), many(4_000), many(4_000), add('b')]);

  expect(statements.map((names) => names.length)).toEqual([4_002, 4_000]);
});

test('more records than a statement inserts are refused', async () => {
  expect(await addAll(Array.from({ length: 5_001 }, () => ({ name: 'many' })))).toBeUndefined();
  expect(statements).toEqual([]);
});
