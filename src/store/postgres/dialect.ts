/**
 * Postgres. Nothing here lives in a session beyond its transaction, so that connections may come through a pooler that
 * hands them out transaction by transaction.
 */
import { connect, type Socket } from 'node:net';
import type { Knex } from 'knex';
import { LRUCache } from 'lru-cache';
import { parse, toClientConfig } from 'pg-connection-string';
import { builtins, getTypeParser as standardParser, type TypeId } from 'pg-types';
import { StartError } from '../../errors.ts';
import type { Field } from '../../model/fields.ts';
import type { Table } from '../../model/record-kind.ts';
import { columnList, columnsOf, fieldsOf } from '../columns.ts';
import { reason } from '../database-error.ts';
import type { DatabaseOptions, Engine, Row, Run, Statement } from '../engine.ts';

export const isPostgresUrl = (databaseUrl: string): boolean => /^postgres(?:ql)?:\/\//.test(databaseUrl);

/** The engine on the database of a URL. Throws StartError when the URL asks for something that is not known here. */
export function postgresEngine(databaseUrl: string, options: DatabaseOptions): Engine {
  let isCitus = false;
  const connection = connectionSettings(databaseUrl, options);
  const { host, port, database } = connection;
  return {
    location: `postgres://${host}:${port}/${database ?? ''}`,
    knexConfig: {
      client: 'pg',
      // Sound because Knex hands its settings on to the driver's client, whose settings these are.
      connection: { ...connection, types: { getTypeParser } } as Knex.PgConnectionConfig,
      pool: { min: 0, max: options.poolSize, createTimeoutMillis: options.connectionTimeout },
      acquireConnectionTimeout: options.connectionTimeout,
    },
    // Some are on their way while others are synced to disk; with more, each is smaller.
    groupsAtOnce: 4,
    // The locks of a node that fell silent in the middle of a transaction go with its connection.
    begin: "begin; set local idle_in_transaction_session_timeout = '60s'",
    beginSnapshot: 'begin isolation level repeatable read read only',
    // Hidden from the planner, which without statistics takes a workspace for so small that it sorts all of it for each page.
    limit: ' limit (select ?::int)',
    forShare: ' for key share',
    forUpdate: ' for no key update',
    prepareCopy: 'set local idle_in_transaction_session_timeout = 0',
    // Of a transaction that reads one state, that would be the one from before it waited.
    lockMigrations:
      "set transaction isolation level read committed; select pg_advisory_xact_lock(hashtext('yardgraph migrations'))",
    async examine(run) {
      const [row] = await run("select exists (select from pg_extension where extname = 'citus') as is_citus");
      isCitus = row?.is_citus === true;
      return problemOf(run);
    },
    oneOf: (column, values) => ({ sql: `${column} = any(?)`, values: [values] }),
    byteLength: (column) => `octet_length(${column}::text)`,
    inserts: (table, records) => inserts(table, records, isCitus),
    select,
    query: (connection, sql, values) => (connection as PostgresConnection).query(numbered(sql), values),
    isIdle: async (connection) => (connection as PostgresConnection).getTransactionStatus() === 'I',
    // A text of several statements has several results.
    rowsOf: (response) => (Array.isArray(response) ? [] : (response as { rows: Row[] }).rows),
    cancel: (connection) => cancel(connection as PostgresConnection),
    destroy: (connection) => void (connection as PostgresConnection).connection.stream.destroy(),
  };
}

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

function connectionSettings(databaseUrl: string, { connectionTimeout }: DatabaseOptions) {
  try {
    const { searchParams, pathname } = new URL(databaseUrl.replace(/^(\w+:\/\/[^/?]*@)?\//, '$1base/'));
    // Otherwise the rest of a password would be taken for the name of the database.
    if (/[/@]/.test(pathname.slice(1))) throw new Error('expected one name behind the host: escape the password');
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

/** Postgres numbers its parameters. A process has a few hundred statements. */
function numbered(sql: string): string {
  const known = numberedStatements.get(sql);
  if (known) return known;
  let parameters = 0;
  const text = sql.replaceAll('?', () => {
    parameters += 1;
    return `$${parameters}`;
  });
  numberedStatements.set(sql, text);
  return text;
}

const numberedStatements = new LRUCache<string, string>({ max: 1_000 });

async function select(run: Run, table: Table, rest: string, values: readonly unknown[]): Promise<Row[]> {
  const rows = await run(`select ${columnList(table)} from ${table.table} ${rest}`, values);
  return rows.map((row) => fieldsOf(table, (column) => row[column]));
}

/** From the text of a column to the value a record has. */
const parsers: Readonly<Record<number, (text: string) => unknown>> = {
  [builtins.INT8]: Number,
  [builtins.JSON]: (text) => text,
  [builtins.TIMESTAMPTZ]: toDateTime,
};

const getTypeParser = (type: TypeId, format?: 'text') => parsers[type] ?? standardParser(type, format);

/** As the server writes times in UTC, the usual case: `2026-03-01 07:30:00.12+00`. */
const utc = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,3}))?\+00$/;

const parseDate: (text: string) => Date = standardParser(builtins.TIMESTAMPTZ);

function toDateTime(text: string): string {
  const [, date, time, fraction = ''] = utc.exec(text) ?? [];
  return date ? `${date}T${time}.${fraction.padEnd(3, '0')}Z` : parseDate(text).toISOString();
}

/** With other settings some values would not come back as they were sent. */
async function problemOf(run: (sql: string) => Promise<readonly Row[]>): Promise<string | undefined> {
  const [settings] = await run(
    `select current_setting('server_encoding') as encoding, current_setting('DateStyle') as date_style,
      current_setting('extra_float_digits') as digits`,
  );
  if (settings?.encoding !== 'UTF8') return `expected its encoding to be UTF8, it is ${settings?.encoding}`;
  if (!String(settings.date_style).startsWith('ISO')) {
    return `expected its DateStyle to be ISO, it is ${settings.date_style}`;
  }
  if (Number(settings.digits) < 1) return `expected extra_float_digits of at least 1, it is ${settings.digits}`;
  return undefined;
}

/** What a field is in the JSON that records are inserted from. */
const jsonTypes: Record<Field['type'], string> = {
  id: 'text',
  text: 'text',
  number: 'double precision',
  boolean: 'boolean',
  dateTime: 'timestamptz',
  externalIds: 'json',
  reference: 'text',
  foreignReference: 'text',
};

const rowsPerInsert = 5_000;

/**
 * One parameter for thousands of records: with one per value, of which there may be 65,535, batches take a third longer.
 *
 * Citus runs an `insert … select` as a COPY, and a transaction that has read the same shard before then ends without its
 * two-phase commit: batches that were acknowledged are gone when a worker dies. One that returns something is no COPY.
 */
function* inserts(table: Table, unordered: readonly Row[], isCitus: boolean): Generator<Statement> {
  const records = inOrderOfUniqueValues(table, unordered);
  const columns = columnsOf(table);
  const fields = columns.map(({ field }) => `"${field}"`).join(', ');
  const types = columns.map(({ field, type }) => `"${field}" ${jsonTypes[type]}`).join(', ');
  const sql =
    `insert into ${table.table} (${columnList(table)}) select ${fields} from json_to_recordset(?) as _ (${types})` +
    (isCitus ? ' returning 1' : '');
  for (let start = 0; start < records.length; start += rowsPerInsert) {
    yield { sql, values: [JSON.stringify(records.slice(start, start + rowsPerInsert))] };
  }
}

/**
 * In one order, whatever the order they came in: of two transactions that insert the same unique values at once, one waits for
 * the other at the first of them. In different orders each would wait for the other, a deadlock.
 */
function inOrderOfUniqueValues(table: Table, records: readonly Row[]): readonly Row[] {
  const [unique] = Object.entries(table.storedFields).find(([, field]) => field.unique) ?? [];
  if (!unique || records.length < 2) return records;
  const keyOf = (record: Row) => `${record.workspaceId} ${record[unique] ?? ''}`;
  const keyed = records.map((record) => ({ key: keyOf(record), record }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key))).map(({ record }) => record);
}

/** What the driver's client has beyond its documented part, and Knex's mark of a connection to throw away. */
interface PostgresConnection {
  query(sql: string, values: readonly unknown[]): Promise<unknown>;
  /** As of the last statement that ended: `I` outside of transactions. */
  getTransactionStatus(): string | null;
  readonly host: string;
  readonly port: number;
  readonly processID: number;
  readonly secretKey: number;
  readonly connection: { readonly stream: Socket };
  __knex__disposed?: unknown;
}

/** Milliseconds that a server has to take a message. */
const cancelTimeout = 5_000;

/** The protocol's own way, which reaches the right server through a pooler too: a message on a connection of its own. */
function cancel(connection: PostgresConnection): void {
  const { host, port, processID, secretKey } = connection;
  const { remoteAddress, remotePort } = connection.connection.stream;
  // It may come late, and must not meet the next statement.
  connection.__knex__disposed ??= 'cancelled';
  const request = Buffer.alloc(16);
  request.writeInt32BE(16, 0);
  request.writeInt32BE(80_877_102, 4);
  request.writeInt32BE(processID, 8);
  request.writeInt32BE(secretKey, 12);
  const socket = remoteAddress && remotePort ? connect(remotePort, remoteAddress) : connect(`${host}/.s.PGSQL.${port}`);
  socket.on('error', () => socket.destroy());
  // Whoever receives it closes the connection; a pooler forgets what it was asked by one that was closed before.
  socket.setTimeout(cancelTimeout, () => socket.destroy());
  socket.write(request);
}
