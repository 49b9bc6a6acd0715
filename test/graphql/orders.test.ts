/** Orders of lists: by any field of a record or of what it links to, records without a value last, and cursors that continue in the same order. */
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { linkFields } from '../../src/model/links.ts';
import { recordKinds } from '../../src/records/index.ts';
import { byEffort } from '../support/effort.ts';
import { useSharedService } from '../support/service.ts';

const service = useSharedService({ MAX_PAGE_SIZE: '30' });

interface Project {
  readonly id: string;
  readonly name: string;
  readonly startDate: string | null;
  readonly reference: string | null;
  readonly 'location.name': string | null;
}

let projects: Project[];

beforeAll(async () => {
  // Few values, so that many are equal; some need escapes in JSON, and some sort differently by language.
  const references = ['b', 'B', 'ä', 'Z', '"\\', '\u{1f3d7}', '\uffee', '', null];
  const locations = await service.create('/locations', { name: 'b' }, { name: 'a' }, {}, { name: 'b' });
  const places = [...locations, { id: null, name: null }];
  const created = await service.create(
    '/projects',
    ...Array.from({ length: 27 }, (_, index) => ({
      name: `project ${index % 4}`,
      reference: references[index % references.length],
      startDate: index % 3 === 0 ? null : `2026-03-0${1 + (index % 5)}`,
      locationId: places[index % places.length]?.id,
    })),
  );
  projects = created.map((project, index) => ({
    ...project,
    startDate: project.startDate ?? null,
    reference: project.reference ?? null,
    'location.name': places[index % places.length]?.name ?? null,
  }));
});

type Orders = readonly (readonly [field: keyof Project, direction: 'ASC' | 'DESC'])[];

/** By code points; null last. */
function sorted(orders: Orders): string[] {
  const compare = (a: Project, b: Project) => {
    for (const [field, direction] of orders) {
      const [x, y] = [a[field], b[field]];
      if (x === y) continue;
      if (x === null) return 1;
      if (y === null) return -1;
      const order = Buffer.compare(Buffer.from(x), Buffer.from(y));
      return direction === 'ASC' ? order : -order;
    }
    return (a.id < b.id ? -1 : 1) * (orders.at(-1)?.[1] === 'DESC' ? -1 : 1);
  };
  return projects.toSorted(compare).map(({ id }) => id);
}

const fields =
  'nodes { id } edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }';
const query = `query ($orderBy: [ProjectOrderBy!], $first: Int, $after: String, $last: Int, $before: String) {
  projects(orderBy: $orderBy, first: $first, after: $after, last: $last, before: $before) { ${fields} }
}`;

const asInput = (orders: Orders) =>
  orders.map(([field, direction]) =>
    field === 'location.name' ? { location: { name: direction } } : { [field]: direction },
  );
const idsOf = ({ nodes }: { nodes: { id: string }[] }) => nodes.map(({ id }) => id);

test('pages of any size, in any order, from both ends, are the whole list', async () => {
  const anyOrders = fc.uniqueArray(
    fc.tuple(
      fc.constantFrom<keyof Project>('name', 'startDate', 'reference', 'location.name', 'id'),
      fc.constantFrom<'ASC' | 'DESC'>('ASC', 'DESC'),
    ),
    { maxLength: 4, selector: ([field]) => field },
  );
  await fc.assert(
    fc.asyncProperty(anyOrders, fc.integer({ min: 1, max: 29 }), async (orders, size) => {
      const orderBy = asInput(orders);
      const effective = orders.slice(0, orders.findIndex(([field]) => field === 'id') + 1 || undefined);
      const all = sorted(effective);
      const forward: string[] = [];
      for (let [more, after] = [true, null]; more; ) {
        const { projects: page } = await service.data(query, { orderBy, first: size, after });
        expect(page.pageInfo.hasPreviousPage).toBe(after !== null);
        forward.push(...idsOf(page));
        [more, after] = [page.pageInfo.hasNextPage, page.pageInfo.endCursor];
      }
      const back: string[] = [];
      for (let [more, before] = [true, null]; more; ) {
        const { projects: page } = await service.data(query, { orderBy, last: size, before });
        expect(page.pageInfo.hasNextPage).toBe(before !== null);
        back.unshift(...idsOf(page));
        [more, before] = [page.pageInfo.hasPreviousPage, page.pageInfo.startCursor];
      }

      expect(forward).toEqual(all);
      expect(back).toEqual(all);
    }),
    { numRuns: byEffort({ small: 12, long: 200 }) },
  );
});

test('a list, with its links or without, and the pages behind reverse links are ordered by what records link to', async () => {
  const [near, far] = await service.create('/locations', { name: 'near' }, { name: 'far' });
  const [dock, wall, none] = await service.create(
    '/projects',
    { name: 'dock', locationId: near.id },
    { name: 'wall', locationId: far.id },
    { name: 'none' },
  );
  const site = { statusId: 'ordered', locationId: near.id };
  await service.create(
    '/work-orders',
    { ...site, name: '1', projectId: none.id },
    { ...site, name: '2', projectId: dock.id },
    { ...site, name: '3' },
    { ...site, name: '4', projectId: wall.id },
  );
  const where = '{ statusId: { eq: "ordered" } }';
  const namesOf = (page: { nodes: { name: string }[] }) => page.nodes.map(({ name }) => name).join(' ');

  const found = await service.data(`{
    byName: workOrders(where: ${where}, orderBy: { project: { name: DESC } }) { nodes { name } }
    withLinks: workOrders(where: ${where}, orderBy: { project: { location: { name: ASC } } }) {
      nodes { name project { name location { name } } }
    }
    location(id: "${near.id}") {
      workOrders(orderBy: [{ project: { location: { name: ASC } } }, { project: { name: DESC } }]) { nodes { name } }
    }
  }`);

  expect(namesOf(found.byName)).toBe('4 1 2 3');
  expect(namesOf(found.withLinks)).toBe('4 2 1 3');
  expect(found.withLinks.nodes[0]).toEqual({ name: '4', project: { name: 'wall', location: { name: 'far' } } });
  expect(namesOf(found.location.workOrders)).toBe('4 2 1 3');
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
    const { projects: page } = await service.data(query, { orderBy, first: 2 });

    expect(page.pageInfo.endCursor).toBe(projects[1]?.id);
  }
});

test.each(recordKinds.map((kind) => [kind.name, kind] as const))(
  '%s can be ordered by every field but external IDs, and by its links',
  async (name, kind) => {
    const { __type } = await service.data(`{ __type(name: "${name}OrderBy") { isOneOf inputFields { name } } }`);
    const list = kind.plural.charAt(0).toLowerCase() + kind.plural.slice(1);
    const fieldNames = __type.inputFields.map(({ name: field }: { name: string }) => field);

    expect(__type.isOneOf).toBe(true);
    const links = linkFields(kind).map(([link]) => link);
    const own = Object.keys(kind.storedFields).filter((field) => field !== 'externalIds' && field !== 'workspaceId');
    expect(fieldNames.toSorted()).toEqual([...own, ...links].toSorted());
    for (const field of own) {
      await service.data(
        `{ a: ${list}(orderBy: { ${field}: ASC }) { edges { cursor } } d: ${list}(orderBy: { ${field}: DESC }) { edges { cursor } } }`,
      );
    }
  },
);

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
