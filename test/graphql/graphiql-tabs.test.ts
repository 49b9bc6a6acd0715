/** The operations GraphiQL opens with run as they are. */
import { describe, expect, test } from 'vitest';
import { graphiqlTabs } from '../../src/graphql/graphiql-tabs.ts';
import { createLinkedRecords } from '../support/linked-records.ts';
import { useService } from '../support/service.ts';

const service = useService();
const tabs = graphiqlTabs.map((tab) => ({ ...tab, name: /(?:query|mutation) (\w+)/.exec(tab.query)?.[1] ?? '' }));

describe.each(tabs)('$name', ({ name, query, variables }) => {
  test('starts with a comment that teaches', () => {
    expect(query).toMatch(/^# \w/);
  });

  test(
    name === 'FailingBatch' ? 'fails on purpose, with issues' : 'runs on an empty workspace and on a filled one',
    async () => {
      if (name === 'FailingBatch') {
        const { body } = await service.graphql(query, JSON.parse(variables));
        expect(body.errors[0].extensions.issues).toHaveLength(3);
        return;
      }
      await service.data(query, JSON.parse(variables));
      await createLinkedRecords(service, { workOrders: 20 });
      const [found] = Object.values(await service.data(query, JSON.parse(variables)));
      expect(JSON.stringify(found).length).toBeGreaterThan(2);
    },
  );
});
