/** Checks the settings of the database without loading a driver. */
import type { DatabaseOptions } from './connections/driver.ts';
import { isPostgresUrl, postgresUrlProblem } from './postgres/url.ts';
import { inMemory, sqlitePath } from './sqlite/url.ts';

export { defaultPath } from './sqlite/url.ts';

export const defaultOptions: DatabaseOptions = {
  poolSize: 10,
  connectionTimeout: 10_000,
  statementTimeout: 30_000,
};

export function databaseUrlProblem(databaseUrl: string, { mayBeMemory = true } = {}): string | undefined {
  if (isPostgresUrl(databaseUrl)) return postgresUrlProblem(databaseUrl);
  const path = sqlitePath(databaseUrl);
  if (path !== undefined && (mayBeMemory || path !== inMemory)) return undefined;
  return `expected sqlite:PATH${mayBeMemory ? ', sqlite::memory:' : ''} or postgres://USER:PASSWORD@HOST:PORT/DATABASE`;
}
