/**
 * Passes a mutation's items from variables to its resolver as they were sent. GraphQL would stop at the first few
 * values of a wrong type, with messages that name no item: the service lists them with all other issues of the batch,
 * as over REST. Items in the document are validated with it.
 */
import {
  type ExecutionArgs,
  GraphQLID,
  type GraphQLType,
  getNamedType,
  getNullableType,
  isListType,
  Kind,
  type NamedTypeNode,
  type OperationDefinitionNode,
  typeFromAST,
} from 'graphql';
import { isSentAsItIs } from '../plan/extensions.ts';

/** A scalar of the schema that accepts any value. */
const anyValue: NamedTypeNode = { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: 'FieldValue' } };

/** Returns the arguments with the types of these variables replaced: GraphQL reads a variable only by its type. */
export function withSentItems(args: ExecutionArgs, operation: OperationDefinitionNode): ExecutionArgs {
  const { schema, document } = args;
  const variables = args.variableValues ?? {};
  const variableDefinitions = (operation.variableDefinitions ?? []).map((definition) => {
    const name = definition.variable.name.value;
    const value = Object.hasOwn(variables, name) ? (variables[name] ?? null) : null;
    // GraphQL reports that a whole batch is missing.
    if (value === null) return definition;
    const type = typeFromAST(schema, definition.type);
    const isItems = isSentAsItIs(getNamedType(type)) || (isListOfIds(type) && hasOthers(value));
    return isItems ? { ...definition, type: anyValue } : definition;
  });
  const definitions = document.definitions.map((node) =>
    node === operation ? { ...node, variableDefinitions } : node,
  );
  return { ...args, document: { ...document, definitions } };
}

/**
 * True if some items of a list are not IDs. Only then are IDs left as they were sent: filters may use the same
 * variable, and although they check its values, they rely on GraphQL to turn whole numbers into texts.
 */
const hasOthers = (value: unknown): boolean =>
  Array.isArray(value) && !value.every((item) => typeof item === 'string' || Number.isInteger(item));

const isListOfIds = (type: GraphQLType | undefined): boolean =>
  isListType(getNullableType(type)) && getNamedType(type) === GraphQLID;
