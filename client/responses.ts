/** Reads responses: returns what the service sent, or makes the error of what is not a success, or not from the service. */
import { ServiceError, UnexpectedResponseError, type YardgraphError } from './errors.ts';
import type { ErrorResponse, Problem } from './openapi.ts';

/** Not called `Response`, which is a type of `fetch`. */
export interface ApiResponse {
  readonly isWrite: boolean;
  readonly status: number;
  readonly headers: Headers;
  readonly hadKey: boolean;
  /** The value of the JSON, undefined if it is none. */
  readonly body: unknown;
  /** Returns the body for errors, from which every echo of the API key is removed. */
  bodyWithoutKey(): unknown;
  readonly stream: ReadableStream<Uint8Array> | undefined;
  readonly description: string;
}

export function readResponse(
  { status, type, headers }: Response,
  content: string | ReadableStream<Uint8Array>,
  { key, isWrite }: { readonly key: string | undefined; readonly isWrite: boolean },
): ApiResponse {
  const mediaType = headers.get('content-type') ?? 'no content type';
  const json = typeof content === 'string' && /\bjson\b/i.test(mediaType) ? content : '';
  return {
    isWrite,
    // Browsers do not expose the status of a redirect.
    status: type === 'opaqueredirect' ? 302 : status,
    headers,
    hadKey: key !== undefined,
    body: parse(json),
    bodyWithoutKey: () => parse(json, key),
    stream: typeof content === 'string' ? undefined : content,
    description: type === 'opaqueredirect' ? 'a redirect' : `${status} with ${mediaType.split(';')[0]?.slice(0, 100)}`,
  };
}

function parse(json: string, without?: string): unknown {
  const strip = (secret: string) => (_: string, value: unknown) =>
    typeof value === 'string' ? value.replaceAll(secret, '[key]') : value;
  try {
    return JSON.parse(json, without === undefined ? undefined : strip(without));
  } catch {
    return undefined;
  }
}

/** What the errors of all responses have. */
export const detailsOf = ({ status, headers }: ApiResponse) => ({
  status,
  requestId: headers.get('x-request-id') ?? undefined,
  retryAfter: secondsIn(headers.get('retry-after')),
});

function secondsIn(value: string | null): number | undefined {
  if (value === null) return undefined;
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1_000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}

/** Returns the error for a response that another server sent. After a redirect or a 4xx, nothing was stored. */
export function unexpected(response: ApiResponse): UnexpectedResponseError {
  const { isWrite, status, description } = response;
  const mayBeStored = isWrite && (status < 300 || status >= 500);
  return new UnexpectedResponseError(description, { ...detailsOf(response), mayBeStored });
}

export function serviceError(response: ApiResponse): YardgraphError {
  const body = response.bodyWithoutKey();
  const details = { ...detailsOf(response), mayBeStored: mayBeStored(response) };
  if (isProblem(body)) {
    return new ServiceError(messageOf(response, body.detail), { ...details, items: body.errors ?? [] });
  }
  if (isErrorResponse(body)) return new ServiceError(messageOf(response, body.error), details);
  return unexpected(response);
}

const keyMissing = 'an API key is required: set the option apiKeyAuth or the environment variable YARDGRAPH_API_KEY';

/** Returns the service's message, except where it says which header to send: programs set an option instead. */
export const messageOf = ({ status, hadKey }: ApiResponse, message: string): string =>
  status === 401 && !hadKey ? keyMissing : message;

/**
 * A 4xx response guarantees that nothing was stored; a 5xx does not. The exception is a 503 whose problem has the type
 * `about:blank`, or says that the disk is full. Any other 503 may come from a proxy, after the service has stored the request.
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
