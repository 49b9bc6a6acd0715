/** Turns any error into a status and a message. The adapters render them; nothing internal may reach the client. */
import { STATUS_CODES } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { errorCode, mayBeStoredType, ServiceError } from '../errors.ts';
import { count, type Issue } from '../model/issues.ts';
import { reasonFor } from './rejection-reasons.ts';

export interface ErrorResponse {
  readonly status: number;
  readonly type?: string | undefined;
  readonly message: string;
  readonly issues: readonly Issue[];
}

/** The request's log, its ID and its limit on bodies for the response, and the reason why it was rejected, for its own log line. */
export type RequestLog = Pick<FastifyRequest, 'id' | 'log' | 'rejectionReason' | 'routeOptions'>;

/** Seconds until a client should retry after a 503, or after a 429 for what is not counted by the minute. */
export const retryAfter = '1';

/** Sets the headers that an error requires. Where requests are counted, rate-limits.ts has said already when to retry. */
export function setErrorHeaders(reply: FastifyReply, response: ErrorResponse): void {
  if (response.status === 401) reply.header('www-authenticate', 'Bearer realm="yardgraph"');
  const isBusy = response.status === 429 && !reply.hasHeader('retry-after');
  if (isBusy || mayRetry(response)) reply.header('retry-after', retryAfter);
}

/** True for a 503 unless the request may be stored: a client that simply repeats it would store it twice. */
export const mayRetry = ({ status, type }: ErrorResponse): boolean => status === 503 && type !== mayBeStoredType;

/**
 * A ServiceError keeps its status and message, and Fastify's client errors get a message of our own. Anything else is a 500
 * without detail. Unexpected errors are logged, and so is an unavailable database, with its cause.
 */
export function errorResponseFor(error: unknown, request: RequestLog): ErrorResponse {
  const { id, log, routeOptions } = request;
  // The first of several errors counts.
  request.rejectionReason ??= rejectionReasonOf(error);
  const response = responseTo(error, { id, maxBytes: routeOptions.bodyLimit });
  if (response.status === 500) log.error({ err: error }, 'unexpected error');
  if (error instanceof ServiceError && error.status === 503) log.warn({ cause: error.cause }, error.message);
  return response;
}

/** Returns the response to an error in the request with this ID, whose body may have so many bytes. */
export function responseTo(
  error: unknown,
  { id, maxBytes }: { readonly id: string; readonly maxBytes: number },
): ErrorResponse {
  if (error instanceof ServiceError) return error;
  const status = statusOf(error);
  if (status < 400 || status >= 500) return { status: 500, message: `unexpected error, request ${id}`, issues: [] };
  const code = errorCode(error);
  const isTooLarge = code === 'FST_ERR_CTP_BODY_TOO_LARGE';
  const message = isTooLarge ? bodyTooLarge(maxBytes) : clientErrorMessages[code];
  return { status, message: message ?? clientErrorMessage(status), issues: [] };
}

const statusOf = (error: unknown): number =>
  error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500;

function rejectionReasonOf(error: unknown): string {
  if (error instanceof ServiceError) return error.reason ?? reasonFor(error.status);
  return errorCode(error) === 'FST_ERR_BAD_URL' ? 'malformed URL' : reasonFor(statusOf(error));
}

const bodyTooLarge = (maxBytes: number): string =>
  `expected a body of at most ${count(maxBytes)} bytes: split it into several requests`;

const clientErrorMessages: Readonly<Record<string, string>> = {
  FST_ERR_BAD_URL: 'the path is not valid: expected UTF-8, percent-encoded',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'the body does not have the length given in Content-Length',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'expected the header Content-Type: application/json',
};

function clientErrorMessage(status: number): string {
  return `the request is not valid: ${(STATUS_CODES[status] ?? 'error').toLowerCase()}`;
}
