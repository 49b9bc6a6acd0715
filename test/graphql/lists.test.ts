/** What is refused in the arguments of lists and look-ups, and what they cost. query-model.test.ts has what valid ones return. */
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { filterCost, parseFilter } from '../../src/graphql/schema/filter.ts';
import { asset } from '../../src/records/index.ts';
import { startForTest, useSharedService, useWorkspaces } from '../support/service.ts';

const service = useWorkspaces();
const shared = useSharedService();

const numbered = (count: number, from = 0) => Array.from({ length: count }, (_, index) => `${from + index}`);

test('an ID that is no ID, of whatever length, finds nothing', async () => {
  for (const id of ['foreign', '', '\0', 'a_'.repeat(3_000_000)]) {
    expect(await service.data('query ($id: ID!) { asset(id: $id) { id } }', { id })).toEqual({ asset: null });
  }
});

test('an ID of another kind is refused, now and at a time; `node` takes any', async () => {
  const [{ id }] = await service.create('/locations', {});
  const time = new Date().toISOString();

  for (const field of [`asset(id: "${id}")`, `asset(id: "${id}", asOf: "${time}")`]) {
    const { body } = await service.graphql(`{ ${field} { id } }`);
    const message = `id: there is no asset with the ID "${id}": this is the ID of a location`;
    const error = { message, path: ['asset'], extensions: { code: 'BAD_USER_INPUT' } };
    expect(body).toMatchObject({ data: { asset: null }, errors: [error] });
  }
  expect(await service.data('query ($id: ID!) { node(id: $id) { id } }', { id })).toEqual({ node: { id } });
});

test('several records with the external ID that is looked up are a CONFLICT', async () => {
  await service.create('/assets', ...['Saw', 'Axe'].map((name) => ({ name, externalIds: { erp: 'twice' } })));
  const { body } = await service.graphql('{ assetByExternalId(key: "erp", value: "twice") { name } }');
  const message = /^several assets have the external ID "twice" of "erp": list them with where: /;
  const error = { message: expect.stringMatching(message), extensions: { code: 'CONFLICT' } };
  expect(body).toMatchObject({ data: { assetByExternalId: null }, errors: [error] });
});

const id = 'project_01h455vb4pex5vsknk084sn02q';
const forged = (...parts: unknown[]) => Buffer.from(JSON.stringify(parts)).toString('base64url');
const otherOrder = (order: string) =>
  `after: expected a cursor from a page in the same order (${order}), received one of another order`;
const noCursor = 'after: expected a cursor from a page of projects, received "';
const nullMessage =
  'expected a value, received null: leave it out, or use { isNull: true } for records without a value';
const unknownZone = 'timeZone: expected an IANA time zone such as "Europe/Berlin", received ';
const byStart = 'orderBy: { startDate: ASC }';
const byName = 'orderBy: { name: ASC }';

test.each<[field: string, message: string]>([
  ['projects(first: -1)', 'first: expected a whole number from 0 to 1000, received -1'],
  ['projects(first: 1, last: 1)', 'first and last: expected one of them, received both'],
  [`projects(${byName}, after: "${id}")`, otherOrder('name ASC')],
  [`projects(${byName}, after: "${forged('name DESC 2', ['x'], id)}")`, otherOrder('name ASC')],
  // Version 0.3 ordered names by code points.
  [`projects(${byName}, after: "${forged('name ASC', ['x'], id)}")`, otherOrder('name ASC')],
  [`projects(after: "${forged('name DESC', ['x'], id)}")`, otherOrder('id ASC')],
  ...[
    forged('name ASC 2', ['x'], 'asset_01h455vb4pex5vsknk084sn02q'),
    forged('name ASC 2', [], id),
    forged('name ASC 2', ['a\0'], id),
    forged('name ASC 2', ['x'.repeat(300_000)], id).slice(0, 90_000),
    Buffer.from('{}').toString('base64url'),
    '',
  ].map((cursor): [string, string] => [`projects(${byName}, after: "${cursor}")`, noCursor]),
  [`projects(${byStart}, after: "${forged('startDate ASC', ['soon'], id)}")`, noCursor],
  [`projects(${byStart}, after: "${forged('startDate ASC', ['2026-03-01'], id)}")`, noCursor],
  [`projects(orderBy: { location: { name: ASC } }, after: "${forged('location.name ASC 2', [5], id)}")`, noCursor],
  [
    `locations(orderBy: { distance: { latitude: 0, longitude: 0.5 } }, after: "${forged('distance from 0 0 ASC', [0], id.replace('project', 'location'))}")`,
    otherOrder('distance from 0 0.5 ASC'),
  ],
  [
    'locations(orderBy: { distance: { latitude: 91, longitude: 0 } })',
    'orderBy[0].distance.latitude: expected a number from -90 to 90, received 91',
  ],
  [
    'workOrders(where: { during: { from: "2026-03-02", to: "2026-03-02" } })',
    'where.during.to: expected a time after `from`, received "2026-03-02"',
  ],
  ['projects(orderBy: [{ name: ASC }, { name: DESC }])', 'orderBy[1].name: expected each field once'],
  [
    'assetCategories(orderBy: { parent: { parent: { parent: { name: ASC } } } })',
    'orderBy[0].parent.parent.parent: expected at most 2 links within each other',
  ],
  ['projects(orderBy: { nmae: ASC })', 'Field "nmae" is not defined by type "ProjectOrderBy". Did you mean "name"?'],
  [
    'projects(where: { startDate: { in: ["2026-03-01", "2026-02-30"] } })',
    'where.startDate.in[1]: expected a day that exists, received "2026-02-30"',
  ],
  [
    'projects(where: { or: [{}, { not: { name: { eq: "a\\u0000" } } }] })',
    'where.or[1].not.name.eq: expected text without the character NUL, received "a\\u0000"',
  ],
  [
    'projects(where: { name: { in: ["a", "ü\ufffd"], ignoreCase: true } })',
    'where.name.in[1]: expected text without the characters U+FFFD to U+FFFF, which `ignoreCase` cannot tell apart, received "ü\ufffd"',
  ],
  ...['eq', 'ne', 'gte'].map((operator): [string, string] => [
    `assets(where: { createdAt: { ${operator}: ["2026-03-01"] } })`,
    `where.createdAt.${operator}: expected `,
  ]),
  ['projects(where: { location: null })', `where.location: ${nullMessage.replace('{', 'locationId: {')}`],
  ['projects(where: { workOrders: { some: null } })', `where.workOrders.some: ${nullMessage}`],
  ['projects(where: { location: { city: { isNull: null } } })', `where.location.city.isNull: ${nullMessage}`],
  [
    'projects(where: { externalIds: { value: "4711" } })',
    'where.externalIds: expected `key` with `value`, the name of the other system, received `value` alone',
  ],
  ['locations(where: { latitude: { gt: 1e999 } })', 'where.latitude.gt: expected a number, received Infinity'],
  [
    'locations(where: { near: { latitude: 53, longitude: 181, withinKm: 1 } })',
    'where.near.longitude: expected a number from -180 to 180, received 181',
  ],
  ['workOrdersSummary(groupBy: [])', 'groupBy: expected at least one value, received none'],
  ['workOrdersSummary(groupBy: [STATUS, LOCATION, STATUS])', 'groupBy[2]: expected each value once'],
  ['workOrdersSummary(groupBy: DAY_OF_START, timeZone: "Mars/Base")', `${unknownZone}"Mars/Base"`],
  ['workOrdersSummary(groupBy: STATUS, timeZone: "+01:00")', `${unknownZone}"+01:00"`],
  ['assetByUid(uid: "")', 'uid: expected a value to find the asset by, received ""'],
  ['assetByUid(uid: "a\\u0000")', 'uid: expected text without the character NUL, received "a\\u0000"'],
  ['asset(id: "x", asOf: "soon")', 'asOf: expected a date such as 2026-03-01'],
  ['changes(after: "soon")', 'after: expected a cursor of a change, such as "4711", received "soon"'],
  [
    'changes(after: "7")',
    'the cursor "7" is beyond the last change, which is "0"; after restoring a backup, consumers must start over',
  ],
  ['changes(first: 0)', 'first: expected a whole number from 1 to 1000, received 0'],
  ['changes(kinds: [])', 'kinds: expected at least one value, received none'],
])('%s is refused', async (field, message) => {
  const { status, body } = await shared.graphql(`{ ${field} { __typename } }`);

  expect(status).toBeLessThan(500);
  expect(body.errors[0].message).toContain(message);
  expect(body.errors[0].message.length).toBeLessThan(250);
  const code = message.startsWith('Field') ? 'GRAPHQL_VALIDATION_FAILED' : 'BAD_USER_INPUT';
  expect(body.errors[0].extensions.code).toBe(code);
  expect(Object.values(body.data ?? {}).filter(Boolean)).toEqual([]);
});

const filtered = 'query ($where: ProjectFilter) { projects(where: $where) { totalCount } }';

const pattern = (length: number) => ({
  name: { contains: 'kK\u212a*]'.repeat(length / 5).padEnd(length, 'x'), ignoreCase: true },
});

test.each<[string, (count: number) => object, number, string]>([
  ['values of `in`', (n) => ({ name: { in: numbered(n) } }), 1_000, '.name.in: expected at most 1,000 values'],
  ['conditions', (n) => ({ or: Array(n / 2).fill({ name: { eq: 'x' } }) }), 1_000, ': expected at most 1,000'],
  ['characters of a pattern', pattern, 1_000, '.name.contains: expected at most 1,000 characters, received more'],
  ['characters of a text', (n) => ({ name: { eq: 'x'.repeat(n) } }), 10_000, '.name.eq: expected at most 10,000'],
])('a filter has limited %s', async (_, where, limit, message) => {
  const within = await shared.graphql(filtered, { where: where(limit) });
  const above = await shared.graphql(filtered, { where: where(limit + 2) });
  expect(within.body).toMatchObject({ data: { projects: { totalCount: 0 } } });
  expect(above.body.errors).toMatchObject([
    { message: expect.stringContaining(`where${message}`), extensions: { code: 'BAD_USER_INPUT' } },
  ]);
});

test('relations in a filter are at most five deep, whatever they may cost', async () => {
  const expensive = await startForTest({ MAX_QUERY_COST: '1000000000', MAX_NESTING: '100' });
  const nested = (depth: number) =>
    `${'{ location: { projects: { some: '.repeat(depth)}{ location: {} }${' } } }'.repeat(depth)}`;

  const { body: within } = await expensive.graphql(`{ projects(where: ${nested(2)}) { totalCount } }`);
  const { body: above } = await expensive.graphql(
    `{ locations(where: { projects: { some: ${nested(2)} } }) { totalCount } }`,
  );

  expect(within.data).toEqual({ projects: { totalCount: 0 } });
  expect(above.errors[0].message).toBe(
    'where.projects.some.location.projects.some.location.projects.some.location: expected at most 5 relations within each other',
  );
});

const costOf = async (query: string, variables = {}) => {
  const { headers } = await shared.graphql(query, variables);
  return Number(headers['query-cost']);
};

/** A list of one record with its count, and what the filter adds. */
const plain = 5 + 1;

test.each<[string, unknown, number]>([
  ['no condition', {}, 0],
  ['a condition', { name: { eq: 'x' } }, 10],
  ['two operators', { name: { startsWith: 'x', endsWith: 'y' } }, 20],
  ['values of a list', { name: { in: ['a', 'b', 'c'] } }, 10 + 2],
  ['a text of a hundred characters', { name: { eq: 'x'.repeat(100) } }, 10 + 10],
  ['texts of a list', { name: { in: ['x'.repeat(10), 'x'.repeat(25)] } }, 10 + 1 + 1 + 2],
  ['a text that is compared letter by letter', { name: { contains: 'Lü', ignoreCase: true } }, 10 + 20],
  ['a text from A to Z that ignores case', { name: { contains: 'Lu', ignoreCase: true } }, 10],
  ['alternatives', { or: [{ name: { eq: 'x' } }, { not: { name: { eq: 'y' } } }] }, 2 * 10],
  ['a condition on a link', { location: { city: { eq: 'x' } } }, 1_000 + 10 * 10],
  ['a distance', { location: { near: { latitude: 1, longitude: 2, withinKm: 3 } } }, 1_000 + 10 * 30],
  ['a relation of a relation', { workOrders: { some: { location: {} }, none: {} } }, 2 * 1_000 + 10 * 1_000],
])('%s in a filter costs as much in a variable as in a literal', async (_, where, cost) => {
  const literal = JSON.stringify(where).replaceAll(/"(\w+)":/g, '$1:');
  const list = (sent: string) => `projects(first: 1, where: ${sent}) { totalCount }`;
  expect(await costOf(`{ ${list(literal)} }`)).toBe(plain + cost);
  expect(await costOf(`query ($w: ProjectFilter) { ${list('$w')} }`, { w: where })).toBe(plain + cost);
  expect(await costOf(`query ($w: ProjectFilter = ${literal}) { ${list('$w')} }`)).toBe(plain + cost);
  expect(await costOf(`query ($w: ProjectFilter!) { ${list('{ and: [$w] }')} }`, { w: where })).toBe(plain + cost);
});

const group = 'groupBy: DAY_OF_START, first: 1';

test.each([
  ['an order', 'workOrders(first: 1, orderBy: { name: ASC }) { totalCount }', plain + 10],
  [
    'an order through links',
    'workOrders(first: 1, orderBy: [{ project: { location: { name: ASC } } }]) { totalCount }',
    plain + 10 + 2 * 1_000,
  ],
  ['a summary', `workOrdersSummary(${group}) { totalCount }`, plain + 1_000],
  ['a time zone', `workOrdersSummary(${group}, timeZone: "Europe/Berlin") { totalCount }`, plain + 21_000],
  ['a label', 'projects(first: 10) { nodes { status { name color } } }', 5 + 10 * (5 + 5 + 2 * 5)],
  ['what may be reversed', 'revertChanges(after: "0", upTo: "7") { kept notReversed { cursor kind } }', 95],
  [
    'each list of an import',
    `importRecords(dryRun: true, input: { locations: [${'{}'.repeat(9)}], projects: [{ name: "Wall" }] }) {
      locations { id name } assets { id } projects { id name location { name } } }`,
    10 * 10 + 2 * 9 + (2 + 5 + 1) + 4 * 5,
  ],
  ['references to clear', 'deleteAssets(ids: ["a", "b"], references: CLEAR) { id }', 5 + 2 * 11 + 100_000],
])('the cost of %s', async (_, field, cost) => {
  expect(await costOf(`${/^(?:revert|delete|import)/.test(field) ? 'mutation' : 'query'} { ${field} }`)).toBe(cost);
});

test('a filter is read once, in however many fields its variable stands', () => {
  let reads = 0;
  const where = {
    get name() {
      reads += 1;
      return { eq: 'Crane' };
    },
  };
  const costs = [1, 2, 3].map(() => filterCost(asset, where, loadConfig({}).limits));
  const condition = parseFilter(asset, where, loadConfig({}).limits);

  expect(costs).toEqual([10, 10, 10]);
  expect(condition).toMatchObject({ field: 'name' });
  expect(reads).toBe(1);
});
