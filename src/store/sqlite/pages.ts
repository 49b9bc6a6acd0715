/** The pages of many parents in one statement of SQLite. */
import type { Knex } from 'knex';
import { columnList, columnsOf, fieldsOf } from '../columns.ts';
import type { PageRows, PagesSelection } from '../dialect.ts';
import type { Run } from '../driver.ts';
import { runQuery } from '../query.ts';

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
  // SQLite writes numbers into JSON with 15 digits. With 18, they are read as exactly the same numbers.
  const elements = columns.map(({ name, type }) =>
    type === 'number' ? `iif(${name} is null, null, format('%!.18g', ${name}))` : name,
  );
  const parents = builder
    .from(builder.raw('json_each(?) as parent', [JSON.stringify(parentIds)]))
    .orderBy('parent.key');
  if (page) {
    const records = builder.from(page(columnList(table)).as('page'));
    parents.select(records.select(builder.raw(`json_group_array(json_array(${elements.join(', ')}))`)).as('records'));
  }
  if (count) parents.select(count.as('count'));
  const rows = await runQuery(run, parents);
  return rows.map((row) => ({
    records: page
      ? (JSON.parse(String(row.records)) as unknown[][]).map((record) =>
          fieldsOf(table, (_, index) => {
            const value = record[index] ?? null;
            return value !== null && columns[index]?.type === 'number' ? Number(value) : value;
          }),
        )
      : [],
    ...(count && { count: Number(row.count) }),
  }));
}
