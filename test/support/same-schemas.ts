/** Builds the GraphQL schema once for the same limits: it would be a sixth of the work of most tests, which start a service each. */
import type { GraphQLSchema } from 'graphql';
import { vi } from 'vitest';

vi.mock('../../src/graphql/schema/schema.ts', async (load) => {
  const { createGraphqlSchema } = await load<typeof import('../../src/graphql/schema/schema.ts')>();
  const schemas = new Map<string, GraphQLSchema>();
  const createOnce: typeof createGraphqlSchema = (limits) => {
    const key = JSON.stringify(limits);
    const schema = schemas.get(key) ?? createGraphqlSchema(limits);
    schemas.set(key, schema);
    return schema;
  };
  return { createGraphqlSchema: createOnce };
});
