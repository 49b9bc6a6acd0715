#!/usr/bin/env node
/** The command line: what a person or a supervisor starts. Settings come from the environment. */
import { existsSync } from 'node:fs';
import { Presets, SingleBar } from 'cli-progress';
import { Command } from 'commander';
import { version } from '../package.json';
import { loadConfig } from './config.ts';
import { fillDemo } from './demo/fill.ts';
import { ServiceError, StartError } from './errors.ts';
import { recordKinds } from './records/index.ts';
import { serve } from './serve.ts';
import { copyRecords } from './store/copy.ts';
import { connectDatabase, type Database, defaultOptions, isDatabaseUrl, openDatabase } from './store/database.ts';
import { migrate, missingMigrations } from './store/migrate.ts';
import { memory, sqlitePath } from './store/sqlite.ts';

const program = new Command('yardgraph')
  .description('Keeps operational records and answers them as one linked graph.')
  .version(version)
  .addHelpText('after', '\nSettings come from the environment: DATABASE_URL, PORT and others. The README lists them.');

program
  .command('serve')
  .description('start the service; brings the database up to date first')
  .action(() => serve(loadConfig(process.env)));

program
  .command('demo')
  .description(
    'start the service with a workspace to try out, in data/demo.db unless DATABASE_URL names another database',
  )
  // An empty variable is an unset one here too: it must not lead to the service's own file.
  .action(() =>
    serve(loadConfig({ ...process.env, DATABASE_URL: process.env.DATABASE_URL || 'sqlite:data/demo.db' }), fillDemo),
  );

program
  .command('migrate')
  .description('bring the database up to date without starting the service')
  .action(migrateDatabase);

program
  .command('copy')
  .description('copy all records to another, empty database, and compare them afterwards')
  .requiredOption('--from <url>', 'the database to read, sqlite:PATH or postgres://…')
  .requiredOption('--to <url>', 'the database to fill, sqlite:PATH or postgres://…')
  .action(copyDatabase);

// What was asked for and cannot be done is one line a problem; only what nobody expected has more to say.
program.parseAsync().catch((error: unknown) => {
  console.error(error instanceof StartError || error instanceof ServiceError ? error.message : error);
  process.exitCode = 1;
});

async function migrateDatabase(): Promise<void> {
  const { databaseUrl, databaseOptions } = loadConfig(process.env);
  const database = await connectDatabase(databaseUrl, databaseOptions);
  try {
    const applied = await migrate(database);
    console.log(applied.length > 0 ? `migrated: ${applied.join(', ')}` : 'already up to date');
  } finally {
    await database.close();
  }
}

async function copyDatabase({ from, to }: { from: string; to: string }): Promise<void> {
  requireKept('--from', from);
  requireKept('--to', to);
  const path = sqlitePath(from);
  if (path !== undefined && !existsSync(path)) throw new StartError(`--from: there is no file ${path}`);

  // Nobody waits for an answer: the checks at the end of a large transaction may take their time.
  const options = { ...defaultOptions, statementTimeout: 24 * 3_600_000 };
  const source = await connectDatabase(from, options);
  try {
    const missing = await missingMigrations(source.knex);
    if (missing.length > 0) {
      throw new StartError(
        `--from: the database is not up to date, run yardgraph migrate on it: ${missing.join(', ')}`,
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

function requireKept(option: string, url: string): void {
  if (isDatabaseUrl(url) && sqlitePath(url) !== memory) return;
  throw new StartError(`${option}: expected sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE`);
}

/** On standard error a bar on a terminal, lines elsewhere; on standard output what was copied. */
async function copyWithProgress(source: Database, target: Database): Promise<void> {
  const format = `${process.stderr.isTTY ? '{bar} ' : ''}{percentage}% {value}/{total} {doing}`;
  const bar = new SingleBar({ format, noTTYOutput: true, notTTYSchedule: 2_000 }, Presets.shades_classic);
  try {
    const copied = await copyRecords(source, target, recordKinds, {
      start: (total) => bar.start(total, 0, { doing: 'copying' }),
      step: (records, doing) => bar.increment(records, { doing }),
    });
    bar.update({ doing: 'done' });
    bar.stop();
    for (const { kind, records, checksum } of copied) {
      console.log(`${kind.label.padEnd(16)} ${String(records).padStart(10)} records, the same in both: ${checksum}`);
    }
  } finally {
    bar.stop();
  }
}
