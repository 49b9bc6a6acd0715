/** Workspaces that keep all of their connections busy make no other workspace wait, and neither the service's own statements. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { location } from '../../src/records/index.ts';
import { type Database, openDatabase } from '../../src/store/database.ts';
import { defaultOptions } from '../../src/store/database-settings.ts';
import { createDatabase, isPostgres } from '../support/database.ts';
import { byEffort } from '../support/effort.ts';
import { inSteps, insert } from '../support/insert.ts';
import { numberOf, storeOpener } from '../support/open-store.ts';

let database: Database;
let remove: () => Promise<void>;

/** Milliseconds. Slow statements run that long, unless their connection is taken back. */
const statementTimeout = 2_000;

/** How many connections for reading all workspaces together may hold. */
const connections = isPostgres ? 7 : 2;

beforeEach(async () => {
  const created = await createDatabase();
  remove = created.remove;
  database = await openDatabase(created.url, { ...defaultOptions, statementTimeout });
});

afterEach(async () => {
  await database.close();
  await remove();
});

const slow = isPostgres
  ? 'select pg_sleep(1000)'
  : 'with recursive n (i) as (select 1 union all select i + 1 from n where i < 1000000000) select count(*) from n';

/** Begins slow reads of several workspaces, more than there are connections. */
function keepBusy(workspaces: number) {
  const end = new AbortController();
  const reads = { ended: 0, stop: async () => {} };
  const all = Array.from({ length: workspaces * 10 }, (_, index) =>
    database
      .forWorkspace(numberOf(`busy${index % workspaces}`), end.signal)
      .read(slow)
      .catch(() => {})
      .finally(() => {
        reads.ended += 1;
      }),
  );
  reads.stop = async () => {
    end.abort();
    await Promise.all(all);
  };
  return reads;
}

test.each(byEffort({ small: [1, 5], long: [1, 2, 5] }))(
  'reads and writes go on while %i other workspaces read slowly',
  async (workspaces) => {
    const ours = storeOpener(database)('ours');
    const busy = keepBusy(workspaces);

    const [created] = await insert(ours, location, [{ name: 'yard' }]);
    expect(await ours.find(location, [created?.id ?? ''])).toHaveLength(1);
    await inSteps(ours, async (steps) => steps.add(location, [{ name: 'in a transaction' }]));
    expect(await ours.count(location)).toBe(2);

    expect(busy.ended).toBe(0);
    await busy.stop();
  },
);

test('statements of the service itself do not wait for workspaces', async () => {
  const busy = keepBusy(3);
  // Waits before those of the service are sent.
  const behind = database.forWorkspace(numberOf('ours')).read('select 1');

  const order: string[] = [];
  await Promise.all([
    behind.then(() => order.push('workspace')),
    database.read('select 1').then(() => order.push('service')),
    database.ping().then(() => order.push('ping')),
  ]);

  expect(order.at(-1)).toBe('workspace');
  await busy.stop();
});

test.each([
  { work: 'snapshot', attempted: 2 },
  // SQLite has one connection for writes, which is not taken back.
  { work: 'transaction', attempted: isPostgres ? 2 : 1 },
] as const)('a $work whose connection is taken back is repeated as a whole', async ({ work, attempted }) => {
  const end = new AbortController();
  const readSlowly = (workspace: string) =>
    database
      .forWorkspace(numberOf(workspace), end.signal)
      .read(slow)
      .catch(() => {});
  const reads = [readSlowly('oldest')];
  let attempts = 0;
  const ours = database.forWorkspace(numberOf('ours'))[work](async (run) => {
    attempts += 1;
    await run('select 1');
    // Longer than work may hold a connection that others wait for, unless it is the oldest.
    if (attempts === 1) for (let step = 0; step < 60; step += 1) await run('select 1').then(rest);
    return run('select 1 as one');
  });
  // The last one waits.
  for (let other = 0; other <= connections - 2; other += 1) reads.push(readSlowly(`other${other}`));

  expect(await ours).toEqual([{ one: 1 }]);
  expect(attempts).toBe(attempted);
  end.abort();
  await Promise.all(reads);
});

const rest = () => new Promise((resolve) => setTimeout(resolve, 10));
