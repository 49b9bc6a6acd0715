/** A service may run during these commands. */
import { type Config, duration } from '../config.ts';
import { StartError } from '../errors.ts';
import { formatCount } from '../model/issues.ts';
import { kindOfId } from '../records/index.ts';
import { findWorkspace } from '../store/admin/api-keys.ts';
import { eraseRecord, pruneLogs } from '../store/admin/log.ts';
import { requireUpToDate, withDatabase } from './database.ts';

interface PruneOptions {
  readonly olderThan?: string;
  readonly dryRun: boolean;
}

export function pruneLog(config: Config, { olderThan, dryRun }: PruneOptions): Promise<void> {
  const { data: age = config.logRetention, error } = duration.optional().safeParse(olderThan);
  if (age === undefined || error)
    throw new StartError(`--older-than: ${error?.issues[0]?.message ?? 'required, unless LOG_RETENTION is set'}`);
  return withDatabase(config, {}, async (database) => {
    await requireUpToDate(database);
    const before = new Date(Date.now() - age).toISOString();
    const effect = dryRun ? 'would delete' : 'deleted';
    let isAny = false;
    for await (const { workspace, deleted, horizon, at } of pruneLogs(database, before, { dryRun })) {
      console.log(`${workspace}: ${effect} ${formatCount(deleted)} changes, up to change ${horizon}, of ${at}`);
      isAny = true;
    }
    if (!isAny) console.log(`no changes before ${before}`);
  });
}

export function eraseDeleted(config: Config, id: string, { workspace }: { readonly workspace: string }): Promise<void> {
  const kind = kindOfId(id);
  if (!kind) throw new StartError('<record-id>: expected the ID of a record');
  return withDatabase(config, {}, async (database) => {
    await requireUpToDate(database);
    const found = await findWorkspace(database.dialect, database.read, workspace);
    if (!found) throw new StartError(`there is no workspace ${workspace}`);
    const { changes, results } = await eraseRecord(database, found, kind, id);
    console.log(`Erased the values of ${formatCount(changes)} changes and ${formatCount(results)} stored results.
Not erased: backups, and what other programs have read; its ID in values of other records; times, users and
messages of its changes; until a vacuum, free space in the database (see docs/production.md#erasure).`);
  });
}
