/** schema.graphql in the root folder is printed from this schema. */
import { builder } from './builder.ts';
import './records.ts';
import './query.ts';
import './mutation.ts';

export const schema = builder.toSchema();
