/**
 * The pages of many parents in one statement of SQLite. A correlated subquery for each parent reads only its page. (A window
 * function would number all records of all parents, which takes a hundred times as long.)
 */
import type { Knex } from 'knex';
import type { Row, Run } from '../connections/driver.ts';
import { columnList, columnsOf, recordIn } from '../query/columns.ts';
import { isJson, type PageRows, type PagesSelection } from '../query/dialect.ts';
import { runQuery } from '../query/run-query.ts';
import { jsonArray, valuesIn } from './json-array.ts';

/** Reads each page as one text, unless its records have external IDs: see `selectValues` in dialect.ts. */
export async function selectPages(builder: Knex, run: Run, pages: PagesSelection): Promise<PageRows[]> {
  const { table, page, count } = pages;
  const columns = columnsOf(table);
  if (page && columns.some(isJson)) {
    return (await selectPagesWithin(builder, run, pages, Number.MAX_SAFE_INTEGER)) ?? [];
  }
  const rows = await runQuery(run, parentsQuery(builder, pages, columnList(table), jsonArray(columns)));
  return rows.map((row) => {
    const records = (page ? JSON.parse(String(row.items)) : []) as unknown[][];
    return {
      records: records.map((values) => recordIn(columns, valuesIn(columns, values))),
      ...(count && { count: Number(row.count) }),
    };
  });
}

/** Finds the IDs and the bytes of all pages, and then reads their records, each as a row, if they are not too long. */
export async function selectPagesWithin(
  builder: Knex,
  run: Run,
  pages: PagesSelection,
  maxBytes: number,
): Promise<PageRows[] | undefined> {
  const { table, parentIds, workspaceId, count, measured } = pages;
  const columns = columnsOf(table);
  const record = jsonArray(columns.map(({ name, type }) => ({ name: `record.${name}`, type })));
  const selected = ['place', 'item.key as item', 'bytes', `${record} as record`];
  const rows = await runQuery(
    run,
    builder.raw(
      `with page as materialized ?, total as materialized (
        select coalesce(sum(item.value ->> 1), 0) as bytes from page join json_each(page.items) as item
      )
      select ${[...selected, ...(count ? ['count'] : [])].join(', ')}
      from page cross join total left join json_each(page.items) as item
      left join ${table.table} as record
        on record.workspace_id = ? and record.id = item.value ->> 0 and total.bytes <= ?`,
      [parentsQuery(builder, pages, measured, 'json_array(id, bytes)'), workspaceId, maxBytes],
    ),
  );
  if (Number(rows[0]?.bytes) > maxBytes) return undefined;
  const found: { records: Row[]; count?: number }[] = parentIds.map(() => ({ records: [] }));
  for (const row of rows) {
    const page = found[Number(row.place)];
    if (!page) continue;
    if (count) page.count = Number(row.count);
    // A parent without records has one row without an item.
    if (row.item === null) continue;
    page.records[Number(row.item)] = recordIn(columns, valuesIn(columns, JSON.parse(String(row.record))));
  }
  return found;
}

/** Returns a row for each parent, with its place among them, its page as a JSON array of items, and its count. */
function parentsQuery(
  builder: Knex,
  { parentIds, page, count }: PagesSelection,
  columns: string,
  item: string,
): Knex.QueryBuilder {
  const parents = builder.from(builder.raw('json_each(?) as parent', [JSON.stringify(parentIds)]));
  parents.select(builder.raw('parent.key as place'));
  if (page) {
    const items = builder.raw(`json_group_array(${item})`);
    parents.select(builder.from(page(columns).as('page')).select(items).as('items'));
  } else {
    parents.select(builder.raw("'[]' as items"));
  }
  if (count) parents.select(count.as('count'));
  return parents;
}
