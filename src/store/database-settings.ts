/** Checks the settings of the database without loading a driver. */
import type { DatabaseOptions } from './connections/driver.ts';
import { isPostgresUrl, postgresUrlProblem } from './postgres/url.ts';

/** SQLite's name for a database without a file. */
export const inMemory = ':memory:';

/** Where the service keeps its file unless told otherwise. */
export const defaultPath = 'data/yardgraph.db';

export const defaultOptions: DatabaseOptions = {
  poolSize: 10,
  connectionTimeout: 10_000,
  statementTimeout: 30_000,
};

/** Returns the path in `sqlite:PATH`; undefined when the text has another form, such as a mistyped `sqlite::memory:`. */
export const sqlitePath = (databaseUrl: string): string | undefined =>
  /^sqlite:(?!\/\/)(:memory:|[^:\s].*)$/.exec(databaseUrl)?.[1];

export function databaseUrlProblem(databaseUrl: string, { mayBeMemory = true } = {}): string | undefined {
  if (isPostgresUrl(databaseUrl)) return postgresUrlProblem(databaseUrl);
  const path = sqlitePath(databaseUrl);
  if (path !== undefined && (mayBeMemory || path !== inMemory)) return undefined;
  return `expected sqlite:PATH${mayBeMemory ? ', sqlite::memory:' : ''} or postgres://USER:PASSWORD@HOST:PORT/DATABASE`;
}
