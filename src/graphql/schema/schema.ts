/** Puts the GraphQL schema together: the record kinds, the queries, the mutations and the subscription. Holds no data of a request. */
import { assertValidSchema } from 'graphql';
import { builder } from './builder.ts';
import './object-types.ts';
import './query.ts';
import './mutation.ts';
import './subscription.ts';

/** The schema of the process; schema.graphql in the root folder is printed from it. */
export const schema = builder.toSchema();

assertValidSchema(schema);
