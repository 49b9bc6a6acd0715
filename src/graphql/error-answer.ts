/** Errors as GraphQL answers them: a service's own with code and issues, GraphQL's cut short, all others masked. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { ServiceError } from '../errors.ts';
import { type Answerable, answerable } from '../request-error.ts';

/** Makes yoga's maskError; `log` gets what nobody expected. */
export const maskErrors =
  (log: (error: unknown) => void) =>
  (error: unknown): Error => {
    const position = error instanceof GraphQLError ? { nodes: error.nodes ?? null, path: error.path ?? null } : {};
    const cause = originalError(error);
    if (cause instanceof ServiceError)
      return new GraphQLError(cause.message, { ...position, extensions: extensions(cause) });
    if (cause instanceof GraphQLError) return cause;
    log(cause);
    return new GraphQLError('unexpected error', { ...position, extensions: { code: codeOf(500) } });
  };

/** GraphQL's own messages repeat what was sent in full: no answer repeats more than 100 characters of a value. */
export const useShortMessages = (): Plugin => ({
  onResultProcess({ result, setResult }) {
    if (Array.isArray(result) || !('errors' in result) || !result.errors) return;
    setResult({ ...result, errors: result.errors.map(shorten) });
  },
});

function shorten(error: GraphQLError): GraphQLError {
  const message = error.message
    .replace(/"((?:[^"\\]|\\.)*)"/g, (quoted, inner: string) =>
      inner.length > 100 ? `"${inner.slice(0, 100)}"…` : quoted,
    )
    .replace(/([^\s"]{100})[^\s"]+/g, '$1…');
  if (message === error.message) return error;
  const { nodes = null, source = null, positions = null, path = null, extensions } = error;
  return new GraphQLError(message, { nodes, source, positions, path, extensions });
}

/** Sends an error that came before GraphQL was reached: a body too large, of another type, or not JSON. */
export function sendGraphqlError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const answer = answerable(request, reply, error);
  return reply
    .code(answer.status)
    .send({ errors: [{ message: answer.message, extensions: { code: codeOf(answer.status) } }] });
}

/** The paths of issues start at the argument: `["input", 1, "name"]`. */
const extensions = ({ status, issues }: Answerable) => ({
  code: codeOf(status),
  ...(issues.length > 0 && { issues: issues.map(({ path, message }) => ({ path: ['input', ...path], message })) }),
  ...(status === 503 && { http: { status, headers: { 'retry-after': '1' } } }),
});

function codeOf(status: number): string {
  if (status === 404) return 'NOT_FOUND';
  if (status === 409) return 'CONFLICT';
  if (status === 503) return 'SERVICE_UNAVAILABLE';
  return status >= 500 ? 'INTERNAL_SERVER_ERROR' : 'BAD_USER_INPUT';
}

function originalError(error: unknown): unknown {
  return error instanceof GraphQLError && error.originalError ? originalError(error.originalError) : error;
}
