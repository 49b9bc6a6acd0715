/** What the statements of queries are: one for any number of parents, limited to the workspace everywhere, at any size of a filter. */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ResponseTooLarge } from '../../src/errors.ts';
import type { ReverseLink } from '../../src/model/reverse-link.ts';
import { assetCategory, location, project, workOrder } from '../../src/records/index.ts';
import { reverseLinksOf } from '../../src/records/reverse-links.ts';
import type { Database } from '../../src/store/database.ts';
import type { Condition } from '../../src/store/query/condition.ts';
import type { PagesQuery } from '../../src/store/query/record-query.ts';
import type { WorkspaceStore } from '../../src/store/workspace-store.ts';
import { insert } from '../support/insert.ts';
import { storeOpener } from '../support/open-store.ts';
import { openOwnDatabase } from '../support/own-database.ts';

let database: Database;
let ours: WorkspaceStore;
let theirs: WorkspaceStore;
let statements: string[] = [];

beforeAll(async () => {
  const own = await openOwnDatabase();
  database = own.database;
  database.knex.on('query', ({ sql }: { sql: string }) => statements.push(sql));
  ours = storeOpener(database)('ours');
  theirs = storeOpener(database)('theirs');
  return own.close;
});

beforeEach(() => {
  statements = [];
});

function linkNamed(target: string, name: string): ReverseLink {
  const link = reverseLinksOf(target).find((other) => other.name === name);
  if (!link) throw new Error(`there is no reverse link ${target}.${name}`);
  return link;
}

const ordersOfProject = linkNamed('Project', 'workOrders');
const named = (name: string): Condition => ({ field: 'name', in: [name] });
const limits = { maxTextLength: 100, maxExternalIds: 10, maxRecordLength: 1_000, maxResponseLength: 5_000 };

/** Every form of condition that reads a table. */
const nested: Condition = {
  all: [
    { link: 'projectId', target: project, matches: { link: 'locationId', target: location, matches: named('yard') } },
    { not: { link: 'locationId', target: location, matches: named('elsewhere') } },
    {
      link: 'locationId',
      target: location,
      matches: {
        any: (['some', 'none', 'every'] as const).map((quantifier) => ({
          reverse: linkNamed('Location', 'projects'),
          quantifier,
          matches: { reverse: ordersOfProject, quantifier, matches: named('order') },
        })),
      },
    },
  ],
};

describe('one statement', () => {
  const orderBy = [{ field: 'startDate', direction: 'desc' }] as const;

  test.each<[string, PagesQuery]>([
    ['a page', { limit: 3, withCount: false }],
    ['the count', { withCount: true }],
    ['a filtered and ordered page with the count', { where: nested, orderBy, limit: 3, withCount: true }],
  ])('reads %s of one parent or of thousands, and has the same text', async (_, query) => {
    for (const count of [1, 10, 3_000]) {
      const parentIds = Array.from({ length: count }, (_, index) => `project_${index}`);
      expect((await ours.pages(ordersOfProject, parentIds, query)).size).toBe(count);
      await ours.within(limits).pages(ordersOfProject, parentIds, query);
    }

    expect(statements).toHaveLength(6);
    // One that reads, and one that also measures.
    expect(new Set(statements).size).toBeLessThanOrEqual(2);
  });

  test('reads nothing where there are no parents', async () => {
    expect(await ours.pages(ordersOfProject, [], { limit: 3, withCount: true })).toEqual(new Map());
    expect(statements).toEqual([]);
  });

  test('counts all groups', async () => {
    const groupBy = [
      { field: 'statusId', by: 'value' },
      { field: 'startDate', by: 'month' },
    ] as const;
    expect(await ours.summarize(workOrder, { where: nested, groupBy, limit: 10 })).toEqual({
      totalCount: 0,
      groups: [],
    });
    expect(statements).toHaveLength(1);
  });
});

test('every table that a statement reads is limited to the workspace', async () => {
  const children = linkNamed('AssetCategory', 'children');
  const ancestors = linkNamed('AssetCategory', 'ancestors');
  const orderBy = [{ field: 'startDate', direction: 'desc' }] as const;
  const isChild: Condition = { reverse: ancestors, quantifier: 'some', matches: named('Cranes') };
  await ours.list(workOrder, { where: nested, orderBy, limit: 5 });
  await ours.count(workOrder, { where: nested });
  await ours.summarize(workOrder, { where: nested, groupBy: [{ field: 'statusId', by: 'value' }], limit: 5 });
  await ours.list(assetCategory, { where: { any: [isChild, { not: isChild }] } });
  for (const link of [children, ancestors]) {
    for (const store of [ours, ours.within(limits)]) {
      await store.pages(link, ['category_1', 'category_2'], { where: isChild, limit: 50, withCount: true });
    }
  }

  for (const sql of statements) {
    const tables = sql.match(/(?:from|join) (?:work_orders|projects|locations|asset_categories|\(with)\b/g) ?? [];
    expect(sql.match(/\bworkspace_id = (?:\?|\$\d+)/g), sql).toHaveLength(tables.length);
  }
});

test('records of another workspace are never found through references to them', async () => {
  const [yard] = await insert(theirs, location, [{ name: 'yard' }]);
  const [wall] = await insert(theirs, project, [{ name: 'wall', locationId: yard?.id ?? '' }]);
  const [order] = await insert(ours, workOrder, [
    { name: 'order', locationId: yard?.id ?? '', projectId: wall?.id ?? '', statusId: 'shared' },
  ]);
  await insert(theirs, workOrder, [{ name: 'order', projectId: wall?.id ?? '', statusId: 'shared' }]);
  const anything: Condition = { all: [] };
  const found = async (where: Condition) => (await ours.list(workOrder, { where })).map(({ id }) => id);

  expect(await found({ link: 'locationId', target: location, matches: anything })).toEqual([]);
  expect(await found({ not: { link: 'locationId', target: location, matches: anything } })).toEqual([order?.id]);
  const pages = await ours.pages(linkNamed('Status', 'workOrders'), ['shared'], { limit: 5, withCount: true });
  expect(pages.get('shared')?.records.map(({ id }) => id)).toEqual([order?.id]);
  expect(pages.get('shared')?.count).toBe(1);
  expect(await ours.pages(linkNamed('Location', 'projects'), [yard?.id ?? ''], { limit: 5, withCount: true })).toEqual(
    new Map([[yard?.id, { records: [], count: 0 }]]),
  );
});

describe('a large filter', () => {
  // A database may look at the filter only where there are records.
  beforeAll(() => insert(ours, location, [{ name: `${'Kk\u212a*]'.repeat(300)}`, latitude: 1 }, {}]));

  const places = (where: Condition) =>
    ours.list(location, { where, limit: 5, orderBy: [{ field: 'city', direction: 'asc' }] });
  const many = (count: number) => Array.from({ length: count }, (_, index) => index);

  test.each<[string, Condition]>([
    ['a thousand alternatives', { any: many(1_000).map((index) => named(`${index}`)) }],
    ['a thousand conditions at once', { all: many(1_000).map((index) => ({ not: named(`${index}`) })) }],
    [
      'sixty levels',
      many(60).reduce<Condition>((inner) => ({ not: { all: [inner, { not: named('x') }] } }), named('x')),
    ],
    ['a thousand numbers', { field: 'latitude', in: many(1_000).map((index) => index / 7) }],
    [
      'a thousand texts in any case',
      { field: 'name', in: many(1_000).map((index) => (index < 20 ? `ä${index}` : `a${index}`)), ignoreCase: true },
    ],
    ...(['contains', 'startsWith', 'endsWith'] as const).flatMap((text): [string, Condition][] => [
      [
        `${text} with a thousand letters in any case`,
        { field: 'name', text, value: 'kK\u212a*]'.repeat(200), ignoreCase: true },
      ],
      [`${text} with a thousand characters`, { field: 'name', text, value: '\u{1F600}'.repeat(1_000) }],
    ]),
  ])('with %s runs', async (_, where) => {
    expect(Array.isArray(await places(where))).toBe(true);
  });
});

describe('pages of records that may be long', () => {
  const fields = new Set(['id', 'name', 'externalIds']);
  const parentIds = ['p0', 'p1', 'p2', 'p3'];
  const read = (query: Partial<PagesQuery>) =>
    ours.within(limits).pages(ordersOfProject, parentIds, { limit: 50, withCount: true, fields, ...query });

  beforeAll(async () => {
    const order = (index: number) => ({
      name: `order ${index}`,
      projectId: `p${index % 3}`,
      externalIds: { erp: 'ü'.repeat(index % 3 === 2 ? 2_000 : 20) },
    });
    await insert(
      ours,
      workOrder,
      Array.from({ length: 60 }, (_, index) => order(index)),
    );
  });

  test('are read in one statement if they are short, in their order, with the parents that have none', async () => {
    const where: Condition = { field: 'projectId', in: ['p0', 'p1'] };
    const pages = await read({ where, fromEnd: true, limit: 4 });

    expect([...pages].map(([id, { records, count }]) => [id, records.map((record) => record.name), count])).toEqual([
      ['p0', ['order 57', 'order 54', 'order 51', 'order 48'], 20],
      ['p1', ['order 58', 'order 55', 'order 52', 'order 49'], 20],
      ['p2', [], 0],
      ['p3', [], 0],
    ]);
    expect(statements).toHaveLength(1);
  });

  test('are rejected by one statement, which reads none of them, if they are too long', async () => {
    await expect(read({})).rejects.toThrow(ResponseTooLarge);

    expect(statements).toHaveLength(1);
    expect((await read({ fields: new Set(['id', 'name']) })).get('p2')?.records).toHaveLength(20);
  });
});
