/** The operations GraphiQL opens with run as they are. */
import { expect, onTestFinished, test } from 'vitest';
import { fillDemo } from '../../src/demo/fill.ts';
import { readTabs } from '../../src/pages/files.ts';
import { openEvents } from '../support/event-stream.ts';
import { createLinkedRecords } from '../support/linked-records.ts';
import { useWorkspaces } from '../support/service.ts';

const service = useWorkspaces();
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

test.each(working)('$name runs on an empty workspace, again, and on a filled one', async ({ query, variables }) => {
  await service.data(query, variables);
  await service.data(query, variables);
  await createLinkedRecords(service, { workOrders: 20 });
  await createStory();

  const [result] = Object.values(await service.data(query, variables));

  expect(JSON.stringify(result)).toMatch(/"name":"\w/);
});

/** Runs the tab, and returns what became of its records. */
const outcomesOf = async (name: string, client: Pick<typeof service, 'data'> = service): Promise<string[]> => {
  const { query, variables } = tabNamed(name);
  const results = Object.values<{ outcome: string }[]>(await client.data(query, variables));
  return results.flat().map(({ outcome }) => outcome);
};

const tabNamed = (wanted: string) => {
  const found = tabs.find(({ name }) => name === wanted);
  if (!found) throw new Error(`there is no tab ${wanted}`);
  return found;
};

/** Runs the tab that creates linked records. */
async function createStory(): Promise<void> {
  const { query, variables } = tabNamed('ImportSite');
  await service.data(query, variables);
}

test('the first tab reads what the second creates', async () => {
  await createStory();

  expect((await service.data(tabs[0]?.query ?? '', tabs[0]?.variables)).workOrders.nodes).toEqual([
    {
      name: 'Set up the crane',
      startDate: null,
      project: { name: 'Harbour wall', location: { name: 'North yard', city: 'Bremen' } },
      location: { name: 'North yard', latitude: 53.08, longitude: 8.8 },
    },
  ]);
});

test('the tab with an upsert stores nothing until its comment is followed, then creates, then leaves unchanged', async () => {
  const { query, variables } = tabNamed('UpsertAssets');
  const outcome = async (dryRun: boolean) =>
    (await service.data(query, { ...variables, dryRun })).upsertAssets.map((it: { outcome: string }) => it.outcome);

  expect(variables.dryRun).toBe(true);
  expect([await outcome(true), await outcome(true)]).toEqual([['CREATED'], ['CREATED']]);
  expect([await outcome(false), await outcome(false)]).toEqual([['CREATED'], ['UNCHANGED']]);
});

test('the tab with the subscription goes on from the cursor that it says to copy', async () => {
  await createStory();
  const { changeCursor: after } = await service.data('{ changeCursor }');
  const events = await openEvents(service.app, {
    method: 'POST',
    url: '/graphql',
    headers: { ...service.headers, 'content-type': 'application/json', accept: 'text/event-stream' },
    payload: JSON.stringify({ query: tabNamed('FollowChanges').query, variables: { after } }),
  });
  onTestFinished(events.close);

  await service.create('/assets', { name: 'Crane' });

  expect((await events.next())?.data.data.changes.nodes).toMatchObject([{ action: 'CREATED', kind: 'ASSET' }]);
});

test('the first tab continues with the cursor that its comment says to copy', async () => {
  await createLinkedRecords(service, { workOrders: 12 });
  const { query, variables } = tabNamed('LinkedWorkOrders');
  const namesOn = ({ nodes }: { nodes: { name: string }[] }) => nodes.map(({ name }) => name);

  const first = (await service.data(query, variables)).workOrders;
  const second = (await service.data(query, { ...variables, after: first.pageInfo.endCursor })).workOrders;

  expect(namesOn(first)).toEqual(Array.from({ length: 10 }, (_, index) => `order ${11 - index}`));
  expect(namesOn(second)).toEqual(['order 1', 'order 0']);
});

test('the demo has the records of the tabs', async () => {
  await fillDemo(service.database);
  const demo = service.as(await service.key({ workspace: 'default' }));

  const { nodes } = (await demo.data(tabs[0]?.query ?? '', tabs[0]?.variables)).workOrders;
  expect(nodes).toContainEqual({
    name: 'Set up the crane',
    startDate: expect.any(String),
    project: { name: 'Harbour wall', location: { name: 'North yard', city: 'Bremen' } },
    location: { name: 'North yard', latitude: 53.08, longitude: 8.8 },
  });
  expect([await outcomesOf('UpsertAssets', demo), await outcomesOf('ImportSite', demo)].flat()).toEqual(
    Array(4).fill('UNCHANGED'),
  );
});

test('FailingBatch, the last tab, fails as its comment says', async () => {
  const { query, variables } = tabNamed('FailingBatch');

  const { body } = await service.graphql(query, variables);

  expect(tabs.at(-1)?.query).toBe(query);
  expect(body.errors[0].extensions.issues).toEqual([
    { path: ['input', 1, 'name'], message: expect.stringContaining('received " "') },
    { path: ['input', 2, 'acquiredAt'], message: expect.stringContaining('received "soon"') },
  ]);
  expect((await service.data('{ assets { totalCount } }')).assets.totalCount).toBe(0);
});
