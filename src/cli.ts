#!/usr/bin/env node
/**
 * The command line. Settings come from the environment. The modules of a command are loaded when it runs, which keeps the
 * service small and its start quick.
 */
import { Command, InvalidArgumentError } from 'commander';
import ms from 'ms';
import { version } from '../package.json';
import { loadConfig } from './config.ts';
import { ServiceError, StartError } from './errors.ts';
import { DatabaseError } from './store/database-error.ts';

// SQLite statements run in libuv's threads. Node's default of four is fewer than the connections.
process.env.UV_THREADPOOL_SIZE ??= '8';

const config = () => loadConfig(process.env);

const program = new Command('yardgraph')
  .description('Keeps operational records and serves them as one linked graph.')
  .version(version)
  .addHelpText('after', '\nSettings come from the environment: DATABASE_URL, PORT and others. The README lists them.');

program
  .command('serve')
  .description('start the service, after bringing the database up to date')
  .action(async () => (await import('./serve.ts')).serve(config()));

program
  .command('demo')
  .description(
    'start the service with a workspace to try out, in data/demo.db unless DATABASE_URL names another database',
  )
  // An empty variable counts as unset here too: the demo must not write to the service's own file.
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
  .description('create a key and print it once; a workspace exists as soon as it has a key')
  .requiredOption('--workspace <name>', 'the workspace it gives access to: lower-case letters, digits and hyphens')
  .requiredOption('--user <id>', 'the user of the key: stored on records as createdBy and updatedBy')
  .option('--read-only', 'the key cannot write', false)
  .option('--expires <duration>', 'such as 90d or 12h; if absent, it never expires', duration)
  .option('--label <text>', 'what the key is for')
  .action(async (options) => (await import('./commands/keys.ts')).createApiKey(config(), options));

keys
  .command('list')
  .description('print all keys, without their secrets')
  .action(async () => (await import('./commands/keys.ts')).listApiKeys(config()));

keys
  .command('rotate')
  .description('give a key a second secret and print it; the first stays valid for a while')
  .argument('<prefix>', 'the part of the key before its secret')
  .option('--overlap <duration>', 'how long the first stays valid, such as 24h or 0s', duration, ms('24h'))
  .action(async (prefix, { overlap }) => (await import('./commands/keys.ts')).rotateApiKey(config(), prefix, overlap));

keys
  .command('revoke')
  .description('end a key with all its secrets')
  .argument('<prefix>', 'the part of the key before its secret')
  .action(async (prefix) => (await import('./commands/keys.ts')).revokeApiKey(config(), prefix));

// Expected errors print one line per problem; unexpected ones print their stack too.
program.parseAsync().catch((error: unknown) => {
  const isExpected = [StartError, ServiceError, DatabaseError].some((kind) => error instanceof kind);
  console.error(isExpected ? (error as Error).message : error);
  process.exitCode = 1;
});

/** Milliseconds. */
function duration(text: string): number {
  const milliseconds = /^\d+ ?[a-z]+$/i.test(text) ? ms(text as ms.StringValue) : undefined;
  // Later dates are not supported by all databases.
  if (milliseconds === undefined || milliseconds > ms('1000y')) {
    throw new InvalidArgumentError('expected a duration such as 90d, 12h or 30m');
  }
  return milliseconds;
}
