/**
 * How the databases read the log of changes, and records to be changed: through an index, in empty tables and in large ones, without the
 * database's statistics and with them. Nothing is measured in time.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ReverseLink } from '../../src/model/reverse-link.ts';
import { asset, location } from '../../src/records/index.ts';
import { reverseLinksOf } from '../../src/records/reverse-links.ts';
import { type Database, openDatabase } from '../../src/store/database.ts';
import { lastChanges } from '../../src/store/log/read-changes.ts';
import { changeNumbers } from '../../src/store/query/tables.ts';
import type { WorkspaceStore } from '../../src/store/workspace-store.ts';
import { findIdempotencyResults } from '../../src/store/writes/idempotency.ts';
import { createDatabase, isPostgres } from '../support/database.ts';
import { type Plan, readPlan } from '../support/explain.ts';
import { dry, inSteps, insert, type Steps } from '../support/insert.ts';
import { numberOf, storeOpener } from '../support/open-store.ts';

let database: Database;
/** On connections of its own: on SQLite's, a write that was explained would count as one that is still running. */
let explaining: Database;
let store: WorkspaceStore;
let remove: () => Promise<void>;
/** Of records that were created in batches of five, and of which each was changed twice. */
let ids: string[] = ['location_01h455vb4pex5vsknk084sn02q'];

beforeAll(async () => {
  const created = await createDatabase();
  remove = created.remove;
  database = await openDatabase(created.url);
  explaining = await openDatabase(created.url);
  store = storeOpener(database)('acme');
});

afterAll(async () => {
  await explaining.close();
  await database.close();
  await remove();
});

const batches = 1_000;

/** A record that was changed 5,000 times, each second once. */
const manyVersions = 'location_01h455vb4pex5vsknk084sn02r';
const second = isPostgres
  ? `timestamptz '2026-03-01T00:00:00Z' + i * interval '1 second'`
  : `strftime('%Y-%m-%dT%H:%M:%fZ', '2026-03-01', i || ' seconds')`;

async function fill(workspace: WorkspaceStore): Promise<string[]> {
  const created = await Promise.all(
    Array.from({ length: batches }, () => insert(workspace, location, [{}, {}, {}, {}, {}])),
  );
  const all = created.flat().map(({ id }) => id);
  for (const day of ['02', '03']) {
    await inSteps(workspace, async (steps) => {
      const found = await steps.findToUpdate(location, all);
      const changed = { name: `on day ${day}`, updatedAt: `2026-03-${day}T00:00:00.000Z` };
      await steps.update(
        location,
        found.map((before) => ({ before, after: { ...before, ...changed } })),
      );
    });
  }
  return all;
}

/** How the database runs each statement of some work that reads or changes rows. */
async function plansOf(work: () => Promise<unknown>): Promise<Plan[]> {
  const sent: { readonly sql: string; readonly bindings: readonly unknown[] }[] = [];
  const record = (statement: (typeof sent)[number]) => sent.push(statement);
  database.knex.on('query', record);
  await work();
  database.knex.removeListener('query', record);
  const plans: Plan[] = [];
  for (const { sql, bindings } of sent.filter((statement) => /^(?:select|update|delete) /.test(statement.sql))) {
    plans.push(await readPlan(explaining.run, sql, bindings));
  }
  return plans;
}

const limits = { maxTextLength: 100, maxExternalIds: 10, maxRecordLength: 1_000, maxResponseLength: 1_000_000 };

/** A lookup by a key reads at most some rows, and goes down an index of three levels. A change also goes down all other indexes. */
const perLookup = { rows: 4, buffers: 20 };

const some = (count: number) => Array.from({ length: count }, (_, n) => ids[(n * 397) % ids.length] ?? '');
const middle = () => Math.floor(ids.length * 1.5) - 1;

/** As the process itself reads. */
const reading = () => ({ dialect: database.dialect, run: database.read });

/** Each with the number of rows that it needs to look up. */
const reads: readonly (readonly [string, number, () => Promise<unknown>])[] = [
  ['the last change', 1, () => store.lastChange()],
  ['the last changes of workspaces', 3, () => lastChanges(reading(), ['acme', 'other', 'workspace-7'].map(numberOf))],
  ['a page of the feed', 50, () => store.changes({ after: middle(), limit: 50, withBefore: true })],
  [
    'a page of the feed with one kind',
    50,
    () => store.changes({ after: middle(), limit: 50, kinds: ['Location'], withBefore: true }),
  ],
  ['the histories of records', 20 * 4, () => store.within(limits).histories(some(20), { limit: 5, withBefore: true })],
  [
    'a page of some kinds',
    60,
    () => store.within(limits).changePage({ after: middle(), limit: 50, kinds: ['Location'], withBefore: false }),
  ],
  [
    'earlier versions',
    20 * 3,
    () =>
      store.versions(
        location,
        some(20).map((id) => ({ id, number: middle() })),
      ),
  ],
  [
    'results of requests',
    3,
    () =>
      findIdempotencyResults({ ...reading(), workspaceId: numberOf('acme'), workspaceName: 'acme' }, [
        'key 1',
        'key 2',
        'key 7000',
      ]),
  ],
  // The number of its changes is halved until one is left.
  ['a version at a time', 12, () => store.versionAt(location, some(1)[0] ?? '', '2026-03-02T12:00:00.000Z')],
  ['one of many versions', 30, () => store.versionAt(location, manyVersions, '2026-03-01T00:45:00.000Z')],
];

const assetsAt = () =>
  reverseLinksOf('Location').find(({ kind, direction }) => kind === asset && direction === 'referring') as ReverseLink;

class RolledBack extends Error {}

/** Runs the work in a transaction of which nothing is stored. */
async function rolledBack(work: (steps: Steps) => Promise<unknown>): Promise<void> {
  const transaction = inSteps(store, async (steps) => {
    await work(steps);
    throw new RolledBack();
  });
  await expect(transaction).rejects.toThrow(RolledBack);
}

const writes: readonly (readonly [string, number, () => Promise<unknown>])[] = [
  [
    'records that are changed',
    2 * 20,
    () =>
      rolledBack(async (steps) => {
        const found = await steps.findToUpdate(location, some(20));
        const pairs = found.map((before) => ({ before, after: { ...before, name: before.id } }));
        await steps.update(location, pairs);
      }),
  ],
  [
    'records that are deleted',
    2 * 20,
    () => rolledBack(async (steps) => steps.delete(location, await steps.findToDelete(location, some(20)), '')),
  ],
  [
    'records whose references are cleared',
    20,
    () => inSteps(dry(store), (steps) => steps.findReferring(assetsAt(), some(20), 10)),
  ],
];

function expectIndexed(plans: readonly Plan[], lookups: number): void {
  for (const { text, fullReads, readsInOrder, rowsRead = 0, buffersRead = 0 } of plans) {
    expect(fullReads, text).toEqual([]);
    // Of the table with one row for each workspace, this is all that there is to look for.
    expect(
      readsInOrder.filter((step) => !step.includes(changeNumbers.table)),
      text,
    ).toEqual([]);
    expect(rowsRead, text).toBeLessThanOrEqual(perLookup.rows * lookups);
    expect(buffersRead, text).toBeLessThanOrEqual(perLookup.buffers * lookups + 20);
  }
}

describe.each(['in empty tables', 'without statistics', 'with statistics'])('%s', (circumstances) => {
  beforeAll(async () => {
    if (circumstances === 'without statistics') {
      ids = await fill(store);
      await fill(storeOpener(database)('other'));
      for (const workspace of ['acme', 'other']) {
        const assets = ids.map((currentLocationId) => ({ name: 'Crane', currentLocationId }));
        await insert(storeOpener(database)(workspace), asset, assets);
      }
      // So many that an index is worth while.
      await database.run(`insert into change_numbers (workspace_id, number) with recursive n (i) as (
        select 1 union all select i + 1 from n where i < 2000) select ${numberOf('workspace-7')} + i - 7, i from n`);
      await database.run(`insert into idempotency_keys (workspace_id, operation, key, request_hash, created_at, result)
        with recursive n (i) as (select 1 union all select i + 1 from n where i < 10000)
        select case when i % 2 = 0 then ${numberOf('acme')} else ${numberOf('other')} end, 'POST /assets', 'key ' || i, '', ${isPostgres ? 'timestamptz ' : ''}'2026-03-01T00:00:00.000Z', ${isPostgres ? 'json ' : ''}'{}' from n`);
      await database.run(`insert into changes (workspace_id, number, kind, action, first_id, records, at)
        with recursive n (i) as (select 1 union all select i + 1 from n where i < 5000)
        select ${numberOf('acme')}, 1000000 + 7 * i, 'Location', 'updated', '${manyVersions}', 1, ${second} from n`);
    }
    if (circumstances === 'with statistics') await database.run('analyze');
  });

  test.each([...reads, ...writes])('an index finds %s', async (_, lookups, work) => {
    const plans = await plansOf(work);

    expect(plans.length).toBeGreaterThan(0);
    expectIndexed(plans, lookups);
  });
});
