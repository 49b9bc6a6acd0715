/** Reads the variables of an operation once, for whichever executor runs it: both get the same errors, and need not read them again. */
import {
  coerceInputValue,
  type DocumentNode,
  GraphQLError,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  getVariableValues,
  Kind,
  type NamedTypeNode,
  type OperationDefinitionNode,
  typeFromAST,
  type VariableDefinitionNode,
} from 'graphql';
import { isItem } from '../limits/extensions.ts';

export interface VariableOptions {
  readonly maxErrors: number;
  readonly hideSuggestions: boolean;
}

type Values = Readonly<Record<string, unknown>>;

/**
 * Returns the variables with the types of the schema, or GraphQL's own errors. In items to write, a required field may be missing or
 * null: the service lists it with everything else that is wrong in the batch, whereas GraphQL would stop at the first few.
 */
export function readVariables(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
  sent: Values,
  options: VariableOptions,
): ReturnType<typeof getVariableValues> {
  const read = getVariableValues(schema, variableDefinitions, sent, options);
  if (!read.errors) return read;
  const typeOf = ({ type }: VariableDefinitionNode) => typeFromAST(schema, type) as GraphQLInputType | undefined;
  const isBatch = (definition: VariableDefinitionNode) =>
    isItem(getNamedType(typeOf(definition))) && (sent[definition.variable.name.value] ?? null) !== null;

  const others = getVariableValues(
    schema,
    variableDefinitions.filter((it) => !isBatch(it)),
    sent,
    options,
  );
  const errors: GraphQLError[] = [...(others.errors ?? [])];
  const coerced: Record<string, unknown> = { ...others.coerced };
  for (const definition of variableDefinitions.filter(isBatch)) {
    const name = definition.variable.name.value;
    const onError = (path: readonly (string | number)[], _value: unknown, error: GraphQLError) => {
      const isMissing =
        notProvided.test(error.message) || (isNull.test(error.message) && typeof path.at(-1) === 'string');
      if (!isMissing && errors.length < options.maxErrors) errors.push(invalidVariable(definition, path, error));
    };
    coerced[name] = coerceInputValue(
      sent[name],
      typeOf(definition) as GraphQLInputType,
      onError,
      options.hideSuggestions,
    );
  }
  return errors.length > 0 ? { errors } : { coerced };
}

/** graphql-js's errors for a required field that is missing, and for one that is null. */
const notProvided = /^Field "\w+" of required type "[^"]+" was not provided\.$/;
const isNull = /^Expected non-nullable type "[^"]+" not to be null\.$/;

/** Words the error as graphql-js does, without the value, which errors.ts removes. */
function invalidVariable(node: VariableDefinitionNode, path: readonly (string | number)[], error: GraphQLError) {
  const name = node.variable.name.value;
  const at = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
  const message = `Variable "$${name}" got invalid value at "${name}${at}"; ${error.message}`;
  return new GraphQLError(message, { nodes: node, originalError: error });
}

/** A scalar of the schema that accepts any value. */
const anyValue: NamedTypeNode = { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: 'FieldValue' } };

/** Returns the document with a type for its variables that leaves them as they are: an executor would read them a second time. */
export function withReadVariables(document: DocumentNode, operation: OperationDefinitionNode): DocumentNode {
  const variableDefinitions = operation.variableDefinitions?.map(({ kind, variable }) => ({
    kind,
    variable,
    type: anyValue,
  }));
  const definitions = document.definitions.map((node) =>
    node === operation ? { ...node, variableDefinitions } : node,
  );
  return { ...document, definitions } as DocumentNode;
}
