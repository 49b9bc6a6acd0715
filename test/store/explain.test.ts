/** How the databases read what many requests read: through an index. Nothing is measured in time. */
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Field } from '../../src/model/fields.ts';
import type { CreateOf, RecordKind } from '../../src/model/record-kind.ts';
import type { ReverseLink } from '../../src/model/reverse-link.ts';
import {
  asset,
  assetCategory,
  label,
  location,
  project,
  recordKinds,
  reverseLinksOf,
  workOrder,
} from '../../src/records/index.ts';
import type { Condition, RecordOrder } from '../../src/store/query/record-query.ts';
import { changeNumbers, changes, idempotencyResults } from '../../src/store/query/tables.ts';
import type { WorkspaceStore } from '../../src/store/workspace-store.ts';
import type { Tx } from '../../src/store/writes/tx.ts';
import { isPostgres } from '../support/database.ts';
import { inSteps, insert } from '../support/insert.ts';
import { storeOpener } from '../support/open-store.ts';
import { useSharedDatabase } from '../support/own-database.ts';

const database = useSharedDatabase();
let store: WorkspaceStore;
let ids: ReadonlyMap<string, readonly string[]>;

beforeAll(async () => {
  store = storeOpener(database)('acme');
  ids = await createRecords(store, 2_000);
  await createRecords(storeOpener(database)('other'), 500);
  // SQLite has statistics from the start.
  if (isPostgres) await database.run('analyze');
});

/** Creates so many records of each kind, with values of every field in no particular order. Returns their IDs. */
async function createRecords(store: WorkspaceStore, count: number): Promise<ReadonlyMap<string, readonly string[]>> {
  const ids = new Map<string, string[]>(recordKinds.map(({ name }) => [name, []]));
  // Each kind refers to those before it.
  for (const kind of new Set<RecordKind>([location, project, ...recordKinds])) {
    for (let start = 0; start < count; start += 500) {
      const inputs = Array.from({ length: 500 }, (_, n) => recordOf(kind, start + n, ids));
      // The cast is safe: the records are made from the kind's fields.
      const records = await insert(store, kind, inputs as CreateOf<RecordKind>[]);
      ids.get(kind.name)?.push(...records.map(({ id }) => id));
    }
  }
  return ids;
}

/** Some fields have no value, in other records for each field. */
const recordOf = (kind: RecordKind, index: number, ids: ReadonlyMap<string, readonly string[]>): object =>
  Object.fromEntries(
    Object.entries(kind.fields).map(([name, field], place) => [
      name,
      field.required || (index + place) % 10 > 0 ? exampleOf(name, field, index, ids) : null,
    ]),
  );

function exampleOf(name: string, field: Field, index: number, ids: ReadonlyMap<string, readonly string[]>): unknown {
  const scattered = (index * 7_919) % 40_000;
  switch (field.type) {
    case 'reference':
      return ids.get(field.target)?.[(index * 7) % 500] ?? null;
    case 'foreignReference':
      return `${name}-${index % 199}`;
    case 'number':
      return ((scattered / 40_000) * (field.max - field.min) + field.min) / 2;
    case 'boolean':
      return index % 2 === 0;
    case 'dateTime':
      return new Date(Date.UTC(2020, 0, 1) + scattered * 3_600_000).toISOString();
    case 'externalIds':
      return { erp: `E-${index}`, system: 'sap' };
    default:
      return `${name} ${scattered}`;
  }
}

/** Runs some work, and returns how the database reads what it selects. */
async function explain(work: () => Promise<unknown>) {
  const sent: { readonly sql: string; readonly bindings: readonly unknown[] }[] = [];
  const record = (statement: (typeof sent)[number]) => sent.push(statement);
  database.knex.on('query', record);
  await work();
  database.knex.removeListener('query', record);
  const selects = sent.filter(({ sql }) => /^(?:select|with) /.test(sql) && !sql.includes('enable_seqscan'));
  expect(selects.length).toBeGreaterThan(0);
  const plans: string[] = [];
  for (const { sql, bindings } of selects) plans.push(await planOf(sql, bindings));
  return plans.join('\n');
}

/** A table that is read from end to end: by its name, or by an alias that the store uses for tables; t0 is a page. */
const tables = [...recordKinds, changes, changeNumbers, idempotencyResults].map(({ table }) => table);
const fullRead = isPostgres
  ? /^Seq Scan .* × [1-9]/m
  : new RegExp(`^SCAN (?:${tables.join('|')}|t[1-9]\\d*|record|child)\\b|AUTOMATIC`, 'm');

const some = (kind: RecordKind, count = 100) => (ids.get(kind.name) ?? []).slice(0, count);
const primaryKeyOf = (table: string) =>
  isPostgres ? `${table}_pkey` : `${table} USING PRIMARY KEY (workspace_id=? AND id`;

const link = (target: string, name: string): ReverseLink => {
  const found = reverseLinksOf(target).find((other) => other.name === name);
  if (!found) throw new Error(`there is no reverse link ${target}.${name}`);
  return found;
};

const by = (field: string, direction: 'asc' | 'desc' = 'asc'): { orderBy: readonly RecordOrder[]; limit: number } => ({
  orderBy: [{ field, direction }],
  limit: 20,
});
const position = { values: ['name 20000'], id: 'work_order_01h455vb4pex5vsknk084sn02q' };
const timePosition = { values: ['2022-01-01T00:00:00.000Z'], id: position.id };

const orders = (query: object, order = by('id')) => store.list(workOrder, { ...order, ...query });
const matches = (kind: RecordKind, criteria: Parameters<Tx['findMatches']>[1], except?: string[]) =>
  inSteps(store, (steps) => steps.findMatches(kind, criteria, except));
const erp = { by: { externalId: 'erp' }, text: 'E-1' };
const filteredPages = (where: Condition) =>
  store.pages(link('Project', 'workOrders'), some(project), { where, limit: 5, withCount: true });

test.each<readonly [string, string, () => Promise<unknown>]>([
  ['the default order', primaryKeyOf('work_orders'), () => orders({ after: { values: [], id: position.id } })],
  ['an order by a text', 'work_orders_name', () => orders({}, by('name'))],
  ['a page in the middle', 'work_orders_name', () => orders({ after: position }, by('name'))],
  ['an order by a time', 'work_orders_start_date', () => orders({}, by('startDate', 'desc'))],
  [
    'a page before the middle',
    'work_orders_start_date',
    () => orders({ fromEnd: true, before: timePosition }, by('startDate', 'desc')),
  ],
  ['a text', 'work_orders_reference', () => orders({ where: { field: 'reference', in: ['reference 7919'] } })],
  [
    'a start of texts',
    'work_orders_reference',
    () => store.count(workOrder, { where: { field: 'reference', text: 'startsWith', value: 'reference 79' } }),
  ],
  ['a reference', 'work_orders_status_id', () => orders({ where: { field: 'statusId', in: ['statusId-7'] } })],
  [
    'a linked record',
    'locations_name',
    () => orders({ where: { link: 'locationId', target: location, matches: { field: 'name', in: ['name 7919'] } } }),
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
    'lists of each record filtered by a label',
    isPostgres ? "key = ('key '::text || work_orders.status_id)" : 'work_orders_project_id',
    () =>
      filteredPages({ link: 'statusId', target: label, keyPrefix: 'key ', matches: { field: 'name', isSet: true } }),
  ],
  [
    'lists of each record filtered by a link',
    isPostgres ? 'IS TRUE' : 'work_orders_project_id',
    () => filteredPages({ link: 'locationId', target: location, matches: { field: 'city', isSet: true } }),
  ],
  [
    'ancestors',
    primaryKeyOf('record').replace('record_pkey', 'asset_categories_pkey'),
    () => store.pages(link('AssetCategory', 'ancestors'), some(assetCategory, 5), { limit: 5, withCount: true }),
  ],
  [
    'texts of an upsert',
    'work_orders_reference',
    () =>
      matches(
        workOrder,
        ['7', '8'].map((n) => [{ by: { field: 'reference' }, text: `reference ${n}` }]),
      ),
  ],
  [
    'the labels of a page, as loaders read them',
    isPostgres ? 'labels_workspace_id_key_key' : 'sqlite_autoindex_labels_2',
    () => store.list(label, { ...by('key'), where: { field: 'key', in: ['key 0', 'key 7919', 'unknown'] }, limit: 3 }),
  ],
  ['external IDs of an upsert', 'assets_external_ids', () => matches(asset, [[erp]])],
  [
    'links by an external ID and a name, without records of the batch',
    'assets_external_ids',
    () => {
      const named = { by: { field: 'name' }, text: 'asset 7' };
      return matches(asset, [[named, erp, { by: { externalId: 'crm' }, text: null }]], [position.id]);
    },
  ],
])('%s: read through %s', async (_, index, work) => {
  const text = await explain(work);
  expect(text).toContain(index);
  expect(text).not.toMatch(fullRead);
  // Nor all rows of a workspace, to sort them.
  if (/^SEARCH .*\(workspace_id=\?\)$/m.test(text)) expect(text).not.toContain('TEMP B-TREE FOR ORDER BY');
});

test('an index that an operator creates as documented serves filters and orders at once', async () => {
  const statements = readFileSync('docs/commands.md', 'utf8').match(/^create index .*$/gm) ?? [];
  await database.run(statements.find((sql) => sql.includes('concurrently') === isPostgres) ?? '');
  const query = { limit: 2, fields: new Set(['city']) };

  for (const more of [{ where: { field: 'city', in: ['city 7919'] } }, by('city')]) {
    const text = await explain(() => store.list(location, { ...more, ...query }));
    expect(text).toContain('locations_city');
    expect(text).not.toContain('TEMP B-TREE FOR ORDER BY');
  }
});

describe('where many workspaces have the same texts', () => {
  const large = () => storeOpener(database)('large');
  const linked = (field: string, target: RecordKind, matches: Condition): Condition => ({
    link: field,
    target,
    matches,
  });
  const named = (name: string): Condition => ({ field: 'name', in: [name] });
  const orders = [by('id'), by('name')].map((order) => ({ ...order, limit: 5 }));

  /** Of indexes, without those that Postgres would have read if other records had matched. */
  async function indexesFor(where: Condition, order: (typeof orders)[number]): Promise<string> {
    const text = await explain(() => large().list(workOrder, { ...order, where }));
    return text.replaceAll(/.* 0 × 0$/gm, '');
  }

  beforeAll(async () => {
    const referenceOf = (n: number) => (n < 100 ? 'of 100' : n < 201 ? 'of 101' : 'of 799');
    const names = Array.from({ length: 1_000 }, (_, n) => ({ name: `${n}`, reference: referenceOf(n) }));
    const locations = await insert(large(), location, names);
    const rows = names.map((input, n) => ({ ...input, locationId: locations[n]?.id ?? null }));
    const links = (await insert(large(), project, rows)).map(({ id }) => ({ projectId: id }));
    for (let n = 0; n < 10; n += 1) await insert(large(), workOrder, links);
    for (let n = 0; n < 20; n += 1) {
      const small = storeOpener(database)(`small-${n}`);
      for (const kind of [location, project]) await insert(small, kind, Array(50).fill(names[7]));
    }
    if (isPostgres) await database.run('analyze');
  });

  test.each([
    ['a linked record', linked('projectId', project, named('7'))],
    ['one of some', linked('projectId', project, { all: [{ field: 'name', in: ['7', '8'] }, named('7')] })],
    ['a record behind two links', linked('projectId', project, linked('locationId', location, named('7')))],
  ])('that of %s is looked up first', async (_, where) => {
    for (const order of orders) {
      const indexes = await indexesFor({ all: [where, { field: 'statusId', isSet: false }] }, order);
      expect(indexes).toContain('work_orders_project_id');
      if (isPostgres) expect(indexes).toContain('(project_id = ANY');
      expect(indexes).not.toMatch(/work_orders_(?:pkey|name)/);
    }
  });

  test.each([100, 101])('pages have all records whose link leads to one of %d with the same text', async (count) => {
    const where = linked('projectId', project, { field: 'reference', in: [`of ${count}`] });
    for (const { orderBy } of [by('id', 'desc'), by('name')]) {
      const first = await large().list(workOrder, { orderBy, where, limit: 600 });
      const after = { values: [null], id: first.at(-1)?.id ?? '' };
      const rest = await large().list(workOrder, { orderBy, where, after, limit: 600 });

      expect(new Set([...first, ...rest].map(({ id }) => id)).size).toBe(count * 10);
      expect(first.length + rest.length).toBe(count * 10);
    }
  });

  test.runIf(isPostgres)('one that very many linked records have is looked for in the order of the page', async () => {
    const where = linked('projectId', project, { field: 'reference', in: ['of 799'] });
    for (const [order, index] of [
      [by('id'), 'pkey'],
      [by('name'), 'name'],
    ] as const) {
      const indexes = await indexesFor(where, order);

      expect(indexes).toContain(`work_orders_${index}`);
      expect(indexes).not.toContain('work_orders_project_id');
    }
  });
});

interface Node {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Filter?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly Plans?: readonly Node[];
  /** On a cluster, plans of the nodes that have the records. */
  readonly 'Distributed Query'?: { readonly Job: { readonly Tasks: readonly { readonly 'Remote Plan': Plans }[] } };
}
type Plans = readonly (readonly { readonly Plan: Node }[])[];

/** The steps of the plan of a statement, one in a line. */
async function planOf(sql: string, values: readonly unknown[]): Promise<string> {
  if (!isPostgres) {
    const steps = (await database.run(`explain query plan ${sql}`, values)).map(({ detail }) => String(detail));
    return steps
      .filter((step) => !steps.includes(step.replace(/^SCAN/, 'CO-ROUTINE')) || !/^SCAN/.test(step))
      .join('\n');
  }
  const explain = 'explain (analyze, format json, costs off, timing off, summary off)';
  const [row] = await database.run(`${explain} ${sql}`, values);
  const [{ Plan: top }] = JSON.parse(String(row?.['QUERY PLAN'])) as [{ readonly Plan: Node }];
  return nodesOf(top).map(described).join('\n');
}

const nodesOf = (node: Node): Node[] => {
  const remote = node['Distributed Query']?.Job.Tasks.flatMap((task) => task['Remote Plan'].flat()) ?? [];
  return [node, ...[...(node.Plans ?? []), ...remote.map(({ Plan }) => Plan)].flatMap(nodesOf)];
};

const described = (node: Node): string =>
  [
    ...[node['Node Type'], node['Relation Name'], node['Index Name'], node['Index Cond']],
    ...[node.Filter && `filter ${node.Filter}`, `${node['Actual Rows']} × ${node['Actual Loops']}`],
  ]
    .filter((part) => part !== undefined)
    .join(' ')
    // A cluster appends the number of a part of the table to names.
    .replace(/_\d{6}\b/g, '');
