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

export function connectionSettings(databaseUrl: string, { connectionTimeout }: DatabaseOptions) {
  try {
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
    const settings = toClientConfig(parse(databaseUrl, { useLibpqCompat: true }));
    const seconds = Number(searchParams.get('connect_timeout') ?? 0);
    return {
      application_name: 'yardgraph',
      ...settings,
      host: settings.host || process.env.PGHOST || 'localhost',
      port: settings.port ?? Number(process.env.PGPORT ?? 5432),
      connectionTimeoutMillis: seconds > 0 ? seconds * 1_000 : connectionTimeout,
      keepAlive: true,
    };
  } catch (error) {
    throw new StartError(`database URL: ${reason(error)}`);
  }
}
