import { type Knex, knex } from 'knex';
import type { Run } from '../connections/driver.ts';
import { columnList, columnsOf, isJson, recordIn, type SelectedColumn } from '../query/columns.ts';
import type { Dialect, Filters, PageRows, PagesSelection, Pattern } from '../query/dialect.ts';
import { rowsQuery, runQuery } from '../query/rows.ts';
import { binaryParts, deletions, inserts, updates, withChanges } from './writes.ts';

// Names of tables and columns need no quotes.
const builder = knex({ client: 'sqlite3', useNullAsDefault: true, wrapIdentifier: (name) => name });

const parents = (ids: readonly string[]): Knex.Raw => builder.raw('json_each(?) as parent', [JSON.stringify(ids)]);

export const sqliteDialect: Dialect = {
  builder,
  // Takes the write lock at once. Later, between a read and a write, that would fail if another process had written in the
  // meantime, whatever the busy timeout. No rows need to be locked, because nobody else writes while the lock is held.
  begin: 'begin immediate',
  beginSnapshot: 'begin',
  jsonElements: 'json_each',
  jsonArrayOf: 'json_group_array',
  filters: createFilters(),
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
  parents,
  selectPages,
  date: (column, length, offset) =>
    `substr(${offset === undefined ? column : `date(${column}, (${offset}) || ' seconds')`}, 1, ${length})`,
  rowsById: (table, workspaceId, ids) =>
    rowsQuery(sqliteDialect, table, workspaceId, { where: { field: 'id', in: ids } }),
  rowsReferring: ({ table, field }, workspaceId, ids, limit) =>
    rowsQuery(sqliteDialect, table, workspaceId, { where: { field, in: ids }, limit }),
  joinById: ({ table, alias }, reference) =>
    `left join ${table.table} ${alias} on ${alias}.workspace_id = ? and ${alias}.id = ${reference}`,
  selectValues,
};

/** With a row per record instead of one JSON text, the driver takes twice as long. External IDs could make it too long for V8. */
async function selectValues(
  run: Run,
  columns: readonly SelectedColumn[],
  select: (selected: string) => Knex.QueryBuilder | Knex.Raw,
  isBounded = false,
): Promise<unknown[][]> {
  const toValues = valuesOf(columns);
  if (!isBounded || columns.some(isJson)) {
    const rows = await runQuery(run, select(`${jsonArray(columns)} as record`));
    return rows.map(({ record }) => toValues(JSON.parse(String(record))));
  }
  // Names of the page's own, because tables that are joined have columns of the same name.
  const named = columns.map(({ type }, index) => ({ name: `c${index}`, type }));
  const rows = select(columns.map(({ name }, index) => `${name} as c${index}`).join(', '));
  const [page] = await runQuery(
    run,
    builder.raw(`select json_group_array(${jsonArray(named)}) as records from (?)`, [rows]),
  );
  return (JSON.parse(String(page?.records)) as unknown[][]).map(toValues);
}

function createFilters(): Filters {
  return {
    isOneOf(column, type, values) {
      if (type !== 'number') {
        return builder.raw(`${column} in (select value from json_each(?))`, [JSON.stringify(values)]);
      }
      return builder.raw(`${column} in (select (value ->> 0) * pow(2, value ->> 1) from json_each(?))`, [
        JSON.stringify(values.map(binaryParts)),
      ]);
    },
    // Without a hint, SQLite assumes few nulls and prefers the wrong index; these likelihoods were chosen with explain.test.ts.
    isSet: (column, isSet) =>
      builder.raw(isSet ? `likelihood(${column} is not null, 0.1)` : `likelihood(${column} is null, 0.25)`),
    contains: (column, text) => builder.raw(`instr(${column}, ?) > 0`, [text]),
    endsWith: (column, text) =>
      text === ''
        ? builder.raw(`${column} is not null`)
        : builder.raw(`substr(${column}, ?) = ?`, [-Array.from(text).length, text]),
    // Not as one parameter, whose JSON would be parsed again for each row.
    matchesAny: (column, patterns) =>
      builder.raw(`(${patterns.map(() => `${column} glob ?`).join(' or ')})`, patterns.map(globOf)),
    // The table that triggers keep: see migration 0004.
    hasExternalId: ({ workspaceId, table, alias, column }, key, value) =>
      builder.raw(
        `${alias}.id in (select id from ${table}_${column} where workspace_id = ? and key = ?${
          value === undefined ? '' : ' and value = ?'
        })`,
        value === undefined ? [workspaceId, key] : [workspaceId, key, value],
      ),
    idsWithExternalId: ({ workspaceId, table, column }, key, value, limit) =>
      builder(`${table}_${column}`)
        .where('workspace_id', workspaceId)
        .whereRaw(`key = ${key} and value = ${value}`)
        .orderBy('id')
        .limit(limit)
        .select('id'),
    // Reads these rows once, by their own indexes. With `exists`, SQLite would look them up for every row of the outer table.
    isAmong: (column, rows) =>
      builder.raw(`${column} in (select ${rows.column} from ${rows.from} where ?)`, [rows.where]),
  };
}

/** Returns a pattern for GLOB. Letters with several forms have no meaning of their own in it. */
function globOf({ characters, isAnchoredAtStart, isAnchoredAtEnd }: Pattern): string {
  const parts = characters.map((forms) => {
    const text = forms.join('');
    return forms.length > 1 || '*?['.includes(text) ? `[${text}]` : text;
  });
  return `${isAnchoredAtStart ? '' : '*'}${parts.join('')}${isAnchoredAtEnd ? '' : '*'}`;
}

/** A column with JSON becomes an element of the array, not a text in it, so that it is parsed once. */
const jsonArray = (columns: readonly SelectedColumn[]): string => `json_array(${columns.map(elementOf).join(', ')})`;

function elementOf(column: SelectedColumn): string {
  if (column.type === 'number') return numberText(column.name);
  return isJson(column) ? `json(${column.name})` : column.name;
}

/** SQLite writes numbers into JSON with 15 digits. As texts of 18, they are read as exactly the same numbers. */
const numberText = (column: string): string => `iif(${column} is null, null, format('%!.18g', ${column}))`;

function valuesOf(columns: readonly Pick<SelectedColumn, 'type'>[]): (array: unknown[]) => unknown[] {
  const numbers = columns.flatMap(({ type }, index) => (type === 'number' ? [index] : []));
  return (array) => {
    for (const index of numbers) if (array[index] !== null) array[index] = Number(array[index]);
    return array;
  };
}

/** A subquery for each parent reads only its page: a window function numbers all records, which takes a hundred times as long. */
async function selectPages(run: Run, { table, parentIds, page, count }: PagesSelection): Promise<PageRows[]> {
  const columns = columnsOf(table);
  const toValues = valuesOf(columns);
  const pages = builder.from(parents(parentIds)).select(builder.raw('parent.key as place'));
  if (page) {
    const records = builder.raw(`json_group_array(${jsonArray(columns)})`);
    pages.select(
      builder
        .from(page(columnList(table)).as('page'))
        .select(records)
        .as('records'),
    );
  }
  if (count) pages.select(count.as('count'));
  return (await runQuery(run, pages)).map((row) => {
    const records = (page ? JSON.parse(String(row.records)) : []) as unknown[][];
    return {
      records: records.map((values) => recordIn(columns, toValues(values))),
      ...(count && { count: Number(row.count) }),
    };
  });
}
