/** The SQL of SQLite. */
import { type Knex, knex } from 'knex';
import type { Run } from '../connections/driver.ts';
import { type Dialect, isJson, type SelectedColumn } from '../query/dialect.ts';
import { rowsQuery, runQuery } from '../query/run-query.ts';
import { withChanges } from './additions.ts';
import { createFilters } from './filters.ts';
import { jsonArray, valuesIn } from './json-array.ts';
import { selectPages, selectPagesWithin } from './pages.ts';
import { deletions, inserts, updates } from './writes.ts';

// Names of tables and columns need no quotes.
const builder = knex({ client: 'sqlite3', useNullAsDefault: true, wrapIdentifier: (name) => name });

export const sqliteDialect: Dialect = {
  builder,
  // Takes the write lock at once. Later, between a read and a write, that would fail if another process had written in the
  // meantime, whatever the busy timeout. No rows need to be locked, because nobody else writes while the lock is held.
  begin: 'begin immediate',
  beginSnapshot: 'begin',
  jsonElements: 'json_each',
  jsonArrayOf: 'json_group_array',
  jsonObject: 'json_object',
  filters: createFilters(builder),
  async runCounted(run, query) {
    await runQuery(run, query);
    const [row] = await run('select changes() as count');
    return Number(row?.count);
  },
  byteLength: (column) => `octet_length(${column})`,
  inserts,
  withChanges,
  updates,
  deletions,
  selectPages: (run, pages) => selectPages(builder, run, pages),
  selectPagesWithin: (run, pages, maxBytes) => selectPagesWithin(builder, run, pages, maxBytes),
  month: (column) => `substr(${column}, 1, 7)`,
  rowsById: (table, workspaceId, ids) =>
    rowsQuery(sqliteDialect, table, workspaceId, { where: { field: 'id', in: ids } }),
  rowsReferring: ({ table, field }, workspaceId, ids, limit) =>
    rowsQuery(sqliteDialect, table, workspaceId, { where: { field, in: ids }, limit }),
  joinById: (query, { table, alias }, { workspaceId, reference }) =>
    query.joinRaw(`left join ${table.table} ${alias} on ${alias}.workspace_id = ? and ${alias}.id = ${reference}`, [
      workspaceId,
    ]),
  selectValues,
};

/**
 * Reads a bounded query as one JSON text: with a row per record and a column per value, the driver takes twice as long. (With
 * external IDs, it could be longer than V8's longest text, half a gigabyte: then each row is read by itself.)
 */
async function selectValues(
  run: Run,
  columns: readonly SelectedColumn[],
  query: Knex.QueryBuilder,
  isBounded = false,
): Promise<unknown[][]> {
  if (!isBounded || columns.some(isJson)) {
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
