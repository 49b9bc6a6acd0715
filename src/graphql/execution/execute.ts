/**
 * Executes operations: a query that is seen for the second time by graphql-jit, which compiles it, any other operation by graphql-js. The
 * text of a query that is sent again with the same variables is cached until the next write to its workspace, for all who ask, or for each
 * if it asks for `viewer`. Yoga's own executor would return fields in the order in which they resolve.
 */
import { createHash } from 'node:crypto';
import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  type NamedTypeNode,
  type OperationDefinitionNode,
  OperationTypeNode,
  type Source,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import type { Plugin } from 'graphql-yoga';
import pLimit from 'p-limit';
import type { Limits } from '../../config.ts';
import { mayBeStoredType, ResponseTooLarge, ServiceError } from '../../errors.ts';
import { isTimeout } from '../../store/connections/database-error.ts';
import { rootCause } from '../errors.ts';
import { measure, type Prepared } from '../limits.ts';
import type { Context } from '../schema/builder.ts';
import { createLoaders } from './loaders.ts';

/** A result that is turned into text with its own `stringify`, if it has one, whatever plugins have added to it. */
export interface WrittenResult extends ExecutionResult {
  readonly stringify?: (result: ExecutionResult) => string;
}

type Run = (args: ExecutionArgs) => ExecutionResult | Promise<ExecutionResult>;

/** The most fields of a document to compile, which takes about a hundredth of a millisecond for each. */
const maxCompiled = 500;

/**
 * The cost from which a query is heavy, such as a page of a thousand records, and how many of these run at a time: each may hold 100 MB while it
 * waits for what it reads. Of 24 pages of 10,000 long labels, the process took 2.7 GB, and of 30 of 300 changes of long records 1.7; now it
 * takes 0.9.
 */
const [heavyCost, maxHeavy] = [10_000, 2];

export function useExecutor(
  schema: GraphQLSchema,
  limits: Limits,
): Plugin<
  Context & Prepared & { readonly client?: { readonly holdText: Context['holdText']; readonly cost?: number } }
> {
  const executeOperation = createExecutor(limits);
  const inTurn = pLimit(maxHeavy);
  return {
    onExecute({ args: { contextValue, document }, extendContext, setExecuteFn }) {
      const { session, client, operation } = contextValue;
      // An event of a subscription is held by its stream, which has a limit of its own.
      const { holdText = () => {}, cost = 0 } = client ?? {};
      const store = session.store.within(limits, holdText);
      extendContext({ loaders: createLoaders(store, schema, document), holdText });
      const isHeavy = cost > heavyCost && operation.operation === OperationTypeNode.QUERY;
      setExecuteFn(isHeavy ? (args: ExecutionArgs) => inTurn(executeOperation, args) : executeOperation);
    },
  };
}

export function createExecutor(limits: Limits) {
  /** How the operations run that have been seen; undefined for those seen once. */
  const runs = new WeakMap<OperationDefinitionNode, Run | undefined>();

  function runFor(args: ExecutionArgs, operation: OperationDefinitionNode): Run {
    const run = runs.get(operation) ?? (runs.has(operation) ? runOf(args, operation, limits) : undefined);
    runs.set(operation, run);
    return run ?? interpret;
  }

  async function run(args: ExecutionArgs, operation: OperationDefinitionNode): Promise<ExecutionResult> {
    const result = await runFor(args, operation)(args);
    const tooLarge =
      textLength(result.data) > limits.maxResponseLength
        ? errorFor(new ResponseTooLarge(limits.maxResponseLength))
        : result.errors?.find((error) => rootCause(error) instanceof ResponseTooLarge);
    if (operation.operation !== OperationTypeNode.MUTATION) return tooLarge ? { errors: [tooLarge] } : result;
    if (tooLarge) return { errors: [executedBut(tooLarge, 413)] };
    // What the mutation has returned could not be read on, but it is stored.
    const isStored = (error: GraphQLError) => (error.path?.length ?? 0) > 1 && statusOf(error) === 503;
    const errors = result.errors?.map((error) => (isStored(error) ? executedBut(error, 503) : error));
    return errors ? { ...result, errors } : result;
  }

  return async (args: ExecutionArgs): Promise<ExecutionResult> => {
    const { session, holdText, operation, variables } = args.contextValue as Context & Prepared;
    const read = { ...args, variableValues: variables };
    const text = args.document.loc?.source.body;
    const isMutation = operation.operation === OperationTypeNode.MUTATION;
    if (!isMutation && (operation.operation !== OperationTypeNode.QUERY || text === undefined))
      return run(read, operation);
    let failed: ExecutionResult | undefined;
    try {
      if (isMutation) {
        // Refused before anything is stored; what is selected of the stored records counts like what a query reads.
        holdText(1);
        const result = await run(read, operation);
        holdText(textLength(result.data));
        return result;
      }
      // All else is the same for everybody in the workspace.
      const who = text?.includes('viewer') ? [session.userId, session.mayWrite] : [];
      const data = await session.store.deriveText(nameOf(text, args.operationName, variables, ...who), async () => {
        const result = await run(read, operation);
        if (!result.errors) return JSON.stringify(result.data);
        failed = result;
        const timeout = result.errors.map(rootCause).find(isTimeout);
        if (timeout) throw timeout;
        return undefined;
      });
      // Errors are not cached: where others have had one, each tries for itself, unless it was a timeout.
      if (data === undefined) return failed ?? (await run(read, operation));
      holdText(data.length);
      return withText(data);
    } catch (error) {
      return failed ?? { errors: [errorFor(error as Error)] };
    }
  };
}

const errorFor = (originalError: Error) => new GraphQLError(originalError.message, { originalError });

/** Replaces a mutation's response that is too large: the records are stored nevertheless. */
const executedBut = ({ path, message }: GraphQLError, status: 413 | 503): GraphQLError =>
  new GraphQLError(message, {
    path,
    originalError: new ServiceError(status, `the mutation was executed, but ${message}`, [], { type: mayBeStoredType }),
  });

const statusOf = (error: unknown): number | undefined => {
  const cause = rootCause(error);
  return cause instanceof ServiceError ? cause.status : undefined;
};

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

const interpret: Run = (args) => {
  const { operation } = args.contextValue as Prepared;
  return execute({ ...args, document: withReadVariables(args.document, operation) });
};

/**
 * Only queries: what a mutation stores must not depend on how graphql-jit reads input, which has differed from GraphQL three times.
 * A field that a directive leaves out where it stands first would keep that place, before fields that come earlier now; `__proto__` would be
 * no field of its objects; and a variable named `toString` that is not sent would be a function.
 */
function mayCompile(args: ExecutionArgs, operation: OperationDefinitionNode, limits: Limits): boolean {
  if (operation.operation !== OperationTypeNode.QUERY) return false;
  if (args.document.loc?.source.body.includes('__proto__')) return false;
  if (operation.variableDefinitions?.some(({ variable }) => variable.name.value in Object.prototype)) return false;
  return measure(args, operation, limits).fields <= maxCompiled;
}

/** Compiles the operation where that is certain to return the same as graphql-js. */
function runOf(args: ExecutionArgs, operation: OperationDefinitionNode, limits: Limits): Run {
  const { schema, document } = args;
  const inside = contentOf(schema, document);
  if (!mayCompile(args, operation, limits) || inside.hasDirectives || inside.inScalars) return interpret;
  // Errors have the stack of what was thrown; one for each of them would only be made.
  const options = { disablingCapturingStackErrors: true };
  const query = compileQuery(schema, withReadVariables(document, operation), operation.name?.value, options);
  if (!isCompiledQuery(query)) return interpret;
  const { source } = document.loc ?? {};
  return async (args) => {
    const { rootValue, contextValue, variableValues } = args;
    if (inside.names.some((name) => (variableValues?.[name] ?? null) === null)) return interpret(args);
    const result = await query.query(rootValue, contextValue, variableValues);
    if (!result.errors || !source) return result;
    return { ...result, errors: result.errors.map((error) => withPositions(error, source)) };
  };
}

/**
 * Returns whether a document has directives, and the variables inside its objects and lists. For those that are not sent, graphql-jit writes
 * null, which no filter accepts, and it does not refuse null where GraphQL does. Literals of scalars it reads once, without variables:
 * `externalIds: { erp: $erp }`.
 */
function contentOf(schema: GraphQLSchema, document: DocumentNode) {
  const names: string[] = [];
  let inScalars = false;
  let hasDirectives = false;
  const types = new TypeInfo(schema);
  const visitor = visitWithTypeInfo(types, {
    VariableDefinition: () => false,
    Directive() {
      hasDirectives = true;
    },
    Argument: ({ value }) => (value.kind === Kind.VARIABLE ? false : undefined),
    Variable({ name }) {
      names.push(name.value);
      inScalars ||= types.getInputType() === undefined;
    },
  });
  visit(document, visitor);
  return { names, inScalars, hasDirectives };
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

/**
 * Returns the characters of all texts and names, as JSON has them: a thousand records can link to the same long text, and each has it in the
 * response. Control characters take six each: 40 million of them, which are few texts of 10,000, took 1.1 GB.
 */
function textLength(value: unknown): number {
  if (typeof value === 'string') {
    return value.length > maxShort && escaped.test(value) ? JSON.stringify(value).length : value.length;
  }
  if (typeof value !== 'object' || value === null) return 0;
  let length = 0;
  if (Array.isArray(value)) for (const item of value) length += textLength(item);
  else {
    for (const name in value) {
      length += name.length + textLength((value as Readonly<Record<string, unknown>>)[name]);
    }
  }
  return length;
}

/** Characters of texts such as IDs, of which even a response full of escapes is bounded by what an operation may cost. */
const maxShort = 64;

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what JSON escapes.
const escaped = /[\u0000-\u001f"\\]/;
