/** Trees of assets and locations: their limits and costs. query-model.test.ts has where a part of another asset is. */
import { expect, test } from 'vitest';
import { useWorkspaces } from '../support/service.ts';

const service = useWorkspaces();

test('at most 100 levels above an asset are searched for its location', async () => {
  const [yard] = await service.create('/locations', { name: 'Yard' });
  let [above] = await service.create('/assets', { name: 'level 0', currentLocationId: yard.id });
  for (let level = 1; level <= 101; level += 1)
    [above] = await service.create('/assets', { name: `level ${level}`, parentId: above.id });
  const query = (level: number) =>
    service.graphql(
      'query ($name: String!) { assets(where: { name: { eq: $name } }) { nodes { effectiveLocation { name } } } }',
      { name: `level ${level}` },
    );

  expect((await query(100)).body.data.assets.nodes).toEqual([{ effectiveLocation: { name: 'Yard' } }]);
  expect((await query(101)).body.errors[0].message).toBe('the asset has no location within 100 levels above it');
});

test('a part of one tree is not taken for a part of another', async () => {
  const [yard] = await service.create('/locations', { name: 'Yard' });
  await service.create('/assets', { name: 'Excavator', currentLocationId: yard.id });
  const query =
    'query ($id: ID!) { assets(where: { or: [{ within: $id }, { currentLocation: { within: $id } }] }) { nodes { name } } }';
  expect((await service.data(query, { id: yard.id })).assets.nodes).toEqual([{ name: 'Excavator' }]);
});

test('a walk down a tree adds to the cost of an operation', async () => {
  const costOf = async (query: string) => Number((await service.graphql(query)).headers['query-cost']);
  const ofList = await costOf('{ location(id: "x") { assets(first: 1) { totalCount } } }');
  expect(await costOf('{ location(id: "x") { assets(first: 1, below: true) { totalCount } } }')).toBe(ofList + 400);
  const ofAll = await costOf('{ locations(first: 1) { totalCount } }');
  expect(await costOf('{ locations(first: 1, where: { within: "x" }) { totalCount } }')).toBe(ofAll + 5_000);
  const ofAsset = await costOf('{ asset(id: "x") { id } }');
  expect(await costOf('{ asset(id: "x") { id effectiveLocation { id } } }')).toBe(ofAsset + 106);
});
