/**
 * The pages of many parents in one statement of Postgres. A lateral join for each parent reads only its page. (A window function
 * would number all records of all parents, which takes ten times as long.)
 */
import type { Knex } from 'knex';
import type { Row, Run } from '../connections/driver.ts';
import { columnList, columnsOf } from '../query/columns.ts';
import { type PageRows, type PagesSelection, recordsIn } from '../query/dialect.ts';
import { runQuery } from '../query/run-query.ts';

export async function selectPages(builder: Knex, run: Run, pages: PagesSelection): Promise<PageRows[]> {
  const { table, page, count } = pages;
  const selected = [
    'parent.place::int as page_place',
    ...(count ? ['page_count.count as page_count'] : []),
    ...(page ? ['page.*'] : []),
  ];
  const records = page?.(`true as is_record, ${columnList(table)}`);
  const rows = await runQuery(
    run,
    builder.from(parentsSql(builder, pages, records)).select(builder.raw(selected.join(', '))),
  );
  return pagesIn(rows, pages);
}

/** Finds the IDs and the bytes of all pages, and then reads their records if they are not too long. */
export async function selectPagesWithin(
  builder: Knex,
  run: Run,
  pages: PagesSelection,
  maxBytes: number,
): Promise<PageRows[] | undefined> {
  const { table, workspaceId, count, page, measured } = pages;
  if (!page) return selectPages(builder, run, pages);
  const items = builder.from(page(measured).as('item')).select(builder.raw('*, row_number() over () as place'));
  const rows = await runQuery(
    run,
    builder.raw(
      `with item as materialized (
        select parent.place::int as page_place, page.id, page.bytes, page.place::int as item_place
        ${count ? ', page_count.count as page_count' : ''}
        from ?
      ), total as materialized (select coalesce(sum(bytes), 0) as bytes from item)
      select page_place, item_place, total.bytes as page_bytes, ${count ? 'page_count, ' : ''} record.*
      from item cross join total left join lateral (
        select true as is_record, ${columnList(table)} from ${table.table}
        where workspace_id = ? and ${table.table}.id = item.id and total.bytes <= ? limit 1
      ) as record on true`,
      [parentsSql(builder, pages, items), workspaceId, maxBytes],
    ),
  );
  if (Number(rows[0]?.page_bytes) > maxBytes) return undefined;
  return pagesIn(
    rows.toSorted((a, b) => Number(a.item_place) - Number(b.item_place)),
    pages,
  );
}

/** Returns the SQL after `from`: the parents, their places among them, their counts and their pages. */
function parentsSql(
  builder: Knex,
  { parentIds, count }: PagesSelection,
  page: Knex.QueryBuilder | undefined,
): Knex.Raw {
  const joins = [
    'unnest(?::text[]) with ordinality as parent (value, place)',
    ...(count ? ['cross join lateral ? as page_count'] : []),
    ...(page ? ['left join lateral ? as page on true'] : []),
  ];
  return builder.raw(joins.join(' '), [parentIds as string[], ...(count ? [count] : []), ...(page ? [page] : [])]);
}

async function pagesIn(rows: readonly Row[], { table, parentIds, count }: PagesSelection): Promise<PageRows[]> {
  const columns = columnsOf(table);
  const pages: { records: Row[]; count?: number }[] = parentIds.map(() => ({ records: [] }));
  const records = recordsIn(
    columns,
    rows.map((row) => columns.map(({ name }) => row[name])),
  );
  rows.forEach((row, index) => {
    const page = pages[Number(row.page_place) - 1];
    if (!page) return;
    if (count) page.count = Number(row.page_count);
    const record = records[index];
    if (row.is_record && record) page.records.push(record);
  });
  return pages;
}
