/**
 * The results of writes whose requests may be repeated: stored under the key of the request, in the write's own transaction, so
 * that a repeat finds it and writes nothing. A result is stored as JSON, with whole records: a repeat returns them as they were, and
 * GraphQL can select any of their fields. Once they are too old to be repeated, they are deleted. Knows no HTTP.
 */
import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants } from 'node:zlib';
import pLimit from 'p-limit';
import { idempotencyKeyReused, mayBeStored, mayBeStoredType, ServiceError } from '../../errors.ts';
import type { Row } from '../connections/driver.ts';
import type { RecordQuery } from '../query/record-query.ts';
import { rowsQuery } from '../query/rows.ts';
import { idempotencyResults } from '../query/tables.ts';
import type { WorkspaceScope } from '../records/read-budget.ts';
import { fetchRows } from '../records/read-records.ts';

export interface IdempotencyKey {
  /** The operation, such as `POST /assets`: keys are scoped to it. */
  readonly operation: string;
  readonly key: string;
  /** Differs from that of any request that asks for something else. */
  readonly requestHash: string;
}

/** A request with a key. */
export interface RepeatableRequest extends IdempotencyKey {
  /** Called if the result is that of an earlier request. */
  readonly onRepeat: () => void;
}

/** What a write has returned, or an earlier one with its key. */
export interface WriteResult<T> {
  readonly returned: T;
  readonly isRepeat: boolean;
}

export const idempotencyRow = async (
  workspaceId: number,
  { operation, key, requestHash }: IdempotencyKey,
  returned: unknown,
): Promise<Row> => ({
  operation,
  key,
  requestHash,
  workspaceId,
  createdAt: new Date().toISOString(),
  result: await compressJson(JSON.stringify(returned)),
});

/** In characters. */
const maxUncompressed = 1_000;

/** No JSON begins with it. */
const compressedMark = 'br:';

const compress = promisify(brotliCompress);
const decompress = promisify(brotliDecompress);

/** The fastest that makes a result much shorter: 1,000 assets of 670 KB take 2 ms of CPU and 95 KB, with deflate 4 ms and 140 KB. */
const fast = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };

async function compressJson(json: string): Promise<string> {
  if (json.length <= maxUncompressed) return json;
  return compressedMark + (await compress(json, fast)).toString('base64');
}

async function decompressJson(text: string): Promise<string> {
  if (!text.startsWith(compressedMark)) return text;
  return (await decompress(Buffer.from(text.slice(compressedMark.length), 'base64'))).toString();
}

const rowsFor = ({ dialect, workspaceId }: WorkspaceScope, where: RecordQuery['where']) =>
  rowsQuery(dialect, idempotencyResults, workspaceId, { where });

/** Returns what an earlier request with the key has returned, if there is one. Throws a ServiceError 409 if it was another request. */
export async function findStoredResult<T>(
  scope: WorkspaceScope,
  { operation, key, requestHash }: IdempotencyKey,
): Promise<WriteResult<T> | undefined> {
  const rows = rowsFor(scope, {
    all: [
      { field: 'key', in: [key] },
      { field: 'operation', in: [operation] },
    ],
  });
  const [found] = await fetchRows(scope, idempotencyResults, rows, {});
  if (!found) return undefined;
  if (found.requestHash !== requestHash) throw idempotencyKeyReused();
  // The same request has returned it.
  return { returned: JSON.parse(await decompressJson(String(found.result))), isRepeat: true };
}

/** A write that fails while a result is stored returns it, or throws a 409: what the earlier write stored may be the reason. */
export async function writeWithKey<T>(
  request: IdempotencyKey,
  scope: WorkspaceScope,
  write: () => Promise<WriteResult<T>>,
): Promise<WriteResult<T>> {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const isUnknown = error.type === mayBeStoredType;
    // While the database is unavailable, a second attempt to reach it would only take longer.
    if (error.status >= 500 && !isUnknown) throw error;
    const earlier = await findStoredResult<T>(scope, request).catch(rethrowKeyReuse);
    if (earlier) return earlier;
    throw isUnknown ? retryWithKey(error) : error;
  }
}

/** If the database cannot be reached, the first error says what happened. */
function rethrowKeyReuse(error: unknown): undefined {
  if (error instanceof ServiceError && error.status === 409) throw error;
}

const retryWithKey = ({ cause }: ServiceError) =>
  mayBeStored('retry with the same Idempotency-Key, which stores the records once', String(cause));

/** One at a time: a transaction may hold 50 MB of records, and its JSON as much again. */
const oneResult = pLimit(1);

export async function storeResult(
  { dialect, run, workspaceId }: WorkspaceScope,
  key: IdempotencyKey,
  returned: unknown,
) {
  const row = await oneResult(() => idempotencyRow(workspaceId, key, returned));
  for (const { sql, values } of dialect.inserts(idempotencyResults, [row])) await run(sql, values);
}
