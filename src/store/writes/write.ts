/** Carries out writes, which services describe as data: see work.ts. */
import { logChanges } from '../log/changes.ts';
import type { Author } from '../query/tables.ts';
import { nameWorkspace, type Scope } from '../records/read-records.ts';
import { prepare } from './commit.ts';
import { findIdempotencyResults, type IdempotencyKey, requireUnused } from './idempotency.ts';
import { storeResult } from './idempotent-writes.ts';
import { createLookups, inLockOrder } from './lookups.ts';
import type { Work, Written } from './work.ts';

/** Runs the work in a transaction, and stores what it changes with the log and, under the key, the result. */
export async function writeIn<T>(scope: Scope, author: Author, work: Work<T>, key?: IdempotencyKey): Promise<T> {
  const { dialect, run } = scope;
  if (key) requireUnused(key, await findIdempotencyResults(scope, [key.key]));
  const { changes, returned } = await work(inLockOrder(createLookups(scope)), 'lookup');
  const prepared = prepare({ ...scope, author }, changes);
  for (const { statements } of prepared) for (const { sql, values } of statements) await run(sql, values);
  const log = prepared.flatMap((change) => change.log);
  const numbers = await logChanges(dialect, run, log);
  if (key) await storeResult(scope, key, { returned, log, lastChange: numbers.get(scope.workspaceId) });
  return named(scope, { changes, returned });
}

/** Runs the work on a snapshot, and returns what it would return. Stores and locks nothing. */
export async function dryRunIn<T>(scope: Scope, author: Author, work: Work<T>): Promise<T> {
  const written = await work(inLockOrder(createLookups(scope, { isDryRun: true })), 'lookup');
  // Throws the errors that the write itself would.
  prepare({ ...scope, author }, written.changes);
  return named(scope, written);
}

/** Returns the result of a write, after giving its new records the name of their workspace. */
export function named<T>(scope: Pick<Scope, 'workspaceName'>, { changes, returned }: Written<T>): T {
  for (const { action, records } of changes)
    if (action === 'created' || action === 'restored') nameWorkspace(scope, records);
  return returned;
}
