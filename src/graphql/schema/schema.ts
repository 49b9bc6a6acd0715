/** Puts the GraphQL schema together from the record kinds, the queries, the mutations and the subscription. Holds no data of a request. */
import { assertValidSchema, type GraphQLSchema } from 'graphql';
import type { Limits } from '../../config.ts';
import { createBuilder } from './builder.ts';
import { defineSubscription } from './changes/subscription.ts';
import { defineMutation } from './mutation.ts';
import { createObjectTypes } from './object-type.ts';
import { defineQuery } from './query.ts';

/** Creates the schema; schema.graphql in the root folder is printed from it. Throws for invalid declarations. */
export function createGraphqlSchema(limits: Limits): GraphQLSchema {
  const builder = createBuilder();
  const types = createObjectTypes(builder, limits);
  defineQuery(builder, types, limits);
  defineMutation(builder, types, limits);
  defineSubscription(builder, types, limits);
  const schema = builder.toSchema();
  assertValidSchema(schema);
  return schema;
}
