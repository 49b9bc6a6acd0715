/** What queries find, computed from plain arrays: conditions, orders, pages, reverse links and summaries. Knows no SQL. */
import { DateTime } from 'luxon';
import type { RecordKind } from '../../src/model/record-kind.ts';
import type { ReverseLink } from '../../src/model/reverse-link.ts';
import type {
  Comparison,
  Condition,
  Order,
  PagesQuery,
  Position,
  RecordQuery,
  Summary,
  SummaryQuery,
  Value,
} from '../../src/store/query/record-query.ts';

export type PlainRecord = Readonly<Record<string, unknown>> & { readonly id: string };

/** The records of one workspace by the name of their table. */
export type World = ReadonlyMap<string, readonly PlainRecord[]>;

export function createModel(world: World) {
  const recordsOf = (table: string): readonly PlainRecord[] => world.get(table) ?? [];
  const recordWithId = (table: string, id: unknown) => recordsOf(table).find((record) => record.id === id);

  function matches(record: PlainRecord, condition: Condition): boolean {
    if ('all' in condition) return condition.all.every((part) => matches(record, part));
    if ('any' in condition) return condition.any.some((part) => matches(record, part));
    if ('not' in condition) return !matches(record, condition.not);
    if ('near' in condition) return isNear(record, condition.near);
    if ('link' in condition) {
      const target = recordWithId(condition.target.table, record[condition.link]);
      return target !== undefined && matches(target, condition.matches);
    }
    if ('reverse' in condition) {
      const linked = linkedRecords(condition.reverse, record.id);
      if (condition.quantifier === 'some') return linked.some((other) => matches(other, condition.matches));
      if (condition.quantifier === 'none') return !linked.some((other) => matches(other, condition.matches));
      return linked.every((other) => matches(other, condition.matches));
    }
    const value = record[condition.field] ?? null;
    if ('isSet' in condition) return (value !== null) === condition.isSet;
    if (value === null) return false;
    if ('key' in condition) {
      const ids = value as Readonly<Record<string, string>>;
      return (
        Object.hasOwn(ids, condition.key) && (condition.value === undefined || ids[condition.key] === condition.value)
      );
    }
    return compares(value as Value, condition);
  }

  function linkedRecords({ kind, field, direction }: ReverseLink, parentId: string): PlainRecord[] {
    if (direction === 'referring') return recordsOf(kind.table).filter((record) => record[field] === parentId);
    const ancestors: PlainRecord[] = [];
    let next = recordWithId(kind.table, recordWithId(kind.table, parentId)?.[field]);
    for (; next && !ancestors.includes(next); next = recordWithId(kind.table, next[field])) ancestors.push(next);
    return ancestors;
  }

  /** Null also where the linked record is not there. */
  function orderedValue(record: PlainRecord, { links = [], field }: Order): Value | null {
    let from: PlainRecord | undefined = record;
    for (const { reference, target } of links) from = from && recordWithId(target.table, from[reference]);
    return (from?.[field] ?? null) as Value | null;
  }

  const positionOf = (orderBy: readonly Order[], record: PlainRecord): Position => ({
    values: orderBy.filter((order) => !isId(order)).map((order) => orderedValue(record, order)),
    id: record.id,
  });

  /** The records in the query's order, the other way round if it reads from the end. */
  function find(records: readonly PlainRecord[], query: RecordQuery): PlainRecord[] {
    const { where, orderBy = [], fromEnd = false, after, before, limit = Number.POSITIVE_INFINITY } = query;
    const place = (record: PlainRecord) => positionOf(orderBy, record);
    const found = records
      .filter((record) => !where || matches(record, where))
      .filter((record) => !after || comparePositions(orderBy, place(record), after) > 0)
      .filter((record) => !before || comparePositions(orderBy, place(record), before) < 0)
      .toSorted((a, b) => comparePositions(orderBy, place(a), place(b)));
    return (fromEnd ? found.toReversed() : found).slice(0, limit);
  }

  return {
    positionOf,

    list: ({ table }: RecordKind, query: RecordQuery): PlainRecord[] => find(recordsOf(table), query),

    page(link: ReverseLink, parentId: string, query: PagesQuery): { records: PlainRecord[]; count?: number } {
      const linked = linkedRecords(link, parentId);
      return {
        records: query.limit === undefined ? [] : find(linked, query),
        ...(query.withCount && { count: find(linked, { where: query.where }).length }),
      };
    },

    summary({ table }: RecordKind, query: SummaryQuery): Summary {
      const { where, groupBy, limit, timeZone = 'UTC', min, max } = query;
      const found = find(recordsOf(table), { where });
      const groups = new Map<string, { members: PlainRecord[]; values: (Value | null)[] }>();
      for (const record of found) {
        const values = groupBy.map(({ field, by }) => {
          const value = (record[field] ?? null) as Value | null;
          return by === 'value' || value === null ? value : dateIn(timeZone, String(value)).slice(0, lengthOf[by]);
        });
        const key = JSON.stringify(values);
        groups.set(key, { members: [...(groups.get(key)?.members ?? []), record], values });
      }
      const boundsOf = (records: readonly PlainRecord[]) => ({
        min: Object.fromEntries(min.map((field) => [field, inOrderOf(field, records)[0] ?? null])),
        max: Object.fromEntries(max.map((field) => [field, inOrderOf(field, records).at(-1) ?? null])),
      });
      const inOrder = [...groups.values()]
        .map(({ members, values }) => ({ count: members.length, values, ...boundsOf(members) }))
        .toSorted((a, b) => b.count - a.count || firstDifference(a.values, b.values, (x, y) => compareNullable(x, y)));
      return { totalCount: found.length, ...boundsOf(found), groups: inOrder.slice(0, limit + 1) };
    },
  };
}

const lengthOf = { month: 7, day: 10 };

function dateIn(zone: string, time: string): string {
  const local = DateTime.fromISO(time, { zone });
  return local.year < 1 || local.year > 9999 ? time : local.toFormat('yyyy-MM-dd');
}

const inOrderOf = (field: string, records: readonly PlainRecord[]): Value[] =>
  records
    .map(({ [field]: value }) => (value ?? null) as Value | null)
    .filter((value) => value !== null)
    .toSorted(compareValues);

const isId = ({ field, links }: Order): boolean => field === 'id' && links === undefined;

function comparePositions(orderBy: readonly Order[], a: Position, b: Position): number {
  let sign = 1;
  for (const [index, order] of orderBy.entries()) {
    sign = order.direction === 'desc' ? -1 : 1;
    if (isId(order)) break;
    const difference = compareNullable(a.values[index] ?? null, b.values[index] ?? null, sign);
    if (difference !== 0) return difference;
  }
  return sign * compareValues(a.id, b.id);
}

function compareNullable(a: Value | null, b: Value | null, sign = 1): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return sign * compareValues(a, b);
}

function compareValues(a: Value, b: Value): number {
  if (typeof a === 'string' && typeof b === 'string') return compareTexts(a, b);
  return Number(a) - Number(b);
}

/** By code points. JavaScript compares UTF-16 code units, which places astral characters before some others. */
function compareTexts(a: string, b: string): number {
  const [ours, theirs] = [Array.from(a), Array.from(b)].map((text) => text.map((letter) => letter.codePointAt(0) ?? 0));
  return firstDifference(ours ?? [], theirs ?? [], (x, y) => x - y) || (ours?.length ?? 0) - (theirs?.length ?? 0);
}

function firstDifference<T>(a: readonly T[], b: readonly T[], compare: (x: T, y: T) => number): number {
  for (let index = 0; index < Math.min(a.length, b.length); index += 1) {
    const difference = compare(a[index] as T, b[index] as T);
    if (difference !== 0) return difference;
  }
  return 0;
}

function compares(value: Value, condition: Comparison): boolean {
  if ('compare' in condition) {
    const difference = compareValues(value, condition.value);
    if (condition.compare === 'gt') return difference > 0;
    if (condition.compare === 'gte') return difference >= 0;
    if (condition.compare === 'lt') return difference < 0;
    return difference <= 0;
  }
  const { ignoreCase = false } = condition;
  const isSame = ignoreCase ? isSameLetter : (asked: string, found: string) => asked === found;
  const isAt = (asked: readonly string[], found: readonly string[], start: number) =>
    start >= 0 &&
    start + asked.length <= found.length &&
    asked.every((letter, index) => isSame(letter, found[start + index] ?? ''));
  if ('in' in condition) {
    if (typeof value !== 'string') return condition.in.some((other) => Number(other) === Number(value));
    const found = Array.from(value);
    return condition.in.some((other) => {
      const asked = Array.from(String(other));
      return asked.length === found.length && isAt(asked, found, 0);
    });
  }
  const [asked, found] = [Array.from(condition.value), Array.from(String(value))];
  if (condition.text === 'startsWith') return isAt(asked, found, 0);
  if (condition.text === 'endsWith') return isAt(asked, found, found.length - asked.length);
  for (let start = 0; start <= found.length - asked.length; start += 1) if (isAt(asked, found, start)) return true;
  return false;
}

const isSameLetter = (asked: string, found: string): boolean =>
  found === asked || found === asked.toUpperCase() || found === asked.toLowerCase();

function isNear(record: PlainRecord, near: { latitude: number; longitude: number; withinKm: number }): boolean {
  const { latitude, longitude } = record;
  if (typeof latitude !== 'number' || typeof longitude !== 'number') return false;
  const radians = (degrees: number) => (degrees * Math.PI) / 180;
  const half = (difference: number) => Math.sin(radians(difference) / 2) ** 2;
  const a =
    half(latitude - near.latitude) +
    Math.cos(radians(latitude)) * Math.cos(radians(near.latitude)) * half(longitude - near.longitude);
  return 2 * 6371.0088 * Math.asin(Math.sqrt(Math.min(1, a))) <= near.withinKm;
}
