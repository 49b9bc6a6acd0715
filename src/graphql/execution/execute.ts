/**
 * Executes operations: a query that is seen for the second time by graphql-jit, which compiles it, any other operation by graphql-js. The
 * text of a query that is sent again with the same variables is cached until the next write to its workspace.
 */
import { createHash } from 'node:crypto';
import {
  coerceInputValue,
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  GraphQLError,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  getOperationAST,
  getVariableValues,
  Kind,
  type NamedTypeNode,
  type OperationDefinitionNode,
  OperationTypeNode,
  type Source,
  TypeInfo,
  typeFromAST,
  type VariableDefinitionNode,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import type { Plugin } from 'graphql-yoga';
import type { Limits } from '../../config.ts';
import { ResponseTooLarge } from '../../errors.ts';
import { withHint } from '../hints.ts';
import { isItem } from '../limits/extensions.ts';
import { type DocumentPlan, documentPlan } from '../limits/limits.ts';
import type { Context } from './context.ts';

/** A result that is turned into text with its own `stringify`, if it has one, whatever plugins have added to it. */
export interface WrittenResult extends ExecutionResult {
  readonly stringify?: (result: ExecutionResult) => string;
}

type Run = (args: ExecutionArgs) => ExecutionResult | Promise<ExecutionResult>;

/** The most fields of a document to compile, which takes about a hundredth of a millisecond for each. */
const maxCompiled = 500;

/** Yoga's own executor returns fields in the order in which they resolve. */
export function useExecutor(limits: Limits, variableOptions: VariableOptions): Plugin<Context> {
  const executeOperation = createExecutor(limits, variableOptions);
  return { onExecute: ({ setExecuteFn }) => setExecuteFn(executeOperation) };
}

export function createExecutor(
  limits: Limits,
  variableOptions: VariableOptions,
): (args: ExecutionArgs) => Promise<ExecutionResult> {
  const { maxResponseLength } = limits;
  const seen = new WeakSet<OperationDefinitionNode>();
  const runs = new WeakMap<OperationDefinitionNode, Run>();

  function runFor({ schema, document }: ExecutionArgs, operation: OperationDefinitionNode): Run {
    const known = runs.get(operation);
    if (known) return known;
    if (!seen.has(operation)) {
      seen.add(operation);
      return interpret;
    }
    const run = mayCompile(documentPlan(schema, document, limits), schema, document, operation)
      ? compiled(schema, document, operation)
      : interpret;
    runs.set(operation, run);
    return run;
  }

  async function run(args: ExecutionArgs, operation: OperationDefinitionNode): Promise<ExecutionResult> {
    const result = await runFor(args, operation)(args);
    if (textLength(result.data) <= maxResponseLength) return result;
    return failed(new ResponseTooLarge(maxResponseLength));
  }

  return async (args) => {
    const operation = getOperationAST(args.document, args.operationName);
    if (!operation) return execute(args);
    const { coerced, errors } = readVariables(args.schema, operation, args.variableValues ?? {}, variableOptions);
    if (errors) {
      return { errors: variableOptions.hideSuggestions ? errors : errors.map((error) => withHint(args.schema, error)) };
    }
    const read = { ...args, variableValues: coerced };
    const { source } = args.document.loc ?? {};
    if (operation.operation !== OperationTypeNode.QUERY || !source) return run(read, operation);
    const name = nameOf(source.body, args.operationName, coerced);
    try {
      const { session, holdText } = args.contextValue as Context;
      const text = await session.store.deriveText(name, async () => {
        const result = await run(read, operation);
        if (result.errors) throw new NotCached(result);
        return JSON.stringify(result.data);
      });
      holdText(text.length);
      return withText(text);
    } catch (error) {
      return error instanceof NotCached ? error.result : failed(error);
    }
  };
}

/** Says that a result has errors, which are not cached. */
class NotCached extends Error {
  readonly result: ExecutionResult;

  constructor(result: ExecutionResult) {
    super('a result with errors is not cached');
    this.result = result;
  }
}

const failed = (error: unknown): ExecutionResult => ({
  errors: [new GraphQLError((error as Error).message, { originalError: error as Error })],
});

const interpret: Run = (args) => {
  const operation = getOperationAST(args.document, args.operationName);
  return execute(operation ? { ...args, document: withReadVariables(args.document, operation) } : args);
};

/**
 * Only queries: what a mutation stores must not depend on how graphql-jit reads input, which has differed from GraphQL three times.
 * Directives may leave out fields by variables, which it checks field by field; `__proto__` would be no field of its objects.
 */
function mayCompile(
  { operations, directives }: DocumentPlan,
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): boolean {
  if (operation.operation !== OperationTypeNode.QUERY || document.loc?.source.body.includes('__proto__')) return false;
  if (directives > 0 || (operations.get(operation)?.fields ?? 0) > maxCompiled) return false;
  return !hasVariableInScalar(schema, document);
}

/** True for `externalIds: { erp: $erp }`: graphql-jit reads literals of scalars once, when it compiles, without variables. */
function hasVariableInScalar(schema: GraphQLSchema, document: DocumentNode): boolean {
  let isFound = false;
  const types = new TypeInfo(schema);
  const Variable = () => {
    isFound ||= types.getInputType() === undefined;
  };
  visit(document, visitWithTypeInfo(types, { Variable, VariableDefinition: () => false }));
  return isFound;
}

function compiled(schema: ExecutionArgs['schema'], document: DocumentNode, operation: OperationDefinitionNode): Run {
  // Errors have the stack of what was thrown; one for each of them would only be made.
  const options = { disablingCapturingStackErrors: true };
  const query = compileQuery(schema, withReadVariables(document, operation), operation.name?.value, options);
  if (!isCompiledQuery(query)) return interpret;
  const inside = variablesInside(document);
  return async (args) => {
    const { rootValue, contextValue, variableValues } = args;
    if (inside.some((name) => (variableValues?.[name] ?? null) === null)) return interpret(args);
    const result = await query.query(rootValue, contextValue, variableValues);
    const { source } = document.loc ?? {};
    return result.errors && source
      ? { ...result, errors: result.errors.map((error) => withPositions(error, source)) }
      : result;
  };
}

/**
 * The variables inside objects and lists of a document. For those that are not sent, graphql-jit writes null, which no filter accepts, and it
 * does not refuse null where GraphQL does.
 */
function variablesInside(document: DocumentNode): readonly string[] {
  const names: string[] = [];
  visit(document, {
    VariableDefinition: () => false,
    Argument: ({ value }) => (value.kind === Kind.VARIABLE ? false : undefined),
    Variable: ({ name }) => void names.push(name.value),
  });
  return names;
}

/** Errors of graphql-jit have locations, but nothing that yoga could make them from. */
function withPositions({ message, locations, path, originalError }: GraphQLError, source: Source): GraphQLError {
  const positions = locations?.map(({ line, column }) => {
    const breaks = /\r\n|[\n\r]/g;
    for (let passed = 1; passed < line; passed += 1) breaks.exec(source.body);
    return breaks.lastIndex + column - 1;
  });
  return new GraphQLError(message, { source, positions, path, originalError });
}

const nameOf = (...query: readonly unknown[]): string =>
  `query ${createHash('sha256').update(JSON.stringify(query)).digest('base64url')}`;

const withText = (data: string): WrittenResult => ({
  data: {},
  stringify: ({ extensions }) => `{"data":${data}${extensions ? `,"extensions":${JSON.stringify(extensions)}` : ''}}`,
});

/** Returns the characters of all texts: a thousand records can link to the same long one, and each has it in the response. */
function textLength(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  let length = 0;
  if (Array.isArray(value)) for (const item of value) length += textLength(item);
  else for (const name in value) length += textLength((value as Readonly<Record<string, unknown>>)[name]);
  return length;
}

interface VariableOptions {
  readonly maxErrors: number;
  readonly hideSuggestions: boolean;
}

type Values = Readonly<Record<string, unknown>>;

/** Items may lack required fields: the service lists them with all else that is wrong, whereas GraphQL would stop at the first few. */
function readVariables(
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
function withReadVariables(document: DocumentNode, operation: OperationDefinitionNode): DocumentNode {
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
