import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '../database.ts';
import { literally, runQuery } from '../query/rows.ts';
import { idempotencyResults } from '../query/tables.ts';
import { pruneLogs } from './log.ts';

const resultLifetimeMs = 24 * 60 * 60 * 1_000;
const sweepIntervalMs = 10 * 60 * 1_000;
const slicePauseMs = 20;

/** Small, so that other writes go on: on busy cores, 100 results of 130 KB took 0.07 s. */
const sliceLength = 100;

type ResultStore = Pick<Database, 'dialect' | 'read' | 'run'>;
type SweepLog = Pick<Console, 'info' | 'warn'>;

/** Several processes may sweep at once. After an error, the next sweep tries again. */
export function startSweep(database: Database, log: SweepLog, retention?: number): () => void {
  let isOver = false;
  const sweep = async () => {
    while (!isOver && (await deleteSlice(database, Date.now() - resultLifetimeMs)) === sliceLength)
      await pause(slicePauseMs);
    if (retention === undefined) return;
    const before = new Date(Date.now() - retention).toISOString();
    for await (const pruned of pruneLogs(database, before, { isOver: () => isOver }))
      log.info(pruned, 'old changes were deleted');
  };
  const attempt = () => void sweep().catch((err) => log.warn({ err }, 'old results or changes could not be deleted'));
  attempt();
  const timer = setInterval(attempt, sweepIntervalMs).unref();
  return () => {
    isOver = true;
    clearInterval(timer);
  };
}

async function deleteSlice({ dialect, read, run }: ResultStore, before: number): Promise<number> {
  const rows = () => dialect.builder(idempotencyResults.table);
  const oldest = await runQuery(
    read,
    rows()
      .where('created_at', '<', new Date(before).toISOString())
      .orderBy('created_at')
      .limit(sliceLength, literally)
      .select('created_at'),
  );
  const last = oldest.at(-1)?.created_at;
  // By time, not by key: one parameter, and a statement that a distributed table supports.
  if (last !== undefined) await runQuery(run, rows().where('created_at', '<=', last).delete());
  return oldest.length;
}
