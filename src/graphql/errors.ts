/**
 * A ServiceError gets its code and issues; messages of graphql-js are shortened and get hints; all other errors are
 * masked.
 */
import { InputValidationError } from '@pothos/plugin-validation';
import { type ExecutionResult, GraphQLError, type GraphQLSchema } from 'graphql';
import { invalid, mayBeStoredType, type ServiceError } from '../errors.ts';
import {
  type ErrorResponse,
  errorResponseFor,
  mayRetry,
  type RequestLog,
  reasonFor,
  retryAfterSeconds,
} from '../http/error-response.ts';
import { maxQuoted, type Path, truncate } from '../model/issues.ts';
import { hintFor, withoutSuggestion } from './hints.ts';

/** As many as a REST error has issues: each error of graphql-js repeats input. */
export const maxErrors = 10;

/** graphql-js aborts validation without a reason once its rule on fields of the same name is over budget. */
export const withReason = (error: GraphQLError): GraphQLError =>
  error.message === 'Validation aborted.'
    ? new GraphQLError('the document has too many fields of the same name, or too many fragments, to be validated')
    : error;

export function formatErrors(
  result: ExecutionResult,
  requestLog: RequestLog,
  hintsFrom?: GraphQLSchema,
): ExecutionResult {
  if (!result.errors) return result;
  const { errors: all, ...rest } = result;
  const listed = all.filter((error, index) => index < maxErrors || isTopLevel(error));
  const errors = listed.map((error) => formatError(error, requestLog, hintsFrom));
  if (listed.length < all.length) errors.push(omittedErrors(errors));
  return { errors, ...rest };
}

/** All errors of top-level fields are listed: clients must know which mutations failed. */
const isTopLevel = ({ path }: GraphQLError): boolean => path?.length === 1;

/** Without a number: validation stops early. */
const omittedErrors = (listed: readonly GraphQLError[]): GraphQLError =>
  new GraphQLError(`only ${listed.length} errors are listed, there are more`, {
    extensions: { code: listed[0]?.extensions.code },
  });

function formatError(error: GraphQLError, requestLog: RequestLog, hintsFrom?: GraphQLSchema): GraphQLError {
  const { nodes = null, source = null, positions = null, path = null } = error;
  const reworded = (message: string, extensions: Record<string, unknown>) =>
    new GraphQLError(message, { nodes, source, positions, path, extensions });
  const cause = rootCause(error);
  if (cause instanceof GraphQLError && !(cause instanceof InputValidationError)) {
    requestLog.rejectionReason ??= reasonFor(400);
    const hint = hintsFrom && hintFor(hintsFrom, error);
    const message = hint === undefined ? shortMessage(error) : `${withoutSuggestion(shortMessage(error))} ${hint}`;
    return reworded(message, { code: badUserInput, ...error.extensions });
  }
  const response = errorResponseFor(
    cause instanceof InputValidationError ? refusedArguments(cause) : cause,
    requestLog,
  );
  return reworded(response.message, extensionsOf(response));
}

/** Pothos validates only cursors of changes, and the message of its issue is the cursor (schema/changes.ts). */
const refusedArguments = ({ issues }: InputValidationError): ServiceError =>
  invalid(issues.map(({ path = [], message }) => ({ path: path as Path, code: 'invalid-cursor', received: message })));

/** Other statuses belong to a field. */
const ofWholeRequest: readonly number[] = [403, 406, 429, 503];

/** The paths of issues start at the argument: `["input", 1, "name"]`. */
function extensionsOf(response: ErrorResponse) {
  const { status, type, issues } = response;
  return {
    code: errorCodeOf(status),
    ...(issues.length > 0 && {
      issues: issues.map(({ path, message, code, other }) => {
        return { path: path.map(shortSegment), message, code, other: other?.map(shortSegment) };
      }),
    }),
    ...(type === mayBeStoredType ? { mayBeStored: true } : type !== undefined && { type }),
    ...(ofWholeRequest.includes(status) && {
      http: { status, ...(mayRetry(response) && { headers: { 'retry-after': retryAfterSeconds } }) },
    }),
  };
}

export const shortSegment = (segment: string | number) =>
  typeof segment === 'string' ? truncate(segment, maxQuoted) : segment;

const badUserInput = 'BAD_USER_INPUT';

const codes: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  406: 'NOT_ACCEPTABLE',
  409: 'CONFLICT',
  410: 'GONE',
  429: 'TOO_MANY_REQUESTS',
  503: 'SERVICE_UNAVAILABLE',
};

export function errorCodeOf(status: number): string {
  const code = codes[status];
  if (code) return code;
  return status >= 500 ? 'INTERNAL_SERVER_ERROR' : badUserInput;
}

/** graphql-js quotes the whole input, which may be long: endpoint.ts limits only names. */
export function shortMessage({ message, originalError: reason }: GraphQLError): string {
  // Variable "$input" got invalid value { … } at "input[0].name"; REASON
  const variable = /^Variable "(\$\w+)" got invalid value /.exec(message)?.[1];
  if (variable && reason) {
    // The value may be of any length.
    const end = message.slice(0, -reason.message.length).slice(-200);
    const path = / at "([^"]*)"; $/.exec(end)?.[1] ?? variable.slice(1);
    return `Variable "${variable}" got an invalid value at "${path}"; ${truncate(reason.message, maxQuoted)}`;
  }
  // Expected value of type "Int", found "…"
  const beforeLiteral = /, found |value: /.exec(message);
  if (!beforeLiteral) return truncate(message, maxMessage);
  return truncate(message, Math.min(maxMessage, beforeLiteral.index + beforeLiteral[0].length + maxQuoted));
}

const maxMessage = 250;

export function rootCause(error: unknown): unknown {
  return error instanceof GraphQLError && error.originalError ? rootCause(error.originalError) : error;
}
