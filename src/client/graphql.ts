/** One GraphQL operation and its data. */
import { GraphqlError, type GraphqlErrorItem } from './errors.ts';
import { isObject, refusal } from './rest.ts';
import { type Answer, type Send, unexpected } from './send.ts';

const accept = 'application/graphql-response+json, application/json, application/problem+json';

export const graphql =
  (send: Send) =>
  <Data>(query: string, variables?: Readonly<Record<string, unknown>>): Promise<Data> => {
    const body = { query, ...(variables && { variables }) };
    return send({ method: 'POST', path: '/graphql', accept, body, isWrite: mayWrite(query) }, dataIn<Data>);
  };

/** Without the keyword there is no mutation; with it there may be one, or a text or comment that has the word. */
const mayWrite = (document: string): boolean => /\bmutation\b/.test(document);

function dataIn<Data>(answer: Answer): Data {
  const errors = errorsIn(answer.bodyWithoutKey);
  if (errors) throw graphqlError(errors, answer);
  if (answer.status >= 300) throw refusal(answer);
  if (!isObject(answer.body) || !isObject(answer.body.data)) throw unexpected(answer);
  return answer.body.data as Data;
}

/** A problem, of what was refused before GraphQL saw it, has errors too, and a detail beside them. */
const errorsIn = (body: unknown): GraphqlErrorItem[] | undefined =>
  isObject(body) && body.detail === undefined && Array.isArray(body.errors) && body.errors.every(isGraphqlError)
    ? body.errors
    : undefined;

const isGraphqlError = (error: unknown): error is GraphqlErrorItem =>
  isObject(error) && typeof error.message === 'string';

function graphqlError(errors: GraphqlErrorItem[], { isWrite, status, requestId, retryAfter, bodyWithoutKey }: Answer) {
  // An error at a field says that fields were resolved: of a mutation with several, those before it are stored.
  const mayBeStored = isWrite && (status >= 500 || errors.some(({ path }) => path !== undefined));
  const data = isObject(bodyWithoutKey) ? bodyWithoutKey.data : undefined;
  return new GraphqlError(errors, data, { status, requestId, retryAfter, mayBeStored });
}
