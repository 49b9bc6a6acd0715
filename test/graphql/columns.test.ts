/** A document reads the columns that it selects and no others, by the SQL of its statements. */
import { beforeEach, describe, expect, test } from 'vitest';
import { asset, recordKinds } from '../../src/records/index.ts';
import { columnName } from '../../src/store/query/columns.ts';
import { useWorkspaces } from '../support/service.ts';

const service = useWorkspaces();

let id: string;

beforeEach(async () => {
  const [location] = await service.create('/locations', { name: 'Yard' });
  [{ id }] = await service.create('/assets', { name: 'Pump', currentLocationId: location.id });
});

/** The columns of all kinds that the statements of a query select; every statement filters by workspace_id. */
async function columnsRead(query: string): Promise<string[]> {
  const variables = query.includes('$id') ? { id } : {};
  const declaration = query.includes('$id') ? 'query ($id: ID!) ' : '';
  const statements = await service.statements(() => service.data(declaration + query, variables));
  const columns = new Set(recordKinds.flatMap(({ storedFields }) => Object.keys(storedFields).map(columnName)));
  const selected = statements.flatMap((sql) =>
    [...sql.matchAll(/\bselect (.*?) from\b/g)].map(([, list = '']) => list),
  );
  const words = new Set(selected.flatMap((list) => list.match(/\w+/g) ?? []));
  expect(statements.length).toBeGreaterThan(0);
  return [...columns].filter((column) => words.has(column)).toSorted();
}

describe.each([
  ['node(id)', '{ node(id: $id) { id } }'],
  ['nodes(ids)', '{ nodes(ids: [$id]) { id } }'],
  ['one record', '{ asset(id: $id) { id } }'],
  ['the names of types', '{ asset(id: $id) { __typename } }'],
  ['the position of a page', '{ assets { pageInfo { hasNextPage endCursor } } }'],
  ['cursors', '{ assets { edges { cursor } } }'],
  ['a fragment on another kind', '{ node(id: $id) { id ... on Project { name } } }'],
  ['a fragment on the interface', '{ asset(id: $id) { ... on Node { id } } }'],
])('%s alone', (_, query) => {
  test('reads the ID alone', async () => {
    expect(await columnsRead(query)).toEqual(['id']);
  });
});

test.each([
  ['a fragment on the kind', '{ node(id: $id) { ... on Asset { name } } }', ['id', 'name']],
  ['a field of an edge', '{ assets { edges { node { uid } } } }', ['id', 'uid']],
  ['the ID of a link', '{ assets { nodes { currentLocationId } } }', ['current_location_id', 'id']],
  ['a link', '{ assets { nodes { currentLocation { city } } } }', ['city', 'current_location_id', 'id']],
  ['a link to a record of another system', '{ asset(id: $id) { owner { id } } }', ['id', 'owner_id']],
])('%s reads its column and the ID', async (_, query, columns) => {
  expect(await columnsRead(query)).toEqual(columns);
});

test('every field reads every column', async () => {
  const fields = Object.entries(asset.fields).map(([name]) => name);
  const own = ['workspace { id }', 'createdAt', 'updatedAt', 'updatedBy { id }'];

  expect(await columnsRead(`{ asset(id: $id) { ${[...fields, ...own].join(' ')} } }`)).toEqual(
    Object.keys(asset.storedFields).map(columnName).toSorted(),
  );
});
