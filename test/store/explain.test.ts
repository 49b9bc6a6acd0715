/** How the databases read what many requests read: through an index. Nothing is measured in time. */
import { beforeAll, expect, test } from 'vitest';
import type { RecordKind } from '../../src/model/record-kind.ts';
import type { ReverseLink } from '../../src/model/reverse-link.ts';
import { asset, assetCategory, location, project, reverseLinksOf, workOrder } from '../../src/records/index.ts';
import type { Database } from '../../src/store/database.ts';
import type { Order } from '../../src/store/query/record-query.ts';
import type { WorkspaceStore } from '../../src/store/workspace-store.ts';
import { isPostgres } from '../support/database.ts';
import { readPlan } from '../support/explain.ts';
import { inSteps } from '../support/insert.ts';
import { createRecords } from '../support/many-records.ts';
import { storeOpener } from '../support/open-store.ts';
import { openOwnDatabase } from '../support/own-database.ts';

let database: Database;
let store: WorkspaceStore;
let ids: ReadonlyMap<string, readonly string[]>;

beforeAll(async () => {
  const own = await openOwnDatabase();
  database = own.database;
  const openStore = storeOpener(database);
  ids = await createRecords(openStore('acme'), 10);
  await createRecords(openStore('other'), 40);
  store = openStore('acme');
  // SQLite has statistics from the start.
  if (isPostgres) await database.run('analyze');
  return own.close;
});

/** Runs some work, and returns how the database reads what it selects. */
async function explain(work: () => Promise<unknown>) {
  const sent: { readonly sql: string; readonly bindings: readonly unknown[] }[] = [];
  const record = (statement: (typeof sent)[number]) => sent.push(statement);
  database.knex.on('query', record);
  await work();
  database.knex.removeListener('query', record);
  const selects = sent.filter(({ sql }) => /^(?:select|with) /.test(sql) && !sql.includes('enable_seqscan'));
  expect(selects.length).toBeGreaterThan(0);
  const plans = [];
  for (const { sql, bindings } of selects) plans.push(await readPlan(database.run, sql, bindings));
  return { text: plans.map(({ text }) => text).join('\n'), fullReads: plans.flatMap(({ fullReads }) => fullReads) };
}

const some = (kind: RecordKind, count = 100) => (ids.get(kind.name) ?? []).slice(0, count);
const primaryKeyOf = (table: string) =>
  isPostgres ? `${table}_pkey` : `${table} USING PRIMARY KEY (workspace_id=? AND id`;

const link = (target: string, name: string): ReverseLink => {
  const found = reverseLinksOf(target).find((other) => other.name === name);
  if (!found) throw new Error(`there is no reverse link ${target}.${name}`);
  return found;
};

const by = (field: string, direction: 'asc' | 'desc' = 'asc'): { orderBy: readonly Order[]; limit: number } => ({
  orderBy: [{ field, direction }],
  limit: 20,
});
const position = { values: ['name 20000'], id: 'work_order_01h455vb4pex5vsknk084sn02q' };
const timePosition = { values: ['2022-01-01T00:00:00.000Z'], id: position.id };
const yard = { field: 'name', in: ['name 7919'] };

test.each<readonly [string, string, () => Promise<unknown>]>([
  [
    'the default order',
    primaryKeyOf('work_orders'),
    () => store.list(workOrder, { ...by('id'), after: { values: [], id: position.id } }),
  ],
  ['an order by a text', 'work_orders_name', () => store.list(workOrder, by('name'))],
  ['a page in the middle', 'work_orders_name', () => store.list(workOrder, { ...by('name'), after: position })],
  ['an order by a time', 'work_orders_start_date', () => store.list(workOrder, by('startDate', 'desc'))],
  [
    'a page before the middle',
    'work_orders_start_date',
    () => store.list(workOrder, { ...by('startDate', 'desc'), fromEnd: true, before: timePosition }),
  ],
  [
    'a text',
    'work_orders_reference',
    () => store.list(workOrder, { ...by('id'), where: { field: 'reference', in: ['reference 7919'] } }),
  ],
  [
    'a start of texts',
    'work_orders_reference',
    () => store.count(workOrder, { where: { field: 'reference', text: 'startsWith', value: 'reference 79' } }),
  ],
  [
    'a reference',
    'work_orders_status_id',
    () => store.list(workOrder, { ...by('id'), where: { field: 'statusId', in: ['statusId-7'] } }),
  ],
  [
    'a linked record',
    'locations_name',
    () => store.list(workOrder, { ...by('id'), where: { link: 'locationId', target: location, matches: yard } }),
  ],
  [
    'an external ID',
    'assets_external_ids',
    () => store.list(asset, { ...by('id'), where: { field: 'externalIds', key: 'erp', value: 'E-7' } }),
  ],
  ['IDs', primaryKeyOf('assets'), () => store.find(asset, some(asset))],
  [
    'pages behind a reverse link',
    'work_orders_project_id',
    () => store.pages(link('Project', 'workOrders'), some(project), { limit: 5, withCount: true }),
  ],
  [
    'ancestors',
    primaryKeyOf('record').replace('record_pkey', 'asset_categories_pkey'),
    () => store.pages(link('AssetCategory', 'ancestors'), some(assetCategory, 5), { limit: 5, withCount: true }),
  ],
  [
    'texts of an upsert',
    'work_orders_reference',
    () => inSteps(store, (steps) => steps.findByText(workOrder, 'reference', ['reference 7', 'reference 8'])),
  ],
  [
    'external IDs of an upsert',
    'assets_external_ids',
    () => inSteps(store, (steps) => steps.findByExternalId(asset, [{ key: 'erp', value: 'E-1' }])),
  ],
])('%s: read through %s', async (_, index, work) => {
  const { text, fullReads } = await explain(work);

  expect(text).toContain(index);
  expect(fullReads, text).toEqual([]);
});
