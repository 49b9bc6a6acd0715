/** SQLite: a file, or memory. */
import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Knex } from 'knex';
import { StartError } from '../../errors.ts';
import type { Table } from '../../model/record-kind.ts';
import { type Column, columnList, columnsOf, fieldsOf, toColumnValue } from '../columns.ts';
import { reason } from '../database-error.ts';
import type { DatabaseOptions, Engine, Row, Run, Statement } from '../engine.ts';
import { isIdle, prepareConnection, query, type SqliteConnection } from './connection.ts';

export const memory = ':memory:';

/** The path in `sqlite:PATH`; undefined when the text has another form, such as a mistyped `sqlite::memory:`. */
export const sqlitePath = (databaseUrl: string): string | undefined =>
  /^sqlite:(?!\/\/)(:memory:|[^:\s].*)$/.exec(databaseUrl)?.[1];

/** The engine on a file, whose folder is made if it is not there. Throws StartError when it cannot be written. */
export function sqliteEngine(path: string, { connectionTimeout, statementTimeout }: DatabaseOptions): Engine {
  requireFolder(path);
  let watchers = 0;
  const pool = ({ max, readOnly, watches }: { max: number; readOnly: boolean; watches: boolean }): Knex.Config => ({
    client: 'sqlite3',
    connection: { filename: path },
    useNullAsDefault: true,
    pool: {
      min: 1,
      max,
      afterCreate: (connection: SqliteConnection, done: Parameters<typeof prepareConnection>[2]) => {
        if (watches) watchers += 1;
        prepareConnection(connection, { statementTimeout, readOnly }, done);
      },
    },
    acquireConnectionTimeout: connectionTimeout,
  });
  return {
    location: path === memory ? 'memory only, gone when the process ends' : resolve(path),
    // SQLite has one writer: a second connection could only wait for it, in one of the four threads all share.
    knexConfig: pool({ max: 1, readOnly: false, watches: path === memory }),
    // Nobody else sees what is in memory. Three to read, so that one is left when a workspace takes two for long.
    ...(path !== memory && {
      readPools: {
        reads: pool({ max: 3, readOnly: true, watches: false }),
        watch: pool({ max: 1, readOnly: true, watches: true }),
      },
    }),
    groupsAtOnce: 1,
    // Takes the write lock at once. Taken later, between a read and a write, it fails when another process has written
    // in the meantime, whatever the busy timeout. Nobody else writes while it is held: no rows need to be locked.
    begin: 'begin immediate',
    beginSnapshot: 'begin',
    limit: ' limit ?',
    forShare: '',
    forUpdate: '',
    oneOf: (column, values) => ({
      sql: `${column} in (select value from json_each(?))`,
      values: [JSON.stringify(values)],
    }),
    byteLength: (column) => `octet_length(${column})`,
    inserts,
    select,
    async version(run) {
      const [changes] = await run('select total_changes() as own, data_version as others from pragma_data_version');
      // Both are a connection's own counts.
      return `${watchers} ${changes?.own} ${changes?.others}`;
    },
    query: (connection, sql, values) => query(connection as SqliteConnection, sql, values),
    isIdle: (connection) => isIdle(connection as SqliteConnection),
    rowsOf: (response) => response as Row[],
    cancel: (connection) => (connection as SqliteConnection).interrupt(),
    destroy: (connection) => (connection as SqliteConnection).close(() => {}),
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

/** As few statements as there can be, for one alone needs no transaction around it; made in less than 10 ms each. */
const rowsPerInsert = 2_500;

/**
 * One parameter with what differs from record to record, as JSON, and one for each column that is the same in all of them.
 * With a parameter for every value, the thread that answers takes four times as long; with all values in JSON, SQLite takes a
 * third longer.
 */
function* inserts(table: Table, records: readonly Row[]): Generator<Statement> {
  for (let start = 0; start < records.length; start += rowsPerInsert) {
    yield insertOf(table, records.slice(start, start + rowsPerInsert));
  }
}

function insertOf(table: Table, records: readonly Row[]): Statement {
  const shared: unknown[] = [];
  const differing: Column[] = [];
  let width = 0;
  const sources = columnsOf(table).map((column) => {
    const { field, type } = column;
    const value = records[0]?.[field];
    if (records.every((record) => record[field] === value)) {
      shared.push(toColumnValue(column, value));
      return '?';
    }
    differing.push(column);
    width += type === 'number' ? 2 : 1;
    return type === 'number' ? `(value ->> ${width - 2}) * pow(2, value ->> ${width - 1})` : `value ->> ${width - 1}`;
  });
  const rows = records.map((record) => {
    const row: unknown[] = [];
    for (const column of differing) {
      const value = toColumnValue(column, record[column.field]);
      if (column.type === 'number') row.push(...binaryParts(value));
      else row.push(value);
    }
    return row;
  });
  return {
    sql: `insert into ${table.table} (${columnList(table)}) select ${sources.join(', ')} from json_each(?)`,
    values: [...shared, JSON.stringify(rows)],
  };
}

/** A number as a whole one times a power of two: of ten thousand decimals SQLite misreads the last digit of one. */
function binaryParts(value: unknown): [number | null, number] {
  if (typeof value !== 'number') return [null, 0];
  if (!Number.isFinite(value)) throw new Error('expected a finite number');
  let whole = value;
  let exponent = 0;
  for (; Math.abs(whole) > Number.MAX_SAFE_INTEGER; exponent += 1) whole /= 2;
  for (; !Number.isInteger(whole); exponent -= 1) whole *= 2;
  return [whole, exponent];
}

/**
 * Each record as one text, for the driver would make every value by itself, which takes twice as long; a few short ones all in
 * one, which takes half as long again. (No text may be longer than V8's longest, half a gigabyte.)
 */
async function select(run: Run, table: Table, rest: string, values: readonly unknown[], isFew = false): Promise<Row[]> {
  const columns = columnsOf(table);
  // SQLite writes a number with 15 digits into JSON, and not always right with more: the driver makes those.
  const numbers = columns.filter(({ type }) => type === 'number').map(({ name }) => name);
  const isNumber = (name: string) => numbers.includes(name);
  if (isFew && columns.every(({ type }) => type !== 'externalIds' && type !== 'number')) {
    const [all] = await run(
      `select json_group_array(json_array(${columnList(table)})) as records
        from (select ${columnList(table)} from ${table.table} ${rest})`,
      values,
    );
    return (JSON.parse(String(all?.records)) as unknown[][]).map((row) => fieldsOf(table, (_, index) => row[index]));
  }
  const texts = columns.map(({ name }) => (isNumber(name) ? 'null' : name));
  const results = [`json_array(${texts.join(', ')}) as record`, ...numbers];
  const rows = await run(`select ${results.join(', ')} from ${table.table} ${rest}`, values);
  return rows.map((row) => {
    const record = JSON.parse(String(row.record)) as unknown[];
    return fieldsOf(table, (name, index) => (isNumber(name) ? row[name] : record[index]));
  });
}
