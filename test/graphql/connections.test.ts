/** Relay connections: oldest first, keyset cursors. */
import { describe, expect, test } from 'vitest';
import { useWorkspaces } from '../support/service.ts';

const service = useWorkspaces();

const fields =
  'edges { cursor node { name } } nodes { name } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }';
const query = `query ($first: Int, $after: String, $last: Int, $before: String) {
  locations(first: $first, after: $after, last: $last, before: $before) { ${fields} }
}`;

const page = async (args: object) => (await service.data(query, args)).locations;
const names = ({ nodes }: { nodes: { name: string }[] }) => nodes.map(({ name }) => name);
const create = (count: number, from = 0) =>
  service.create('/locations', ...Array.from({ length: count }, (_, index) => ({ name: String(from + index) })));

test('a page has 50 records unless set otherwise, oldest first; totalCount counts all records', async () => {
  await create(60);

  const { locations } = await service.data('{ locations { totalCount nodes { name } pageInfo { hasNextPage } } }');

  expect(locations.totalCount).toBe(60);
  expect(names(locations)).toEqual(Array.from({ length: 50 }, (_, index) => String(index)));
  expect(locations.pageInfo.hasNextPage).toBe(true);
});

test('a page of no records tells the number of all, and whether there are any', async () => {
  await create(2);

  const { locations } = await service.data(
    '{ locations(first: 0) { totalCount nodes { name } pageInfo { hasNextPage endCursor } } }',
  );

  expect(locations).toEqual({ totalCount: 2, nodes: [], pageInfo: { hasNextPage: true, endCursor: null } });
});

test('a page stays correct while records are added', async () => {
  await create(4);
  const first = await page({ first: 2 });
  await create(3, 4);

  const second = await page({ first: 10, after: first.pageInfo.endCursor });

  expect([...names(first), ...names(second)]).toEqual(['0', '1', '2', '3', '4', '5', '6']);
});

describe('invalid sizes and cursors are rejected:', () => {
  test.each([
    ['first: -1', 'first: expected a whole number from 0 to 1000, received -1'],
    ['first: 1, last: 1', 'first and last: expected one of them, received both'],
    ['after: "x"', 'after: expected a cursor from a page of locations, received "x"'],
    [
      'after: "asset_01h455vb4pex5vsknk084sn02q"',
      'after: expected a cursor from a page of locations, received "asset_01h455vb4pex5vsknk084sn02q"',
    ],
  ])('%s', async (args, message) => {
    const { body } = await service.graphql(`{ locations(${args}) { nodes { id } } }`);

    expect(body.errors).toMatchObject([{ message, path: ['locations'], extensions: { code: 'BAD_USER_INPUT' } }]);
  });
});
