/**
 * The documents that `graphql` accepts: text, an AST, or what GraphQL Code Generator and gql.tada make. These are described
 * by their structure only, so that the client depends on none of these packages.
 */
import { received } from './check.ts';
import { print } from './print.ts';
import type { WriteOptions } from './write-options.ts';

/** A document that carries the types of its result and its variables: a TypedDocumentNode or TypedDocumentString. */
export interface TypedDocument<Result, Variables> {
  /** Exists for the compiler only. */
  readonly __apiType?: ((variables: Variables) => Result) | undefined;
}

/** The AST of a document. */
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
