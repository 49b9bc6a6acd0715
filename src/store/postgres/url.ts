/** Database URLs of Postgres, interpreted as libpq does. */
import { parse, toClientConfig } from 'pg-connection-string';
import { StartError } from '../../errors.ts';
import { reason } from '../database-error.ts';
import type { DatabaseOptions } from '../driver.ts';

export const isPostgresUrl = (databaseUrl: string): boolean => /^postgres(?:ql)?:\/\//.test(databaseUrl);

/** The parameters of a URL, with the meaning they have for libpq. */
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

/** Throws StartError if the URL cannot be used. */
export function connectionSettings(databaseUrl: string, { connectionTimeout }: DatabaseOptions) {
  const problem = postgresUrlProblem(databaseUrl);
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

/** Why a URL cannot be used; undefined if it can. */
export function postgresUrlProblem(databaseUrl: string): string | undefined {
  // The words of the documentation, left as they are.
  if (/USER:PASSWORD@|@HOST\b|\/DATABASE$/.test(databaseUrl)) {
    return 'replace USER, PASSWORD, HOST, PORT and DATABASE with your own values';
  }
  try {
    readUrl(databaseUrl);
    return undefined;
  } catch (error) {
    const why = reason(error);
    return why === 'Invalid URL'
      ? 'not a valid URL: expected postgres://USER:PASSWORD@HOST:PORT/DATABASE, with special characters of the password escaped'
      : why;
  }
}

function readUrl(databaseUrl: string) {
  // libpq accepts a user without a host, which URL rejects: `base` stands in for the host.
  const { searchParams, pathname } = new URL(databaseUrl.replace(/^(\w+:\/\/[^/?]*@)?\//, '$1base/'));
  // A password with an unescaped slash would otherwise end up, in part, in the name of the database.
  if (/[/@]/.test(pathname.slice(1))) throw new Error('expected one name after the host: escape the password');
  const unknown = [...searchParams.keys()].filter((name) => !urlParameters.includes(name));
  if (unknown.length > 0) {
    throw new Error(`unknown parameter ${unknown.join(', ')}, expected some of ${urlParameters.join(', ')}`);
  }
  const sslMode = searchParams.get('sslmode');
  if (sslMode !== null && !sslModes.includes(sslMode)) {
    throw new Error(`sslmode: expected one of ${sslModes.join(', ')}`);
  }
  return {
    settings: toClientConfig(parse(databaseUrl, { useLibpqCompat: true })),
    connectTimeout: Number(searchParams.get('connect_timeout') ?? 0) * 1_000,
  };
}
