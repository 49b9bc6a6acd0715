/** Parses database URLs, without loading a driver. */
import { parse, toClientConfig } from 'pg-connection-string';
import { StartError } from '../errors.ts';
import { failureReason } from './connections/database-error.ts';
import type { DatabaseOptions } from './connections/driver.ts';

export const inMemory = ':memory:';

export const defaultPath = 'data/yardgraph.db';

export const defaultOptions: DatabaseOptions = {
  poolSize: 10,
  connectionTimeout: 10_000,
  statementTimeout: 30_000,
};

/** Undefined for any other form, such as a mistyped `:memory:`. */
export const sqlitePath = (databaseUrl: string): string | undefined =>
  /^sqlite:(?!\/\/)(:memory:|[^:\s].*)$/.exec(databaseUrl)?.[1];

export function databaseUrlProblem(databaseUrl: string, { mayBeMemory = true } = {}): string | undefined {
  if (isPostgresUrl(databaseUrl)) {
    try {
      readUrl(databaseUrl);
      return undefined;
    } catch (error) {
      return failureReason(error);
    }
  }
  const path = sqlitePath(databaseUrl);
  if (path !== undefined && (mayBeMemory || path !== inMemory)) return undefined;
  return `expected sqlite:PATH${mayBeMemory ? ', sqlite::memory:' : ''} or postgres://USER:PASSWORD@HOST:PORT/DATABASE`;
}

export const isPostgresUrl = (databaseUrl: string): boolean => /^postgres(?:ql)?:\/\//.test(databaseUrl);

/** Parameters mean the same as in libpq. */
const urlParameters = [
  'host',
  'port',
  'user',
  'password',
  'application_name',
  'options',
  'connect_timeout',
  'sslmode',
  'sslcert',
  'sslkey',
  'sslrootcert',
  'sslnegotiation',
];
const sslModes = ['disable', 'require', 'verify-ca', 'verify-full'];

export function connectionSettings(databaseUrl: string, { connectionTimeout }: DatabaseOptions) {
  const problem = databaseUrlProblem(databaseUrl);
  if (problem !== undefined) throw new StartError(`database URL: ${problem}`);
  const { settings, connectTimeout } = readUrl(databaseUrl);
  return {
    application_name: 'yardgraph',
    ...settings,
    host: settings.host || process.env.PGHOST || 'localhost',
    port: settings.port ?? Number(process.env.PGPORT ?? 5432),
    connectionTimeoutMillis: connectTimeout > 0 ? connectTimeout : connectionTimeout,
    keepAlive: true,
  };
}

/** `connectTimeout` is in milliseconds; 0 if the URL has none. Throws an error naming the problem. */
function readUrl(databaseUrl: string) {
  // Unlike URL, libpq accepts a user without a host.
  const withHost = databaseUrl.replace(/^(\w+:\/\/[^/?]*@)?\//, '$1base/');
  const parsed = URL.canParse(withHost) ? new URL(withHost) : undefined;
  // An unescaped `?` or `#` in a password starts the query or the hash.
  if (!parsed || /@/.test(parsed.search + parsed.hash)) {
    throw new Error(
      'not a valid URL: expected postgres://USER:PASSWORD@HOST:PORT/DATABASE, with special characters of the password escaped',
    );
  }
  const { searchParams, pathname } = parsed;
  // An unescaped slash would make a part of the password the name of the database.
  if (/[/@]/.test(pathname.slice(1))) throw new Error('expected one name after the host: escape the password');
  const unknown = [...searchParams.keys()].filter((name) => !urlParameters.includes(name));
  if (unknown.length > 0) {
    // Anything else may be a part of a password.
    const names = unknown.every((name) => /^[a-z_]+$/.test(name)) ? ` ${unknown.join(', ')}` : '';
    throw new Error(`unknown parameter${names}, expected some of ${urlParameters.join(', ')}`);
  }
  const sslMode = searchParams.get('sslmode');
  if (sslMode !== null && !sslModes.includes(sslMode)) {
    throw new Error(`sslmode: expected one of ${sslModes.join(', ')}`);
  }
  return {
    // Throws if a file of the URL, such as a certificate, cannot be read.
    settings: toClientConfig(parse(databaseUrl, { useLibpqCompat: true })),
    connectTimeout: Number(searchParams.get('connect_timeout') ?? 0) * 1_000,
  };
}
