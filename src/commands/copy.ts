import { existsSync } from 'node:fs';
import type { Config } from '../config.ts';
import { StartError } from '../errors.ts';
import { program } from '../program.ts';
import { recordKinds } from '../records/index.ts';
import { copyTables, tablesToCopy } from '../store/admin/copy.ts';
import { connectDatabase, type Database, openDatabase } from '../store/database.ts';
import { databaseUrlProblem, sqlitePath } from '../store/database-settings.ts';
import { longStatementTimeoutMs } from './database.ts';
import { createProgressBar } from './terminal.ts';

export async function copyDatabase(
  { databaseOptions }: Config,
  { from, to }: { from: string; to: string },
): Promise<void> {
  requireFileOrServer('--from', from);
  requireFileOrServer('--to', to);
  const options = { ...databaseOptions, statementTimeout: longStatementTimeoutMs };
  const path = sqlitePath(from);
  if (path !== undefined && !existsSync(path)) throw new StartError(`--from: there is no file ${path}`);

  const source = await connectDatabase(from, options);
  try {
    const pending = await source.pendingMigrations();
    if (pending.length > 0) {
      throw new StartError(
        `--from: the database is not up to date, run ${program} migrate on it: ${pending.join(', ')}`,
      );
    }
    const target = await openDatabase(to, options);
    try {
      await copyWithProgress(source, target);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

function requireFileOrServer(option: string, url: string): void {
  const problem = databaseUrlProblem(url, { mayBeMemory: false });
  if (problem !== undefined) throw new StartError(`${option}: ${problem}`);
}

async function copyWithProgress(source: Database, target: Database): Promise<void> {
  const bar = createProgressBar('{percentage}% {value}/{total} {doing}');
  try {
    const copied = await copyTables(source, target, tablesToCopy(recordKinds), {
      start: (total) => bar.start(total, 0, { doing: 'copying' }),
      step: (records, doing) => bar.increment(records, { doing }),
    });
    bar.update({ doing: 'done' });
    bar.stop();
    for (const { table, records, checksum } of copied) {
      console.log(`${table.label.padEnd(16)} ${String(records).padStart(10)} records, the same in both: ${checksum}`);
    }
  } finally {
    bar.stop();
  }
}
