/**
 * Deletes old changes in parts, each of which moves the horizon in its transaction: the log always begins right after
 * it. Of prunes at the same time, one goes on. Empties the values of erased records, whose changes stay.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { StartError } from '../../errors.ts';
import type { RecordKind } from '../../model/record-kind.ts';
import type { Run } from '../connections/driver.ts';
import type { Database } from '../database.ts';
import { literally, runQuery } from '../query/rows.ts';
import type { WorkspaceId } from '../query/tables.ts';
import { eraseResults } from '../writes/idempotency.ts';

/** Parts grow and shrink towards this time, for which writes may wait. A pause of three times as long follows. */
const partMs = 10;
const [minPart, maxPart, maxPauseMs] = [200, 5_000, 200];

/** Yields the logs that became shorter. Changes after one that is not older stay, even if the clock went back. */
export async function* pruneLogs(
  { driver, dialect, read, run, transaction }: Database,
  before: string,
  { isOver = (): boolean => false, dryRun = false } = {},
) {
  const { builder } = dialect;
  const logs = builder('change_numbers').join('workspaces', 'workspaces.number', 'workspace_id');
  for (const { workspace_id, name, horizon } of await runQuery(read, logs.select('workspace_id', 'name', 'horizon'))) {
    let [upTo, at, deleted, size] = [Number(horizon), '', 0, minPart];
    while (!isOver()) {
      const start = performance.now();
      const changes = builder('changes').where({ workspace_id }).where('number', '>', upTo);
      const oldest = changes.clone().orderBy('number').limit(size, literally).select('number', 'at');
      const rows = await runQuery(read, oldest);
      const young = rows.findIndex(({ at }) => String(at) >= before);
      const part = young < 0 ? rows : rows.slice(0, young);
      if (part.length === 0) break;
      upTo = Number(part.at(-1)?.number);
      at = part.reduce((latest, row) => (String(row.at) > latest ? String(row.at) : latest), at);
      const deletePart = async (run: Run) => {
        await runQuery(run, changes.clone().where('number', '<=', upTo).delete());
        // Last: on Postgres, writes wait for this row. Another prune may have moved it further.
        const log = builder('change_numbers').where({ workspace_id }).where('horizon', '<', upTo).returning('horizon');
        const latest = builder.raw('case when horizon_at > ? then horizon_at else ? end', [at, at]);
        return runQuery(run, log.update({ horizon: upTo, horizon_at: latest }));
      };
      if (!dryRun && (await transaction(deletePart, { workspaceId: Number(workspace_id) })).length === 0) break;
      // Otherwise the file's own log grows to 64 MB, and the write that checkpoints it waits for 150 ms.
      if (driver.name === 'SQLite' && !dryRun) await run('pragma wal_checkpoint');
      deleted += part.length;
      const milliseconds = performance.now() - start;
      size = Math.round(Math.min(maxPart, Math.max(minPart, size * Math.min(2, partMs / milliseconds))));
      if (!dryRun) await pause(Math.min(3 * milliseconds, maxPauseMs));
    }
    if (deleted > 0) yield { workspace: String(name), deleted, horizon: upTo, at };
  }
}

/** Returns the numbers of emptied changes and results. Throws a StartError for a record that exists. */
export async function eraseRecord(database: Database, { number, name }: WorkspaceId, kind: RecordKind, id: string) {
  const { builder, rowsById } = database.dialect;
  const emptyChanges = async (run: Run) => {
    // First: writes wait for this row.
    await runQuery(run, builder('change_numbers').where('workspace_id', number).increment('erasures'));
    const existing = await runQuery(run, rowsById(kind, number, [id]).select('id'));
    if (existing.length > 0) throw new StartError(`${id} exists: delete it first`);
    const changes = builder('changes').where({ workspace_id: number, record_id: id });
    return runQuery(run, changes.update({ before: null }).returning('number'));
  };
  const changes = await database.transaction(emptyChanges, { workspaceId: number });
  if (changes.length === 0) throw new StartError(`the log of the workspace ${name} has no ${kind.label} ${id}`);
  // Afterwards: all writes that returned the record have stored their results.
  return { changes: changes.length, results: await eraseResults(database, number, id) };
}
