/**
 * Carries out a write once for a key. A transaction looks the key up first: it may be long, and others wait for it. Group commits, which
 * are short and many, skip the lookup: with a used key, the insert of its row fails, or that of the records, which are stored already.
 */
import { mayBeStored, mayBeStoredType, ServiceError } from '../../errors.ts';
import { createChangeReads } from '../log/read-changes.ts';
import { idempotencyResults, type NewChange } from '../query/tables.ts';
import type { Scope } from '../records/read-records.ts';
import {
  findIdempotencyResults,
  type IdempotencyKey,
  idempotencyRow,
  Repeated,
  recordsToIds,
  requireUnused,
} from './idempotency.ts';
import type { Work } from './work.ts';

/**
 * Runs the write. If it is rejected, or its outcome is unknown, and a result is stored under the key, throws Repeated or a
 * ServiceError 409 instead: it may have been rejected because of what an earlier write with this key stored.
 */
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

/** Returns the work, preceded by a lookup of the key if the database has rejected something. */
export const unused =
  <T>(key: IdempotencyKey, work: Work<T>): Work<T> =>
  async (find, uniqueness) => {
    if (uniqueness === 'lookup') requireUnused(key, await find.idempotencyResults([key.key]));
    return work(find, uniqueness);
  };

interface Result {
  readonly returned: unknown;
  readonly log: readonly NewChange[];
  /** The number of its last change; undefined if it changed nothing. */
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
