/** Errors as GraphQL answers them: a service's own with code and issues, GraphQL's own cut short, all others masked. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Config } from '../config.ts';
import { answerTo, type Caller, type ErrorAnswer, retryAfter, setErrorHeaders } from '../error-answer.ts';
import { ResponseTooLarge } from '../errors.ts';
import { cut } from '../model/issues.ts';

/** The last to see an answer: whatever went wrong on the way, this is what leaves. */
export const useErrorAnswers = ({ suggestions }: Pick<Config, 'suggestions'>): Plugin<object, { caller: Caller }> => ({
  onResultProcess({ result, setResult, serverContext: { caller } }) {
    if (Array.isArray(result) || !('errors' in result) || !result.errors) return;
    const tooLarge = result.errors.find((error) => originalError(error) instanceof ResponseTooLarge);
    if (tooLarge) return setResult({ errors: [toAnswer(tooLarge, caller, suggestions)] });
    setResult({ ...result, errors: result.errors.map((error) => toAnswer(error, caller, suggestions)) });
  },
});

/** Sends an error that came before GraphQL was reached: a body too large, of another type, or not JSON. */
export function sendGraphqlError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { status, message } = answerTo(error, request);
  setErrorHeaders(reply, status);
  return reply.code(status).send({ errors: [{ message, extensions: { code: codeOf(status) } }] });
}

function toAnswer(error: GraphQLError, caller: Caller, suggestions: boolean): GraphQLError {
  const { nodes = null, source = null, positions = null, path = null } = error;
  const cause = originalError(error);
  if (cause instanceof GraphQLError) {
    const extensions = { code: codeOf(400), ...error.extensions };
    const message = shortMessage(suggestions ? error : withoutSuggestions(error));
    return new GraphQLError(message, { nodes, source, positions, path, extensions });
  }
  const answer = answerTo(cause, caller);
  return new GraphQLError(answer.message, { nodes, path, extensions: extensionsOf(answer) });
}

/** The paths of issues start at the argument: `["input", 1, "name"]`. */
const extensionsOf = ({ status, issues }: ErrorAnswer) => ({
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

interface Message {
  readonly message: string;
  readonly originalError?: { readonly message: string } | undefined;
}

/**
 * GraphQL repeats in full what was sent. Of a variable, it is enough to say where the value is and why it is refused;
 * elsewhere names are short (document-limits.ts), and only literals can be long.
 */
function shortMessage({ message, originalError: reason }: Message): string {
  const variable = /^Variable "(\$\w+)" got invalid value /.exec(message)?.[1];
  if (!variable || !reason) return cut(message.replace(/((?:, found|value:) .{100}).*/s, '$1…'), 250);
  const position = / at "([^"]*)"; $/.exec(message.slice(0, -reason.message.length).slice(-200))?.[1];
  return `Variable "${variable}" got an invalid value at "${position ?? variable.slice(1)}"; ${cut(reason.message, 100)}`;
}

/** GraphQL guesses names of the schema. */
const withoutSuggestions = ({ message, originalError }: GraphQLError): Message => ({
  message: message.replace(suggestion, ''),
  originalError: originalError && { message: originalError.message.replace(suggestion, '') },
});

const suggestion = / Did you mean [^?]*\?/g;

function originalError(error: unknown): unknown {
  return error instanceof GraphQLError && error.originalError ? originalError(error.originalError) : error;
}
