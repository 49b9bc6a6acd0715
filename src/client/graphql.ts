/** Sends a GraphQL operation and returns its data. */
import { GraphqlError, type GraphqlErrorItem } from './errors.ts';
import { isObject, serviceError } from './rest.ts';
import { type ApiResponse, type Send, unexpected } from './send.ts';

const accept = 'application/graphql-response+json, application/json, application/problem+json';

export const graphql =
  (send: Send) =>
  <Data>(query: string, variables?: Readonly<Record<string, unknown>>): Promise<Data> => {
    const body = { query, ...(variables && { variables }) };
    return send({ method: 'POST', path: '/graphql', accept, body, isWrite: mayWrite(query) }, dataIn<Data>);
  };

/** A document without the keyword has no mutation. Any other counts as a write, even if the word is only in a comment. */
const mayWrite = (document: string): boolean => /\bmutation\b/.test(document);

function dataIn<Data>(response: ApiResponse): Data {
  if (errorsIn(response.body)) throw graphqlError(response);
  if (response.status >= 300) throw serviceError(response);
  if (!isObject(response.body) || !isObject(response.body.data)) throw unexpected(response);
  return response.body.data as Data;
}

/** The `detail` distinguishes a problem (RFC 9457), which reports a failure before GraphQL and may have `errors` too. */
const errorsIn = (body: unknown): GraphqlErrorItem[] | undefined =>
  isObject(body) && body.detail === undefined && Array.isArray(body.errors) && body.errors.every(isGraphqlError)
    ? body.errors
    : undefined;

const isGraphqlError = (error: unknown): error is GraphqlErrorItem =>
  isObject(error) && typeof error.message === 'string';

function graphqlError({ isWrite, status, requestId, retryAfter, bodyWithoutKey }: ApiResponse) {
  const body = bodyWithoutKey();
  const errors = errorsIn(body) ?? [];
  // An error with a path shows that execution began: mutation fields before the failing one may be stored.
  const mayBeStored = isWrite && (status >= 500 || errors.some(({ path }) => path !== undefined));
  const data = isObject(body) ? body.data : undefined;
  return new GraphqlError(errors, data, { status, requestId, retryAfter, mayBeStored });
}
