/** The schema of the process; schema.graphql in the root folder is printed from it. */
import { builder } from './builder.ts';
import './records.ts';
import './query.ts';
import './mutation.ts';

export const schema = builder.toSchema();
