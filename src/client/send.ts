/** One request and its answer: the key, the time limit, and whether it may have been stored when it fails. */
import { ConnectionError, TimeoutError, UnexpectedAnswerError } from './errors.ts';
import type { Settings } from './options.ts';
import { repeat } from './repeat.ts';

export interface Request {
  readonly method: 'GET' | 'POST' | 'PATCH';
  readonly path: string;
  readonly accept: string;
  readonly body?: unknown;
  /** What is stored by it may be stored twice when it is sent twice. */
  readonly isWrite: boolean;
}

export interface Answer {
  readonly isWrite: boolean;
  readonly status: number;
  readonly requestId: string | undefined;
  /** Seconds. */
  readonly retryAfter: number | undefined;
  /** Undefined for what is not JSON. */
  readonly body: unknown;
  /** The body again, for errors: whoever answered, the key is not in it. */
  readonly bodyWithoutKey: unknown;
  /** In words, for who expected something else. */
  readonly description: string;
}

/** Reads the answer to a request, and throws the error that it is; what is thrown decides whether to try again. */
export type Send = <T>(request: Request, read: (answer: Answer) => T) => Promise<T>;

export function createSend({ serverUrl, apiKey, timeout, retries }: Settings): Send {
  async function attempt({ method, path, accept, isWrite }: Request, body: string | undefined): Promise<Answer> {
    const key = await apiKey();
    const signal = AbortSignal.timeout(timeout);
    try {
      const response = await fetch(`${serverUrl}${path}`, {
        method,
        headers: {
          accept,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(key !== undefined && { authorization: `Bearer ${key}` }),
        },
        // A followed redirect may turn a POST into a GET, whose answer looks like one to a POST.
        redirect: 'manual',
        signal,
        ...(body !== undefined && { body }),
      });
      return readAnswer(response, await response.text(), { key, isWrite });
    } catch (error) {
      if (signal.aborted) throw new TimeoutError(timeout, { mayBeStored: isWrite });
      const code = codeOf(error);
      throw new ConnectionError(code, { mayBeStored: isWrite && !isUnsent(error), cause: error });
    }
  }

  return async (request, read) => {
    const body = request.body === undefined ? undefined : JSON.stringify(request.body, refuseLoss);
    return repeat(retries, async () => read(await attempt(request, body)));
  };
}

/** JSON would turn them into null, and null means "not set". */
function refuseLoss(name: string, value: unknown): unknown {
  if (typeof value !== 'number' || Number.isFinite(value)) return value;
  throw new TypeError(`${name}: expected a finite number, received ${value}`);
}

function readAnswer(
  { status, type, headers }: Response,
  text: string,
  { key, isWrite }: { key: string | undefined; isWrite: boolean },
): Answer {
  const mediaType = headers.get('content-type') ?? 'no content type';
  const isJson = /\bjson\b/i.test(mediaType);
  return {
    isWrite,
    // Browsers do not tell the status of a redirect.
    status: type === 'opaqueredirect' ? 302 : status,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfter: secondsIn(headers.get('retry-after')),
    body: isJson ? parse(text) : undefined,
    bodyWithoutKey: isJson ? parse(text, key) : undefined,
    description: type === 'opaqueredirect' ? 'a redirect' : `${status} with ${mediaType.split(';')[0]}`,
  };
}

/** It is stored only if the service got to it; what is refused with 4xx, or sent elsewhere, never got there. */
export const unexpected = ({ isWrite, status, retryAfter, description }: Answer): UnexpectedAnswerError =>
  new UnexpectedAnswerError(description, {
    status,
    retryAfter,
    mayBeStored: isWrite && (status < 300 || status >= 500),
  });

function parse(text: string, without?: string): unknown {
  const strip = (secret: string) => (_: string, value: unknown) =>
    typeof value === 'string' ? value.replaceAll(secret, '[key]') : value;
  try {
    return JSON.parse(text, without === undefined ? undefined : strip(without));
  } catch {
    return undefined;
  }
}

/** `Retry-After` is a number of seconds, or a date. */
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

/** `fetch` wraps what happened, and a name with several addresses what happened at each. */
function* causesOf(error: unknown): Generator<SystemError> {
  if (typeof error !== 'object' || error === null) return;
  const { cause, errors = [] }: SystemError = error;
  yield* causesOf(cause);
  for (const one of errors) yield* causesOf(one);
  if (cause === undefined && errors.length === 0) yield error;
}

function codeOf(error: unknown): string | undefined {
  for (const { code } of causesOf(error)) if (typeof code === 'string') return code;
  return undefined;
}

/** Nothing was sent when no connection came about. Browsers do not tell, and then it may have been. */
function isUnsent(error: unknown): boolean {
  const causes = [...causesOf(error)];
  const isConnecting = ({ code, syscall }: SystemError) =>
    syscall === 'connect' || syscall === 'getaddrinfo' || code === 'UND_ERR_CONNECT_TIMEOUT';
  return causes.length > 0 && causes.every(isConnecting);
}
