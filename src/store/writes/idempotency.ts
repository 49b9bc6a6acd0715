/**
 * Stored results of writes with an idempotency key. Knows no HTTP.
 *
 * Invariants:
 * - A result is stored in the transaction of its write: either both are committed, or neither is.
 * - A repeat returns the stored result and writes nothing. The key with another request is a 409.
 * - The result is JSON with whole records: a repeat returns the records as they were, and GraphQL selects any of their
 *   fields.
 * - If a write fails, the stored result decides, if there is one: the failure may be due to the data of the first
 *   attempt. Without one, a write that may be stored is reported as such, and a retry with the key is safe.
 * - Results are deleted after 24 hours (admin/result-sweep.ts).
 */
import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants } from 'node:zlib';
import pLimit from 'p-limit';
import { idempotencyKeyReused, mayBeStored, mayBeStoredType, ServiceError } from '../../errors.ts';
import type { Row } from '../connections/driver.ts';
import type { Database } from '../database.ts';
import { literally, rowsQuery, runQuery } from '../query/rows.ts';
import { idempotencyResults } from '../query/tables.ts';
import type { WorkspaceScope } from '../records/read-budget.ts';
import { fetchRows } from '../records/read-records.ts';

export interface IdempotencyKey {
  /** Such as `POST /assets`: keys are scoped to it. */
  readonly operation: string;
  readonly key: string;
  readonly requestHash: string;
}

export interface RepeatableRequest extends IdempotencyKey {
  readonly onRepeat: () => void;
}

export interface WriteResult<T> {
  readonly returned: T;
  readonly isRepeat: boolean;
}

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
    // While the database is unavailable, a second attempt only takes longer.
    if (error.status >= 500 && !isUnknown) throw error;
    const earlier = await findStoredResult<T>(scope, request).catch(rethrowKeyReuse);
    if (earlier) return earlier;
    throw isUnknown ? retryWithKey(error) : error;
  }
}

/** Other errors say less than the error of the write. */
function rethrowKeyReuse(error: unknown): undefined {
  if (error instanceof ServiceError && error.status === 409) throw error;
}

const retryWithKey = ({ cause }: ServiceError) =>
  mayBeStored('retry with the same Idempotency-Key, which stores the records once', String(cause));

export async function findStoredResult<T>(
  scope: WorkspaceScope,
  { operation, key, requestHash }: IdempotencyKey,
): Promise<WriteResult<T> | undefined> {
  const where = {
    all: [
      { field: 'key', in: [key] },
      { field: 'operation', in: [operation] },
    ],
  };
  const rows = rowsQuery(scope.dialect, idempotencyResults, scope.workspaceId, { where });
  const [found] = await fetchRows(scope, idempotencyResults, rows, {});
  if (!found) return undefined;
  if (found.requestHash !== requestHash) throw idempotencyKeyReused();
  return { returned: JSON.parse(await decompressJson(String(found.result))), isRepeat: true };
}

/** Results with the record stay, for another request: theirs must not run again. Returns their number. */
export async function eraseResults({ dialect, read, run }: Database, workspaceId: number, recordId: string) {
  const results = () => dialect.builder(idempotencyResults.table).where('workspace_id', workspaceId);
  let erased = 0;
  for (let last: Row | undefined = { key: '', operation: '' }; last; ) {
    const rows = results().whereRaw('(key, operation) > (?, ?)', [String(last.key), String(last.operation)]);
    const page: readonly Row[] = await runQuery(read, rows.orderBy(['key', 'operation']).limit(20, literally));
    for (const { key, operation, result } of page) {
      if (!(await decompressJson(String(result))).includes(`"id":"${recordId}"`)) continue;
      await runQuery(run, results().where({ key, operation }).update({ request_hash: '', result: '' }));
      erased += 1;
    }
    last = page.at(-1);
  }
  return erased;
}

/** One at a time: a transaction may hold 50 MB of records, and as much JSON. */
const oneAtATime = pLimit(1);

export async function storeResult(
  { dialect, run, workspaceId }: WorkspaceScope,
  key: IdempotencyKey,
  returned: unknown,
): Promise<void> {
  const row = await oneAtATime(() => idempotencyRow(workspaceId, key, returned));
  for (const { sql, values } of dialect.inserts(idempotencyResults, [row])) await run(sql, values);
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

const maxUncompressedLength = 1_000;

/** No JSON begins with it. */
const compressedMark = 'br:';

const compress = promisify(brotliCompress);
const decompress = promisify(brotliDecompress);

/** 1,000 assets, 670 KB in all, take 2 ms of CPU and 95 KB, with deflate 4 ms and 140 KB. */
const fast = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };

async function compressJson(json: string): Promise<string> {
  if (json.length <= maxUncompressedLength) return json;
  return compressedMark + (await compress(json, fast)).toString('base64');
}

async function decompressJson(text: string): Promise<string> {
  if (!text.startsWith(compressedMark)) return text;
  return (await decompress(Buffer.from(text.slice(compressedMark.length), 'base64'))).toString();
}
