/** Gives each mutation of a request a session of its own: one that was carried out before, under the same key, is not carried out again. */
import type { GraphQLSchema } from 'graphql';
import type { Context } from '../../execution/context.ts';

export function withSessions(schema: GraphQLSchema): GraphQLSchema {
  for (const field of Object.values(schema.getMutationType()?.getFields() ?? {})) {
    const { resolve } = field;
    if (!resolve) throw new Error(`${field.name} has no resolver`);
    field.resolve = (root, args, context: Context, info) =>
      resolve(root, args, { ...context, session: context.sessionFor(String(info.path.key)) }, info);
  }
  return schema;
}
