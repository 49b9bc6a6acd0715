/** Loads the modules of a command when it runs: the service stays small and starts fast. */
import { Command, CommanderError, Option } from 'commander';
import { version } from '../package.json';
import { type Config, type Environment, loadConfig } from './config.ts';
import { ServiceError, StartError } from './errors.ts';
import { DatabaseError, schemaVersion } from './store/database.ts';

/** Returns the exit code: 1 after an error, printed with a stack if unexpected. A started service runs on after 0. */
export async function runCommand(args: readonly string[], environment: Environment): Promise<number> {
  try {
    let exitCode = 0;
    const exitWith = (code: number) => {
      exitCode = code;
    };
    await createProgram(environment, exitWith).parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    // Commander has printed its errors and the help.
    if (error instanceof CommanderError) return error.exitCode;
    const isExpected = error instanceof StartError || error instanceof ServiceError || error instanceof DatabaseError;
    const isOfFile = error instanceof Error && 'syscall' in error;
    console.error(isExpected || isOfFile ? error.message : error);
    return 1;
  }
}

interface Address {
  readonly host?: string;
  readonly port?: string;
}

/** An empty variable counts as unset. An empty option is a mistake, such as an unset variable of the shell. */
function addressSettings({ host, port }: Address) {
  for (const [option, value] of Object.entries({ host, port })) {
    if (value === '') throw new StartError(`--${option}: expected a value`);
  }
  return { ...(host !== undefined && { HOST: host }), ...(port !== undefined && { PORT: port }) };
}

interface CommandContext {
  readonly environment: Environment;
  readonly config: (changes?: Environment) => Config;
  readonly exitWith: (code: number) => void;
}

function createProgram(environment: Environment, exitWith: (code: number) => void): Command {
  const context: CommandContext = {
    environment,
    config: (changes = {}) => loadConfig({ ...environment, ...changes }),
    exitWith,
  };
  const program = new Command('yardgraph')
    .exitOverride()
    .description('Keeps operational records and serves them as one linked graph.')
    .version(`${version} (schema ${schemaVersion})`)
    // A suggestion stays on the line of its error.
    .configureOutput({ outputError: (text, write) => write(`${text.trim().replaceAll('\n', ' ')}\n`) })
    .addHelpText('afterAll', ({ command }) =>
      command.options.some(({ long }) => long === '--url')
        ? ''
        : '\nSettings are environment variables, such as DATABASE_URL (default: sqlite:data/yardgraph.db). docs/settings.md lists them.',
    );
  addServiceCommands(program, context);
  addImportCommand(program, context);
  addExportCommand(program, context);
  addUndoCommand(program, context);
  addKeyCommands(program, context);
  addWorkspaceCommands(program, context);
  addLogCommands(program, context);
  return program;
}

function addServiceCommands(program: Command, { environment, config, exitWith }: CommandContext): void {
  const withAddress = (command: Command) =>
    command
      .option('--host <address>', 'address to listen on, instead of HOST')
      .option('--port <number>', 'port to listen on, instead of PORT; 0 chooses a free one');

  withAddress(program.command('serve'))
    .description('start the service, after updating the database schema')
    .action(async (address: Address) => (await import('./serve.ts')).serve(config(addressSettings(address))));

  withAddress(program.command('demo'))
    .description('start the service with a sample workspace, in data/demo.db unless DATABASE_URL is set')
    .action(async (address: Address) => {
      const { serve } = await import('./serve.ts');
      const { fillDemo } = await import('./demo/fill.ts');
      // An empty variable is unset here, too: the demo must not write to the service's own file.
      const DATABASE_URL = environment.DATABASE_URL || 'sqlite:data/demo.db';
      await serve(config({ DATABASE_URL, ...addressSettings(address) }), fillDemo);
    });

  program
    .command('migrate')
    .description('update the database schema without starting the service')
    .action(async () => (await import('./commands/database.ts')).migrateDatabase(config()));

  program
    .command('copy')
    .description('copy all records and keys to another, empty database, and compare both')
    .requiredOption('--from <url>', 'the database to read, sqlite:PATH or postgres://…')
    .requiredOption('--to <url>', 'the database to fill, sqlite:PATH or postgres://…')
    .action(async (urls) => (await import('./commands/copy.ts')).copyDatabase(config(), urls));

  program
    .command('check')
    .description('verify the database; with problems, it prints a line for each, and the exit code is 2')
    .action(async () => (await import('./commands/backup.ts')).check(config(), exitWith));

  program
    .command('backup <folder>')
    .description('back up a SQLite database, also while the service runs, and verify the copy')
    .option('--keep <number>', 'remove older backups of this database, except the latest')
    .action(async (folder, options) => (await import('./commands/backup.ts')).backUp(config(), folder, options));

  program
    .command('restore <file>')
    .description('verify a backup, and make it the SQLite database')
    .option('--overwrite', 'replace the database, which is kept under another name')
    .action(async (file, options) => (await import('./commands/backup.ts')).restore(config(), file, options));
}

const addClientCommand = (program: Command, name: string, { YARDGRAPH_URL }: Environment): Command =>
  program
    .command(name)
    .option('--url <url>', 'the service, instead of YARDGRAPH_URL', YARDGRAPH_URL || 'http://127.0.0.1:4000')
    .addHelpText(
      'after',
      '\nThe API key of the service, if it has keys, is read from the environment variable YARDGRAPH_API_KEY.',
    );

function addImportCommand(program: Command, { environment, exitWith }: CommandContext): void {
  const append = (value: string, previous: readonly string[]) => [...previous, value];

  addClientCommand(program, 'import', environment)
    .description('import CSV or JSON files, or a folder of them, into a running service')
    .argument('<file...>', 'files named like assets.csv, or folders')
    .option('--kind <kind>', 'the kind of files whose names do not tell it, such as assets')
    .option('--profile <name>', 'options for the files of another program: snipe-it, shelf, homebox, atlas, or a file')
    .option('--upsert-by <key>', 'id, uid, reference or externalIds.erp; for one kind: projects=reference', append, [])
    .option('--map <column=field>', 'the field of a column with another name', append, [])
    .option('--skip <column>', 'a column to skip', append, [])
    .option('--skip-others', 'skip all unknown columns')
    .option('--columns <names>', 'the column names of files without a header, separated by commas')
    .option(
      '--link-by <link=field>',
      'the field in a column such as location: location=name, reference, externalIds.erp',
      append,
      [],
    )
    .option(
      '--create-missing <kind>',
      'create records of a kind, such as locations, for unknown names in links',
      append,
      [],
    )
    .option('--delete-missing <max>', 'delete the records whose keys are not in the files, if they are at most so many')
    .option('--blank <effect>', 'the effect of an empty cell in an upsert: clear or keep the field')
    .option('--null <text>', 'the text of a cell without a value, such as \\N')
    .option('--dates <example>', '31 December 2026 in the format of the files: 31.12.2026, 12/31/26')
    .option('--time-zone <zone>', 'the zone of times without a zone, such as Europe/Berlin')
    .option('--decimal-comma', 'read numbers such as 53,08', false)
    .option('--excel', 'remove the apostrophes and formulas that export --excel adds', false)
    .option('--encoding <name>', 'the encoding of files without a byte order mark, such as windows-1252')
    .option('--refused <file>', 'the file for refused rows, overwritten, instead of a new file beside each file')
    .option('--batch <rows>', 'rows stored at a time, up to 999,999; by default 5,000, or 1,000 for larger imports')
    .option('--message <text>', 'stored with each change')
    .option('--dry-run', 'check all rows, and store nothing', false)
    .option('--no-preview', 'store without checking all rows first')
    .option('--yes', 'do not ask before storing', false)
    .action(async (files, options) => {
      const { importFiles } = await import('./commands/import.ts');
      exitWith(await importFiles(files, { ...options, apiKey: environment.YARDGRAPH_API_KEY }));
    });
}

function addExportCommand(program: Command, { environment }: CommandContext): void {
  addClientCommand(program, 'export', environment)
    .description('export records of a running service as CSV or NDJSON')
    .argument('<kind>', 'such as assets; or all, as NDJSON')
    .option('--format <format>', 'csv or ndjson; by default, from the name of the output')
    .option('--where <filter>', 'only records that match a GraphQL filter, as JSON')
    .option('--external-ids <systems>', 'columns for the IDs in these systems, such as erp,crm, also of linked records')
    .option('--names', 'columns for the names of linked records, such as location.name')
    .option('--excel', 'for spreadsheet programs, which then execute and change no text')
    .option('--language <tag>', 'the same with numbers and dates of a language such as de-DE, and names before IDs')
    .option('--delimiter <character>', 'the separator of columns: a comma, a semicolon or tab')
    .option('--dates <example>', '31 December 2026 in the format of dates: 31.12.2026, 12/31/2026')
    .option('--time-zone <zone>', 'the zone of times, such as Europe/Berlin')
    .option('--decimal-comma', 'write numbers as 53,08')
    .option('--output <file>', 'the file to write, instead of standard output (-)')
    .action(async (kind, options) =>
      (await import('./commands/export.ts')).exportRecords(kind, { ...options, apiKey: environment.YARDGRAPH_API_KEY }),
    );
}

function addUndoCommand(program: Command, { environment, exitWith }: CommandContext): void {
  addClientCommand(program, 'undo', environment)
    .description('reverse a range of changes of a running service, such as an import')
    .requiredOption('--from <number>', 'the first change, as import prints it')
    .requiredOption('--to <number>', 'the last change')
    .option('--only <message>', 'only changes with this message, if other programs wrote in between')
    .option('--message <text>', 'stored with each new change')
    .option('--dry-run', 'check all changes, and reverse none', false)
    .option('--yes', 'do not ask before reversing', false)
    .action(async (options) => {
      const { undoChanges } = await import('./commands/undo.ts');
      exitWith(await undoChanges({ ...options, apiKey: environment.YARDGRAPH_API_KEY }));
    });
}

function addKeyCommands(program: Command, { config }: CommandContext): void {
  const keys = program
    .command('keys')
    .description('create, list and revoke API keys, each of which gives access to one workspace');

  keys
    .command('create')
    .description('create a key and print it once; a workspace exists as soon as it has a key')
    // Not `requiredOption`: all invalid options are reported together.
    .option('--workspace <name>', 'the workspace it gives access to: lower-case letters, digits and hyphens (required)')
    .option('--user <id>', 'the user of the key, stored on records as createdBy and updatedBy (required)')
    .option('--read-only', 'the key cannot write')
    .addOption(
      new Option('--write <kinds>', 'the kinds that the key can write, such as workOrders,transportOrders').conflicts(
        'readOnly',
      ),
    )
    .option('--expires <duration>', 'such as 90d or 12h; if absent, it never expires')
    .option('--label <text>', 'what the key is for')
    .action(async ({ readOnly = false, ...options }) =>
      (await import('./commands/keys.ts')).createApiKey(config(), { ...options, readOnly }),
    );

  keys
    .command('list')
    .description('print all keys, without their secrets')
    .option('--json', 'print a JSON array')
    .action(async (options) => (await import('./commands/keys.ts')).listApiKeys(config(), options));

  keys
    .command('revoke')
    .description('revoke a key')
    .argument('<prefix>', 'the part of the key before its secret, such as yardgraph_acme_5f0c21d9')
    .action(async (prefix) => (await import('./commands/keys.ts')).revokeApiKey(config(), prefix));
}

function addWorkspaceCommands(program: Command, { config }: CommandContext): void {
  const workspaces = program
    .command('workspaces')
    .description('list workspaces, and rename or delete one with all its records and keys');

  workspaces
    .command('list')
    .description('print all workspaces, with their numbers of records and keys')
    .option('--json', 'print a JSON array')
    .action(async (options) => (await import('./commands/workspaces.ts')).listWorkspaces(config(), options));

  workspaces
    .command('rename')
    .description('rename a workspace, all or nothing; its keys keep working')
    .argument('<name>', 'its current name')
    .argument('<new-name>', 'its new name, which no workspace with records may have')
    .action(async (name, newName) =>
      (await import('./commands/workspaces.ts')).renameWorkspace(config(), name, newName),
    );

  workspaces
    .command('delete')
    .description('delete a workspace with all its records and keys, all or nothing')
    .argument('<name>', 'its name')
    .option('--yes', 'do not ask for confirmation')
    .action(async (name, options) =>
      (await import('./commands/workspaces.ts')).deleteWorkspace(config(), name, options),
    );
}

function addLogCommands(program: Command, { config }: CommandContext): void {
  const log = program.command('log').description('delete old changes');
  log
    .command('prune')
    .description('delete the changes of all workspaces that are older than a time, in small parts')
    .option('--older-than <duration>', 'such as 400d, instead of LOG_RETENTION')
    .option('--dry-run', 'count them, and delete none', false)
    .action(async (options) => (await import('./commands/log.ts')).pruneLog(config(), options));
  program
    .command('erase <record-id>')
    .description('empty the earlier values of a deleted record')
    .requiredOption('--workspace <name>', 'its workspace')
    .action(async (id, options) => (await import('./commands/log.ts')).eraseDeleted(config(), id, options));
}
