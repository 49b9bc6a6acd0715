/** A service may run during `check` and `backup`, not during `restore`. */
import * as fs from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Config } from '../config.ts';
import { StartError } from '../errors.ts';
import { recordKinds } from '../records/index.ts';
import { checkDatabase } from '../store/admin/check.ts';
import { connectDatabase, migrationNames } from '../store/database.ts';
import { sqlitePath } from '../store/database-settings.ts';
import { longStatementTimeoutMs, requireUpToDate, withDatabase } from './database.ts';
import { exitCodes } from './terminal.ts';

export const check = (config: Config, exitWith: (code: number) => void) =>
  withDatabase(config, { statementTimeout: longStatementTimeoutMs }, async (database) => {
    await requireUpToDate(database);
    const problems = await checkDatabase(database, recordKinds);
    if (problems.length === 0) return console.log('no problems');
    console.error(problems.join('\n'));
    exitWith(exitCodes.some);
  });

export async function backUp(config: Config, folder: string, { keep }: { keep?: string }): Promise<void> {
  const start = basename(requireFile(config), '.db');
  if (keep !== undefined && !/^[1-9]\d*$/.test(keep)) throw new StartError('--keep: expected a number of at least 1');
  await withDatabase(config, { statementTimeout: longStatementTimeoutMs }, async (database) => {
    await requireUpToDate(database);
    const name = `${withTime(start)}.db`;
    await inNewFolder(`${join(folder, name)}.part`, async (copy) => {
      fs.writeFileSync(copy, '', { mode: 0o600 });
      await database.run('vacuum into ?', [copy]);
      await requireSound(config, copy, 'the copy');
      fs.renameSync(copy, join(folder, name));
      sync(folder);
    });
    console.log(`${join(folder, name)}: complete`);
    const files = fs.readdirSync(folder).filter((file) => file !== name && file.startsWith(start));
    const earlier = files.filter((file) => timeAndEnd.test(file.slice(start.length)));
    for (const old of keep
      ? earlier
          .sort()
          .reverse()
          .slice(Number(keep) - 1)
      : []) {
      fs.rmSync(join(folder, old));
      console.log(`${join(folder, old)}: removed`);
    }
  });
}

const withTime = (name: string): string => `${name}-${new Date().toISOString().replaceAll(':', '-')}`;

const timeAndEnd = /^-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z\.db$/;

/** Updates the schema of a file, checks it, and has the disk store it. */
async function requireSound({ databaseOptions }: Config, file: string, name: string): Promise<void> {
  const options = { ...databaseOptions, statementTimeout: longStatementTimeoutMs };
  const database = await connectDatabase(`sqlite:${file}`, options);
  try {
    const pending = await database.pendingMigrations();
    if (pending.length === migrationNames.length) throw new StartError(`${name} has no tables of Yardgraph`);
    await database.migrate();
    const problems = [...(await checkDatabase(database, recordKinds)), `${name} has problems: nothing was changed`];
    if (problems.length > 1) throw new StartError(problems.join('\n'));
  } finally {
    await database.close();
  }
  if (fs.existsSync(`${file}-wal`)) throw new StartError(`${name} could not be written: nothing was changed`);
  sync(file);
}

export async function restore(config: Config, file: string, { overwrite = false }: { overwrite?: boolean }) {
  const path = requireFile(config);
  if (fs.existsSync(`${file}-wal`)) throw new StartError(`${file} is in use, as ${file}-wal shows: restore a backup`);
  const isThere = fs.existsSync(path);
  if (isThere && !overwrite) throw new StartError(`${path} exists: --overwrite replaces it, and keeps it renamed`);
  await inNewFolder(`${withTime(path)}.part`, async (copy) => {
    fs.copyFileSync(file, copy);
    await requireSound(config, copy, file);
    if (isThere) await keepRenamed(config, path);
    if (fs.existsSync(`${path}-wal`)) throw new StartError(`${path}-wal is left of another database: move it away`);
    fs.renameSync(copy, path);
    sync(dirname(path));
  });
  console.log(`restored ${file} to ${path}`);
}

/** Until it is replaced, the database keeps its name, too. */
async function keepRenamed({ databaseOptions }: Config, path: string): Promise<void> {
  const database = await connectDatabase(`sqlite:${path}`, databaseOptions);
  // Writes its log back to the file, or fails while another process uses it.
  const written = database.run('pragma journal_mode = delete').finally(database.close);
  await written.catch(() => {
    throw new StartError(`${path} is in use, or damaged: stop the service, or move the file and its -wal away`);
  });
  const renamed = `${withTime(path)}.replaced`;
  fs.linkSync(path, renamed);
  console.log(`the replaced database is now ${renamed}`);
}

function requireFile({ databaseUrl }: Config): string {
  const path = sqlitePath(databaseUrl);
  if (path === undefined) throw new StartError('only for SQLite: for Postgres, see docs/production.md#backups');
  return fs.existsSync(path) ? fs.realpathSync(path) : resolve(path);
}

async function inNewFolder(folder: string, work: (file: string) => Promise<void>): Promise<void> {
  fs.mkdirSync(folder, { mode: 0o700 });
  await work(resolve(folder, 'copy.db')).finally(() => fs.rmSync(folder, { recursive: true }));
}

function sync(path: string): void {
  const opened = fs.openSync(path, 'r');
  fs.fsyncSync(opened);
  fs.closeSync(opened);
}
