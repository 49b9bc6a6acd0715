/**
 * How the databases read 100,000 records of a workspace: through an index where fields declare one, otherwise in one pass, without the
 * database's statistics and with them. Nothing is measured in time.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import type { RecordKind } from '../../src/model/record-kind.ts';
import type { ReverseLink } from '../../src/model/reverse-link.ts';
import { asset, location, project, recordKinds, workOrder } from '../../src/records/index.ts';
import { reverseLinksOf } from '../../src/records/reverse-links.ts';
import type { Database } from '../../src/store/database.ts';
import { columnName } from '../../src/store/query/columns.ts';
import type { Condition, Value } from '../../src/store/query/condition.ts';
import type { RecordQuery } from '../../src/store/query/record-query.ts';
import type { WorkspaceStore } from '../../src/store/workspace-store.ts';
import type { Lookups } from '../../src/store/writes/lookups.ts';
import { isPostgres } from '../support/database.ts';
import { type Plan, readPlan } from '../support/explain.ts';
import { inSteps } from '../support/insert.ts';
import { createRecords, sizes } from '../support/many-records.ts';
import { storeOpener } from '../support/open-store.ts';
import { openOwnDatabase } from '../support/own-database.ts';

let database: Database;
let store: WorkspaceStore;
let ids: ReadonlyMap<string, readonly string[]>;

beforeAll(async () => {
  const own = await openOwnDatabase();
  database = own.database;
  const openStore = storeOpener(database);
  ids = await createRecords(openStore('acme'), 1);
  await createRecords(openStore('other'), 10);
  store = openStore('acme');
  return own.close;
});

/**
 * Runs work that sends one statement, and returns the records that it found, and how the database reads them. Pages of ancestors send
 * one before it, which counts them.
 */
async function explain<T extends { readonly found: number }>(work: () => Promise<T>): Promise<T & Plan> {
  const sent: { readonly sql: string; readonly bindings: readonly unknown[] }[] = [];
  const record = (statement: (typeof sent)[number]) => {
    if (!/^begin|^commit|enable_seqscan/.test(statement.sql)) sent.push(statement);
  };
  database.knex.on('query', record);
  const result = await work();
  database.knex.removeListener('query', record);
  const most = sent.every(({ sql }) => sql.includes('recursive')) ? 2 : 1;
  if (sent.length < 1 || sent.length > most) throw new Error(`expected one statement, there were ${sent.length}`);
  const plans: Plan[] = [];
  for (const { sql, bindings } of sent) plans.push(await readPlan(database.run, sql, bindings));
  const fullReads = plans.flatMap((plan) => plan.fullReads);
  return { ...result, ...(plans.at(-1) as Plan), fullReads };
}

const list = (kind: RecordKind, query: RecordQuery) =>
  explain(async () => {
    const records: readonly object[] = await store.list(kind, { limit: 20, ...query });
    return { found: records.length };
  });

const find = (kind: RecordKind, size: number) =>
  explain(async () => {
    const all = ids.get(kind.name) ?? [];
    const wanted = Array.from({ length: size }, (_, index) => all[(index * 397) % all.length] ?? '');
    return { found: (await store.find(kind, wanted)).length };
  });

/** Work orders with their project and its location, and with their own location. */
const listLinked = (query: RecordQuery) =>
  explain(async () => {
    const fields = new Set(['id', 'name', 'locationId', 'projectId']);
    const toLocation = { field: 'locationId', kind: location, fields, links: [] };
    const links = [{ field: 'projectId', kind: project, fields, links: [toLocation] }, toLocation];
    const read = await store.within(limits).listLinked(workOrder, { limit: 20, fields, ...query }, links);
    return { found: read?.length ?? 0 };
  });

const limits = { maxTextLength: 100, maxExternalIds: 10, maxRecordLength: 1_000, maxResponseLength: 1_000_000 };

const count = (kind: RecordKind, where: Condition) =>
  explain(async () => ({ found: await store.count(kind, { where }) }));

const pages = (
  link: ReverseLink,
  parents: number,
  { withCount = false, ...query }: RecordQuery & { withCount?: boolean },
) =>
  explain(async () => {
    const read = await store.pages(link, parentsOf(link, parents), { limit: 5, withCount, ...query });
    return { found: [...read.values()].reduce((sum, { records }) => sum + records.length, 0) };
  });

/** IDs of records, or of what is kept elsewhere. The newest categories have parents, the oldest have children. */
function parentsOf({ target, field, direction }: ReverseLink, size: number): string[] {
  const stored = ids.get(target);
  const prefix = target === 'User' ? 'user' : field;
  return Array.from(
    { length: size },
    (_, index) => stored?.at(direction === 'ancestors' ? -1 - index : index) ?? `${prefix}-${index}`,
  );
}

/** Some rows are read in two indexes, or are left out by a second condition. */
const rowsPerRecord = 20;

/** As in rows.ts: what a filter finds is counted up to here. */
const mostSorted = 5_000;

/** A lookup by a key goes down an index of three levels, and then reads the row. */
const buffersPerRecord = 6;

/** What a filter finds is counted first. Some of it is left out by a second condition, or is looked up in another table. */
const buffersPerFiltered = 20;

/** Without statistics, records with an external ID are looked up in an index that ends with the ID. */
const buffersForExternalIds = 310;

function expectIndexed(plan: Plan & { found: number }, parents = 1, buffers = buffersPerRecord): void {
  const { text, fullReads, rowsRead = 0, buffersRead = 0, found } = plan;
  expect(found, text).toBeGreaterThan(0);
  expect(fullReads, text).toEqual([]);
  expect(rowsRead, text).toBeLessThanOrEqual(rowsPerRecord * (found + parents));
  const others = text.includes('external_ids') ? buffersForExternalIds : 0;
  expect(buffersRead, text).toBeLessThanOrEqual(buffers * (found + parents) + others);
}

const expectFiltered = (plan: Plan & { found: number }) => expectIndexed(plan, 1, buffersPerFiltered);

/** Each record of the page is one of four that are looked up. */
const expectLinked = (plan: Plan & { found: number }) => expectIndexed(plan, 1, 4 * buffersPerRecord);

const targets = new Set(
  recordKinds.flatMap(({ storedFields }) =>
    Object.values(storedFields).flatMap((field) => ('target' in field ? [field.target] : [])),
  ),
);
const links = [...targets].flatMap(reverseLinksOf).map((link) => [`${link.target}.${link.name}`, link] as const);

const isIndexed = (kind: RecordKind, field: string): boolean => kind.storedFields[field]?.indexed === true;

/** By all fields but IDs and references. */
const orders = recordKinds.flatMap((kind) =>
  Object.entries(kind.storedFields)
    .filter(([, { type }]) => ['text', 'number', 'boolean', 'dateTime'].includes(type))
    .map(([field]) => [`${kind.pluralLabel} by ${field}`, kind, field] as const),
);
const ordersOfIndexes = orders.filter(([, kind, field]) => isIndexed(kind, field));
const otherOrders = orders.filter(([, kind, field]) => !isIndexed(kind, field));

/** The rows of a table, with those of the other workspace: Postgres may read both, where it reads most of the table. */
const rowsOf = (kind: RecordKind): number => 1.1 * (sizes.get(kind) ?? 0);

/** How SQLite describes that it reads a table from end to end, or makes an index of its own. */
const scan = new RegExp(`^SCAN (?:${recordKinds.map(({ table }) => table).join('|')}|t\\d)\\b|AUTOMATIC`, 'm');

/** Reads each row of these kinds at most once, and a page by its IDs. */
function expectOnePass(plan: Plan & { found: number }, kinds: readonly RecordKind[]): void {
  const { text, tableRowsRead = 0, readsInOrder, found } = plan;
  expect(found, text).toBeGreaterThan(0);
  expect(tableRowsRead, text).toBeLessThanOrEqual(kinds.reduce((sum, kind) => sum + rowsOf(kind), 0) + found);
  for (const step of readsInOrder) expect(step, text).toContain('USING PRIMARY KEY');
  expect(new Set(readsInOrder).size, text).toBe(readsInOrder.length);
  expect(text).not.toMatch(scan);
}

const linkOf = (target: string, name: string): ReverseLink => {
  const link = reverseLinksOf(target).find((it) => it.name === name);
  if (!link) throw new Error(`${target} has no ${name}`);
  return link;
};

const among = (field: string, ...values: string[]): Condition => ({ field, in: values });
const between = (field: string, from: Value, to: Value): Condition => ({
  all: [
    { field, compare: 'gte', value: from },
    { field, compare: 'lt', value: to },
  ],
});
const erp = (value: string): Condition => ({ field: 'externalIds', key: 'erp', value });

const filters: readonly (readonly [string, RecordKind, Condition])[] = [
  ['by status', workOrder, among('statusId', 'statusId-7')],
  ['by name', workOrder, among('name', 'name 7919')],
  ['by some names', workOrder, among('name', 'name 7919', 'name 2', 'name 3')],
  ['by the beginning of the name', asset, { field: 'name', text: 'startsWith', value: 'name 791' }],
  ['by reference', workOrder, among('reference', 'reference 7919')],
  ['by uid', asset, among('uid', 'uid 7919')],
  ['by a day of the start', workOrder, between('startDate', '2021-01-01T00:00:00.000Z', '2021-01-02T00:00:00.000Z')],
  ['by latitude', location, between('latitude', 10, 10.1)],
  ['by city', location, among('city', 'city 7')],
  [
    'by status and a time of the end',
    workOrder,
    { all: [among('statusId', 'statusId-7'), { field: 'endDate', compare: 'gt', value: '2020-06-01T00:00:00.000Z' }] },
  ],
  ['by external ID', asset, erp('E-777')],
  ['by place', location, { near: { latitude: 0, longitude: 0, withinKm: 20 } }],
  [
    'by the city of the location',
    workOrder,
    { link: 'locationId', target: location, matches: among('city', 'city 7') },
  ],
  [
    'by the name of the location',
    workOrder,
    { link: 'locationId', target: location, matches: among('name', 'name 7919') },
  ],
  [
    'by the beginning of the name of the project',
    workOrder,
    { link: 'projectId', target: project, matches: { field: 'name', text: 'startsWith', value: 'name 3167' } },
  ],
  ['by an external ID of the project', workOrder, { link: 'projectId', target: project, matches: erp('E-777') }],
  [
    'that have a work order',
    project,
    { reverse: linkOf('Project', 'workOrders'), quantifier: 'some', matches: among('reference', 'reference 7919') },
  ],
];

/** Whether there is an index for one of the conditions that must hold. */
function isServed(kind: RecordKind, condition: Condition): boolean {
  if ('all' in condition) return condition.all.some((part) => isServed(kind, part));
  if ('near' in condition) return isIndexed(kind, 'latitude');
  if ('link' in condition) return isServed(condition.target as RecordKind, condition.matches);
  if ('reverse' in condition) return isServed(condition.reverse.kind, condition.matches);
  return 'field' in condition && isIndexed(kind, condition.field);
}

const servedFilters = filters.filter(([, kind, where]) => isServed(kind, where));
const otherFilters = filters.filter(([, kind, where]) => !isServed(kind, where));

test('there are filters and orders with an index and without', () => {
  for (const cases of [ordersOfIndexes, otherOrders, servedFilters, otherFilters]) {
    expect(cases.length).toBeGreaterThan(3);
  }
});

/** How SQLite describes that it begins to read an index at a position; Postgres counts the rows that it reads. */
const searchFrom = (column: string): RegExp =>
  new RegExp(String.raw`workspace_id=\? AND (?:\(${column},id\)[<>]\(\?,\?\)|${column}=\? AND id[<>]\?)`);

describe.each(['without statistics', 'with statistics'])('%s', (statistics) => {
  beforeAll(async () => {
    if (statistics === 'with statistics') await database.run('analyze');
  });

  test.each(links)('%s are read through the index of the reference', async (_, link) => {
    for (const parents of [1, 100]) {
      expectIndexed(await pages(link, parents, {}), parents);
      expectIndexed(await pages(link, parents, { fromEnd: true }), parents);
      expect((await pages(link, parents, { withCount: true })).fullReads).toEqual([]);
    }
  });

  test.each(ordersOfIndexes)('pages of %s are read in the order of an index', async (_, kind, field) => {
    for (const direction of ['asc', 'desc'] as const) {
      const orderBy = [{ field, direction }];
      // Assets without a uid are in no order of their own.
      for (const fromEnd of field === 'uid' ? [false] : [false, true]) {
        const fields = new Set(['id', field]);
        const first: readonly object[] = await store.list(kind, { orderBy, limit: 2_000, fromEnd, fields });
        const last = first.at(-1) as Readonly<Record<string, string>>;
        const position = { values: [last[field] ?? null], id: String(last.id) };

        expectIndexed(await list(kind, { orderBy, fromEnd }));
        const page = await list(kind, { orderBy, fromEnd, [fromEnd ? 'before' : 'after']: position });
        expectIndexed(page);
        if (!isPostgres) expect(page.text).toMatch(searchFrom(columnName(field)));
      }
    }
  });

  test.each(otherOrders)('pages of %s are found in one pass', async (_, kind, field) => {
    const fields = new Set(['id', field]);
    for (const direction of ['asc', 'desc'] as const) {
      const query = { orderBy: [{ field, direction }], fields };
      const [last] = (await store.list(kind, { ...query, limit: 1 })) as readonly Readonly<Record<string, string>>[];
      const after = { values: [last?.[field] ?? null], id: String(last?.id) };
      for (const page of [{}, { after }, { fromEnd: true }]) {
        const plan = await list(kind, { ...query, ...page });
        expectOnePass(plan, [kind]);
        // Only IDs are sorted: with whole rows, SQLite took ten times as long.
        if (!isPostgres) expect(plan.text).toContain('LEFT-JOIN');
      }
    }
  });

  test.each(otherFilters)('records %s are found in one pass, in any order', async (_, kind, where) => {
    const kinds = 'link' in where ? [kind, where.target as RecordKind] : [kind];
    expectOnePass(await count(kind, where), kinds);
    expectOnePass(await list(kind, { where }), kinds);
    if ('link' in where || 'near' in where) return;
    for (const field of ['createdAt', 'address1']) {
      expectOnePass(await list(kind, { where, orderBy: [{ field, direction: 'asc' }] }), kinds);
    }
    const byName = await list(kind, { where, orderBy: [{ field: 'name', direction: 'asc' }] });
    expectOnePass(byName, kinds);
    // Not in the order of the names, in which each record is looked up by its ID.
    if (!isPostgres) expect(byName.text).toContain('MATERIALIZE found');
  });

  test.each(servedFilters)('records %s are read through an index', async (_, kind, where) => {
    const found = await list(kind, { where });
    expectFiltered(found);
    expect(found.readsInOrder, found.text).toEqual([]);
    expectFiltered(await count(kind, where));
  });

  test('a filter that matches nothing reads nothing', async () => {
    const nothing = { any: [] };
    const plans = [
      await count(workOrder, nothing),
      await list(workOrder, { where: nothing }),
      await list(workOrder, { where: nothing, orderBy: [{ field: 'createdAt', direction: 'desc' }] }),
      await list(workOrder, { where: nothing, orderBy: [{ field: 'name', direction: 'asc' }] }),
    ];

    for (const { text, buffersRead = 0, rowsRead = 0 } of plans) {
      expect(rowsRead, text).toBe(0);
      expect(buffersRead, text).toBeLessThanOrEqual(buffersPerRecord);
    }
  });

  test.each(servedFilters)('records %s are read through an index in another order too', async (_, kind, where) => {
    for (const field of ['createdAt', JSON.stringify(where).includes('name') ? 'updatedAt' : 'name']) {
      for (const direction of ['asc', 'desc'] as const) {
        expectFiltered(await list(kind, { where, orderBy: [{ field, direction }] }));
      }
    }
  });

  test.each([
    ['work orders by startDate', workOrder, 'startDate', 'name'],
    ['assets by name', asset, 'name', 'uid'],
    ['work orders by name', workOrder, 'name', 'notes'],
  ] as const)('many found %s are read in their order', async (_, kind, field, filtered) => {
    const mostFound = isIndexed(kind, filtered) ? mostSorted + 1 : rowsOf(kind);
    const where: Condition = { field: filtered, text: 'startsWith', value: filtered };
    const inOrder = new RegExp(`CO-ROUTINE many\\n(?:.*\\n)*.*${columnName(field)} \\(workspace_id`);
    for (const direction of ['asc', 'desc'] as const) {
      for (const fromEnd of [false, true]) {
        const query = { orderBy: [{ field, direction }], fromEnd, fields: new Set(['id', filtered, field]) };
        const all: readonly object[] = await store.list(kind, { ...query, limit: 2_000 });
        const rows = all as readonly Readonly<Record<string, string | null>>[];
        for (const start of [0, 1_000]) {
          const last = rows[start - 1];
          const position = last && { values: [last[field] ?? null], id: String(last.id) };
          const page = { ...query, where, limit: 20, [fromEnd ? 'before' : 'after']: position };
          const expected = rows.slice(start).filter((row) => row[filtered] !== null);
          expect(await store.list(kind, page)).toEqual(expected.slice(0, 20));

          const { fullReads, tableRowsRead = 0, text } = await list(kind, page);
          expect(fullReads, text).toEqual([]);
          expect(tableRowsRead, text).toBeLessThanOrEqual(mostFound + 20 * rowsPerRecord);
          if (!isPostgres) expect(text).toMatch(inOrder);
        }
      }
    }
  });

  test('few records that a filter finds are sorted, whatever the order', async () => {
    const where: Condition = { field: 'startDate', compare: 'gt', value: '2024-07-23T12:00:00.000Z' };
    const plan = await list(workOrder, { where, orderBy: [{ field: 'updatedAt', direction: 'desc' }] });
    expectFiltered(plan);
    expect(plan.readsInOrder, plan.text).toEqual([]);
  });

  test.each([1, 100, 1_000])('%d records are found by what other systems know them by', async (size) => {
    const numbers = Array.from({ length: size }, (_, index) => index * 7);
    const findEach = (search: (steps: Lookups) => Promise<readonly (readonly string[])[]>) =>
      explain(() => inSteps(store, async (inside) => ({ found: (await search(inside)).flat().length })));

    for (const [kind, field] of [
      [asset, 'uid'],
      [workOrder, 'reference'],
    ] as const) {
      const texts = numbers.map((n) => `${field} ${(n * 7_919) % 40_000}`);
      const found = await findEach((inside) => inside.findByText(kind, field, texts));
      expectIndexed(found, size);
      expect(found.readsInOrder, found.text).toEqual([]);
    }
    const externalIds = numbers.map((n) => ({ key: 'erp', value: `E-${n}` }));
    expectIndexed(await findEach((inside) => inside.findByExternalId(asset, externalIds)), size, buffersPerFiltered);
  });

  test.each([1, 5, 20, 100])('%d records are found by their IDs', async (size) => {
    for (const kind of recordKinds) {
      const found = await find(kind, size);
      expectIndexed(found);
      expect(found.readsInOrder, found.text).toEqual([]);
    }
  });

  test('what a page links to is found by its IDs', async () => {
    expectLinked(await listLinked({}));
    expectLinked(await listLinked({ orderBy: [{ field: 'startDate', direction: 'desc' }] }));
    expectLinked(await listLinked({ where: among('statusId', 'statusId-7') }));
  });

  test('a filtered summary reads only the records that match', async () => {
    const groupBy = [{ field: 'startDate', by: 'month' }] as const;
    const summary = await explain(async () => {
      const { totalCount } = await store.summarize(workOrder, {
        where: among('statusId', 'statusId-7'),
        groupBy,
        limit: 100,
      });
      return { found: totalCount };
    });

    expectFiltered(summary);
    expect(summary.readsInOrder, summary.text).toEqual([]);
  });
});

describe('for a deletion', () => {
  test('finds all that refers to 100 projects', async () => {
    const link = linkOf('Project', 'workOrders');

    expectIndexed(await pages(link, 100, { where: { all: [] }, limit: 10_000, fields: new Set(['id']) }), 100);
  });

  test('counts what refers to 1,000 categories, except for what is deleted too', async () => {
    const link = linkOf('AssetCategory', 'children');
    const deleted = parentsOf(link, 1_000);
    const where: Condition = { not: among('id', ...deleted) };

    expectIndexed(await pages(link, 1_000, { where, withCount: true, limit: 3 }), 4_000);
  });
});

test('finds the ancestors of 1,000 categories at once', async () => {
  const link = linkOf('AssetCategory', 'ancestors');

  const plan = await explain(async () => {
    const found = await inSteps(store, (inside) => inside.ancestors(link, parentsOf(link, 1_000), 10_000));
    return { found: found.size };
  });

  expectIndexed(plan, 1_000, 2 * buffersPerRecord);
});
