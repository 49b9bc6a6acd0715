/** Creating, changing and listing records over REST. */
import { PartialBatchError, ServiceError, type YardgraphError } from './errors.ts';
import type { ErrorResponse, Problem } from './openapi.ts';
import { requireInteger } from './options.ts';
import { type Answer, type Send, unexpected } from './send.ts';

export interface CreateOptions {
  /**
   * Sends the batch in parts of so many records, one after the other. Each part is all or nothing, the whole is not:
   * when a later part fails, a PartialBatchError has what was created before.
   */
  readonly partSize?: number | undefined;
}

/** Stores a batch, all or nothing, and answers the records in the order sent. */
export type Create<New, Stored> = (records: readonly New[], options?: CreateOptions) => Promise<Stored[]>;
export type Update<Changes, Stored> = (id: string, changes: Changes) => Promise<Stored>;
export type List<Stored> = () => Promise<Stored[]>;

/** The service answers a problem (RFC 9457) to who asks for one: it names everything that is wrong. */
const accept = 'application/json, application/problem+json';

export function create<New, Stored>(send: Send, path: string): Create<New, Stored> {
  const createPart = (records: readonly New[]): Promise<Stored[]> =>
    send(
      { method: 'POST', path, accept, body: records, isWrite: true },
      accepted<Stored[]>((body) => Array.isArray(body) && body.length === records.length),
    );

  return async (records, { partSize } = {}) => {
    if (!Array.isArray(records)) throw new TypeError('expected an array of records');
    if (partSize === undefined) return createPart(records);
    requireInteger('partSize', partSize, 1, Number.MAX_SAFE_INTEGER);
    const created = await createPart(records.slice(0, partSize));
    while (created.length < records.length) {
      const part = records.slice(created.length, created.length + partSize);
      const stored = await createPart(part).catch((error: unknown) => {
        throw new PartialBatchError(created, records.length, error);
      });
      for (const record of stored) created.push(record);
    }
    return created;
  };
}

export function update<Changes, Stored>(send: Send, path: string): Update<Changes, Stored> {
  return (id, changes) =>
    send(
      { method: 'PATCH', path: `${path}/${encodeURIComponent(id)}`, accept, body: changes, isWrite: true },
      accepted<Stored>((body) => isObject(body) && typeof body.id === 'string'),
    );
}

export function list<Stored>(send: Send, path: string): List<Stored> {
  return () => send({ method: 'GET', path, accept, isWrite: false }, accepted<Stored[]>(Array.isArray));
}

/** The types are the OpenAPI document's, which the service's tests hold it to: here it is enough to know that it is ours. */
const accepted =
  <T>(isOurs: (body: unknown) => boolean) =>
  (answer: Answer): T => {
    if (answer.status >= 300) throw refusal(answer);
    if (!isOurs(answer.body)) throw unexpected(answer);
    return answer.body as T;
  };

/** The error that an answer is; with problems as with the two fields of the interface. */
export function refusal(answer: Answer): YardgraphError {
  const { status, requestId, retryAfter, bodyWithoutKey: body } = answer;
  const outcome = { status, requestId, retryAfter, mayBeStored: mayBeStored(answer) };
  if (isProblem(body)) return new ServiceError(body.detail, { ...outcome, items: body.errors ?? [] });
  if (isErrorAnswer(body)) return new ServiceError(body.error, outcome);
  return unexpected(answer);
}

/**
 * A refusal is a promise that nothing was stored, a failure inside is none. Of the two kinds of 503, only the one that
 * says so is a refusal: in any other form, it may be a proxy's, and the service may have done its work.
 */
function mayBeStored({ isWrite, status, bodyWithoutKey: body }: Answer): boolean {
  if (!isWrite || status < 500) return false;
  return !(status === 503 && isProblem(body) && body.type === 'about:blank');
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isProblem = (body: unknown): body is Problem =>
  isObject(body) &&
  typeof body.detail === 'string' &&
  (body.errors === undefined || (Array.isArray(body.errors) && body.errors.every(isObject)));

const isErrorAnswer = (body: unknown): body is ErrorResponse =>
  isObject(body) && typeof body.error === 'string' && typeof body.code === 'string';
