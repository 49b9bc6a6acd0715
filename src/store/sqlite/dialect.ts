/** The SQL of SQLite. */
import { type Knex, knex } from 'knex';
import type { Table } from '../../model/record-kind.ts';
import { type Column, columnList, columnsOf, fieldsOf, toColumnValue } from '../columns.ts';
import type { Dialect, Statement } from '../dialect.ts';
import type { Row, Run } from '../driver.ts';
import { runQuery } from '../query.ts';
import { binaryParts, createFilters } from './filters.ts';
import { selectPages, selectPagesWithin } from './pages.ts';

// Names of tables and columns need no quotes.
const builder = knex({ client: 'sqlite3', useNullAsDefault: true, wrapIdentifier: (name) => name });

export const sqliteDialect: Dialect = {
  builder,
  // Takes the write lock at once. Later, between a read and a write, that would fail if another process had written in the
  // meantime, whatever the busy timeout. No rows need to be locked, because nobody else writes while the lock is held.
  begin: 'begin immediate',
  beginSnapshot: 'begin',
  jsonElements: 'json_each',
  filters: createFilters(builder),
  async runCounted(run, query) {
    await runQuery(run, query);
    const [row] = await run('select changes() as count');
    return Number(row?.count);
  },
  byteLength: (column) => `octet_length(${column})`,
  inserts,
  select,
  selectPages: (run, pages) => selectPages(builder, run, pages),
  selectPagesWithin: (run, pages, maxBytes) => selectPagesWithin(builder, run, pages, maxBytes),
  month: (column) => `substr(${column}, 1, 7)`,
};

/** Many, because a batch in a single statement needs no BEGIN and COMMIT; building the statement takes less than 10 ms. */
const rowsPerInsert = 2_500;

/**
 * One JSON parameter for the values that differ between records, and one parameter for each column whose value is the same in
 * all of them. With a parameter for every value, the main thread takes four times as long; with all values in JSON, SQLite takes
 * a third longer.
 */
function* inserts(table: Table, records: readonly Row[]): Generator<Statement> {
  for (let start = 0; start < records.length; start += rowsPerInsert) {
    yield insertOf(table, records.slice(start, start + rowsPerInsert));
  }
}

function insertOf(table: Table, records: readonly Row[]): Statement {
  const shared: unknown[] = [];
  const differing: Column[] = [];
  /** A number takes two elements of a row, everything else one. */
  let elements = 0;
  const sources = columnsOf(table).map((column) => {
    const { field, type } = column;
    const value = records[0]?.[field];
    if (records.every((record) => record[field] === value)) {
      shared.push(toColumnValue(column, value));
      return '?';
    }
    differing.push(column);
    elements += type === 'number' ? 2 : 1;
    const last = `value ->> ${elements - 1}`;
    return type === 'number' ? `(value ->> ${elements - 2}) * pow(2, ${last})` : last;
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

/**
 * Reads each record as one JSON text: with a column per field, the driver takes twice as long. A bounded query without
 * numbers and external IDs is read as a single text, which takes a third less again. (With external IDs, it could be longer than V8's
 * longest text, half a gigabyte.)
 */
async function select(run: Run, table: Table, query: Knex.QueryBuilder, isBounded = false): Promise<Row[]> {
  const columns = columnsOf(table);
  if (isBounded && columns.every(({ type }) => type !== 'externalIds' && type !== 'number')) {
    const records = builder.raw(`json_group_array(json_array(${columnList(table)})) as records`);
    const [page] = await runQuery(run, builder.from(query.select(builder.raw(columnList(table)))).select(records));
    return (JSON.parse(String(page?.records)) as unknown[][]).map((row) => fieldsOf(table, (_, index) => row[index]));
  }
  // SQLite writes numbers into JSON with 15 digits, and with more not always correctly, so numbers are read as columns.
  const numbers = columns.filter(({ type }) => type === 'number').map(({ name }) => name);
  const isNumber = (name: string) => numbers.includes(name);
  const elements = columns.map(({ name }) => (isNumber(name) ? 'null' : name));
  const selected = [`json_array(${elements.join(', ')}) as record`, ...numbers];
  const rows = await runQuery(run, query.select(builder.raw(selected.join(', '))));
  return rows.map((row) => {
    const record = JSON.parse(String(row.record)) as unknown[];
    return fieldsOf(table, (name, index) => (isNumber(name) ? row[name] : record[index]));
  });
}
