/** Filters of lists: what each operator finds, through links too, and what is not a filter. */
import { beforeAll, describe, expect, test } from 'vitest';
import { useSharedService } from '../support/service.ts';

const service = useSharedService();

/** By name, which is also how results are compared. */
const ids: Record<string, string> = {};

beforeAll(async () => {
  const create = async (path: string, ...records: object[]) => {
    for (const { id, name } of await service.create(path, ...records)) ids[name] = id;
  };
  await create(
    '/locations',
    { name: 'North yard', city: 'Bremen', latitude: 53.08, longitude: 8.8, externalIds: { erp: '4711', crm: 'x' } },
    { name: 'South yard', city: 'Berlin', latitude: 52.52, longitude: 13.4, externalIds: { erp: '4712' } },
    { name: 'Straße', city: 'BREMEN', latitude: 53.09 },
    { name: 'nowhere' },
  );
  await create(
    '/projects',
    { name: 'Harbour wall', startDate: '2026-03-01', companyId: 'company-1', locationId: ids['North yard'] },
    { name: 'Bridge', startDate: '2026-04-15T12:00:00+02:00', companyId: 'company-2', locationId: ids['South yard'] },
    { name: 'Tunnel', locationId: 'ERP-LOCATION-2' },
  );
  await create(
    '/work-orders',
    { name: 'Set up the crane', projectId: ids['Harbour wall'], statusId: 'open' },
    { name: 'Pour concrete', projectId: ids['Harbour wall'], statusId: 'done' },
    { name: 'Survey', projectId: ids.Bridge, statusId: 'done' },
  );
  await create(
    '/assets',
    { name: 'Crane', trackUtilization: true },
    { name: 'Pump', trackUtilization: false },
    { name: 'Saw' },
  );
  await create('/asset-categories', { name: 'Machines' });
  await create('/asset-categories', { name: 'Cranes', parentId: ids.Machines });
  await create('/asset-categories', { name: 'Tower cranes', parentId: ids.Cranes });
});

async function found(list: string, where: string): Promise<string[]> {
  const data = await service.data(`{ ${list}(where: ${where}) { totalCount nodes { name } } }`);
  expect(data[list].totalCount).toBe(data[list].nodes.length);
  return data[list].nodes.map(({ name }: { name: string }) => name);
}

describe.each<[string, [where: string, names: string][]]>([
  [
    'locations',
    [
      ['{ name: { ne: "North yard" } }', 'South yard, Straße, nowhere'],
      ['{ name: { in: ["North yard", "nowhere", "North"] } }', 'North yard, nowhere'],
      ['{ name: { in: [] } }', ''],
      ['{ name: { contains: "yard" } }', 'North yard, South yard'],
      ['{ name: { startsWith: "no", ignoreCase: true } }', 'North yard, nowhere'],
      ['{ name: { endsWith: "YARD", ignoreCase: true } }', 'North yard, South yard'],
      ['{ city: { eq: "bremen", ignoreCase: true } }', 'North yard, Straße'],
      ['{ city: { isNull: true } }', 'nowhere'],
      ['{ latitude: { gt: 52.52, lte: 53.08 } }', 'North yard'],
      ['{ longitude: { ne: 8.8 } }', 'South yard, Straße, nowhere'],
      ['{ near: { latitude: 53, longitude: 9, withinKm: 30 } }', 'North yard'],
      ['{ externalIds: { key: "erp", value: "4711" } }', 'North yard'],
      ['{ externalIds: { key: "erp" } }', 'North yard, South yard'],
      ['{ externalIds: { isNull: true } }', 'Straße, nowhere'],
      ['{}', 'North yard, South yard, Straße, nowhere'],
      ['{ or: [] }', ''],
      ['{ or: [{ city: { eq: "Berlin" } }, { name: { eq: "nowhere" } }] }', 'South yard, nowhere'],
      ['{ and: [{ name: { contains: "a" } }, { not: { city: { eq: "Berlin" } } }] }', 'North yard, Straße'],
      ['{ projects: { every: { name: { eq: "Bridge" } } } }', 'South yard, Straße, nowhere'],
      ['{ projects: { some: { workOrders: { some: { statusId: { eq: "open" } } } } } }', 'North yard'],
    ],
  ],
  [
    'projects',
    [
      ['{ startDate: { gte: "2026-03-01", lt: "2026-04-01" } }', 'Harbour wall'],
      ['{ startDate: { in: ["2026-03-01", "2026-04-15T11:00:00+01:00"] } }', 'Harbour wall, Bridge'],
      ['{ location: { city: { eq: "Berlin" } } }', 'Bridge'],
      ['{ location: {} }', 'Harbour wall, Bridge'],
      ['{ not: { location: {} } }', 'Tunnel'],
      ['{ locationId: { eq: "ERP-LOCATION-2" } }', 'Tunnel'],
    ],
  ],
  [
    'workOrders',
    [
      ['{ project: { location: { city: { eq: "Bremen" } } } }', 'Set up the crane, Pour concrete'],
      ['{ createdBy: { isNull: true } }', 'Set up the crane, Pour concrete, Survey'],
    ],
  ],
  [
    'assets',
    [
      ['{ trackUtilization: { eq: true } }', 'Crane'],
      ['{ trackUtilization: { ne: true } }', 'Pump, Saw'],
    ],
  ],
  [
    'assetCategories',
    [
      ['{ children: { some: {} } }', 'Machines, Cranes'],
      ['{ ancestors: { some: { name: { eq: "Machines" } } } }', 'Cranes, Tower cranes'],
      ['{ parent: { parent: { name: { eq: "Machines" } } } }', 'Tower cranes'],
    ],
  ],
])('%s', (list, filters) => {
  test.each(filters)('where %s: %s', async (where, names) => {
    expect(await found(list, where)).toEqual(names === '' ? [] : names.split(', '));
  });
});

test('variables filter like literals: a whole filter, a part of it, a single value', async () => {
  const query = (type: string, where: string) =>
    `query ($v: ${type}) { locations(where: ${where}) { nodes { name } } }`;
  const names = async (type: string, where: string, v: unknown) =>
    (await service.data(query(type, where), { v })).locations.nodes.map(({ name }: { name: string }) => name);

  expect(await names('LocationFilter', '$v', { city: { eq: 'Berlin' } })).toEqual(['South yard']);
  expect(await names('TextFilter', '{ city: $v }', { eq: 'Berlin' })).toEqual(['South yard']);
  expect(await names('String', '{ not: { city: { eq: $v } } }', 'Berlin')).toEqual(['North yard', 'Straße', 'nowhere']);
  expect(await names('[String!]', '{ city: { in: $v } }', ['Berlin'])).toEqual(['South yard']);
  expect(await names('LocationFilter', '$v', null)).toHaveLength(4);
  expect(await names('LocationFilter', '$v', undefined)).toHaveLength(4);
});

const nullMessage =
  'expected a value, received null: leave it out, or use { isNull: true } for records without a value';

describe('what is not a filter is rejected, with where and what was expected', () => {
  test.each<[list: string, where: string, message: string]>([
    [
      'projects',
      '{ startDate: { in: ["2026-03-01", "2026-02-30"] } }',
      'where.startDate.in[1]: expected a day that exists, received "2026-02-30"',
    ],
    [
      'projects',
      '{ or: [{}, { not: { name: { eq: "a\\u0000" } } }] }',
      'where.or[1].not.name.eq: expected text without the character NUL, received "a\\u0000"',
    ],
    [
      'projects',
      '{ name: { in: ["a", "ü\ufffd"], ignoreCase: true } }',
      'where.name.in[1]: expected text without the characters U+FFFD to U+FFFF, which `ignoreCase` cannot tell apart, received "ü\ufffd"',
    ],
    ['projects', '{ location: { city: { contains: null } } }', `where.location.city.contains: ${nullMessage}`],
    ['projects', '{ location: null }', `where.location: ${nullMessage}`],
    ['projects', '{ workOrders: { some: null } }', `where.workOrders.some: ${nullMessage}`],
    ['projects', '{ name: { isNull: null } }', `where.name.isNull: ${nullMessage}`],
    [
      'projects',
      '{ externalIds: { value: "4711" } }',
      'where.externalIds: expected `key` with `value`, the name of the other system, received `value` alone',
    ],
    ['locations', '{ latitude: { gt: 1e999 } }', 'where.latitude.gt: expected a number, received Infinity'],
  ])('%s where %s', async (list, where, message) => {
    const { status, body } = await service.graphql(`{ ${list}(where: ${where}) { totalCount } }`);

    expect(status).toBeLessThan(500);
    // GraphQL itself rejects what does not fit the types, with its own code.
    const code = message.startsWith('where') ? 'BAD_USER_INPUT' : 'GRAPHQL_VALIDATION_FAILED';
    expect(body.errors[0]).toMatchObject({ message, extensions: { code } });
    expect(body.data ?? null).toBeNull();
  });
});

describe('the limits of a filter', () => {
  const query = 'query ($where: ProjectFilter) { projects(where: $where) { totalCount } }';
  const send = (where: object) => service.graphql(query, { where });
  const values = (count: number) => Array.from({ length: count }, (_, index) => `value ${index}`);

  test.each<[string, (count: number) => object, number, string]>([
    [
      'values of `in`',
      (n) => ({ name: { in: values(n) } }),
      1_000,
      'where.name.in: expected at most 1,000 values, received 1,001',
    ],
    [
      'characters of a pattern',
      (n) => ({ name: { contains: 'kK\u212a*]'.repeat(n / 5).padEnd(n, 'x'), ignoreCase: true } }),
      1_000,
      'where.name.contains: expected at most 1,000 characters, received more',
    ],
    [
      'characters of a text',
      (n) => ({ name: { eq: 'x'.repeat(n) } }),
      10_000,
      'where.name.eq: expected at most 10,000 characters, received more',
    ],
  ])('%s', async (_, where, limit, message) => {
    const [within, above] = [await send(where(limit)), await send(where(limit + 1))];

    expect(within.body).toMatchObject({ data: { projects: { totalCount: 0 } } });
    expect(above.body.errors).toMatchObject([{ message, extensions: { code: 'BAD_USER_INPUT' } }]);
  });

  test('too many conditions', async () => {
    const { status, body } = await send({ or: values(600).map((name) => ({ name: { eq: name } })) });

    expect([status, body.errors]).toMatchObject([
      200,
      [{ message: 'where: expected at most 1,000 values and conditions, received more' }],
    ]);
  });

  test.each<[string, object]>([
    [
      'alternatives that ignore case',
      { or: values(500).map((name) => ({ name: { contains: name, ignoreCase: true } })) },
    ],
    [
      'negations in negations',
      Array.from({ length: 20 }).reduce<object>((inner) => ({ not: inner }), { name: { eq: 'x' } }),
    ],
  ])('as many %s as are allowed', async (_, where) => {
    const { body } = await send(where);

    expect(body.errors).toBeUndefined();
    expect(body.data.projects.totalCount).toBeGreaterThanOrEqual(0);
  });
});
