/** Creates, updates and lists records over REST, and turns error responses into errors. */
import { received, requireInteger } from './check.ts';
import { PartialBatchError, ServiceError, type YardgraphError } from './errors.ts';
import type { ErrorResponse, Problem } from './openapi.ts';
import { type ApiResponse, messageOf, type Send, unexpected } from './send.ts';
import type { WriteOptions } from './write-options.ts';

export interface CreateOptions extends WriteOptions {
  /**
   * Sends the batch in parts of this many records, one after the other. Each part is stored completely or not at all, but
   * the whole batch is not atomic: if a later part fails, a PartialBatchError has the records created before it.
   * With an `idempotencyKey` of its own, the same call may be made again: it stores only the parts that are missing.
   */
  readonly partSize?: number | undefined;
}

/**
 * Stores a batch, all or nothing, and returns the records in the order sent: a tuple of as many as were sent if their number
 * is known when the program is compiled. `Batch` is inferred from the number alone: each record is checked as a `New`.
 */
export type Create<New, Stored> = <const Batch extends readonly unknown[]>(
  records: { readonly [Index in keyof Batch]: New },
  options?: CreateOptions,
) => Promise<{ -readonly [Index in keyof Batch]: Stored }>;
export type Update<Changes, Stored> = (id: string, changes: Changes, options?: WriteOptions) => Promise<Stored>;
export type List<Stored> = () => Promise<Stored[]>;

/** Asks the service for problems (RFC 9457), which list every invalid field. */
const accept = 'application/json, application/problem+json';

export function create<New, Stored>(send: Send, path: string): Create<New, Stored> {
  const createPart = (records: readonly New[], options: WriteOptions): Promise<Stored[]> =>
    send(
      { method: 'POST', path, accept, body: records, isWrite: true, options },
      accepted<Stored[]>((body) => Array.isArray(body) && body.length === records.length),
    );

  const createAll = async (
    records: readonly New[],
    { partSize, ...options }: CreateOptions = {},
  ): Promise<Stored[]> => {
    if (!Array.isArray(records)) {
      throw new TypeError(`create: expected an array of records, received ${received(records)}`);
    }
    if (partSize === undefined) return createPart(records, options);
    requireInteger('create', 'partSize', partSize, 1, Number.MAX_SAFE_INTEGER);
    const created = await createPart(records.slice(0, partSize), optionsOfPart(options, 0));
    while (created.length < records.length) {
      const part = records.slice(created.length, created.length + partSize);
      const stored = await createPart(part, optionsOfPart(options, created.length)).catch((error: unknown) => {
        throw new PartialBatchError(created, { partSize, size: records.length, cause: error });
      });
      for (const record of stored) created.push(record);
    }
    return created;
  };
  // The cast is safe: a response with more or fewer records than were sent is rejected.
  return createAll as Create<New, Stored>;
}

/** Returns the options of a part: it is a separate request, and needs its own key. */
const optionsOfPart = ({ idempotencyKey, ...options }: WriteOptions, start: number): WriteOptions => ({
  ...options,
  ...(idempotencyKey !== undefined && { idempotencyKey: `${idempotencyKey}-${start}` }),
});

export function update<Changes, Stored>(send: Send, path: string): Update<Changes, Stored> {
  return async (id, changes, options) => {
    if (typeof id !== 'string') throw new TypeError(`update: expected the ID as a string, received ${received(id)}`);
    return send(
      { method: 'PATCH', path: `${path}/${encodeURIComponent(id)}`, accept, body: changes, isWrite: true, options },
      accepted<Stored>((body) => isObject(body) && typeof body.id === 'string'),
    );
  };
}

export function list<Stored>(send: Send, path: string): List<Stored> {
  return () => send({ method: 'GET', path, accept, isWrite: false }, accepted<Stored[]>(Array.isArray));
}

/**
 * Returns the body of a successful response. Checks only whether the response comes from Yardgraph: the service's tests
 * ensure that its responses match the types of the OpenAPI document.
 */
const accepted =
  <T>(isExpected: (body: unknown) => boolean) =>
  (response: ApiResponse): T => {
    if (response.status >= 300) throw serviceError(response);
    if (!isExpected(response.body)) throw unexpected(response);
    return response.body as T;
  };

/** Returns the error for an error response: a problem, or the interface's two fields, `error` and `code`. */
export function serviceError(response: ApiResponse): YardgraphError {
  const { status, requestId, retryAfter } = response;
  const body = response.bodyWithoutKey();
  const details = { status, requestId, retryAfter, mayBeStored: mayBeStored(response) };
  if (isProblem(body)) {
    return new ServiceError(messageOf(response, body.detail), { ...details, items: body.errors ?? [] });
  }
  if (isErrorResponse(body)) return new ServiceError(messageOf(response, body.error), details);
  return unexpected(response);
}

/**
 * A 4xx response guarantees that nothing was stored; a 5xx does not. The exception is a 503 whose problem has the type
 * `about:blank`. Any other 503 may come from a proxy, after the service has stored the request.
 */
function mayBeStored({ isWrite, status, body }: ApiResponse): boolean {
  if (!isWrite || status < 500) return false;
  return !(status === 503 && isProblem(body) && body.type === 'about:blank');
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isProblem = (body: unknown): body is Problem =>
  isObject(body) &&
  typeof body.detail === 'string' &&
  (body.errors === undefined || (Array.isArray(body.errors) && body.errors.every(isObject)));

const isErrorResponse = (body: unknown): body is ErrorResponse =>
  isObject(body) && typeof body.error === 'string' && typeof body.code === 'string';
