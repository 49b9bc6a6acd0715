/** SQLite: a file, or memory. */
import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { StartError } from '../errors.ts';
import type { Table } from '../model/record-kind.ts';
import { columnList, columnsOf, valuesOf } from './columns.ts';
import { reason } from './database-error.ts';
import type { DatabaseOptions, Engine, Row, Statement } from './engine.ts';

export const memory = ':memory:';

/** The path in `sqlite:PATH`; undefined when the text has another form, such as a mistyped `sqlite::memory:`. */
export const sqlitePath = (databaseUrl: string): string | undefined =>
  /^sqlite:(?!\/\/)(:memory:|[^:\s].*)$/.exec(databaseUrl)?.[1];

/** The engine on a file, whose folder is made if it is not there. Throws StartError when it cannot be written. */
export function sqliteEngine(path: string, { connectionTimeout }: DatabaseOptions): Engine {
  requireFolder(path);
  return {
    location: path === memory ? 'memory only, gone when the process ends' : resolve(path),
    knexConfig: {
      client: 'sqlite3',
      connection: { filename: path },
      useNullAsDefault: true,
      // SQLite has one writer. A second connection could only wait for it, in one of the four threads all share.
      pool: { min: 1, max: 1, afterCreate: prepareConnection },
      acquireConnectionTimeout: connectionTimeout,
    },
    // Takes the write lock at once. Taken later, between a read and a write, it fails when another process has written
    // in the meantime, whatever the busy timeout. Nobody else writes while it is held: no rows need to be locked.
    begin: 'begin immediate',
    beginSnapshot: 'begin',
    forShare: '',
    forUpdate: '',
    prepareCopy: 'pragma defer_foreign_keys = on',
    oneOf: (column, values) => ({
      sql: `${column} in (select value from json_each(?))`,
      values: [JSON.stringify(values)],
    }),
    inserts,
    rowsOf: (response) => response as Row[],
    cancel: (connection) => (connection as SqliteConnection).interrupt(),
    destroy: () => {},
  };
}

function requireFolder(path: string): void {
  if (path === memory) return;
  const folder = dirname(resolve(path));
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
    if (existsSync(path)) accessSync(path, constants.W_OK);
  } catch (error) {
    throw new StartError(`cannot write to the folder ${folder}: ${reason(error)}`);
  }
}

/** FULL: an acknowledged write survives a power cut, at one fsync a commit. The busy timeout is for other processes. */
const pragmas = `
  pragma busy_timeout = 5000;
  pragma journal_mode = wal;
  pragma synchronous = full;
  pragma foreign_keys = on;`;

interface SqliteConnection {
  exec(sql: string, done: (error: Error | null) => void): void;
  interrupt(): void;
}

const prepareConnection = (connection: SqliteConnection, done: (error: Error | null, connection: unknown) => void) =>
  connection.exec(pragmas, (error) => done(error, connection));

/** SQLite takes no more in one statement. */
const maxParameters = 32_766;

function* inserts(table: Table, records: readonly Row[]): Generator<Statement> {
  const width = columnsOf(table).length;
  const row = `(${Array(width).fill('?').join(', ')})`;
  const rowsPerStatement = Math.floor(maxParameters / width);
  for (let start = 0; start < records.length; start += rowsPerStatement) {
    const chunk = records.slice(start, start + rowsPerStatement);
    yield {
      sql: `insert into ${table.table} (${columnList(table)}) values ${chunk.map(() => row).join(', ')}`,
      values: chunk.flatMap((record) => valuesOf(table, record)),
    };
  }
}
