/** What to send instead: added to GraphQL's own messages for the mistakes that people make first. Not where suggestions are turned off. */
import { GraphQLError, type GraphQLSchema, isEnumType, isInputObjectType, isObjectType } from 'graphql';

const maxListed = 20;

const hasField = (schema: GraphQLSchema, type: string, field: string): boolean => {
  const found = schema.getType(type);
  return (isObjectType(found) || isInputObjectType(found)) && found.getFields()[field] !== undefined;
};

function hintFor(schema: GraphQLSchema, message: string): string | undefined {
  const [, field = '', record = ''] = /^Cannot query field "(\w+)" on type "(\w+)Connection"\./.exec(message) ?? [];
  if (hasField(schema, record, field)) return `The records are in nodes: nodes { ${field} }`;

  const [, filter = ''] = /^Expected (?:value of )?type "(\w+)"(?:, found | to be an object\.$)/.exec(message) ?? [];
  if (hasField(schema, filter, 'eq')) return 'Send an operator with the value: { eq: … }';

  const [, range = ''] = /^Field "between" is not defined by type "(\w+)"\./.exec(message) ?? [];
  if (hasField(schema, range, 'gte')) return 'Send both ends: { gte: …, lt: … }';

  const [, name = ''] = /^(?:Value "\w+" does not exist in|Enum) "(\w+)"/.exec(message) ?? [];
  const type = schema.getType(name);
  const values = isEnumType(type) ? type.getValues() : [];
  if (values.length === 0 || values.length > maxListed) return undefined;
  return `Send one of ${values.map((value) => value.name).join(', ')}`;
}

/** Returns the error with a hint in its extensions, which toResponse puts behind the message. */
export function withHint(schema: GraphQLSchema, error: GraphQLError): GraphQLError {
  // The error of a variable begins with its whole value, which may contain anything; the error of the value itself says why.
  const hint = hintFor(schema, (error.originalError ?? error).message);
  if (!hint) return error;
  const { message, nodes = null, source = null, positions = null, path = null, originalError = null } = error;
  const extensions = { ...error.extensions, hint };
  return new GraphQLError(message, { nodes, source, positions, path, originalError, extensions });
}
