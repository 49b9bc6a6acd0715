import { type GraphQLError, type GraphQLSchema, isEnumType, isInputObjectType, isObjectType } from 'graphql';

const maxListed = 20;

const hasField = (schema: GraphQLSchema, type: string, field: string): boolean => {
  const found = schema.getType(type);
  return (isObjectType(found) || isInputObjectType(found)) && found.getFields()[field] !== undefined;
};

export const withoutSuggestion = (message: string): string => message.split(' Did you mean the enum value ', 1).join();

const keyAndValue = 'Send the other system and the ID there: { key: "erp", value: "4711" }';

/** `filter` is undefined for other errors. */
function parseFilterError(
  error: GraphQLError,
  message: string,
): readonly [filter: string | undefined, isList: boolean, variable?: string | undefined] {
  const [inVariable, filter] = /^Expected type "(\w+)" to be an object\.$/.exec(message) ?? [];
  if (inVariable) return [filter, /^Variable "\$\w+" got invalid value \[/.test(error.message)];
  const [literal, expected, bracket] = /^Expected value of type "(\w+)", found (\[)?/.exec(message) ?? [];
  if (literal) return [expected, bracket !== undefined];
  const [, variable, list, position] =
    /^Variable "(\$\w+)" of type "(\[)?\w[^"]*" used in position expecting type "(\w+)"/.exec(message) ?? [];
  return [position, list !== undefined, variable];
}

export function hintFor(schema: GraphQLSchema, error: GraphQLError): string | undefined {
  // The message begins with the variable's value, which may contain anything; the original error has only the reason.
  const { message } = error.originalError ?? error;
  const [, field = '', record = ''] = /^Cannot query field "(\w+)" on type "(\w+)Connection"\./.exec(message) ?? [];
  if (hasField(schema, record, field)) return `The records are in nodes: nodes { ${field} }`;

  const [filter = '', isList = false, value = '…'] = parseFilterError(error, message);
  if (isList && hasField(schema, filter, 'in')) return `Send an operator with the values: { in: ${value} }`;
  if (hasField(schema, filter, 'eq')) return `Send an operator with the value: { eq: ${value} }`;
  if (hasField(schema, filter, 'key')) return keyAndValue;

  const [, unknown, input = ''] = /^Field "(\w+)" is not defined by type "(\w+)"\./.exec(message) ?? [];
  if (unknown === 'between' && hasField(schema, input, 'gte')) return 'Send both ends: { gte: …, lt: … }';
  if (hasField(schema, input, 'key')) return keyAndValue;

  const [, name = ''] = /^(?:Value "\w+" does not exist in|Enum) "(\w+)"/.exec(message) ?? [];
  const type = schema.getType(name);
  const values = isEnumType(type) ? type.getValues() : [];
  if (values.length === 0 || values.length > maxListed) return undefined;
  return `Send one of ${values.map((value) => value.name).join(', ')}`;
}
