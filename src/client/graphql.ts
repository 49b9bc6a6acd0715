/** Sends a GraphQL operation and returns its data. */
import { type GraphqlDocument, textOf, type UntypedObject, type VariableArguments } from './document.ts';
import { GraphqlError, type GraphqlErrorItem } from './errors.ts';
import { isObject, serviceError } from './rest.ts';
import { type ApiResponse, messageOf, type Send, unexpected } from './send.ts';
import type { WriteOptions } from './write-options.ts';

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
    options?: WriteOptions,
  ): Promise<Result> => {
    const query = textOf(document);
    const body = { query, ...(variables && { variables }) };
    return send({ method: 'POST', path: '/graphql', accept, body, isWrite: mayWrite(query), options }, dataIn<Result>);
  };
}

/** A document without the keyword has no mutation. Any other counts as a write, even if the word is only in a comment. */
const mayWrite = (query: string): boolean => /\bmutation\b/.test(query);

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
  const { isWrite, status, requestId, retryAfter } = response;
  const body = response.bodyWithoutKey();
  const errors = errorsIn(body) ?? [];
  // An error with a path shows that execution began: mutation fields before the failing one may be stored.
  const mayBeStored = isWrite && (status >= 500 || errors.some(({ path }) => path !== undefined));
  const data = isObject(body) ? body.data : undefined;
  const message = messageOf(response, errors.map((error) => error.message).join('; '));
  return new GraphqlError(message, { errors, data, status, requestId, retryAfter, mayBeStored });
}
