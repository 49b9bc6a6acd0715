/** The pages of many parents in one statement of Postgres. */
import type { Knex } from 'knex';
import { columnList, columnsOf, recordIn } from '../columns.ts';
import type { PageRows, PagesSelection } from '../dialect.ts';
import type { Row, Run } from '../driver.ts';
import { runQuery } from '../query.ts';

/**
 * A lateral join for each parent reads only its page. (A window function would number all records of all parents, which takes ten
 * times as long.)
 */
export async function selectPages(
  builder: Knex,
  run: Run,
  { table, parentIds, page, count }: PagesSelection,
): Promise<PageRows[]> {
  const columns = columnsOf(table);
  const joins: Knex.QueryBuilder[] = [];
  let sql = 'unnest(?::text[]) with ordinality as parent (value, place)';
  if (count) {
    sql += ' cross join lateral ? as page_count';
    joins.push(count);
  }
  if (page) {
    sql += ' left join lateral ? as page on true';
    joins.push(page(`true as is_record, ${columnList(table)}`));
  }
  const selected = [
    'parent.place::int as page_place',
    ...(count ? ['page_count.count as page_count'] : []),
    ...(page ? ['page.*'] : []),
  ];
  const rows = await runQuery(
    run,
    builder.from(builder.raw(sql, [parentIds as string[], ...joins])).select(builder.raw(selected.join(', '))),
  );
  const pages: { records: Row[]; count?: number }[] = parentIds.map(() => ({ records: [] }));
  for (const row of rows) {
    const found = pages[Number(row.page_place) - 1];
    if (!found) continue;
    if (row.is_record)
      found.records.push(
        recordIn(
          columns,
          columns.map(({ name }) => row[name]),
        ),
      );
    if (count) found.count = Number(row.page_count);
  }
  return pages;
}
