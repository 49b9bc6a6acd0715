/** What to answer to an error, whatever raised it; the adapters render it, each in its form. */
import { STATUS_CODES } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../errors.ts';
import type { Issue } from '../model/issues.ts';

export interface ErrorResponse {
  readonly status: number;
  readonly type?: string | undefined;
  readonly message: string;
  readonly issues: readonly Issue[];
}

/** Whose log tells what happened, under the id that the answer names. */
export type Caller = Pick<FastifyRequest, 'id' | 'log'>;

/** A client that is told to try again waits so many seconds. */
export const retryAfter = '1';

/** What a status must come with; 429 has its own. */
export function setErrorHeaders(reply: FastifyReply, status: number): void {
  if (status === 401) reply.header('www-authenticate', 'Bearer realm="yardgraph"');
  if (status === 503) reply.header('retry-after', retryAfter);
}

/**
 * A service's errors as they are, the HTTP framework's in our words; anything else tells nothing of the inside.
 * What an operator should know of is logged: that the database is away, and whatever nobody expected.
 */
export function errorResponseFor(error: unknown, { id, log }: Caller): ErrorResponse {
  if (error instanceof ServiceError) {
    if (error.status === 503) log.warn({ cause: error.cause }, error.message);
    return error;
  }
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500;
  if (status >= 400 && status < 500) return { status, message: clientErrorMessage(status), issues: [] };
  log.error({ err: error }, 'unexpected error');
  return { status: 500, message: `unexpected error, request ${id}`, issues: [] };
}

function clientErrorMessage(status: number): string {
  if (status === 413) return 'the body is larger than allowed';
  if (status === 415) return 'expected the content type application/json';
  return `the request is not valid: ${(STATUS_CODES[status] ?? 'error').toLowerCase()}`;
}
