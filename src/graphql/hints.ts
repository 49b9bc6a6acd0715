/** What to send instead: added to GraphQL's own messages for the mistakes that people make first. Not where suggestions are turned off. */
import { GraphQLError, type GraphQLSchema, isEnumType, isInputObjectType, isObjectType } from 'graphql';

/** The most values of an enum that a message lists. */
const maxListed = 20;

/** A message of graphql-js, with the names in it, and what to say after it. */
const hints: readonly (readonly [RegExp, (schema: GraphQLSchema, type: string, name: string) => string | undefined])[] =
  [
    [
      /^Cannot query field "(?<name>\w+)" on type "(?<type>\w+)Connection"\./,
      (schema, type, name) => {
        const record = schema.getType(type);
        if (isObjectType(record) && record.getFields()[name]) return `The records are in nodes: nodes { ${name} }`;
      },
    ],
    [
      /(?:^Expected value of type "(?<type>\w+)!?", found |Expected type "(?<type2>\w+)" to be an object\.$)/,
      (schema, type) => {
        const filter = schema.getType(type);
        if (isInputObjectType(filter) && filter.getFields().eq) return 'Send an operator with the value: { eq: … }';
      },
    ],
    [
      /Field "between" is not defined by type "(?<type>\w+)"\./,
      (schema, type) => {
        const filter = schema.getType(type);
        if (isInputObjectType(filter) && filter.getFields().gte) return 'Send both ends: { gte: …, lt: … }';
      },
    ],
    [
      /(?:does not exist in "(?<type>\w+)" enum|Enum "(?<type2>\w+)" cannot represent)/,
      (schema, type) => {
        const values = schema.getType(type);
        if (!isEnumType(values)) return undefined;
        const names = values.getValues().map(({ name }) => name);
        return names.length <= maxListed ? `Send one of ${names.join(', ')}` : undefined;
      },
    ],
  ];

/** Returns the error with a hint in its extensions, which toResponse puts behind the message. */
export function withHint(schema: GraphQLSchema, error: GraphQLError): GraphQLError {
  // A variable's error begins with its whole value, which may contain anything; the error of the value itself says why.
  const { message } = error.originalError ?? error;
  for (const [pattern, hintFor] of hints) {
    const groups = pattern.exec(message)?.groups;
    const hint = groups && hintFor(schema, groups.type ?? groups.type2 ?? '', groups.name ?? '');
    if (!hint) continue;
    const { nodes, source, positions, path, originalError } = error;
    const extensions = { ...error.extensions, hint };
    return new GraphQLError(error.message, { nodes, source, positions, path, originalError, extensions } as object);
  }
  return error;
}
