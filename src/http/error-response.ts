/** Turns any error into a status and a message. The adapters render them; nothing internal may reach the client. */
import { STATUS_CODES } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../errors.ts';
import type { Issue } from '../model/issues.ts';
import { usualReason } from './refusal.ts';

export interface ErrorResponse {
  readonly status: number;
  readonly type?: string | undefined;
  readonly message: string;
  readonly issues: readonly Issue[];
}

/** The log to write to, the request ID for the response, and why the request was refused, for its own log line. */
export type RequestLog = Pick<FastifyRequest, 'id' | 'log' | 'refusal'>;

/** Seconds until a client should retry after a 503. */
export const retryAfter = '1';

/** The headers that a status requires, except for 429, which rate-limits.ts sets. */
export function setErrorHeaders(reply: FastifyReply, status: number): void {
  if (status === 401) reply.header('www-authenticate', 'Bearer realm="yardgraph"');
  if (status === 503) reply.header('retry-after', retryAfter);
}

/**
 * A ServiceError keeps its status and message, and Fastify's client errors get a message of our own. Anything else is a 500
 * without detail. Unexpected errors are logged, and so is an unavailable database, with its cause.
 */
export function errorResponseFor(error: unknown, request: RequestLog): ErrorResponse {
  const { id, log } = request;
  // Of several errors, the first.
  request.refusal ??= refusalOf(error);
  if (error instanceof ServiceError) {
    if (error.status === 503) log.warn({ cause: error.cause }, error.message);
    return error;
  }
  const status = statusOf(error);
  if (status >= 400 && status < 500) return { status, message: clientErrorMessage(status), issues: [] };
  log.error({ err: error }, 'unexpected error');
  return { status: 500, message: `unexpected error, request ${id}`, issues: [] };
}

const statusOf = (error: unknown): number =>
  error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500;

function refusalOf(error: unknown): string {
  if (error instanceof ServiceError) return error.reason ?? usualReason(error.status);
  const isBadUrl = error instanceof Error && 'code' in error && error.code === 'FST_ERR_BAD_URL';
  return isBadUrl ? 'malformed URL' : usualReason(statusOf(error));
}

function clientErrorMessage(status: number): string {
  if (status === 413) return 'the body is larger than allowed';
  if (status === 415) return 'expected the content type application/json';
  return `the request is not valid: ${(STATUS_CODES[status] ?? 'error').toLowerCase()}`;
}
