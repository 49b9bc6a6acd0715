/**
 * Words the errors of GraphQL responses: a ServiceError gets its code and issues, GraphQL's own messages are shortened and say what to send
 * instead, all others are masked.
 */
import { InputValidationError } from '@pothos/plugin-validation';
import {
  type ExecutionResult,
  GraphQLError,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isObjectType,
} from 'graphql';
import type { Config } from '../config.ts';
import { invalid, mayBeStoredType, type ServiceError } from '../errors.ts';
import {
  type ErrorResponse,
  errorResponseFor,
  mayRetry,
  type RequestLog,
  reasonFor,
  retryAfter,
} from '../http/error-response.ts';
import { cut, maxQuoted } from '../model/issues.ts';

/** More errors add little, and GraphQL repeats in each what was sent. The message of a REST error also lists ten issues. */
export const maxErrors = 10;

/** The rule on fields of one name aborts all rules once its budget is spent. graphql-js does not say why, and does not export this error. */
export const withReason = (error: GraphQLError): GraphQLError =>
  error.message === 'Validation aborted.'
    ? new GraphQLError('the document has too many fields of the same name, or too many fragments, to be validated')
    : error;

export type ToResponse = (result: ExecutionResult, requestLog: RequestLog) => ExecutionResult;

/** Returns the function that words the errors of results for clients, with hints where suggestions are allowed. */
export const responseFormatter =
  (schema: GraphQLSchema, { suggestions }: Pick<Config, 'suggestions'>): ToResponse =>
  (result, requestLog) => {
    if (!result.errors) return result;
    const { errors: all, ...rest } = result;
    const kept = all.filter((error, index) => index < maxErrors || isTopLevel(error));
    const errors = kept.map((error) => toResponseError(error, requestLog, suggestions ? schema : undefined));
    if (kept.length < all.length) errors.push(othersOmitted(errors));
    // First, as the specification recommends.
    return { errors, ...rest };
  };

/** True if a top-level field failed. Mutations fail one by one: the client must learn which ones are stored. */
const isTopLevel = ({ path }: GraphQLError): boolean => path?.length === 1;

/** The number of omitted errors is unknown, because validation stops early. Like every error, this one has a code. */
const othersOmitted = (listed: readonly GraphQLError[]): GraphQLError =>
  new GraphQLError(`only ${listed.length} errors are listed, there are more`, {
    extensions: { code: listed[0]?.extensions.code },
  });

function toResponseError(error: GraphQLError, requestLog: RequestLog, hintsFrom?: GraphQLSchema): GraphQLError {
  const { nodes = null, source = null, positions = null, path = null } = error;
  const cause = rootCause(error);
  if (cause instanceof GraphQLError && !(cause instanceof InputValidationError)) {
    requestLog.rejectionReason ??= reasonFor(400);
    const extensions = { code: badUserInput, ...error.extensions };
    const hint = hintsFrom && hintFor(hintsFrom, error);
    const message = hint === undefined ? shortMessage(error) : `${withoutSuggestion(shortMessage(error))} ${hint}`;
    return new GraphQLError(message, { nodes, source, positions, path, extensions });
  }
  const response = errorResponseFor(
    cause instanceof InputValidationError ? refusedArguments(cause) : cause,
    requestLog,
  );
  return new GraphQLError(response.message, { nodes, source, positions, path, extensions: extensionsOf(response) });
}

const refusedArguments = ({ issues }: InputValidationError): ServiceError =>
  invalid(issues.map(({ path = [], message }) => ({ path: path.map((step) => step as string | number), message })));

/** Statuses of the whole request, which become the status of the response; others belong to a field. */
const ofWholeRequest: readonly number[] = [403, 406, 429, 503];

/** The paths of issues start at the argument: `["input", 1, "name"]`. */
function extensionsOf(response: ErrorResponse) {
  const { status, type, issues } = response;
  return {
    code: codeOf(status),
    ...(issues.length > 0 && {
      issues: issues.map(({ path, message }) => ({ path: path.map(shortSegment), message })),
    }),
    ...(type === mayBeStoredType ? { mayBeStored: true } : type !== undefined && { type }),
    ...(ofWholeRequest.includes(status) && {
      http: { status, ...(mayRetry(response) && { headers: { 'retry-after': retryAfter } }) },
    }),
  };
}

export const shortSegment = (segment: string | number) =>
  typeof segment === 'string' ? cut(segment, maxQuoted) : segment;

const badUserInput = 'BAD_USER_INPUT';

const codes: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  406: 'NOT_ACCEPTABLE',
  409: 'CONFLICT',
  429: 'TOO_MANY_REQUESTS',
  503: 'SERVICE_UNAVAILABLE',
};

export function codeOf(status: number): string {
  const code = codes[status];
  if (code) return code;
  return status >= 500 ? 'INTERNAL_SERVER_ERROR' : badUserInput;
}

/** GraphQL quotes the whole input. For a variable, path and reason suffice; else only literals can be long: endpoint.ts limits names. */
export function shortMessage({ message, originalError: reason }: GraphQLError): string {
  // Variable "$input" got invalid value { … } at "input[0].name"; REASON
  const variable = /^Variable "(\$\w+)" got invalid value /.exec(message)?.[1];
  if (variable && reason) {
    // Only the end is searched: the value before it may be of any length.
    const end = message.slice(0, -reason.message.length).slice(-200);
    const path = / at "([^"]*)"; $/.exec(end)?.[1] ?? variable.slice(1);
    return `Variable "${variable}" got an invalid value at "${path}"; ${cut(reason.message, maxQuoted)}`;
  }
  // Expected value of type "Int", found "…"
  const beforeLiteral = /, found |value: /.exec(message);
  if (!beforeLiteral) return cut(message, maxMessage);
  return cut(message, Math.min(maxMessage, beforeLiteral.index + beforeLiteral[0].length + maxQuoted));
}

const maxMessage = 250;

export function rootCause(error: unknown): unknown {
  return error instanceof GraphQLError && error.originalError ? rootCause(error.originalError) : error;
}

/** The most values of an enum that an error lists. */
const maxListed = 20;

const hasField = (schema: GraphQLSchema, type: string, field: string): boolean => {
  const found = schema.getType(type);
  return (isObjectType(found) || isInputObjectType(found)) && found.getFields()[field] !== undefined;
};

/** Hints list all values of an enum. */
const withoutSuggestion = (message: string): string => message.split(' Did you mean the enum value ', 1).join();

const keyAndValue = 'Send the other system and the ID there: { key: "erp", value: "4711" }';

/** Returns the type of the filter that was expected; whether a list was sent; and the variable, if the document names one there. */
function sentForFilter(
  error: GraphQLError,
  message: string,
): readonly [filter: string | undefined, isList: boolean, variable?: string | undefined] {
  const [inVariable, filter] = /^Expected type "(\w+)" to be an object\.$/.exec(message) ?? [];
  if (inVariable) return [filter, /^Variable "\$\w+" got invalid value \[/.test(error.message)];
  const [literal, expected, bracket] = /^Expected value of type "(\w+)", found (\[)?/.exec(message) ?? [];
  if (literal) return [expected, bracket !== undefined];
  const [, variable, list, position] =
    /^Variable "(\$\w+)" of type "(\[)?\w[^"]*" used in position expecting type "(\w+)"/.exec(message) ?? [];
  return [position, list !== undefined, variable];
}

/** Returns what to send instead, for the mistakes that people make first. */
function hintFor(schema: GraphQLSchema, error: GraphQLError): string | undefined {
  // The error of a variable begins with its whole value, which may contain anything; the error of the value itself says why.
  const { message } = error.originalError ?? error;
  const [, field = '', record = ''] = /^Cannot query field "(\w+)" on type "(\w+)Connection"\./.exec(message) ?? [];
  if (hasField(schema, record, field)) return `The records are in nodes: nodes { ${field} }`;

  const [filter = '', isList = false, value = '…'] = sentForFilter(error, message);
  if (isList && hasField(schema, filter, 'in')) return `Send an operator with the values: { in: ${value} }`;
  if (hasField(schema, filter, 'eq')) return `Send an operator with the value: { eq: ${value} }`;
  if (hasField(schema, filter, 'key')) return keyAndValue;

  const [, unknown, input = ''] = /^Field "(\w+)" is not defined by type "(\w+)"\./.exec(message) ?? [];
  if (unknown === 'between' && hasField(schema, input, 'gte')) return 'Send both ends: { gte: …, lt: … }';
  if (hasField(schema, input, 'key')) return keyAndValue;

  const [, name = ''] = /^(?:Value "\w+" does not exist in|Enum) "(\w+)"/.exec(message) ?? [];
  const type = schema.getType(name);
  const values = isEnumType(type) ? type.getValues() : [];
  if (values.length === 0 || values.length > maxListed) return undefined;
  return `Send one of ${values.map((value) => value.name).join(', ')}`;
}
