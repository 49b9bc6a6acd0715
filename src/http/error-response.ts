/** Nothing internal may reach the client. */
import { STATUS_CODES } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { errorCode, mayBeStoredType, ServiceError } from '../errors.ts';
import { type DescribedIssue, formatCount, formatPath } from '../model/issues.ts';
import { acceptsHtml, sendMissingPage } from './pages.ts';

export interface ErrorResponse {
  readonly status: number;
  readonly type?: string | undefined;
  readonly message: string;
  readonly issues: readonly DescribedIssue[];
}

export type RequestLog = Pick<FastifyRequest, 'id' | 'log' | 'operation' | 'rejectionReason' | 'routeOptions'>;

/** Seconds, after a 503 or a 429 without a limit per minute. */
export const retryAfterSeconds = '1';

/** authenticate.ts has set the `Retry-After` of rate limits. */
export function setErrorHeaders(reply: FastifyReply, response: ErrorResponse): void {
  if (response.status === 401) {
    const bearer = 'Bearer realm="yardgraph"';
    const { headers, routeOptions } = reply.request;
    const { authorization, 'x-api-key': key, 'user-agent': program = '' } = headers;
    // A browser would ask for a user and a password, also in the explorer. Spreadsheets ask only then, and Excel calls
    // itself Mozilla/4.0.
    const isAsking = /^(?:basic |$)/i.test(authorization ?? '') && !key && !program.startsWith('Mozilla/5');
    const isAsked = routeOptions.config.acceptsPassword && isAsking;
    reply.header('www-authenticate', isAsked ? [bearer, 'Basic realm="Yardgraph"'] : bearer);
  }
  const isBusy = response.status === 429 && !reply.hasHeader('retry-after');
  if (isBusy || mayRetry(response)) reply.header('retry-after', retryAfterSeconds);
}

/** A 503, unless the request may be stored: a repeat would store it twice. */
export const mayRetry = ({ status, type }: ErrorResponse): boolean => status === 503 && type !== mayBeStoredType;

/**
 * A ServiceError keeps its status and message, a client error of Fastify gets a clearer message, and any other error is
 * logged and becomes a 500 without detail. A 503 is logged with its cause.
 */
export function errorResponseFor(error: unknown, request: RequestLog): ErrorResponse {
  if (error instanceof ServiceError) {
    request.rejectionReason ??= error.reason ?? reasonFor(error.status);
    if (error.status === 503) request.log.warn({ cause: error.cause }, error.message);
    return error;
  }
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500;
  const code = errorCode(error);
  request.rejectionReason ??= code === 'FST_ERR_BAD_URL' ? 'malformed URL' : reasonFor(status);
  if (status >= 400 && status < 500) return { status, message: clientErrorMessage(status, code, request), issues: [] };
  request.log.error({ err: error }, 'unexpected error');
  return { status: 500, message: `unexpected error, request ${request.id}`, issues: [] };
}

function clientErrorMessage(status: number, code: string, { routeOptions: { bodyLimit } }: RequestLog): string {
  const messages: Readonly<Record<string, string>> = {
    FST_ERR_BAD_URL: 'the path is not valid: expected UTF-8, percent-encoded',
    FST_ERR_CTP_BODY_TOO_LARGE: `expected a body of at most ${formatCount(bodyLimit)} bytes: split it into several requests`,
    FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'the body does not have the length given in Content-Length',
    FST_ERR_CTP_INVALID_MEDIA_TYPE: 'expected the header Content-Type: application/json',
  };
  return messages[code] ?? `the request is not valid: ${(STATUS_CODES[status] ?? 'error').toLowerCase()}`;
}

/** Sends `{ error, code }`, or with `Accept: application/problem+json` a problem with all issues. */
export function sendError(request: FastifyRequest, reply: FastifyReply, error: unknown): FastifyReply {
  const response = errorResponseFor(error, request);
  reply.code(response.status);
  setErrorHeaders(reply, response);
  // Only where there is no route: some clients of the REST API accept HTML first. Not for `*x`, which is no path.
  const isPath = request.is404 && request.method === 'GET' && request.url.startsWith('/');
  if (response.status === 404 && isPath && acceptsHtml(request)) return sendMissingPage(request, reply);
  if (!wantsProblem(request)) return reply.type('application/json; charset=utf-8').send(errorBody(response));
  // As bytes: Fastify adds a charset to text, and this media type has none.
  return reply.type('application/problem+json').send(Buffer.from(JSON.stringify(problem(response))));
}

export const errorBody = ({ status, message }: ErrorResponse) => ({ error: message, code: String(status) });

export const problem = ({ status, type = 'about:blank', message, issues }: ErrorResponse) => ({
  type,
  title: STATUS_CODES[status],
  status,
  detail: message,
  ...(issues.length > 0 && { errors: issues.map(problemError) }),
});

const wantsProblem = ({ headers: { accept = '' } }: FastifyRequest): boolean =>
  /(?:^|,)\s*application\/problem\+json\s*(?:;(?!\s*q=0(?:\.0*)?\s*(?:,|$))|,|$)/i.test(accept);

/** No index outside a batch, no field for a whole item. */
function problemError({ path, message, code, other }: DescribedIssue) {
  const index = typeof path[0] === 'number' ? path[0] : undefined;
  const field = formatPath(index === undefined ? path : path.slice(1));
  return { index, field: field || undefined, message, code, other: other && formatPath(other) };
}

const reasons: Readonly<Record<number, string>> = {
  401: 'no API key',
  403: 'not allowed',
  404: 'unknown record',
  405: 'unsupported method',
  406: 'unsupported Accept',
  408: 'request too slow',
  409: 'conflict with stored records',
  413: 'body too large',
  415: 'unsupported content type',
  429: 'rate limit',
  431: 'headers too large',
  503: 'database unavailable',
};

export const reasonFor = (status: number): string =>
  reasons[status] ?? (status < 500 ? 'invalid input' : 'unexpected error');
