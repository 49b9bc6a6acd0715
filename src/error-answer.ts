/** What to answer to an error, whatever raised it, for both adapters to render. */
import { STATUS_CODES } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from './errors.ts';
import type { Issue } from './model/issues.ts';

export interface Answerable {
  readonly status: number;
  readonly message: string;
  readonly issues: readonly Issue[];
}

/** A service's errors as they are, the HTTP framework's in our words; anything else is logged and tells nothing of the inside. */
export function answerable(request: FastifyRequest, reply: FastifyReply, error: unknown): Answerable {
  const answer = error instanceof ServiceError ? error : frameworkError(request, error);
  if (answer.status === 503) reply.header('retry-after', '1');
  if (answer.status === 500) request.log.error({ err: error }, 'unexpected error');
  return answer;
}

function frameworkError(request: FastifyRequest, error: unknown): Answerable {
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500;
  if (status >= 400 && status < 500) return { status, message: clientErrorMessage(status), issues: [] };
  return { status: 500, message: `unexpected error, request ${request.id}`, issues: [] };
}

function clientErrorMessage(status: number): string {
  if (status === 413) return 'the body is larger than allowed';
  if (status === 415) return 'expected the content type application/json';
  return `the request is not valid: ${(STATUS_CODES[status] ?? 'error').toLowerCase()}`;
}
