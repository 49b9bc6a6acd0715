/**
 * What renaming and deleting a workspace does to its log of changes and its idempotency keys. Change numbers never go back, even where
 * nothing is left: what a process has cached, and the cursors of consumers, are never mistaken for those of later records. A name that was
 * given up is closed: nothing can be written under it by processes that have not noticed yet, until it is opened for another workspace.
 */
import { changes } from './changes.ts';
import type { Dialect } from './dialect.ts';
import type { Run } from './driver.ts';
import { rowsQuery, runQuery } from './query.ts';

/** The results of writes, which are found by their change numbers. */
const keysOf = ({ builder }: Dialect, workspaceId: string) =>
  builder('idempotency_keys').where('workspace_id', workspaceId);

const rowOf = ({ builder }: Dialect, workspaceId: string) =>
  builder('change_numbers').where('workspace_id', workspaceId);

export async function isNameClosed(dialect: Dialect, run: Run, name: string): Promise<boolean> {
  const [row] = await runQuery(run, rowOf(dialect, name).whereNotNull('final_number').select('number'));
  return row !== undefined;
}

/** Must be called in a transaction that has taken a number of the name. */
export async function closeName(dialect: Dialect, run: Run, name: string): Promise<void> {
  await runQuery(run, rowOf(dialect, name).update({ final_number: dialect.builder.raw('number') }));
}

export async function openName(dialect: Dialect, run: Run, name: string): Promise<void> {
  await runQuery(run, rowOf(dialect, name).whereNotNull('final_number').update({ final_number: null }));
}

/**
 * Deletes the locks of a name, of which a write that runs meanwhile may store one again: a row that means nothing. Must be called before
 * anything else is locked, as writes take their locks: otherwise it could wait for a write that waits for it.
 */
export async function deleteLocks({ builder, lock }: Dialect, run: Run, name: string): Promise<void> {
  if (lock) await runQuery(run, builder('locks').where('workspace_id', name).delete());
}

/** `numbers` are those that were taken for both names. */
export async function moveLog(
  dialect: Dialect,
  run: Run,
  { from, to, numbers }: { readonly from: string; readonly to: string; readonly numbers: ReadonlyMap<string, number> },
): Promise<void> {
  const { builder } = dialect;
  const [end, free] = [numbers.get(from) ?? 1, numbers.get(to) ?? 1];
  const shift = await shiftOf(dialect, run, { from, to, free });
  const moved = { workspace_id: to, number: builder.raw('number + ?', [shift]) };
  await runQuery(run, rowsQuery(dialect, changes, from).update(moved));
  const last = Math.max(free, end + shift);
  await runQuery(run, rowOf(dialect, to).update({ number: last }));
  await moveKeys(dialect, run, { from, to, shift });
}

/** What is added to the numbers of moved changes: nothing, so that cursors remain valid, unless others have been read under the name. */
async function shiftOf(
  dialect: Dialect,
  run: Run,
  { from, to, free }: { readonly from: string; readonly to: string; readonly free: number },
): Promise<number> {
  const [existing] = await runQuery(run, rowsQuery(dialect, changes, to).select('number').limit(1));
  if (!existing) return 0;
  const numbers = rowsQuery(dialect, changes, from).select(dialect.builder.raw('min(number - records + 1) as lowest'));
  const [moved] = await runQuery(run, numbers);
  return typeof moved?.lowest === 'number' ? Math.max(0, free - moved.lowest) : 0;
}

/** Except those that are in use under the new name. Their results refer to changes by numbers. */
async function moveKeys(
  dialect: Dialect,
  run: Run,
  { from, to, shift }: { readonly from: string; readonly to: string; readonly shift: number },
): Promise<void> {
  const taken = keysOf(dialect, to).select('operation', 'key');
  const free = keysOf(dialect, from).whereNotIn(['operation', 'key'], taken);
  const number = (name: string) => `'${name}', cast(result ->> '${name}' as bigint) + ?`;
  const shifted = dialect.builder.raw(
    `${dialect.jsonObject}(${number('before')}, ${number('after')}, 'returned', result -> 'returned')`,
    [shift, shift],
  );
  await runQuery(run, free.update({ workspace_id: to, ...(shift !== 0 && { result: shifted }) }));
  await runQuery(run, keysOf(dialect, from).delete());
}

export async function deleteLog(dialect: Dialect, run: Run, name: string): Promise<void> {
  await runQuery(run, rowsQuery(dialect, changes, name).delete());
  await runQuery(run, keysOf(dialect, name).delete());
}
