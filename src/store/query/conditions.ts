/** Conditions as SQL, which may be null instead of false: only negations must distinguish them. */
import type { Knex } from 'knex';
import { isAscii, isSorted, type StoredField } from '../../model/fields.ts';
import { earthRadiusKm } from '../../model/places.ts';
import type { Table } from '../../model/record-kind.ts';
import { alikePattern, keyRanges, prefixRange, sortKey, type TextRange } from '../../model/sort-key.ts';
import { columnName } from './columns.ts';
import { keyField } from './computed.ts';
import type { Dialect, Filters, Pattern } from './dialect.ts';
import type { AlikeComparison, Condition, ValueComparison } from './record-query.ts';
import { ancestorsOf } from './trees.ts';

export interface ConditionScope {
  readonly dialect: Dialect;
  readonly workspaceId: number;
  readonly table: Table;
  readonly alias: string;
  /** The depth of subqueries keeps their aliases apart. */
  readonly depth: number;
  /** Rows are found by another condition, such as the record of a list. */
  readonly isPerRow?: boolean | undefined;
}

/** Undefined if every record matches. */
export function conditionSql(scope: ConditionScope, condition: Condition): Knex.Raw | undefined {
  const { dialect, table } = scope;
  const sql = foldedSql(scope, condition);
  if (typeof sql !== 'boolean') return sql;
  return sql ? undefined : dialect.filters.isOneOf(columnOf(scope, table.key?.at(-1) ?? 'id'), 'id', []);
}

/**
 * A boolean for a constant condition, such as `all: []`: with constants in SQL, Postgres would fold away the filter by
 * workspace, which Citus needs in each subquery.
 */
function foldedSql(scope: ConditionScope, condition: Condition): Knex.Raw | boolean {
  const { dialect } = scope;
  if ('all' in condition) return joinConditions(scope, condition.all, 'and');
  if ('any' in condition) return joinConditions(scope, condition.any, 'or');
  if ('not' in condition) {
    const sql = foldedSql({ ...scope, isPerRow: true }, condition.not);
    return typeof sql === 'boolean' ? !sql : dialect.builder.raw('(?) is not true', [sql]);
  }
  if ('near' in condition) return nearSql(scope, condition.near);
  if ('during' in condition) return duringSql(scope, condition.during);
  if ('within' in condition) throw new Error('resolve `within` to IDs first');
  if ('link' in condition) return linkSql(scope, condition, dialect.filters.isAmong);
  if ('reverse' in condition) return reverseSql(scope, condition);
  if ('key' in condition) return externalIdSql(scope, condition);
  const field = requireField(scope.table.storedFields, condition.field);
  const { type, required } = field;
  const column = columnOf(scope, condition.field);
  // Postgres 17 would fold `is null`, too.
  if ('isSet' in condition) return required ? condition.isSet : dialect.filters.isSet(column, condition.isSet);
  if ('in' in condition && condition.in.length === 0) return false;
  if ('alike' in condition) return alikeSql(scope, condition);
  const sql = comparisonSql(dialect, type, column, condition);
  const keyCondition = isSorted(field) && keySql(scope, condition);
  // Without `case`, Postgres takes both for independent, and expects too few rows for an order by another index.
  return keyCondition ? dialect.builder.raw('(? and case when ? then true end)', [keyCondition, sql]) : sql;
}

const columnOf = ({ alias }: Pick<ConditionScope, 'alias'>, field: string): string => `${alias}.${columnName(field)}`;

function externalIdSql(scope: ConditionScope, { field, key, value }: Extract<Condition, { key: string }>): Knex.Raw {
  const { dialect, workspaceId, alias } = scope;
  const records = { workspaceId, table: scope.table.table, alias, column: columnName(field) };
  return dialect.filters.hasExternalId(records, key, value);
}

function joinConditions(
  scope: ConditionScope,
  conditions: readonly Condition[],
  operator: 'and' | 'or',
): Knex.Raw | boolean {
  const folded = conditions.map((condition) => foldedSql(scope, condition));
  const decides = operator === 'or';
  if (folded.includes(decides)) return decides;
  const parts = folded.filter((part) => typeof part !== 'boolean');
  return parts.length === 0 ? !decides : joinBalanced(scope.dialect, parts, operator);
}

/** SQLite allows expressions of 1,000 levels: a chain would have one for each condition. */
function joinBalanced(dialect: Dialect, parts: readonly Knex.Raw[], operator: 'and' | 'or'): Knex.Raw {
  const [first] = parts;
  if (first && parts.length === 1) return first;
  const middle = parts.length >> 1;
  const halves = [parts.slice(0, middle), parts.slice(middle)];
  return dialect.builder.raw(
    `(? ${operator} ?)`,
    halves.map((half) => joinBalanced(dialect, half, operator)),
  );
}

type LinkCondition = Extract<Condition, { link: string }>;
type AmongFilter<T> = (...filter: Parameters<Filters['isAmong']>) => T;

function linkSql<T>(
  scope: ConditionScope,
  { link, target, matches, keyPrefix }: LinkCondition,
  isAmong: AmongFilter<T>,
): T | false {
  const inner = innerScope(scope, target);
  const ofType: Condition[] = keyPrefix ? [{ field: 'key', text: 'startsWith', value: keyPrefix }] : [];
  const where = inWorkspace(inner, foldedSql(inner, { all: [...ofType, matches] }));
  const from = `${target.table} as ${inner.alias}`;
  let [value, column] = [columnOf(scope, link), `${inner.alias}.id`];
  // Per row, the index of the keys serves; otherwise that of the reference.
  if (keyPrefix && scope.isPerRow) [value, column] = [`'${keyPrefix}' || ${value}`, `${inner.alias}.key`];
  else if (keyPrefix) column = `substr(${inner.alias}.key, ${keyPrefix.length + 1})`;
  return where && isAmong(value, { column, from, where }, scope.isPerRow);
}

/**
 * Splits a lookup of linked records by a text into alternatives: few have the text, or many. Postgres estimates their
 * number over all workspaces, and if it is great, would search a page among all records.
 */
export function lookupVariants(scope: ConditionScope, condition: Condition): readonly Knex.Raw[] {
  if ('all' in condition) return condition.all.map((part) => lookupVariants(scope, part)).find(([few]) => few) ?? [];
  const isLookedUp = 'link' in condition && hasText(condition.target, condition.matches);
  return (isLookedUp && linkSql(scope, condition, scope.dialect.filters.isAmongFew)) || [];
}

function hasText(table: Table, condition: Condition): boolean {
  if ('all' in condition) return condition.all.some((part) => hasText(table, part));
  if ('link' in condition) return hasText(condition.target, condition.matches);
  return 'in' in condition && !condition.ignoreCase && table.storedFields[condition.field]?.indexed === true;
}

function reverseSql(
  scope: ConditionScope,
  { reverse, quantifier, matches }: Extract<Condition, { quantifier: string }>,
): Knex.Raw | boolean {
  const { builder, filters } = scope.dialect;
  const { kind, field, direction } = reverse;
  const isSome = quantifier === 'some';
  const inner = { ...innerScope(scope, kind), isPerRow: scope.isPerRow || !isSome };
  const { alias } = inner;
  const where = inWorkspace(inner, foldedSql(inner, quantifier === 'every' ? { not: matches } : matches));
  if (!where) return !isSome;
  if (direction === 'ancestors') {
    const ancestors = ancestorsOf(scope, reverse, builder.raw(columnOf(scope, field)));
    return builder.raw(`${isSome ? '' : 'not '}exists (select 1 from ? as ${alias} where ?)`, [ancestors, where]);
  }
  const column = columnOf(inner, field);
  const from = `${kind.table} as ${alias}`;
  if (direction === 'clashing') {
    const clashes = builder.raw(clashSql(alias, scope.alias, columnName(field)));
    return builder.raw(`${isSome ? '' : 'not '}exists (select 1 from ${from} where ? and ?)`, [clashes, where]);
  }
  if (isSome) return filters.isAmong(`${scope.alias}.id`, { column, from, where }, scope.isPerRow);
  // The databases look this up for each record of a page.
  return builder.raw(`not exists (select 1 from ${from} where ${column} = ${scope.alias}.id and ?)`, [where]);
}

const innerScope = (scope: ConditionScope, table: Table): ConditionScope => {
  const depth = scope.depth + 1;
  return { ...scope, table, depth, alias: `t${depth}` };
};

/** False if no record matches. */
function inWorkspace({ dialect, workspaceId, alias }: ConditionScope, matches: Knex.Raw | boolean): Knex.Raw | false {
  if (matches === false) return false;
  const isInWorkspace = dialect.builder.raw(`${alias}.workspace_id = ?`, [workspaceId]);
  return matches === true ? isInWorkspace : dialect.builder.raw('? and ?', [isInWorkspace, matches]);
}

/** Later than all times, in both databases: SQLite stores times as text. */
export const endless = 'infinity';

export const overlapsSql = (alias: string, start: string, end: string): string =>
  `${alias}.start_date < ${end} and (${alias}.end_date is null or
    ${alias}.end_date > ${alias}.start_date and ${alias}.end_date > ${start})`;

/**
 * In a subquery, `case` hides the index of the start: Postgres without statistics read it for each of 20,000 assets, in
 * 3 to 8 s.
 */
function duringSql(
  { dialect, alias, depth }: ConditionScope,
  { from, to }: Extract<Condition, { during: object }>['during'],
): Knex.Raw {
  const overlaps = overlapsSql(alias, '?', '?');
  const sql = depth === 0 ? `(${overlaps})` : `case when ${overlaps} then 1 end = 1`;
  return dialect.builder.raw(sql, [to ?? endless, from]);
}

/** Two records overlap, and refer to the same one. */
export function clashSql(a: string, b: string, field: string): string {
  const end = `coalesce(${b}.end_date, '${endless}')`;
  return `${a}.${field} = ${b}.${field} and ${a}.id <> ${b}.id
    and ${b}.start_date < ${end} and ${overlapsSql(a, `${b}.start_date`, end)}`;
}

/** The haversine formula, both sides squared, after a range of latitudes for an index. */
function nearSql(
  scope: ConditionScope,
  { latitude, longitude, withinKm }: Extract<Condition, { near: object }>['near'],
) {
  const lat = columnOf(scope, 'latitude');
  const lon = columnOf(scope, 'longitude');
  const angle = Math.min(withinKm / earthRadiusKm, Math.PI);
  // Slightly more, so that rounding excludes nothing.
  const degrees = (angle * 180) / Math.PI + 1e-9;
  // Postgres fails if a result underflows; with this added, none does.
  const tiny = '1e-100';
  const squaredSine = (column: string) => `pow(sin(radians(${column} - ? + ${tiny}) / 2), 2)`;
  return scope.dialect.builder.raw(
    `(${lat} between ? and ? and ${squaredSine(lat)} + cos(radians(${lat} + ${tiny})) * ? * ${squaredSine(lon)} <= ?)`,
    [
      latitude - degrees,
      latitude + degrees,
      latitude,
      Math.cos((latitude * Math.PI) / 180),
      longitude,
      // Nothing is farther, whatever the rounding.
      angle === Math.PI ? 2 : Math.sin(angle / 2) ** 2 + 1e-200,
    ],
  );
}

export function requireField(storedFields: Table['storedFields'], name: string): StoredField {
  const field = storedFields[name];
  if (!field) throw new Error(`there is no field ${name}`);
  return field;
}

/** A condition with an index that all matching records meet. Undefined if there is none. */
function keySql(scope: ConditionScope, comparison: ValueComparison): Knex.Raw | undefined {
  if ('compare' in comparison) return undefined;
  const texts = 'in' in comparison ? comparison.in.map(String) : [comparison.value];
  if (comparison.ignoreCase && !texts.every(formsShareKey)) return undefined;
  if ('in' in comparison) {
    const field = keyField(comparison.field);
    return comparisonSql(scope.dialect, 'text', columnOf(scope, field), {
      field,
      in: [...new Set(texts.map(sortKey))],
    });
  }
  return comparison.text === 'startsWith' ? startsWithKeySql(scope, comparison) : undefined;
}

/** `ς` and `Σ` match without case, but have different keys. */
const formsShareKey = (text: string): boolean =>
  isAscii(text) || Array.from(text).every((character) => new Set(formsOf(character).map(sortKey)).size === 1);

function startsWithKeySql(scope: ConditionScope, { field, value }: { readonly field: string; readonly value: string }) {
  const { dialect, workspaceId, table, alias } = scope;
  const column = columnName(keyField(field));
  const ranges = keyRanges(value);
  const keys = { workspaceId, table: table.table, alias, column };
  if (ranges.length > 1 && dialect.filters.isInRanges) return dialect.filters.isInRanges(keys, ranges);
  return joinBalanced(
    dialect,
    ranges.map((range) => rangeSql(dialect, `${alias}.${column}`, range)),
    'or',
  );
}

function alikeSql(scope: ConditionScope, { field, alike, value }: AlikeComparison): Knex.Raw {
  const { builder, filters } = scope.dialect;
  const key = columnOf(scope, keyField(field));
  if (alike === 'all') return builder.raw(`${key} = ?`, [sortKey(value)]);
  const isBeginning = alike === 'startsWith';
  const pattern = alikePattern(value, { isBeginning });
  // If the pattern is text, all keys in its range match.
  if (typeof pattern === 'string')
    return isBeginning ? startsWithKeySql(scope, { field, value }) : filters.contains(key, pattern);
  const matches = filters.matchesAny(key, [
    { characters: pattern, isAnchoredAtStart: isBeginning, isAnchoredAtEnd: false },
  ]);
  return isBeginning ? builder.raw('(? and ?)', [startsWithKeySql(scope, { field, value }), matches]) : matches;
}

function comparisonSql(
  dialect: Dialect,
  type: StoredField['type'],
  column: string,
  comparison: ValueComparison,
): Knex.Raw {
  const { builder, filters } = dialect;
  if ('ignoreCase' in comparison && comparison.ignoreCase) return ignoringCase(dialect, column, comparison);
  if ('compare' in comparison) {
    return builder.raw(`${column} ${operators[comparison.compare]} ?`, [comparison.value]);
  }
  if ('in' in comparison) {
    const [value] = comparison.in;
    // With `=`, an index also serves an order by its next column.
    if (value !== undefined && comparison.in.length === 1) return builder.raw(`${column} = ?`, [value]);
    return filters.isOneOf(column, type, comparison.in);
  }
  const { text, value } = comparison;
  if (text !== 'startsWith') return filters[text](column, value);
  return rangeSql(dialect, column, prefixRange(value));
}

/** An index serves it. */
function rangeSql({ builder }: Dialect, column: string, { from, to }: TextRange): Knex.Raw {
  if (to === undefined) return builder.raw(`${column} >= ?`, [from]);
  return builder.raw(`(${column} >= ? and ${column} < ?)`, [from, to]);
}

const operators = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const;

/** `lower` changes A to Z only: enough for ASCII, and far faster than patterns. */
function ignoringCase(
  dialect: Dialect,
  column: string,
  comparison: Exclude<ValueComparison, { compare: string }>,
): Knex.Raw {
  const { builder, filters } = dialect;
  const texts = 'in' in comparison ? comparison.in.map(String) : [comparison.value];
  const part = 'in' in comparison ? 'all' : comparison.text;
  const patterns = texts.filter((text) => !isAscii(text)).map((text) => patternOf(text, part));
  const plain = texts.filter(isAscii).map((text) => text.toLowerCase());
  const matchesPlain = () => {
    const [value = ''] = plain;
    const { field } = comparison;
    return comparisonSql(
      dialect,
      'text',
      `lower(${column})`,
      part === 'all' ? { field, in: plain } : { field, text: part, value },
    );
  };
  if (patterns.length === 0) return matchesPlain();
  const matchesPattern = filters.matchesAny(column, patterns);
  return plain.length === 0 ? matchesPattern : builder.raw('(? or ?)', [matchesPlain(), matchesPattern]);
}

type Part = 'all' | 'contains' | 'startsWith' | 'endsWith';

const patternOf = (text: string, part: Part): Pattern => ({
  characters: Array.from(text, formsOf),
  isAnchoredAtStart: part === 'all' || part === 'startsWith',
  isAnchoredAtEnd: part === 'all' || part === 'endsWith',
});

/**
 * With upper and lower case in JavaScript, so that both databases find the same: their rules depend on version and
 * locale. A form of several characters does not count: `ß` has no upper case here.
 */
const formsOf = (character: string): readonly string[] => [
  ...new Set([character, character.toUpperCase(), character.toLowerCase()].filter(isSingle)),
];

const isSingle = (text: string): boolean => Array.from(text).length === 1;
