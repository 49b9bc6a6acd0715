import { ConnectionError, TimeoutError } from './errors.ts';
import { type ResolvedOptions, type WriteOptions, writeHeaders } from './options.ts';
import { type ApiResponse, readResponse } from './responses.ts';
import { retry } from './retry.ts';

interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PATCH';
  readonly path: string;
  readonly accept: string;
  readonly body?: unknown;
  readonly write?: WriteOptions | undefined;
  /** Returns the body of a 200 as a stream. The timeout then ends with the headers. */
  readonly isStreamed?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Returns the result of `read`, which throws for error responses; its error decides about a retry. */
export type Send = <T>(request: ApiRequest, read: (response: ApiResponse) => T) => Promise<T>;

export const createSend =
  (options: ResolvedOptions): Send =>
  async (request, read) => {
    const { method, accept, write } = request;
    const body = request.body === undefined ? null : JSON.stringify(request.body, rejectNonFinite);
    const headers = {
      accept,
      ...(body !== null && { 'content-type': 'application/json' }),
      // Node's fetch took two minutes for 464 MB with compression, and a second without. Browsers ignore this header.
      ...(request.isStreamed && { 'accept-encoding': 'identity' }),
      ...(write && writeHeaders(options, write)),
    };
    const attempt = async () => read(await fetchOnce(options, request, { method, headers, body }));
    return retry(options.retries, 'idempotency-key' in headers, attempt);
  };

/** The service reads all records of a file before it responds, which may take almost two minutes. */
const minStreamTimeoutMs = 120_000;

async function fetchOnce(
  { serverUrl, apiKey, timeout }: ResolvedOptions,
  { path, write, isStreamed = false, signal }: ApiRequest,
  init: RequestInit & { readonly headers: Readonly<Record<string, string>> },
): Promise<ApiResponse> {
  const key = await apiKey();
  const isWrite = write !== undefined;
  const limit = isStreamed ? Math.max(timeout, minStreamTimeoutMs) : timeout;
  const late = AbortSignal.timeout(limit);
  const stop = new AbortController();
  late.onabort = () => stop.abort();
  try {
    const response = await fetch(serverUrl + path, {
      ...init,
      headers: { ...init.headers, ...(key !== undefined && { authorization: `Bearer ${key}` }) },
      // Following a redirect may turn a POST into a GET, whose response could be taken for the POST's.
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, stop.signal]) : stop.signal,
    });
    const stream = isStreamed && response.status === 200 ? response.body : null;
    return readResponse(response, stream ?? (await response.text()), isWrite);
  } catch (error) {
    if (late.aborted) throw new TimeoutError(limit, { mayBeStored: isWrite });
    signal?.throwIfAborted();
    throw connectionError(error, isWrite);
  } finally {
    late.onabort = null;
  }
}

/** JSON would turn NaN and Infinity into null, which means "not set". */
function rejectNonFinite(name: string, value: unknown): unknown {
  if (typeof value !== 'number' || Number.isFinite(value)) return value;
  throw new TypeError(`${name}: expected a finite number, received ${value}`);
}

interface SystemError {
  readonly code?: unknown;
  readonly syscall?: unknown;
  readonly errors?: readonly unknown[];
}

/**
 * In Node, the cause is the system's error, or one for all addresses of a host. Without a connection, nothing was sent.
 * Browsers give no reason: the request may have been sent.
 */
function connectionError(error: unknown, isWrite: boolean): ConnectionError {
  const { code, syscall, errors }: SystemError = (error as { cause?: SystemError }).cause ?? (error as SystemError);
  const isConnecting =
    errors !== undefined || syscall === 'connect' || syscall === 'getaddrinfo' || code === 'UND_ERR_CONNECT_TIMEOUT';
  const mayBeStored = isWrite && !isConnecting;
  return new ConnectionError(typeof code === 'string' ? code : undefined, { mayBeStored, cause: error });
}
