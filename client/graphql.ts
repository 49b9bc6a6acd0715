/** Sends a GraphQL operation and returns its data. */
import { requireKnown } from './check.ts';
import { type GraphqlDocument, textOf, type UntypedObject, type VariableArguments } from './document.ts';
import { type FailingItem, GraphqlError, type GraphqlErrorItem } from './errors.ts';
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
    options: WriteOptions = {},
  ): Promise<Result> => {
    requireKnown('graphql', options);
    const query = textOf(document);
    const body = { query, ...(variables && { variables }) };
    return send({ method: 'POST', path: '/graphql', accept, body, isWrite: mayWrite(query), options }, dataIn<Result>);
  };
}

/** True if the document has the keyword of mutations: it counts as a write, even if the word is only in a comment. */
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
  const data = isObject(body) ? body.data : undefined;
  const mayBeStored = isWrite && (status >= 500 || !errors.every((error) => storedNothing(error, data)));
  const message = messageOf(response, errors.map((error) => error.message).join('; '));
  const items = errors.flatMap(itemsIn);
  return new GraphqlError(message, { errors, data, items, status, requestId, retryAfter, mayBeStored });
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
  return issues.map(({ path, message }) => {
    const place = path.findIndex((segment) => typeof segment === 'number');
    const list = place > 1 ? path[place - 1] : undefined;
    const field = path.slice(place + 1 || 1).join('.');
    return {
      ...(list !== undefined && { list: String(list) }),
      ...(place >= 0 && { index: Number(path[place]) }),
      ...(field && { field }),
      message,
    };
  });
}

const isIssue = (issue: unknown): issue is { path: (string | number)[]; message: string } =>
  isObject(issue) && Array.isArray(issue.path) && typeof issue.message === 'string';
