/**
 * The documents that `graphql` accepts: text, an AST, or what GraphQL Code Generator and gql.tada make. These are described
 * by their structure only, so that the client depends on none of these packages.
 */
import { received } from './check.ts';
import type { WriteOptions } from './write-options.ts';

/** A document that carries the types of its result and its variables: a TypedDocumentNode or TypedDocumentString. */
export interface TypedDocument<Result, Variables> {
  /** Exists for the compiler only. */
  readonly __apiType?: ((variables: Variables) => Result) | undefined;
}

interface DocumentNode {
  readonly kind: string;
  readonly definitions: readonly { readonly kind: string }[];
}

export type GraphqlDocument<Result, Variables> = string | DocumentNode | TypedDocument<Result, Variables>;

/** The type of data and variables if neither the document nor the program gives one. */
// biome-ignore lint/suspicious/noExplicitAny: with unknown, strict programs could not read the data without a cast.
export type UntypedObject = Record<string, any>;

/** The variables may be left out if the document requires none. The options are for mutations. */
export type VariableArguments<Variables> = [keyof Variables] extends [never]
  ? [variables?: Readonly<Record<string, never>> | undefined, options?: WriteOptions | undefined]
  : Record<never, never> extends Variables
    ? [variables?: Readonly<Variables> | undefined, options?: WriteOptions | undefined]
    : [variables: Readonly<Variables>, options?: WriteOptions | undefined];

export function textOf(document: unknown): string {
  if (typeof document === 'string') return document;
  if (isDocumentNode(document)) return print(document);
  // The TypedDocumentString of GraphQL Code Generator.
  if (document instanceof String) return document.toString();
  throw new TypeError(`graphql: expected a document as a string or an AST, received ${received(document)}`);
}

const isDocumentNode = (document: unknown): document is DocumentNode =>
  typeof document === 'object' && document !== null && 'definitions' in document && Array.isArray(document.definitions);

/** The part of the AST's nodes that is printed; which fields a node has depends on its kind. */
interface Node {
  readonly kind: string;
  readonly name?: Node;
  readonly alias?: Node;
  readonly operation?: string;
  readonly value?: string | boolean | Node;
  readonly variable?: Node;
  readonly type?: Node;
  readonly typeCondition?: Node;
  readonly defaultValue?: Node;
  readonly selectionSet?: Node;
  readonly definitions?: readonly Node[];
  readonly variableDefinitions?: readonly Node[];
  readonly directives?: readonly Node[];
  readonly selections?: readonly Node[];
  readonly arguments?: readonly Node[];
  readonly values?: readonly Node[];
  readonly fields?: readonly Node[];
}

/**
 * Prints the AST of a document as compact text, so that the client needs no GraphQL library. Prints what can be executed, operations and
 * fragments, and no type definitions. Leaves out descriptions, and prints block strings as strings.
 */
export const print = (document: Node): string => many(document.definitions, '\n');

function printNode(node: Node): string {
  const name = one(node.name);
  const args = many(node.arguments, ', ', '(', ')');
  switch (node.kind) {
    case 'OperationDefinition':
      return node.operation + one(node.name, ' ') + many(node.variableDefinitions, ', ', '(', ')') + rest(node);
    case 'FragmentDefinition':
      return `fragment ${name} on ${one(node.typeCondition)}${rest(node)}`;
    case 'VariableDefinition':
      return `${one(node.variable)}: ${one(node.type)}${one(node.defaultValue, ' = ')}${rest(node)}`;
    case 'SelectionSet':
      return many(node.selections, ' ', '{ ', ' }');
    case 'Field':
      return one(node.alias, '', ': ') + name + args + rest(node);
    case 'FragmentSpread':
      return `...${name}${rest(node)}`;
    case 'InlineFragment':
      return `...${one(node.typeCondition, ' on ')}${rest(node)}`;
    case 'Directive':
      return `@${name}${args}`;
    case 'Argument':
    case 'ObjectField':
      return `${name}: ${one(node.value as Node)}`;
    case 'Variable':
      return `$${name}`;
    case 'NullValue':
      return 'null';
    case 'ListValue':
      return `[${many(node.values, ', ')}]`;
    case 'ObjectValue':
      return `{${many(node.fields, ', ')}}`;
    // Every escape of JSON is one of GraphQL.
    case 'StringValue':
      return JSON.stringify(node.value);
    case 'Name':
    case 'IntValue':
    case 'FloatValue':
    case 'EnumValue':
    case 'BooleanValue':
      return String(node.value);
    case 'NamedType':
      return name;
    case 'ListType':
      return `[${one(node.type)}]`;
    case 'NonNullType':
      return `${one(node.type)}!`;
    default:
      throw new TypeError(`graphql: expected a document of operations and fragments, found the kind ${node.kind}`);
  }
}

const rest = ({ directives, selectionSet }: Node): string => many(directives, ' ', ' ') + one(selectionSet, ' ');

const one = (node: Node | undefined, before = '', after = ''): string => (node ? before + printNode(node) + after : '');

const many = (nodes: readonly Node[] | undefined, between: string, before = '', after = ''): string =>
  nodes?.length ? before + nodes.map(printNode).join(between) + after : '';
