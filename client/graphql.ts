/**
 * Sends a GraphQL operation and returns its data. The documents that it accepts, text, an AST, or what GraphQL Code Generator and gql.tada
 * make, are described by their structure only, so that the client depends on none of these packages.
 */
import { type FailingItem, GraphqlError, type GraphqlErrorItem } from './errors.ts';
import { requireKnown, type WriteOptions } from './options.ts';
import { type ApiResponse, detailsOf, isObject, serviceError, unexpected } from './responses.ts';
import type { Send } from './send.ts';

/** The types of the result and the variables are those of the document, or those given for text. */
export type Graphql = <Result = UntypedObject, Variables = UntypedObject>(
  document: GraphqlDocument<Result, Variables>,
  ...variables: VariableArguments<Variables>
) => Promise<Result>;

const accept = 'application/graphql-response+json, application/json, application/problem+json';

export function graphql(send: Send): Graphql {
  return async <Result>(
    document: GraphqlDocument<Result, never>,
    variables?: object,
    options: WriteOptions = {},
  ): Promise<Result> => {
    requireKnown('graphql', options);
    const query = textOf(document);
    const body = { query, ...(variables && { variables }) };
    // A document with the keyword of mutations counts as a write, even if the word is only in a comment.
    const write = /\bmutation\b/.test(query) ? options : undefined;
    return send({ method: 'POST', path: '/graphql', accept, body, write }, dataIn<Result>);
  };
}

function dataIn<Result>(response: ApiResponse): Result {
  if (errorsIn(response.body)) throw graphqlError(response);
  if (response.status >= 300) throw serviceError(response);
  if (!isObject(response.body) || !isObject(response.body.data)) throw unexpected(response);
  return response.body.data as Result;
}

/** The `detail` distinguishes a problem (RFC 9457), which reports a failure before GraphQL and may have `errors` too. */
const errorsIn = (body: unknown): GraphqlErrorItem[] | undefined =>
  isObject(body) && body.detail === undefined && Array.isArray(body.errors) && body.errors.every(isGraphqlError)
    ? body.errors
    : undefined;

const isGraphqlError = (error: unknown): error is GraphqlErrorItem =>
  isObject(error) && typeof error.message === 'string';

function graphqlError(response: ApiResponse): GraphqlError {
  const { isWrite, status, body } = response;
  const errors = errorsIn(body) ?? [];
  const data = isObject(body) ? body.data : undefined;
  const mayBeStored = isWrite && (status >= 500 || !errors.every((error) => storedNothing(error, data)));
  const message = errors.map((error) => error.message).join('; ');
  const items = errors.flatMap(itemsIn);
  return new GraphqlError(message, { ...detailsOf(response), errors, data, items, mayBeStored });
}

/**
 * Nothing is stored if the error has no path, because then nothing was executed, or if it rejects what was sent to the only field of
 * the operation. With several fields, those before it may be stored.
 */
function storedNothing({ path, extensions }: GraphqlErrorItem, data: unknown): boolean {
  if (path === undefined) return true;
  const isOnlyField = path.length === 1 && isObject(data) && Object.keys(data).length === 1;
  return isOnlyField && rejections.has(extensions?.code) && extensions?.mayBeStored !== true;
}

const rejections: ReadonlySet<unknown> = new Set(['BAD_USER_INPUT', 'CONFLICT', 'FORBIDDEN', 'NOT_FOUND']);

/** Returns the issues of an error. Their paths start with the name of the argument, in an import with the list's. */
function itemsIn({ extensions }: GraphqlErrorItem): FailingItem[] {
  const issues = extensions?.issues;
  if (!Array.isArray(issues) || !issues.every(isIssue)) return [];
  return issues.map(({ path, other, ...issue }) => {
    const place = path.findIndex((segment) => typeof segment === 'number');
    const list = place > 1 ? path[place - 1] : undefined;
    const field = path.slice(place + 1 || 1).join('.');
    return {
      ...(list !== undefined && { list: String(list) }),
      ...(place >= 0 && { index: Number(path[place]) }),
      ...(field && { field }),
      ...issue,
      ...(other && { other: asText(other.slice(1)) }),
    };
  });
}

/** Returns a path in the form that it has over REST: `[0]`, in an import `assets[0]`. */
const asText = (path: Path): string =>
  path.map((segment) => (typeof segment === 'number' ? `[${segment}]` : segment)).join('');

type Path = readonly (string | number)[];

type SentIssue = Pick<FailingItem, 'message' | 'code'> & { readonly path: Path; readonly other?: Path };

const isIssue = (issue: unknown): issue is SentIssue =>
  isObject(issue) && Array.isArray(issue.path) && typeof issue.message === 'string';

/** A document that carries the types of its result and its variables: a TypedDocumentNode or TypedDocumentString. */
interface TypedDocument<Result, Variables> {
  /** Exists for the compiler only. */
  readonly __apiType?: ((variables: Variables) => Result) | undefined;
}

interface DocumentNode {
  readonly kind: string;
  readonly definitions: readonly { readonly kind: string }[];
}

type GraphqlDocument<Result, Variables> = string | DocumentNode | TypedDocument<Result, Variables>;

/** The type of data and variables if neither the document nor the program gives one. */
// biome-ignore lint/suspicious/noExplicitAny: with unknown, strict programs could not read the data without a cast.
type UntypedObject = Record<string, any>;

/** The variables may be left out if the document requires none. The options are for mutations. */
type VariableArguments<Variables> = [keyof Variables] extends [never]
  ? [variables?: Readonly<Record<string, never>> | undefined, options?: WriteOptions | undefined]
  : Record<never, never> extends Variables
    ? [variables?: Readonly<Variables> | undefined, options?: WriteOptions | undefined]
    : [variables: Readonly<Variables>, options?: WriteOptions | undefined];

function textOf(document: unknown): string {
  if (typeof document === 'string') return document;
  if (isDocumentNode(document)) return print(document);
  // The TypedDocumentString of GraphQL Code Generator.
  if (document instanceof String) return document.toString();
  throw new TypeError(`graphql: expected a document as a string or an AST`);
}

const isDocumentNode = (document: unknown): document is DocumentNode =>
  typeof document === 'object' && document !== null && 'definitions' in document && Array.isArray(document.definitions);

// biome-ignore lint/suspicious/noExplicitAny: which fields a node has depends on its kind.
type Node = Readonly<Record<string, any>>;

/**
 * Prints the AST of a document as compact text, so that the client needs no GraphQL library. Prints what can be executed, operations and
 * fragments, and no type definitions. Leaves out descriptions, and prints block strings as strings.
 */
export const print = (document: Node): string => many(document.definitions, '\n');

const one = (node: Node | undefined, before = '', after = ''): string => (node ? before + printNode(node) + after : '');

const many = (nodes: readonly Node[] | undefined, between: string, before = '', after = ''): string =>
  nodes?.length ? before + nodes.map(printNode).join(between) + after : '';

/** The directives and the selection, with which many nodes end. */
const rest = (it: Node): string => many(it.directives, ' ', ' ') + one(it.selectionSet, ' ');

const withArguments = (it: Node): string => one(it.name) + many(it.arguments, ', ', '(', ')');
const pair = (it: Node): string => `${one(it.name)}: ${one(it.value)}`;
const text = (it: Node): string => String(it.value);

const printers: Readonly<Record<string, (node: Node) => string>> = {
  OperationDefinition: (it) =>
    it.operation + one(it.name, ' ') + many(it.variableDefinitions, ', ', '(', ')') + rest(it),
  FragmentDefinition: (it) => `fragment ${one(it.name)} on ${one(it.typeCondition)}${rest(it)}`,
  VariableDefinition: (it) => `${one(it.variable)}: ${one(it.type)}${one(it.defaultValue, ' = ')}${rest(it)}`,
  SelectionSet: (it) => many(it.selections, ' ', '{ ', ' }'),
  Field: (it) => one(it.alias, '', ': ') + withArguments(it) + rest(it),
  FragmentSpread: (it) => `...${one(it.name)}${rest(it)}`,
  InlineFragment: (it) => `...${one(it.typeCondition, ' on ')}${rest(it)}`,
  Directive: (it) => `@${withArguments(it)}`,
  Argument: pair,
  ObjectField: pair,
  Variable: (it) => `$${one(it.name)}`,
  NullValue: () => 'null',
  ListValue: (it) => `[${many(it.values, ', ')}]`,
  ObjectValue: (it) => `{${many(it.fields, ', ')}}`,
  // Every escape of JSON is one of GraphQL.
  StringValue: (it) => JSON.stringify(it.value),
  Name: text,
  IntValue: text,
  FloatValue: text,
  EnumValue: text,
  BooleanValue: text,
  NamedType: (it) => one(it.name),
  ListType: (it) => `[${one(it.type)}]`,
  NonNullType: (it) => `${one(it.type)}!`,
};

function printNode(node: Node): string {
  const printer = printers[node.kind];
  if (printer) return printer(node);
  throw new TypeError(`graphql: expected a document of operations and fragments, found the kind ${node.kind}`);
}
