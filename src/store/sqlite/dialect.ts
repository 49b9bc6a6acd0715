/** The SQL of SQLite. */
import { type Knex, knex } from 'knex';
import type { Table } from '../../model/record-kind.ts';
import { type Column, columnList, columnsOf, toColumnValue } from '../columns.ts';
import { type Dialect, type SelectedColumn, type Statement, selectRecords } from '../dialect.ts';
import type { Row, Run } from '../driver.ts';
import { rowsQuery, runQuery } from '../query.ts';
import { binaryParts, createFilters } from './filters.ts';
import { jsonArray, valuesIn } from './json-array.ts';
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
  selectPages: (run, pages) => selectPages(builder, run, pages),
  selectPagesWithin: (run, pages, maxBytes) => selectPagesWithin(builder, run, pages, maxBytes),
  month: (column) => `substr(${column}, 1, 7)`,
  rowsById: (table, workspaceId, ids) =>
    rowsQuery(sqliteDialect, table, workspaceId, { where: { field: 'id', in: ids } }),
  joinById: (query, { table, alias }, { workspaceId, reference }) =>
    query.joinRaw(`left join ${table.table} ${alias} on ${alias}.workspace_id = ? and ${alias}.id = ${reference}`, [
      workspaceId,
    ]),
  selectValues,
  select: (run, table, query, isBounded) => selectRecords(selectValues, run, table, query, isBounded),
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
 * Reads a bounded query as one JSON text: with a row per record and a column per value, the driver takes twice as long. (With
 * external IDs, it could be longer than V8's longest text, half a gigabyte: then each row is a text.)
 */
async function selectValues(
  run: Run,
  columns: readonly SelectedColumn[],
  query: Knex.QueryBuilder,
  isBounded = false,
): Promise<unknown[][]> {
  if (!isBounded || columns.some(({ type }) => type === 'externalIds')) {
    const rows = await runQuery(run, query.select(builder.raw(`${jsonArray(columns)} as record`)));
    return rows.map(({ record }) => valuesIn(columns, JSON.parse(String(record))));
  }
  // Names of the page's own, because tables that are joined have columns of the same name.
  const named = columns.map(({ type }, index) => ({ name: `c${index}`, type }));
  const rows = query.select(builder.raw(columns.map(({ name }, index) => `${name} as c${index}`).join(', ')));
  const [page] = await runQuery(
    run,
    builder.from(rows).select(builder.raw(`json_group_array(${jsonArray(named)}) as records`)),
  );
  return (JSON.parse(String(page?.records)) as unknown[][]).map((values) => valuesIn(columns, values));
}
