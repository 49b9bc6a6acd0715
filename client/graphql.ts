/** Describes the documents of GraphQL Code Generator and gql.tada by their structure, to depend on neither. */
import { type FailingItem, GraphqlError, type GraphqlErrorItem } from './errors.ts';
import { requireKnown, type WriteOptions } from './options.ts';
import { type ApiResponse, detailsOf, isObject, serviceError, unexpected } from './responses.ts';
import type { Send } from './send.ts';

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
    const query = documentText(document);
    const body = { query, ...(variables && { variables }) };
    // Matches comments, too: an idempotency key does not harm a read.
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

/** Ignores problems (RFC 9457), which have a `detail` and perhaps `errors`, and report a failure before GraphQL. */
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
  const mayBeStored = isWrite && !errors.every((error) => storedNothing(error, data, status));
  const message = errors.map((error) => error.message).join('; ');
  const items = errors.flatMap(itemsIn);
  return new GraphqlError(message, { ...detailsOf(response), errors, data, items, mayBeStored });
}

/**
 * Nothing is stored if the error has no path, because nothing was executed, or if the only field was rejected. Of
 * several fields, an earlier one may be stored.
 */
function storedNothing({ path, extensions }: GraphqlErrorItem, data: unknown, status: number): boolean {
  if (extensions?.mayBeStored === true) return false;
  if (path === undefined) return status < 500;
  const isOnlyField = path.length === 1 && isObject(data) && Object.keys(data).length === 1;
  return isOnlyField && rejections.has(extensions?.code);
}

/** A 503 has `mayBeStored` if something may be stored. */
const rejections: ReadonlySet<unknown> = new Set([
  'BAD_USER_INPUT',
  'CONFLICT',
  'FORBIDDEN',
  'NOT_FOUND',
  'SERVICE_UNAVAILABLE',
]);

/** Paths of issues start with the argument, in an import followed by the list. */
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
      ...(other && { other: formatPath(other.slice(1)) }),
    };
  });
}

/** Formats a path as REST does: `[0]`, in an import `assets[0]`. */
const formatPath = (path: Path): string =>
  path.map((segment) => (typeof segment === 'number' ? `[${segment}]` : segment)).join('');

type Path = readonly (string | number)[];

type ReceivedIssue = Pick<FailingItem, 'message' | 'code'> & { readonly path: Path; readonly other?: Path };

const isIssue = (issue: unknown): issue is ReceivedIssue =>
  isObject(issue) && Array.isArray(issue.path) && typeof issue.message === 'string';

/** A TypedDocumentNode or TypedDocumentString. */
interface TypedDocument<Result, Variables> {
  readonly __apiType?: ((variables: Variables) => Result) | undefined;
}

interface DocumentNode {
  readonly kind: string;
  readonly definitions: readonly { readonly kind: string }[];
}

type GraphqlDocument<Result, Variables> = string | DocumentNode | TypedDocument<Result, Variables>;

// biome-ignore lint/suspicious/noExplicitAny: with unknown, strict programs could not read the data without a cast.
type UntypedObject = Record<string, any>;

type VariableArguments<Variables> = [keyof Variables] extends [never]
  ? [variables?: Readonly<Record<string, never>> | undefined, options?: WriteOptions | undefined]
  : Record<never, never> extends Variables
    ? [variables?: Readonly<Variables> | undefined, options?: WriteOptions | undefined]
    : [variables: Readonly<Variables>, options?: WriteOptions | undefined];

function documentText(document: unknown): string {
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

/** Compact, without a GraphQL library or descriptions. Block strings become strings. */
export const print = (document: Node): string => printAll(document.definitions, '\n');

const printOne = (node: Node | undefined, before = '', after = ''): string =>
  node ? before + printNode(node) + after : '';

const printAll = (nodes: readonly Node[] | undefined, between: string, before = '', after = ''): string =>
  nodes?.length ? before + nodes.map(printNode).join(between) + after : '';

const printEnd = (node: Node): string => printAll(node.directives, ' ', ' ') + printOne(node.selectionSet, ' ');

const printCall = (node: Node): string => printOne(node.name) + printAll(node.arguments, ', ', '(', ')');
const printPair = (node: Node): string => `${printOne(node.name)}: ${printOne(node.value)}`;
const printValue = (node: Node): string => String(node.value);

const printers: Readonly<Record<string, (node: Node) => string>> = {
  OperationDefinition: (node) =>
    node.operation + printOne(node.name, ' ') + printAll(node.variableDefinitions, ', ', '(', ')') + printEnd(node),
  FragmentDefinition: (node) => `fragment ${printOne(node.name)} on ${printOne(node.typeCondition)}${printEnd(node)}`,
  VariableDefinition: (node) =>
    `${printOne(node.variable)}: ${printOne(node.type)}${printOne(node.defaultValue, ' = ')}${printEnd(node)}`,
  SelectionSet: (node) => printAll(node.selections, ' ', '{ ', ' }'),
  Field: (node) => printOne(node.alias, '', ': ') + printCall(node) + printEnd(node),
  FragmentSpread: (node) => `...${printOne(node.name)}${printEnd(node)}`,
  InlineFragment: (node) => `...${printOne(node.typeCondition, ' on ')}${printEnd(node)}`,
  Directive: (node) => `@${printCall(node)}`,
  Argument: printPair,
  ObjectField: printPair,
  Variable: (node) => `$${printOne(node.name)}`,
  NullValue: () => 'null',
  ListValue: (node) => `[${printAll(node.values, ', ')}]`,
  ObjectValue: (node) => `{${printAll(node.fields, ', ')}}`,
  // Every escape of JSON is one of GraphQL.
  StringValue: (node) => JSON.stringify(node.value),
  Name: printValue,
  IntValue: printValue,
  FloatValue: printValue,
  EnumValue: printValue,
  BooleanValue: printValue,
  NamedType: (node) => printOne(node.name),
  ListType: (node) => `[${printOne(node.type)}]`,
  NonNullType: (node) => `${printOne(node.type)}!`,
};

function printNode(node: Node): string {
  const printer = printers[node.kind];
  if (printer) return printer(node);
  throw new TypeError(`graphql: expected a document of operations and fragments, found the kind ${node.kind}`);
}
