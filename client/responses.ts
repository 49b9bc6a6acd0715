import { ServiceError, UnexpectedResponseError, type YardgraphError } from './errors.ts';
import type { ErrorResponse, Problem } from './openapi.ts';

export interface ApiResponse {
  readonly isWrite: boolean;
  readonly status: number;
  readonly headers: Headers;
  /** The parsed JSON; undefined for any other body. */
  readonly body: unknown;
  readonly stream: ReadableStream<Uint8Array> | undefined;
  readonly description: string;
}

export function readResponse(
  { status, type, headers }: Response,
  content: string | ReadableStream<Uint8Array>,
  isWrite: boolean,
): ApiResponse {
  const mediaType = headers.get('content-type') ?? 'no content type';
  const json = typeof content === 'string' && /\bjson\b/i.test(mediaType) ? content : '';
  return {
    isWrite,
    // Browsers do not expose the status of a redirect.
    status: type === 'opaqueredirect' ? 302 : status,
    headers,
    body: parse(json),
    stream: typeof content === 'string' ? undefined : content,
    description: type === 'opaqueredirect' ? 'a redirect' : `${status} with ${mediaType.split(';')[0]?.slice(0, 100)}`,
  };
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

export const detailsOf = ({ status, headers }: ApiResponse) => ({
  status,
  requestId: headers.get('x-request-id') ?? undefined,
  // A proxy may send a date instead.
  retryAfter: Number(headers.get('retry-after') ?? Number.NaN) || undefined,
});

/** For a response of another server. After a redirect or a 4xx, nothing was stored. */
export function unexpected(response: ApiResponse): UnexpectedResponseError {
  const { isWrite, status, description } = response;
  const mayBeStored = isWrite && (status < 300 || status >= 500);
  return new UnexpectedResponseError(description, { ...detailsOf(response), mayBeStored });
}

export function serviceError(response: ApiResponse): YardgraphError {
  const { body } = response;
  const details = { ...detailsOf(response), mayBeStored: mayBeStored(response) };
  if (isProblem(body)) {
    return new ServiceError(body.detail, { ...details, items: body.errors ?? [] });
  }
  if (isErrorResponse(body)) return new ServiceError(body.error, details);
  return unexpected(response);
}

/**
 * After a 4xx, nothing is stored; after a 5xx, something may be, except after a 503 with a problem of these types: any
 * other 503 may come from a proxy, after the service has stored the request.
 */
function mayBeStored({ isWrite, status, body }: ApiResponse): boolean {
  if (!isWrite || status < 500) return false;
  return !(status === 503 && isProblem(body) && nothingStored.includes(body.type));
}

const nothingStored: readonly (string | undefined)[] = ['about:blank', 'urn:yardgraph:disk-full'];

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isProblem = (body: unknown): body is Problem =>
  isObject(body) &&
  typeof body.detail === 'string' &&
  (body.errors === undefined || (Array.isArray(body.errors) && body.errors.every(isObject)));

const isErrorResponse = (body: unknown): body is ErrorResponse =>
  isObject(body) && typeof body.error === 'string' && typeof body.code === 'string';
