import { createHash } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import type { Knex } from 'knex';
import { LRUCache } from 'lru-cache';
import { builtins, getTypeParser as standardParser, type TypeId } from 'pg-types';
import type { StatementPhase } from '../connections/database-error.ts';
import type { DatabaseOptions, Driver, PooledConnection, Row } from '../connections/driver.ts';
import { connectionSettings } from '../database-settings.ts';

export function createPostgresDriver(databaseUrl: string, options: DatabaseOptions): Driver<PostgresConnection> {
  const connection = connectionSettings(databaseUrl, options);
  const { host, port, database } = connection;
  const names = new StatementNames();
  const pool = (max: number): Knex.Config => ({
    client: 'pg',
    // Safe: Knex passes the settings of pg on.
    connection: { ...connection, types: { getTypeParser } } as Knex.PgConnectionConfig,
    pool: {
      min: 0,
      max,
      createTimeoutMillis: options.connectionTimeout,
      afterCreate(connection: PostgresConnection, done: (error: Error | null) => void) {
        const text = `set lock_timeout = ${options.statementTimeout}`;
        connection.query({ name: undefined, text, values: [] }).then(() => done(null), done);
      },
    },
    acquireConnectionTimeout: options.connectionTimeout,
  });
  return {
    name: 'Postgres',
    location: `postgres://${host}:${port}/${database ?? ''}`,
    pools: { writes: pool(options.poolSize), longReads: pool(2) },
    // Writers of a workspace wait for the row of its change number anyway.
    hasQueuePerWorkspace: true,
    query: (connection, sql, values) => query(connection, sql, values, names),
    isIdle: async (connection) => connection.getTransactionStatus() === 'I',
    cancel,
    destroy: (connection) => void connection.connection.stream.destroy(),
  };
}

/** The client of pg, partly undocumented. */
interface PostgresConnection extends PooledConnection {
  query(statement: {
    readonly name: string | undefined;
    readonly text: string;
    readonly values: readonly unknown[];
  }): Promise<Result | readonly Result[]>;
  /** The status after the last statement: `I` outside of transactions. */
  getTransactionStatus(): string | null;
  readonly host: string;
  readonly port: number;
  readonly processID: number;
  readonly secretKey: number;
  readonly connection: { readonly stream: Socket };
}

interface Result {
  readonly command: string;
  readonly rows: readonly Row[];
}

async function query(
  connection: PostgresConnection,
  sql: string,
  values: readonly unknown[],
  names: StatementNames,
): Promise<readonly Row[]> {
  // Not in a transaction, which would end if the server had lost the statement.
  const name = connection.getTransactionStatus() === 'I' ? names.find(sql) : undefined;
  const send = (named?: string) => connection.query({ name: named, text: sql, values });
  const result = await send(name).catch((error: ServerError) => {
    if (name === undefined || !isUnknownStatement(error)) throw error;
    names.stop();
    return send();
  });
  if (!('command' in result)) return [];
  // After a failed statement, Postgres responds to COMMIT with a rollback instead of an error.
  if (sql === 'commit' && result.command === 'ROLLBACK') throw rolledBack();
  return result.rows;
}

/** The server holds a plan for each statement and connection. */
const maxNamed = 100;

/**
 * The server keeps the plans of named statements: planning was three quarters of the database's time for a linked list.
 * Names are hashes: behind a pooler, another process may have prepared the statement. If a pooler drops prepared
 * statements, this process stops naming.
 */
class StatementNames {
  readonly #seen = new LRUCache<string, true>({ max: 1_000 });
  readonly #names = new Map<string, string>();
  #isStopped = false;

  find(sql: string): string | undefined {
    const known = this.#names.get(sql);
    if (known !== undefined) return known;
    if (this.#isStopped || this.#names.size >= maxNamed || !/^(?:select|with|insert)\b/.test(sql)) return undefined;
    if (this.#seen.has(sql)) this.#names.set(sql, createHash('sha256').update(sql).digest('base64url'));
    this.#seen.set(sql, true);
    return undefined;
  }

  stop(): void {
    this.#names.clear();
    this.#isStopped = true;
  }
}

interface ServerError {
  readonly code?: string;
}

/** The server has no statement with the name, or already has one. */
const isUnknownStatement = ({ code }: ServerError): boolean => code === '26000' || code === '42P05';

const rolledBack = () => Object.assign(new Error('the transaction was rolled back'), { code: '25P02' });

const parsers: Readonly<Record<number, (text: string) => unknown>> = {
  [builtins.INT8]: Number,
  [builtins.JSON]: (text) => text,
  [builtins.TIMESTAMPTZ]: toDateTime,
};

const getTypeParser = (type: TypeId, format?: 'text') => parsers[type] ?? standardParser(type, format);

/** Times in UTC, the usual case: `2026-03-01 07:30:00.12+00`, in JSON `2026-03-01T07:30:00.12+00:00`. */
const utc = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.(\d{1,3}))?\+00(?::00)?$/;

const parseDate: (text: string) => Date = standardParser(builtins.TIMESTAMPTZ);

export function toDateTime(text: string): string {
  const [, date, time, fraction = ''] = utc.exec(text) ?? [];
  return date ? `${date}T${time}.${fraction.padEnd(3, '0')}Z` : parseDate(text.replace('T', ' ')).toISOString();
}

const cancelTimeoutMs = 5_000;

const cancelRequestCode = 80_877_102;

/**
 * A separate connection to the same address: a pooler passes the request on to the right server. Not while the server
 * may commit: a COMMIT that waits for a synchronous standby would succeed without it. There, `lock_timeout` ends waits.
 */
function cancel(connection: PostgresConnection, phase: StatementPhase): void {
  if (phase !== 'in transaction') return;
  const { host, port, processID, secretKey } = connection;
  const { remoteAddress, remotePort } = connection.connection.stream;
  // A late request would cancel the next statement.
  connection.__knex__disposed ??= 'cancelled';
  const request = Buffer.alloc(16);
  request.writeInt32BE(16, 0);
  request.writeInt32BE(cancelRequestCode, 4);
  request.writeInt32BE(processID, 8);
  request.writeInt32BE(secretKey, 12);
  const socket = remoteAddress && remotePort ? connect(remotePort, remoteAddress) : connect(`${host}/.s.PGSQL.${port}`);
  socket.on('error', () => socket.destroy());
  // The receiver closes the connection: if this side did first, a pooler would drop the request.
  socket.setTimeout(cancelTimeoutMs, () => socket.destroy());
  socket.write(request);
}
