import { LRUCache } from 'lru-cache';
import { IANAZone } from 'luxon';
import { badRequest } from '../../errors.ts';
import { hasSupportedYear } from '../../model/date-time.ts';
import { textLengthOfAll } from '../../model/fields.ts';
import type { RecordKind } from '../../model/record-kind.ts';
import type { Row } from '../connections/driver.ts';
import { columnName, fromColumn, pickFields, tableColumns } from '../query/columns.ts';
import type { Bounds, Grouping, RecordSummary, ScalarValue, SummaryQuery } from '../query/record-query.ts';
import { requireWhole, runQuery, selectRows } from '../query/rows.ts';
import { readBounded, type WorkspaceScope } from './read-budget.ts';

export function readSummary(scope: WorkspaceScope, kind: RecordKind, query: SummaryQuery): Promise<RecordSummary> {
  const { groupBy, min, max, limit } = query;
  return readBounded(scope, {
    table: pickFields(kind, new Set([...groupBy.map(({ field }) => field), ...min, ...max])),
    maxRows: limit + 1,
    async read() {
      const result = await summarize(scope, kind, query);
      return { result, length: textLengthOfAll(result.groups) };
    },
    // Measuring groups would take as long as reading them.
    measure: async () => 0,
  });
}

const dateLengths = { month: 7, day: 10 };

/** Totals include the groups beyond the limit. */
async function summarize(
  { dialect, run, workspaceId }: WorkspaceScope,
  kind: RecordKind,
  query: SummaryQuery,
): Promise<RecordSummary> {
  const { where, groupBy, timeZone, limit, min, max } = query;
  const matching = () => selectRows({ dialect, workspaceId, table: kind }, { where });
  const columnOf = (field: string) => `${kind.table}.${columnName(field)}`;

  async function dateSql(field: string, length: number): Promise<string> {
    const column = columnOf(field);
    if (timeZone === undefined) return dialect.date(column, length);
    const years = matching()
      .distinct(dialect.builder.raw(`${dialect.date(column, 4)} as year`))
      .whereNotNull(column);
    const found = (await runQuery(run, years.limit(requireWhole(maxYears + 1)))).map(({ year }) => String(year));
    if (found.length <= maxYears) return dialect.date(column, length, offsetSql(column, offsetsIn(timeZone, found)));
    throw badRequest(`timeZone: expected ${field} in at most ${maxYears} different years, received more: filter by it`);
  }

  const names = groupBy.map((_, index) => `value_${index}`);
  const selected: string[] = [];
  for (const [index, { field, by }] of groupBy.entries()) {
    const value = by === 'value' ? columnOf(field) : await dateSql(field, dateLengths[by]);
    selected.push(`${value} as ${names[index]}`);
  }
  for (const [bound, fields] of Object.entries({ min, max })) {
    for (const field of fields) {
      const value = `${bound}(${columnOf(field)})`;
      const name = `${bound}_${columnName(field)}`;
      selected.push(`${value} as ${name}`, `${bound}(${value}) over () as total_${name}`);
    }
  }
  selected.push('count(*) as size', 'sum(count(*)) over () as total');
  const groups = matching().select(dialect.builder.raw(selected.join(', ')));
  groups.groupByRaw(names.map((_, index) => index + 1).join(', '));
  groups.orderByRaw(['size desc', ...names.map((name) => `${name} nulls last`)].join(', '));
  const rows = await runQuery(run, groups.limit(requireWhole(limit + 1)));

  const columns = tableColumns(kind);
  // Safe: these columns are scalars.
  const valueIn = (value: unknown, { field, by }: Grouping): ScalarValue | null => {
    const column = by === 'value' ? columns.find((other) => other.field === field) : undefined;
    return (column ? fromColumn(column, value) : value) as ScalarValue | null;
  };
  const boundsIn = (row: Row | undefined, prefix = ''): Bounds => {
    const valuesOf = (bound: 'min' | 'max') =>
      query[bound].map((field) => [
        field,
        (row?.[`${prefix}${bound}_${columnName(field)}`] ?? null) as ScalarValue | null,
      ]);
    return { min: Object.fromEntries(valuesOf('min')), max: Object.fromEntries(valuesOf('max')) };
  };
  return {
    totalCount: Number(rows[0]?.total ?? 0),
    ...boundsIn(rows[0], 'total_'),
    groups: rows.map((row) => ({
      count: Number(row.size),
      values: groupBy.map((grouping, index) => valueIn(row[`value_${index}`], grouping)),
      ...boundsIn(row),
    })),
  };
}

/** A limit on computation: the offsets of a year take 0.5 ms. */
const maxYears = 100;

interface Offset {
  readonly from: number;
  readonly seconds: number;
}

/** No zone has changed its offset twice within six days. */
const shortestPeriodMs = 6 * 24 * 60 * 60 * 1_000;

/**
 * SQLite knows no time zones, and Postgres may have other rules than Node. Times of other years, stored between
 * the statements, get the last offset before them. Dates that would leave the years 0001 to 9999 stay in UTC.
 */
function offsetsIn(timeZone: string, years: readonly string[]): Offset[] {
  const zone = IANAZone.create(timeZone);
  const offsetAt = (from: number): Offset => {
    const seconds = Math.round(zone.offset(from) * 60);
    return { from, seconds: hasSupportedYear(new Date(from + seconds * 1_000).toISOString()) ? seconds : 0 };
  };
  const changesBetween = (start: Offset, end: Offset): Offset[] => {
    const length = end.from - start.from;
    if (start.seconds === end.seconds && length <= shortestPeriodMs) return [];
    if (length <= 1_000) return [end];
    const middle = offsetAt(start.from + Math.floor(length / 2_000) * 1_000);
    return [...changesBetween(start, middle), ...changesBetween(middle, end)];
  };
  const ofYear = (year: string): readonly Offset[] => {
    const start = offsetAt(Date.parse(`${year}-01-01T00:00:00Z`));
    return [start, ...changesBetween(start, offsetAt(Date.parse(`${year}-12-31T23:59:59Z`)))];
  };
  return years.toSorted().flatMap((year) => {
    const key = `${timeZone} ${year}`;
    const offsets = offsetsByZoneAndYear.get(key) ?? ofYear(year);
    offsetsByZoneAndYear.set(key, offsets);
    return offsets;
  });
}

const offsetsByZoneAndYear = new LRUCache<string, readonly Offset[]>({ max: 10_000 });

/** A binary search in SQL. */
function offsetSql(column: string, offsets: readonly Offset[]): string {
  const middle = offsets.length >> 1;
  const { from, seconds } = offsets[middle] ?? { from: 0, seconds: 0 };
  if (middle === 0) return String(seconds);
  const [before, after] = [offsets.slice(0, middle), offsets.slice(middle)].map((part) => offsetSql(column, part));
  return `case when ${column} < '${new Date(from).toISOString()}' then ${before} else ${after} end`;
}
