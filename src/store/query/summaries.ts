/** Counts of records by the values of their fields. */
import type { RecordKind } from '../../model/record-kind.ts';
import type { Run } from '../connections/driver.ts';
import { columnName, columnsOf } from './columns.ts';
import type { Value } from './condition.ts';
import type { Dialect } from './dialect.ts';
import type { Summary, SummaryQuery } from './record-query.ts';
import { requireWhole, selectRows } from './rows.ts';
import { runQuery } from './run-query.ts';

/** Runs one statement. The total counts all groups, even those beyond the limit. */
export async function summarize(
  dialect: Dialect,
  run: Run,
  workspaceId: number,
  kind: RecordKind,
  { where, groupBy, limit }: SummaryQuery,
): Promise<Summary> {
  const names = groupBy.map((_, index) => `value_${index}`);
  const selected = groupBy.map(({ field, by }, index) => {
    const column = `${kind.table}.${columnName(field)}`;
    return `${by === 'month' ? dialect.month(column) : column} as ${names[index]}`;
  });
  const columns = [...selected, 'count(*) as size', 'sum(count(*)) over () as total'].join(', ');
  const groups = selectRows({ dialect, workspaceId, table: kind }, { where }).select(dialect.builder.raw(columns));
  groups.groupByRaw(names.map((_, index) => index + 1).join(', '));
  groups.orderByRaw(['size desc', ...names.map((name) => `${name} nulls last`)].join(', '));
  const rows = await runQuery(run, groups.limit(requireWhole(limit + 1)));
  const conversions = groupBy.map(({ field, by }) => {
    const column = columnsOf(kind).find((other) => other.field === field);
    return by === 'month' ? undefined : column?.fromColumn;
  });
  const valueIn = (value: unknown, index: number): Value | null =>
    // The cast is safe: fields that group have single values.
    value === null ? null : ((conversions[index]?.(value) ?? value) as Value);
  return {
    totalCount: Number(rows[0]?.total ?? 0),
    groups: rows.map((row) => ({
      count: Number(row.size),
      values: names.map((name, index) => valueIn(row[name], index)),
    })),
  };
}
