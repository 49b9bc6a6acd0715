/** The operations GraphiQL opens with run as they are. */
import { beforeAll, expect, test } from 'vitest';
import { fillDemo } from '../../src/demo/fill.ts';
import { readTabs } from '../../src/pages/files.ts';
import { type Json, useWorkspaces } from '../support/service.ts';

const service = useWorkspaces();
beforeAll(() => fillDemo(service.database));
const demo = async () => service.as(await service.key({ workspace: 'default' }));
const tabs = readTabs().map(({ query, variables }) => ({
  name: /(?:query|mutation|subscription) (\w+)/.exec(query)?.[1] ?? '',
  query,
  variables: JSON.parse(variables || '{}'),
}));
const working = tabs.filter(({ name }) => !['FailingBatch', 'FollowChanges'].includes(name));

test.each(tabs)('$name starts with a comment that teaches, in lines that fit the editor', ({ query }) => {
  expect(query).toMatch(/^# \w/);
  expect(Math.max(...query.split('\n').map((line) => line.length))).toBeLessThanOrEqual(54);
});

test.each(working)('$name runs on an empty workspace, again, and on the demo', async ({ query, variables }) => {
  await service.data(query, variables);
  await service.data(query, variables);
  const [result] = Object.values(await (await demo()).data(query, variables));
  expect(JSON.stringify(result)).toMatch(/"name":"\w/);
});

const tabNamed = (wanted: string) => tabs.find(({ name }) => name === wanted) ?? { query: '', variables: {} };

test('the tab with an upsert stores nothing until its comment is followed, then creates, then leaves unchanged', async () => {
  const { query, variables } = tabNamed('UpsertAssets');
  const outcome = async (dryRun: boolean) =>
    (await service.data(query, { ...variables, dryRun })).upsertAssets.map((it: { outcome: string }) => it.outcome);
  expect(variables.dryRun).toBe(true);
  expect([await outcome(true), await outcome(true)]).toEqual([['CREATED'], ['CREATED']]);
  expect([await outcome(false), await outcome(false)]).toEqual([['CREATED'], ['UNCHANGED']]);
});

test('the demo has the records of the tabs', async () => {
  const { data } = await demo();

  const { nodes } = (await data(tabs[0]?.query ?? '', tabs[0]?.variables)).workOrders;
  expect(nodes).toContainEqual({
    name: 'Set up the crane',
    startDate: expect.any(String),
    project: { name: 'Harbour wall', location: { name: 'North yard', city: 'Bremen' } },
    location: { name: 'North yard', latitude: 53.08, longitude: 8.8 },
  });
  const whoIsFree = tabNamed('WhoIsFree');
  const { free, planned } = await data(whoIsFree.query, whoIsFree.variables);
  expect(free.nodes.map(({ currentLocation }: Json) => currentLocation.distanceKm)).toEqual([
    0, 84.542, 109.181, 109.181,
  ]);
  expect(planned.nodes.flatMap(({ clashes }: Json) => clashes.nodes)).toHaveLength(1);
  for (const { query, variables } of [tabNamed('UpsertAssets'), tabNamed('ImportSite')])
    for (const results of Object.values<{ outcome: string }[]>(await data(query, variables)))
      for (const { outcome } of results) expect(outcome).toBe('UNCHANGED');
});

test('FailingBatch, the last tab, fails as its comment says', async () => {
  const { query, variables } = tabNamed('FailingBatch');

  const { body } = await service.graphql(query, variables);

  expect(tabs.at(-1)?.query).toBe(query);
  expect(body.errors[0].extensions.issues).toEqual([
    { path: ['input', 1, 'name'], code: 'blank', message: expect.stringContaining('received " "') },
    { path: ['input', 2, 'acquiredAt'], code: 'invalid-date', message: expect.stringContaining('received "soon"') },
  ]);
  expect((await service.data('{ assets { totalCount } }')).assets.totalCount).toBe(0);
});
