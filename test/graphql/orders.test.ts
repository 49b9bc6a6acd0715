/** Orders of lists: by any field of a record or of what it links to, records without a value last, and cursors that continue in the same order. */
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { byEffort } from '../support/effort.ts';
import { useSharedService } from '../support/service.ts';

const service = useSharedService({ MAX_PAGE_SIZE: '30' });

let ids: string[];

beforeAll(async () => {
  // Few values, so that many are equal; some need escapes in JSON.
  const references = ['b', 'B', 'ä', '"\\', '\u{1f3d7}', '', null];
  const locations = await service.create('/locations', { name: 'b' }, { name: 'a' }, {}, { name: 'b' });
  const projects = await service.create(
    '/projects',
    ...Array.from({ length: 27 }, (_, index) => ({
      name: `project ${index % 4}`,
      companyId: 'company-1',
      reference: references[index % references.length],
      startDate: index % 3 === 0 ? null : `2026-03-0${1 + (index % 5)}`,
      locationId: locations[index % 5]?.id,
    })),
  );
  ids = projects.map(({ id }) => id);
});

const list = `projects(orderBy: $orderBy, first: $first, after: $after, last: $last, before: $before) {
  nodes { id } edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }`;

/** A page of all projects, which is the same behind the link of their company. */
async function page(args: object) {
  const { projects, company } = await service.data(
    `query ($orderBy: [ProjectOrderBy!], $first: Int, $after: String, $last: Int, $before: String) {
      ${list} company(id: "company-1") { ${list} } }`,
    args,
  );
  expect(company.projects).toEqual(projects);
  const { nodes, edges, pageInfo } = projects;
  expect(edges.map(({ node }: { node: object }) => node)).toEqual(nodes);
  expect([pageInfo.startCursor, pageInfo.endCursor]).toEqual([edges[0].cursor, edges.at(-1).cursor]);
  return { ids: nodes.map(({ id }: { id: string }) => id), ...pageInfo };
}

test('pages of any size, in any order, from both ends, are the whole list', async () => {
  const anyDirection = fc.constantFrom('ASC', 'DESC');
  const anyField = fc.constantFrom('name', 'startDate', 'reference', 'location', 'id');
  const anyOrders = fc.uniqueArray(fc.tuple(anyField, anyDirection), { maxLength: 4, selector: ([field]) => field });
  await fc.assert(
    fc.asyncProperty(anyOrders, fc.integer({ min: 1, max: 29 }), async (orders, size) => {
      const orderBy = orders.map(([field, direction]) => ({
        [field]: field === 'location' ? { name: direction } : direction,
      }));
      const whole = await page({ orderBy, first: 30 });
      expect(whole.ids.toSorted()).toEqual(ids);
      const forward: string[] = [];
      for (let [more, after] = [true, null]; more; ) {
        const next = await page({ orderBy, first: size, after });
        expect(next.hasPreviousPage).toBe(after !== null);
        forward.push(...next.ids);
        [more, after] = [next.hasNextPage, next.endCursor];
      }
      const back: string[] = [];
      for (let [more, before] = [true, null]; more; ) {
        const next = await page({ orderBy, last: size, before });
        expect(next.hasNextPage).toBe(before !== null);
        back.unshift(...next.ids);
        [more, before] = [next.hasPreviousPage, next.startCursor];
      }

      expect([forward, back]).toEqual([whole.ids, whole.ids]);
    }),
    { numRuns: byEffort({ small: 12, long: 200 }) },
  );
});

test.each([
  ['a field', { name: 'ASC' }, 10],
  ['a field of a link', { project: { name: 'ASC' } }, 10 + 1_000],
  ['a field of a link of a link', { project: { location: { name: 'ASC' } } }, 10 + 2 * 1_000],
])('an order by %s has its cost', async (_, orderBy, cost) => {
  const document = 'query ($orderBy: [WorkOrderOrderBy!]) { workOrders(first: 1, orderBy: $orderBy) { nodes { id } } }';
  const costOf = async (variables: object) =>
    Number((await service.graphql(document, variables)).headers['query-cost']);

  expect(await costOf({ orderBy })).toBe((await costOf({})) + cost);
});

test('a cursor is an ID in the default order, also where it is written out', async () => {
  for (const orderBy of [null, [], [{ id: 'ASC' }], [{ id: 'ASC' }, { name: 'DESC' }]]) {
    expect((await page({ orderBy, first: 2 })).endCursor).toBe(ids[1]);
  }
});

describe('what is not an order, or not a cursor of it, is rejected', () => {
  const forged = (...parts: unknown[]) => Buffer.from(JSON.stringify(parts)).toString('base64url');
  const other = 'expected a cursor from a page in the same order';
  const notOne = 'after: expected a cursor from a page of projects, received "';
  const id = 'project_01h455vb4pex5vsknk084sn02q';

  test.each<[args: string, message: string]>([
    [`orderBy: { name: ASC }, after: "${id}"`, `after: ${other} (name ASC), received one of another order`],
    [
      `orderBy: { name: ASC }, after: "${forged('name DESC', ['x'], id)}"`,
      `after: ${other} (name ASC), received one of another order`,
    ],
    [`after: "${forged('name DESC', ['x'], id)}"`, `after: ${other} (id ASC), received one of another order`],
    [
      `orderBy: [{ name: ASC }, { startDate: DESC }], before: "${forged('name ASC', ['x'], id)}"`,
      `before: ${other} (name ASC, startDate DESC), received one of another order`,
    ],
    ...[
      forged('name ASC', ['x'], 'asset_01h455vb4pex5vsknk084sn02q'),
      forged('name ASC', [], id),
      forged('name ASC', [5], id),
      forged('name ASC', ['a\0'], id),
      forged(),
      Buffer.from('{}').toString('base64url'),
      'x',
      '',
    ].map((cursor): [string, string] => [`orderBy: { name: ASC }, after: "${cursor}"`, notOne]),
    ...['soon', '2026-03-01'].map((value): [string, string] => [
      `orderBy: { startDate: ASC }, after: "${forged('startDate ASC', [value], id)}"`,
      notOne,
    ]),
    [`orderBy: { location: { name: ASC } }, after: "${forged('location.name ASC', [5], id)}"`, notOne],
    ['orderBy: [{ name: ASC }, { name: DESC }]', 'orderBy[1].name: expected each field once'],
    [
      'orderBy: [{ location: { name: ASC } }, { location: { name: DESC } }]',
      'orderBy[1].location.name: expected each field once',
    ],
    ['orderBy: { location: {} }', 'OneOf Input Object "LocationOrderBy" must specify exactly one key.'],
    ['orderBy: { nmae: ASC }', 'Field "nmae" is not defined by type "ProjectOrderBy". Did you mean "name"?'],
    ['orderBy: { name: ASC, id: ASC }', 'OneOf Input Object "ProjectOrderBy" must specify exactly one key.'],
    ['orderBy: { externalIds: ASC }', 'Field "externalIds" is not defined by type "ProjectOrderBy".'],
  ])('%s', async (args, message) => {
    const { status, body } = await service.graphql(`{ projects(${args}) { nodes { id } } }`);

    expect(status).toBeLessThan(500);
    expect(body.errors[0].message).toContain(message);
    expect(body.errors[0].message.length).toBeLessThan(250);
    const isInvalidDocument = /(?:Project|Location)OrderBy/.test(message);
    expect(body.errors[0].extensions.code).toBe(isInvalidDocument ? 'GRAPHQL_VALIDATION_FAILED' : 'BAD_USER_INPUT');
  });
});

test('an order through more than two links is rejected', async () => {
  const { body } = await service.graphql(
    '{ assetCategories(orderBy: { parent: { parent: { parent: { name: ASC } } } }) { nodes { id } } }',
  );

  expect(body.errors[0].message).toBe('orderBy[0].parent.parent.parent: expected at most 2 links within each other');
});
