/** Summaries of the records of one workspace: counted in groups by the database. */
import { textLengthOfAll } from '../../model/fields.ts';
import type { RecordKind } from '../../model/record-kind.ts';
import { columnName, columnsOf, partOf } from '../query/columns.ts';
import type { Summary, SummaryQuery, Value } from '../query/record-query.ts';
import { requireWhole, selectRows } from '../query/rows.ts';
import { runQuery } from '../query/run-query.ts';
import type { Scope } from './read-records.ts';

export function readSummary(scope: Scope, kind: RecordKind, query: SummaryQuery): Promise<Summary> {
  const read = () => summarize(scope, kind, query);
  if (!scope.budget) return read();
  const valuesIn = ({ groups }: Summary) => groups.map(({ values }) => values);
  return scope.budget.read({
    table: partOf(kind, new Set(query.groupBy.map(({ field }) => field))),
    maxRows: query.limit + 1,
    readAll: read,
    // Groups are few, and their values short: they are measured when they have been read.
    async readWithin(maxBytes) {
      const summary = await read();
      return textLengthOfAll(valuesIn(summary)) <= maxBytes ? summary : undefined;
    },
    rowsOf: valuesIn,
  });
}

/** Runs one statement. The total counts all groups, even those beyond the limit. */
async function summarize(
  { dialect, run, workspaceId }: Scope,
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
