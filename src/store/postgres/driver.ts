/** The driver for Postgres, pg: its connections, how their statements are cancelled, and the values it returns. */
import { createHash } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import type { Knex } from 'knex';
import { LRUCache } from 'lru-cache';
import { builtins, getTypeParser as standardParser, type TypeId } from 'pg-types';
import type { DatabaseOptions, Driver, Row } from '../connections/driver.ts';
import { connectionSettings } from '../database-settings.ts';

/** Throws StartError when the URL has an unknown parameter, or one with an unknown value. */
export function createPostgresDriver(databaseUrl: string, options: DatabaseOptions): Driver {
  const connection = connectionSettings(databaseUrl, options);
  const { host, port, database } = connection;
  const names = statementNames();
  const pool = (max: number): Knex.Config => ({
    client: 'pg',
    // The cast is safe: Knex passes these settings on to pg, whose settings they are.
    connection: { ...connection, types: { getTypeParser } } as Knex.PgConnectionConfig,
    pool: { min: 0, max, createTimeoutMillis: options.connectionTimeout },
    acquireConnectionTimeout: options.connectionTimeout,
  });
  return {
    name: 'Postgres',
    location: `postgres://${host}:${port}/${database ?? ''}`,
    pools: { writes: pool(options.poolSize), longReads: pool(2) },
    // The writers of a workspace wait for each other anyway: for the row of its change number.
    hasGroupsByWorkspace: true,
    query: (connection, sql, values) => query(connection as PostgresConnection, sql, values, names),
    isIdle: async (connection) => (connection as PostgresConnection).getTransactionStatus() === 'I',
    cancel: (connection) => cancel(connection as PostgresConnection),
    destroy: (connection) => void (connection as PostgresConnection).connection.stream.destroy(),
  };
}

/** The part of pg's client that is used here, some of it undocumented, and Knex's mark for connections to discard. */
interface PostgresConnection {
  /** A text with several statements returns several results. */
  query(statement: {
    readonly name: string | undefined;
    readonly text: string;
    readonly values: readonly unknown[];
  }): Promise<Result | readonly Result[]>;
  /** Returns the status after the last statement that ended: `I` outside of transactions. */
  getTransactionStatus(): string | null;
  readonly host: string;
  readonly port: number;
  readonly processID: number;
  readonly secretKey: number;
  readonly connection: { readonly stream: Socket };
  __knex__disposed?: unknown;
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
  // In a transaction, a statement that is not found could not be repeated.
  const name = connection.getTransactionStatus() === 'I' ? names.of(sql) : undefined;
  const send = (by?: string) => connection.query({ name: by, text: sql, values });
  const result = await send(name).catch((error: ServerError) => {
    if (name === undefined || !isNotKept(error)) throw error;
    names.stop();
    return send();
  });
  if (!('command' in result)) return [];
  // If a statement of the transaction has failed, Postgres responds to COMMIT with a rollback instead of an error.
  if (sql === 'commit' && result.command === 'ROLLBACK') throw rolledBack();
  return result.rows;
}

type StatementNames = ReturnType<typeof statementNames>;

/** The most statements that a connection keeps: the server holds the plan of each. */
const maxNamed = 100;

/**
 * Names for statements that are sent again, whose plans the server then keeps for each connection: of a linked list, planning was three
 * quarters of the database's time. A name is a hash of the statement: behind a pooler, a connection may find the statement of another
 * process under it, which is the same. If a pooler drops prepared statements, this process stops naming them.
 */
function statementNames() {
  const seen = new LRUCache<string, true>({ max: 1_000 });
  const names = new Map<string, string>();
  let isStopped = false;
  return {
    of(sql: string): string | undefined {
      const known = names.get(sql);
      if (known !== undefined || isStopped || names.size >= maxNamed || !/^(?:select|with|insert)\b/.test(sql))
        return known;
      if (seen.has(sql)) names.set(sql, createHash('sha256').update(sql).digest('base64url'));
      seen.set(sql, true);
      return undefined;
    },
    stop(): void {
      names.clear();
      isStopped = true;
    },
  };
}

interface ServerError {
  readonly code?: string;
}

/** The server has no statement with the name, or one already. */
const isNotKept = ({ code }: ServerError): boolean => code === '26000' || code === '42P05';

const rolledBack = () => Object.assign(new Error('the transaction was rolled back'), { code: '25P02' });

/** Functions from a column's text to the value in a record, by the column's type. */
const parsers: Readonly<Record<number, (text: string) => unknown>> = {
  [builtins.INT8]: Number,
  [builtins.JSON]: (text) => text,
  [builtins.TIMESTAMPTZ]: toDateTime,
};

const getTypeParser = (type: TypeId, format?: 'text') => parsers[type] ?? standardParser(type, format);

/** The forms in which the server writes times in UTC, the usual case: `2026-03-01 07:30:00.12+00`, in JSON `2026-03-01T07:30:00.12+00:00`. */
const utc = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.(\d{1,3}))?\+00(?::00)?$/;

const parseDate: (text: string) => Date = standardParser(builtins.TIMESTAMPTZ);

export function toDateTime(text: string): string {
  const [, date, time, fraction = ''] = utc.exec(text) ?? [];
  return date ? `${date}T${time}.${fraction.padEnd(3, '0')}Z` : parseDate(text.replace('T', ' ')).toISOString();
}

/** Milliseconds after which the connection of a cancel request is closed. */
const cancelTimeoutMs = 5_000;

/** The protocol's number for a cancel request. */
const cancelRequestCode = 80_877_102;

/**
 * Sends a cancel request on a separate connection, as the protocol requires. It goes to the address of the connection to
 * cancel, so that a pooler can pass it on to the right server.
 */
function cancel(connection: PostgresConnection): void {
  const { host, port, processID, secretKey } = connection;
  const { remoteAddress, remotePort } = connection.connection.stream;
  // Discarded, because the request may arrive late and would then cancel the next statement.
  connection.__knex__disposed ??= 'cancelled';
  const request = Buffer.alloc(16);
  request.writeInt32BE(16, 0);
  request.writeInt32BE(cancelRequestCode, 4);
  request.writeInt32BE(processID, 8);
  request.writeInt32BE(secretKey, 12);
  const socket = remoteAddress && remotePort ? connect(remotePort, remoteAddress) : connect(`${host}/.s.PGSQL.${port}`);
  socket.on('error', () => socket.destroy());
  // The receiver closes the connection. If it were closed here first, a pooler would drop the request.
  socket.setTimeout(cancelTimeoutMs, () => socket.destroy());
  socket.write(request);
}
