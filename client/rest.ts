/** Creates, updates and lists records over REST, and turns error responses into errors. */
import { received, requireKnown } from './check.ts';
import { ServiceError, type YardgraphError } from './errors.ts';
import type { ErrorResponse, Problem } from './openapi.ts';
import type { WriteOptions } from './options.ts';
import { inParts, type PartOptions } from './parts.ts';
import { type ApiResponse, messageOf, type Send, unexpected } from './send.ts';

/**
 * Stores a batch, all or nothing, and returns the records in the order sent: a tuple of as many as were sent if their number
 * is known when the program is compiled. `Batch` is inferred from the number alone: each record is checked as a `New`.
 */
export type Create<New, Stored> = <const Batch extends readonly unknown[]>(
  records: { readonly [Index in keyof Batch]: New },
  options?: PartOptions,
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

  const createAll = async (records: readonly New[], options: PartOptions = {}): Promise<Stored[]> => {
    if (!Array.isArray(records)) {
      throw new TypeError(`create: expected an array of records, received ${received(records)}`);
    }
    return inParts('create', records, options, createPart);
  };
  // The cast is safe: a response with more or fewer records than were sent is rejected.
  return createAll as Create<New, Stored>;
}

export function update<Changes, Stored>(send: Send, path: string): Update<Changes, Stored> {
  return async (id, changes, options = {}) => {
    if (typeof id !== 'string') throw new TypeError(`update: expected the ID as a string, received ${received(id)}`);
    requireKnown('update', options);
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
