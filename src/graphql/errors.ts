/** Errors in GraphQL responses: service errors have a code and issues, GraphQL's own are shortened, all others are masked. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { GraphQLError, getOperationAST, OperationTypeNode, OverlappingFieldsCanBeMergedRule, validate } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Config } from '../config.ts';
import { ResponseTooLarge } from '../errors.ts';
import {
  type Caller,
  type ErrorResponse,
  errorResponseFor,
  retryAfter,
  setErrorHeaders,
} from '../http/error-response.ts';
import { cut } from '../model/issues.ts';

/** More errors add little, and GraphQL repeats in each what was sent. The text of a REST error lists as many issues. */
const maxErrors = 10;

/** Limits GraphQL's errors and its suggestions. Runs last: the result that it sets is sent. */
export const useErrorResponses = ({
  suggestions,
}: Pick<Config, 'suggestions'>): Plugin<object, { caller: Caller }> => ({
  onValidate({ setValidationFn }) {
    setValidationFn((schema, document, rules) =>
      validateBriefly(
        (selectedRules) => validate(schema, document, selectedRules, { maxErrors, hideSuggestions: !suggestions }),
        rules,
      ),
    );
  },
  onExecute({ args }) {
    Object.assign(args, { hideSuggestions: !suggestions, options: { maxCoercionErrors: maxErrors } });
    const isMutation = getOperationAST(args.document, args.operationName)?.operation === OperationTypeNode.MUTATION;
    return {
      onExecuteDone({ result }) {
        if (isMutation && 'errors' in result && result.errors) errorsOfMutations.add(result.errors);
      },
    };
  },
  onResultProcess({ result, setResult, serverContext: { caller } }) {
    if (Array.isArray(result) || !('errors' in result) || !result.errors) return;
    const tooLarge = result.errors.find((error) => originalError(error) instanceof ResponseTooLarge);
    if (tooLarge) return setResult({ errors: [tooLargeError(tooLarge, errorsOfMutations.has(result.errors), caller)] });
    const first = result.errors.filter((error, index) => index < maxErrors || isOfWholeField(error));
    const errors = first.map((error) => toSentError(error, caller));
    if (first.length < result.errors.length) errors.push(thereAreMore(errors));
    setResult({ ...result, errors });
  },
});

/** Records stored by a mutation remain stored, even if its response cannot be sent. */
function tooLargeError(error: GraphQLError, isMutation: boolean, caller: Caller): GraphQLError {
  const { message, path, extensions } = toSentError(error, caller);
  if (!isMutation) return new GraphQLError(message, { path, extensions });
  return new GraphQLError(`what the mutation stored is kept, but ${message}`, {
    path,
    extensions: { ...extensions, mayBeStored: true },
  });
}

const errorsOfMutations = new WeakSet<object>();

/** Each mutation of a request fails on its own, and may have stored its records: all of these errors are returned. */
const isOfWholeField = ({ path }: GraphQLError): boolean => path?.length === 1;

type Rules = Parameters<typeof validate>[2];

/**
 * The rule that compares fields of the same name aborts the validation if there are too many of them, before the other rules
 * have seen the whole document. The errors of the other rules say more, and come first.
 */
function validateBriefly(validateWith: (rules: Rules) => readonly GraphQLError[], rules: Rules): GraphQLError[] {
  const errors = validateWith(rules);
  if (!isAbort(errors.at(-1))) return [...errors];
  const others = validateWith(rules?.filter((rule) => rule !== OverlappingFieldsCanBeMergedRule));
  const reason = 'the document has too many fields of the same name, or fragments, to be validated';
  return [...others.filter((error) => !isAbort(error)), new GraphQLError(reason)];
}

const isAbort = (error: GraphQLError | undefined): boolean => error?.message === 'Validation aborted.';

const thereAreMore = (errors: readonly GraphQLError[]): GraphQLError =>
  new GraphQLError(`these are the first ${errors.length} errors, and there are more`, {
    extensions: { code: errors[0]?.extensions.code },
  });

/** Sends an error raised before GraphQL was reached: the body is too large, of another type, or not JSON. */
export function sendGraphqlError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { status, message } = errorResponseFor(error, request);
  setErrorHeaders(reply, status);
  return reply.code(status).send({ errors: [{ message, extensions: { code: codeOf(status) } }] });
}

function toSentError(error: GraphQLError, caller: Caller): GraphQLError {
  const { nodes = null, source = null, positions = null, path = null } = error;
  const cause = originalError(error);
  if (cause instanceof GraphQLError) {
    const extensions = { code: codeOf(400), ...error.extensions };
    return new GraphQLError(shortMessage(error), { nodes, source, positions, path, extensions });
  }
  const response = errorResponseFor(cause, caller);
  return new GraphQLError(response.message, { nodes, path, extensions: extensionsOf(response) });
}

/** The paths of issues start at the argument: `["input", 1, "name"]`. */
const extensionsOf = ({ status, issues }: ErrorResponse) => ({
  code: codeOf(status),
  ...(issues.length > 0 && {
    issues: issues.map(({ path, message }) => ({ path: ['input', ...path.map(shortStep)], message })),
  }),
  ...(status === 403 && { http: { status } }),
  ...(status === 503 && { http: { status, headers: { 'retry-after': retryAfter } } }),
});

const shortStep = (step: string | number) => (typeof step === 'string' ? cut(step, 100) : step);

const codes: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  409: 'CONFLICT',
  429: 'TOO_MANY_REQUESTS',
  503: 'SERVICE_UNAVAILABLE',
};

function codeOf(status: number): string {
  const code = codes[status];
  if (code) return code;
  return status >= 500 ? 'INTERNAL_SERVER_ERROR' : 'BAD_USER_INPUT';
}

/**
 * GraphQL repeats in full what was sent. For a variable, the position of the value and the reason are enough; elsewhere
 * names are short (limits/document.ts), and only literals can be long.
 */
function shortMessage({ message, originalError: reason }: GraphQLError): string {
  const variable = /^Variable "(\$\w+)" got invalid value /.exec(message)?.[1];
  if (!variable || !reason) {
    const value = /, found |value: /.exec(message);
    return cut(message, Math.min(maxMessage, value ? value.index + value[0].length + maxQuoted : maxMessage));
  }
  const position = / at "([^"]*)"; $/.exec(message.slice(0, -reason.message.length).slice(-200))?.[1];
  return `Variable "${variable}" got an invalid value at "${position ?? variable.slice(1)}"; ${cut(reason.message, maxQuoted)}`;
}

/** In characters: a message, and a value quoted in it. */
const maxMessage = 250;
const maxQuoted = 100;

function originalError(error: unknown): unknown {
  return error instanceof GraphQLError && error.originalError ? originalError(error.originalError) : error;
}
