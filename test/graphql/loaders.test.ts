/** What the loaders of a request pass to the store. */
import { parse } from 'graphql';
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { createLoaders } from '../../src/graphql/execution/loaders.ts';
import { documentPlan } from '../../src/graphql/plan/document-plan.ts';
import { createGraphqlSchema } from '../../src/graphql/schema/schema.ts';
import { workOrder } from '../../src/records/index.ts';
import type { RecordQuery } from '../../src/store/query/record-query.ts';

test('a list reads the fields that are selected, and those of its order, which cursors have', async () => {
  const sets: RecordQuery['fields'][] = [];
  const list = async (_kind: unknown, { fields }: RecordQuery = {}) => {
    sets.push(fields);
    return [];
  };
  const schema = createGraphqlSchema(loadConfig({}).limits);
  const orderBy = [{ field: 'startDate', direction: 'asc' }] as const;
  const query = { where: undefined, orderBy, fromEnd: false, after: undefined, before: undefined, limit: 2 };

  for (const text of ['{ workOrders { nodes { name } } }', '{ workOrders { nodes { id } } }']) {
    const loaders = createLoaders({ list } as never, documentPlan(schema, parse(text)));
    await loaders.listPage(workOrder, query, []);
  }

  expect(sets.map((fields) => [...(fields ?? [])].toSorted())).toEqual([
    ['id', 'name', 'startDate'],
    ['id', 'startDate'],
  ]);
});
