/** The operations GraphiQL opens with run as they are. */
import { expect, test } from 'vitest';
import { graphiqlTabs } from '../../src/graphql/graphiql-tabs.ts';
import { createLinkedRecords } from '../support/linked-records.ts';
import { useService } from '../support/service.ts';

const service = useService();
const tabs = graphiqlTabs.map(({ query, variables }) => ({
  name: /(?:query|mutation) (\w+)/.exec(query)?.[1] ?? '',
  query,
  variables: JSON.parse(variables || '{}'),
}));
const working = tabs.filter(({ name }) => name !== 'FailingBatch');

test.each(tabs)('$name starts with a comment that teaches, in lines that fit the editor', ({ query }) => {
  expect(query).toMatch(/^# \w/);
  expect(Math.max(...query.split('\n').map((line) => line.length))).toBeLessThanOrEqual(54);
});

test.each(working)('$name runs on an empty workspace and on a filled one', async ({ query, variables }) => {
  await service.data(query, variables);
  await createLinkedRecords(service, { workOrders: 20 });
  await service.create('/asset-categories', { name: 'root' });
  await service.create('/assets', { name: 'Excavator' });

  const [result] = Object.values(await service.data(query, variables));

  expect(JSON.stringify(result)).toMatch(/"name":"\w/);
});

test('FailingBatch fails on purpose, with three issues', async () => {
  const [failing] = tabs.filter((tab) => !working.includes(tab));

  const { body } = await service.graphql(failing?.query ?? '', failing?.variables);

  expect(body.errors[0].extensions.issues).toHaveLength(3);
});
