/**
 * The results of writes whose requests may be repeated: stored under the key of the request, in the write's own transaction, so
 * that a repeat finds it and writes nothing. A result contains the IDs of records: the log has their contents. Knows no HTTP.
 */
import { idempotencyKeyReused, mayBeStored, mayBeStoredType, ServiceError } from '../../errors.ts';
import { idPrefixOf, idsFrom } from '../../model/ids.ts';
import { isObject } from '../../model/issues.ts';
import type { Row } from '../connections/driver.ts';
import { createChangeReads } from '../log/read-changes.ts';
import { rowsQuery } from '../query/run-query.ts';
import { idempotencyResults, type NewChange } from '../query/tables.ts';
import { readRows, type Scope } from '../records/read-records.ts';

export interface IdempotencyKey {
  /** The operation, such as `POST /assets`: keys are scoped to it. */
  readonly operation: string;
  readonly key: string;
  /** Differs from that of any request that asks for something else. */
  readonly requestHash: string;
}

export interface WriteResult {
  /** The number of the workspace's last change before the write, and after it. Records that the write created may have 0 for both. */
  readonly before: number;
  readonly after: number;
  /** The result of the write, with IDs instead of records: see `recordsToIds`. */
  readonly returned: unknown;
}

interface IdempotencyResult extends IdempotencyKey {
  readonly result: WriteResult;
}

export const idempotencyRow = (workspaceId: number, key: IdempotencyKey, result: WriteResult): Row => ({
  ...key,
  workspaceId,
  createdAt: new Date().toISOString(),
  result,
});

export const creationResult = (firstId: string, records: number): WriteResult => ({
  before: 0,
  after: 0,
  returned: [successors(firstId, records)],
});

/** Returns an ID and the `n` that follow it as one text, `ID+n`, for lists. */
const successors = (firstId: string, count: number): string => (count === 1 ? firstId : `${firstId}+${count - 1}`);

/** A text that looks like an ID, `asset_…`, is stored as `{ text: 'asset_…' }`. */
function recordsToIds(value: unknown): unknown {
  if (isRecord(value)) return value.id;
  if (idsIn(value)) return { text: value };
  if (isObject(value))
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, recordsToIds(inner)]));
  if (!Array.isArray(value)) return value;
  const [first] = value;
  const ids = isRecord(first) ? idsFrom(first.id, value.length) : [];
  const areSuccessive = ids.length > 0 && value.every((item, index) => isObject(item) && item.id === ids[index]);
  return areSuccessive ? [successors(ids[0] ?? '', ids.length)] : value.map(recordsToIds);
}

const isRecord = (value: unknown): value is { readonly id: string } =>
  isObject(value) && typeof value.id === 'string' && idPrefixOf(value.id) !== undefined;

const idAndSuccessors = /^(\w+)(?:\+(\d+))?$/;

export function idsToRecords(value: unknown, find: (id: string) => object): unknown {
  if (Array.isArray(value)) return value.flatMap((item) => idsIn(item)?.map(find) ?? [idsToRecords(item, find)]);
  if (!isObject(value)) return idsIn(value)?.map(find)[0] ?? value;
  if (Object.keys(value).join() === 'text') return value.text;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, idsToRecords(inner, find)]));
}

function idsIn(value: unknown): string[] | undefined {
  const [, first = '', others = 0] = (typeof value === 'string' && idAndSuccessors.exec(value)) || [];
  return idPrefixOf(first) === undefined ? undefined : idsFrom(first, Number(others) + 1);
}

/** Thrown instead of writing a second time. An adapter that can repeat the response does so. */
export class Repeated extends ServiceError {
  readonly result: WriteResult;

  constructor(result: WriteResult) {
    super(409, 'this request was already carried out', [], { reason: 'repeated request' });
    this.result = result;
  }
}

/** Finds the results stored under these keys in the workspace, for any operation. */
export async function findIdempotencyResults(
  scope: Scope,
  keys: readonly string[],
): Promise<readonly IdempotencyResult[]> {
  const rows = rowsQuery(scope.dialect, idempotencyResults, scope.workspaceId, { where: { field: 'key', in: keys } });
  // The cast is safe: rows are written only by idempotencyRow.
  return (await readRows(scope, idempotencyResults, rows, {})) as readonly object[] as readonly IdempotencyResult[];
}

/** Throws if one of the results belongs to this request, or to another one with its key. */
export function requireUnused(request: IdempotencyKey, found: readonly IdempotencyResult[]): void {
  const earlier = found.find(({ operation, key }) => operation === request.operation && key === request.key);
  if (!earlier) return;
  throw earlier.requestHash === request.requestHash ? new Repeated(earlier.result) : idempotencyKeyReused();
}

/** A write that fails while a result is stored throws Repeated or a 409 instead: what the earlier write stored may be the reason. */
export async function writeOnce<T>(key: IdempotencyKey, scope: Scope, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof ServiceError) || error instanceof Repeated) throw error;
    const isUnknown = error.type === mayBeStoredType;
    // While the database is unavailable, a second attempt to reach it would only take longer.
    if (error.status >= 500 && !isUnknown) throw error;
    const found = await findIdempotencyResults(scope, [key.key]).catch(() => []);
    requireUnused(key, found);
    throw isUnknown ? retryWithKey(error) : error;
  }
}

const retryWithKey = ({ cause }: ServiceError) =>
  mayBeStored('retry with the same Idempotency-Key, which stores the records once', String(cause));

interface Result {
  readonly returned: unknown;
  readonly log: readonly NewChange[];
  readonly lastChange: number | undefined;
}

/** Stores what a write has returned. Its records must be locked until the transaction ends. */
export async function storeResult(
  scope: Scope,
  key: IdempotencyKey,
  { returned, log, lastChange }: Result,
): Promise<void> {
  const { dialect, run, workspaceId } = scope;
  const after = lastChange ?? (await createChangeReads(scope).lastChange());
  const before = after - log.reduce((sum, { records }) => sum + records, 0);
  const row = idempotencyRow(workspaceId, key, { before, after, returned: recordsToIds(returned) });
  for (const { sql, values } of dialect.inserts(idempotencyResults, [row])) await run(sql, values);
}
