#!/usr/bin/env node
/**
 * The command line: what a person or a supervisor starts. Settings come from the environment. Each command is loaded when it
 * is the one, which keeps the service small and its start quick.
 */
import { Command, InvalidArgumentError } from 'commander';
import ms from 'ms';
import { version } from '../package.json';
import { loadConfig } from './config.ts';
import { ServiceError, StartError } from './errors.ts';
import { DatabaseError } from './store/database-error.ts';

// Statements on SQLite run in these threads, of which Node has four: fewer than there are connections.
process.env.UV_THREADPOOL_SIZE ??= '8';

const config = () => loadConfig(process.env);

const program = new Command('yardgraph')
  .description('Keeps operational records and answers them as one linked graph.')
  .version(version)
  .addHelpText('after', '\nSettings come from the environment: DATABASE_URL, PORT and others. The README lists them.');

program
  .command('serve')
  .description('start the service; brings the database up to date first')
  .action(async () => (await import('./serve.ts')).serve(config()));

program
  .command('demo')
  .description(
    'start the service with a workspace to try out, in data/demo.db unless DATABASE_URL names another database',
  )
  // An empty variable is an unset one here too: it must not lead to the service's own file.
  .action(async () => {
    const { serve } = await import('./serve.ts');
    const { fillDemo } = await import('./demo/fill.ts');
    await serve(
      loadConfig({ ...process.env, DATABASE_URL: process.env.DATABASE_URL || 'sqlite:data/demo.db' }),
      fillDemo,
    );
  });

program
  .command('migrate')
  .description('bring the database up to date without starting the service')
  .action(async () => (await import('./commands/migrate.ts')).migrateDatabase(config()));

program
  .command('copy')
  .description('copy everything to another, empty database, and compare it afterwards')
  .requiredOption('--from <url>', 'the database to read, sqlite:PATH or postgres://…')
  .requiredOption('--to <url>', 'the database to fill, sqlite:PATH or postgres://…')
  .action(async (urls) => (await import('./commands/copy.ts')).copyDatabase(config(), urls));

const keys = program.command('keys').description('API keys: who may do what in which workspace');

keys
  .command('create')
  .description('make a key and print it, once; a workspace is there as soon as it has a key')
  .requiredOption('--workspace <name>', 'the workspace it opens: lower-case letters, digits and hyphens')
  .requiredOption('--user <id>', 'who uses it: noted on records as createdBy and updatedBy')
  .option('--read-only', 'it may not write', false)
  .option('--expires <duration>', 'such as 90d or 12h; unless said, never', duration)
  .option('--label <text>', 'what it is for')
  .action(async (options) => (await import('./commands/keys.ts')).createApiKey(config(), options));

keys
  .command('list')
  .description('print all keys, without their secrets')
  .action(async () => (await import('./commands/keys.ts')).listApiKeys(config()));

keys
  .command('rotate')
  .description('give a key a second secret and print it; the first works on for a while')
  .argument('<prefix>', 'the part of the key in front of its secret')
  .option('--overlap <duration>', 'how long the first works on, such as 24h or 0s', duration, ms('24h'))
  .action(async (prefix, { overlap }) => (await import('./commands/keys.ts')).rotateApiKey(config(), prefix, overlap));

keys
  .command('revoke')
  .description('end a key, with all its secrets')
  .argument('<prefix>', 'the part of the key in front of its secret')
  .action(async (prefix) => (await import('./commands/keys.ts')).revokeApiKey(config(), prefix));

// What was asked for and cannot be done is one line a problem; only what nobody expected has more to say.
program.parseAsync().catch((error: unknown) => {
  const isExpected = [StartError, ServiceError, DatabaseError].some((kind) => error instanceof kind);
  console.error(isExpected ? (error as Error).message : error);
  process.exitCode = 1;
});

/** Milliseconds. */
function duration(text: string): number {
  const milliseconds = /^\d+ ?[a-z]+$/i.test(text) ? ms(text as ms.StringValue) : undefined;
  // Beyond a thousand years there are no dates that all databases know.
  if (milliseconds === undefined || milliseconds > ms('1000y')) {
    throw new InvalidArgumentError('expected a duration such as 90d, 12h or 30m');
  }
  return milliseconds;
}
