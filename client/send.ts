/** Sends a request with the API key and a time limit, and reads its response. Errors say whether the request may have been stored. */
import { ConnectionError, TimeoutError, UnexpectedResponseError } from './errors.ts';
import { type ResolvedOptions, type WriteOptions, writeHeaders } from './options.ts';
import { retry } from './retry.ts';

/** This and ApiResponse are not called `Request` and `Response`, which are types of `fetch`. */
interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PATCH';
  readonly path: string;
  readonly accept: string;
  readonly body?: unknown;
  /** True if the request stores something: if it is sent twice without a key, it may be stored twice. */
  readonly isWrite: boolean;
  readonly options?: WriteOptions | undefined;
}

export interface ApiResponse {
  readonly isWrite: boolean;
  readonly status: number;
  readonly hadKey: boolean;
  readonly requestId: string | undefined;
  readonly retryAfter: number | undefined;
  readonly body: unknown;
  /** Returns the body for errors, from which every echo of the API key is removed. */
  bodyWithoutKey(): unknown;
  readonly description: string;
}

/**
 * Sends a request, with retries, and returns the result of `read` for the response. `read` throws for error responses; its
 * error decides whether to retry.
 */
export type Send = <T>(request: ApiRequest, read: (response: ApiResponse) => T) => Promise<T>;

export function createSend(defaults: ResolvedOptions): Send {
  const { serverUrl, apiKey, timeout, retries } = defaults;
  let knowsKeys: boolean | undefined;

  async function attempt(
    { method, path, accept, isWrite }: ApiRequest,
    { body, headers }: { body?: string | undefined; headers: Readonly<Record<string, string>> },
  ): Promise<ApiResponse> {
    const key = await apiKey();
    const signal = AbortSignal.timeout(timeout);
    try {
      const response = await fetch(`${serverUrl}${path}`, {
        method,
        headers: {
          accept,
          ...headers,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(key !== undefined && { authorization: `Bearer ${key}` }),
        },
        // Following a redirect may turn a POST into a GET, whose response could be taken for the POST's.
        redirect: 'manual',
        signal,
        ...(body !== undefined && { body }),
      });
      return readResponse(response, await response.text(), { key, isWrite });
    } catch (error) {
      if (signal.aborted) throw new TimeoutError(timeout, { mayBeStored: isWrite });
      const code = codeOf(error);
      throw new ConnectionError(code, { mayBeStored: isWrite && !isUnsent(error), cause: error });
    }
  }

  /** Asks the service, once. An older one would store a repeated request again. */
  async function isStoredOnce(): Promise<boolean> {
    if (knowsKeys !== undefined) return knowsKeys;
    const request = { method: 'GET', path: '/healthz', accept: 'application/json', isWrite: false } as const;
    const response = await attempt(request, { headers: {} });
    if (response.status === 429 || response.status === 503) throw unexpected(response);
    const { idempotencyKeys } = (response.body ?? {}) as { idempotencyKeys?: unknown };
    knowsKeys = idempotencyKeys === true;
    return knowsKeys;
  }

  return async (request, read) => {
    const body = request.body === undefined ? undefined : JSON.stringify(request.body, rejectNonFinite);
    const headers = request.isWrite ? writeHeaders(defaults, request.options) : {};
    const hasKey = 'idempotency-key' in headers;
    return retry(
      retries,
      async () => read(await attempt(request, { body, headers })),
      async () => hasKey && isStoredOnce(),
    );
  };
}

/** Milliseconds until a response must have begun, at least: the service reads all records of a file first, which may take almost two minutes. */
const minDownloadTimeout = 120_000;

export type Download = ReturnType<typeof createDownload>;

/** Returns a function that opens a file. The time limit is for the beginning of the response; `reject` makes the error of an error response. */
export function createDownload(
  { serverUrl, apiKey, timeout, retries }: ResolvedOptions,
  reject: (response: ApiResponse) => Error,
) {
  return (path: string, signal?: AbortSignal) => {
    const attempt = async () => {
      const key = await apiKey();
      const late = new AbortController();
      const limit = Math.max(timeout, minDownloadTimeout);
      const timer = setTimeout(() => late.abort(), limit);
      const response = await fetch(`${serverUrl}${path}`, {
        // Not compressed: Node's fetch took two minutes for 464 MB that were, and one second without. Browsers ignore it.
        headers: { 'accept-encoding': 'identity', ...(key !== undefined && { authorization: `Bearer ${key}` }) },
        redirect: 'manual',
        signal: signal ? AbortSignal.any([signal, late.signal]) : late.signal,
      })
        .catch((cause: unknown) => {
          if (late.signal.aborted) throw new TimeoutError(limit, { mayBeStored: false });
          signal?.throwIfAborted();
          throw new ConnectionError(codeOf(cause), { mayBeStored: false, cause });
        })
        .finally(() => clearTimeout(timer));
      if (response.status === 200 && response.body) return { headers: response.headers, body: response.body };
      throw reject(readResponse(response, await response.text(), { key, isWrite: false }));
    };
    return retry(retries, attempt, async () => false);
  };
}

/** JSON would turn NaN and Infinity into null, which means "not set". */
function rejectNonFinite(name: string, value: unknown): unknown {
  if (typeof value !== 'number' || Number.isFinite(value)) return value;
  throw new TypeError(`${name}: expected a finite number, received ${value}`);
}

function readResponse(
  { status, type, headers }: Response,
  text: string,
  { key, isWrite }: { key: string | undefined; isWrite: boolean },
): ApiResponse {
  const mediaType = headers.get('content-type') ?? 'no content type';
  const isJson = /\bjson\b/i.test(mediaType);
  return {
    isWrite,
    // Browsers do not expose the status of a redirect.
    status: type === 'opaqueredirect' ? 302 : status,
    hadKey: key !== undefined,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfter: secondsIn(headers.get('retry-after')),
    body: isJson ? parse(text) : undefined,
    bodyWithoutKey: () => (isJson ? parse(text, key) : undefined),
    description: type === 'opaqueredirect' ? 'a redirect' : `${status} with ${mediaType.split(';')[0]?.slice(0, 100)}`,
  };
}

/** Returns the error for a response that another server sent. After a redirect or a 4xx, nothing was stored. */
export const unexpected = ({ isWrite, status, retryAfter, description }: ApiResponse): UnexpectedResponseError =>
  new UnexpectedResponseError(description, {
    status,
    retryAfter,
    mayBeStored: isWrite && (status < 300 || status >= 500),
  });

const keyMissing = 'an API key is required: set the option apiKeyAuth or the environment variable YARDGRAPH_API_KEY';

/** Returns the service's message, except where it says which header to send: programs set an option instead. */
export const messageOf = ({ status, hadKey }: ApiResponse, message: string): string =>
  status === 401 && !hadKey ? keyMissing : message;

function parse(text: string, without?: string): unknown {
  const strip = (secret: string) => (_: string, value: unknown) =>
    typeof value === 'string' ? value.replaceAll(secret, '[key]') : value;
  try {
    return JSON.parse(text, without === undefined ? undefined : strip(without));
  } catch {
    return undefined;
  }
}

function secondsIn(value: string | null): number | undefined {
  if (value === null) return undefined;
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1_000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}

interface SystemError {
  readonly code?: unknown;
  readonly syscall?: unknown;
  readonly cause?: unknown;
  readonly errors?: readonly unknown[];
}

/** Yields the root causes: `fetch` wraps the system's errors, of which there is one per address of the host name. */
function* causesOf(error: unknown): Generator<SystemError> {
  if (typeof error !== 'object' || error === null) return;
  const { cause, errors = [] }: SystemError = error;
  yield* causesOf(cause);
  for (const inner of errors) yield* causesOf(inner);
  if (cause === undefined && errors.length === 0) yield error;
}

function codeOf(error: unknown): string | undefined {
  for (const { code } of causesOf(error)) if (typeof code === 'string') return code;
  return undefined;
}

/** Nothing was sent if no connection was established. Browsers give no reason, so there the request may have been sent. */
function isUnsent(error: unknown): boolean {
  const causes = [...causesOf(error)];
  const isConnecting = ({ code, syscall }: SystemError) =>
    syscall === 'connect' || syscall === 'getaddrinfo' || code === 'UND_ERR_CONNECT_TIMEOUT';
  return causes.length > 0 && causes.every(isConnecting);
}
