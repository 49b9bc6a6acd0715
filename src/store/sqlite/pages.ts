/** The pages of many parents in one statement of SQLite. */
import type { Knex } from 'knex';
import { columnList, columnsOf, recordIn } from '../columns.ts';
import type { PageRows, PagesSelection } from '../dialect.ts';
import type { Run } from '../driver.ts';
import { runQuery } from '../query.ts';
import { jsonArray, valuesIn } from './json-array.ts';

/**
 * A correlated subquery for each parent reads only its page. (A window function would number all records of all parents, which
 * takes a hundred times as long.)
 */
export async function selectPages(
  builder: Knex,
  run: Run,
  { table, parentIds, page, count }: PagesSelection,
): Promise<PageRows[]> {
  const columns = columnsOf(table);
  const parents = builder
    .from(builder.raw('json_each(?) as parent', [JSON.stringify(parentIds)]))
    .orderBy('parent.key');
  if (page) {
    const records = builder.from(page(columnList(table)).as('page'));
    parents.select(records.select(builder.raw(`json_group_array(${jsonArray(columns)})`)).as('records'));
  }
  if (count) parents.select(count.as('count'));
  const rows = await runQuery(run, parents);
  return rows.map((row) => ({
    records: page
      ? (JSON.parse(String(row.records)) as unknown[][]).map((values) => recordIn(columns, valuesIn(columns, values)))
      : [],
    ...(count && { count: Number(row.count) }),
  }));
}
