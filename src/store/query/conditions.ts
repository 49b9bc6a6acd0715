/** Only `not` and its like tell false from null. Every table is limited to the workspace, and every value is a parameter. */
import type { Knex } from 'knex';
import { isAscii } from '../../model/characters.ts';
import type { StoredField } from '../../model/fields.ts';
import type { Table } from '../../model/record-kind.ts';
import type { ReverseLink } from '../../model/reverse-link.ts';
import { columnName } from './columns.ts';
import type { Dialect, Pattern } from './dialect.ts';
import type { Comparison, Condition } from './record-query.ts';

interface Scope {
  readonly dialect: Dialect;
  readonly workspaceId: number;
  readonly table: Table;
  readonly alias: string;
  /** The number of subqueries around it, which makes the aliases inside differ from those outside. */
  readonly depth: number;
}

export const conditionSql = (scope: Scope, condition: Condition): Knex.Raw =>
  simplifiedSql(scope, simplified(condition, scope.table));

function simplifiedSql(scope: Scope, condition: Condition): Knex.Raw {
  const { builder } = scope.dialect;
  if ('all' in condition) return joined(scope, condition.all, 'and');
  if ('any' in condition) return joined(scope, condition.any, 'or');
  if ('not' in condition) return builder.raw('(?) is not true', [simplifiedSql(scope, condition.not)]);
  if ('near' in condition) return nearSql(scope, condition.near);
  if ('link' in condition) return linkSql(scope, condition);
  if ('reverse' in condition) return reverseSql(scope, condition);
  if ('key' in condition) return externalIdSql(scope, condition);
  const column = columnOf(scope, condition.field);
  if ('isSet' in condition) return scope.dialect.filters.isSet(column, condition.isSet);
  return comparisonSql(scope.dialect, fieldOf(scope.table.storedFields, condition.field).type, column, condition);
}

const columnOf = ({ alias }: Pick<Scope, 'alias'>, field: string): string => `${alias}.${columnName(field)}`;

function externalIdSql(scope: Scope, { field, key, value }: Extract<Condition, { key: string }>): Knex.Raw {
  const { dialect, workspaceId, alias } = scope;
  const records = { workspaceId, table: scope.table.table, alias, column: columnName(field) };
  return dialect.filters.hasExternalId(records, key, value);
}

/** As a balanced tree: SQLite allows expressions that are 1,000 levels deep, and a chain has a level for each condition. */
function joined(scope: Scope, conditions: readonly Condition[], operator: 'and' | 'or'): Knex.Raw {
  const { builder } = scope.dialect;
  const [first] = conditions;
  if (!first) return operator === 'and' ? builder.raw('true') : neverSql(scope);
  if (conditions.length === 1) return simplifiedSql(scope, first);
  const middle = conditions.length >> 1;
  const halves = [conditions.slice(0, middle), conditions.slice(middle)];
  return builder.raw(
    `(? ${operator} ?)`,
    halves.map((half) => joined(scope, half, operator)),
  );
}

/** Not `false`, with which Postgres would drop the filter by workspace: Citus needs it wherever this is a part of a subquery. */
const neverSql = (scope: Scope): Knex.Raw => simplifiedSql(scope, { field: scope.table.key?.at(-1) ?? 'id', in: [] });

function linkSql(scope: Scope, { link, target, matches }: Extract<Condition, { link: string }>): Knex.Raw {
  const inner = scopeInside(scope, target);
  return scope.dialect.filters.isAmong(columnOf(scope, link), {
    column: `${inner.alias}.id`,
    from: `${target.table} as ${inner.alias}`,
    where: ownRows(inner, matches),
  });
}

function reverseSql(
  scope: Scope,
  { reverse, quantifier, matches }: Extract<Condition, { quantifier: string }>,
): Knex.Raw {
  const { builder, filters } = scope.dialect;
  const { kind, field, direction } = reverse;
  const inner = scopeInside(scope, kind);
  const { alias } = inner;
  const where = ownRows(inner, matches);
  if (direction === 'ancestors') {
    const ancestors = ancestorsOf(scope, reverse, builder.raw(columnOf(scope, field)));
    return builder.raw(`${quantifier === 'some' ? '' : 'not '}exists (select 1 from ? as ${alias} where ?)`, [
      ancestors,
      where,
    ]);
  }
  const column = columnOf(inner, field);
  const from = `${kind.table} as ${alias}`;
  if (quantifier === 'some') return filters.isAmong(`${scope.alias}.id`, { column, from, where });
  // The databases look these up for each record, and so need not find all of them for one page.
  return builder.raw(`not exists (select 1 from ${from} where ${column} = ${scope.alias}.id and ?)`, [where]);
}

const scopeInside = (scope: Scope, table: Table): Scope => {
  const depth = scope.depth + 1;
  return { ...scope, table, depth, alias: `t${depth}` };
};

function ownRows(scope: Scope, matches: Condition): Knex.Raw {
  const { dialect, workspaceId, alias } = scope;
  const own = dialect.builder.raw(`${alias}.workspace_id = ?`, [workspaceId]);
  return isAlways(matches) ? own : dialect.builder.raw('? and ?', [own, simplifiedSql(scope, matches)]);
}

/** Kilometres. */
const earthRadius = 6_371.0088;

/** The haversine formula, with both sides squared, after a range of latitudes for which an index can be used. */
function nearSql(scope: Scope, { latitude, longitude, withinKm }: Extract<Condition, { near: object }>['near']) {
  const [lat, lon] = [columnOf(scope, 'latitude'), columnOf(scope, 'longitude')];
  const angle = Math.min(withinKm / earthRadius, Math.PI);
  // A little more than needed, so that rounding excludes nothing.
  const degrees = (angle * 180) / Math.PI + 1e-9;
  // Postgres fails where a result is too small for a number. With this much more, none is.
  const tiny = '1e-100';
  const squaredSine = (degrees: string) => `pow(sin(radians(${degrees} - ? + ${tiny}) / 2), 2)`;
  return scope.dialect.builder.raw(
    `(${lat} between ? and ? and ${squaredSine(lat)} + cos(radians(${lat} + ${tiny})) * ? * ${squaredSine(lon)} <= ?)`,
    [
      latitude - degrees,
      latitude + degrees,
      latitude,
      Math.cos((latitude * Math.PI) / 180),
      longitude,
      // The other side of the Earth is as far as anything can be, rounding included.
      angle === Math.PI ? 2 : Math.sin(angle / 2) ** 2 + 1e-200,
    ],
  );
}

export function fieldOf(storedFields: Table['storedFields'], name: string): StoredField {
  const field = storedFields[name];
  if (!field) throw new Error(`there is no field ${name}`);
  return field;
}

function comparisonSql(dialect: Dialect, type: StoredField['type'], column: string, comparison: Comparison): Knex.Raw {
  const { builder, filters } = dialect;
  if ('ignoreCase' in comparison && comparison.ignoreCase) return ignoringCase(dialect, column, comparison);
  if ('compare' in comparison) {
    return builder.raw(`${column} ${operators[comparison.compare]} ?`, [comparison.value]);
  }
  if ('in' in comparison) {
    const [value, ...others] = comparison.in;
    // With `=`, an index that begins with the column can serve an order by the columns after it.
    if (value !== undefined && others.length === 0) return builder.raw(`${column} = ?`, [value]);
    return filters.isOneOf(column, type, comparison.in);
  }
  const { text, value } = comparison;
  if (text !== 'startsWith') return filters[text](column, value);
  // A range can use an index.
  const end = firstTextAfter(value);
  return end === undefined
    ? builder.raw(`${column} >= ?`, [value])
    : builder.raw(`(${column} >= ? and ${column} < ?)`, [value, end]);
}

const operators = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const;

/** Both databases' `lower` changes A to Z only: enough for texts without other letters, in far less time than patterns. */
function ignoringCase(
  dialect: Dialect,
  column: string,
  comparison: Exclude<Comparison, { compare: string }>,
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
      'reference',
      `lower(${column})`,
      part === 'all' ? { field, in: plain } : { field, text: part, value },
    );
  };
  if (patterns.length === 0) return matchesPlain();
  const matchesPattern = filters.matchesAny(column, patterns);
  return plain.length === 0 ? matchesPattern : builder.raw('(? or ?)', [matchesPlain(), matchesPattern]);
}

/** Returns the first text, by code points, that follows all texts with this prefix; undefined if there is none. */
function firstTextAfter(prefix: string): string | undefined {
  const codePoints = Array.from(prefix, (character) => character.codePointAt(0) ?? 0);
  while (codePoints.at(-1) === 0x10_ff_ff) codePoints.pop();
  const last = codePoints.pop();
  if (last === undefined) return undefined;
  // Surrogates are not characters.
  return String.fromCodePoint(...codePoints, last === 0xd7_ff ? 0xe0_00 : last + 1);
}

type Part = 'all' | 'contains' | 'startsWith' | 'endsWith';

const patternOf = (text: string, part: Part): Pattern => ({
  characters: Array.from(text, formsOf),
  isAnchoredAtStart: part === 'all' || part === 'startsWith',
  isAnchoredAtEnd: part === 'all' || part === 'endsWith',
});

/**
 * Returns the character and its upper and lower case, by JavaScript, so that both databases find the same: their own rules depend on
 * version and locale. A form of several characters does not count: `ß` has no upper case here.
 */
const formsOf = (character: string): readonly string[] => [
  ...new Set([character, character.toUpperCase(), character.toLowerCase()].filter(isSingle)),
];

const isSingle = (text: string): boolean => Array.from(text).length === 1;

/** Constants such as `all: []` are folded before they become SQL: Postgres would fold the filter by workspace with them, which Citus needs. */
const always: Condition = { all: [] };
const never: Condition = { any: [] };

const isAlways = (condition: Condition): boolean => 'all' in condition && condition.all.length === 0;
const isNever = (condition: Condition): boolean => 'any' in condition && condition.any.length === 0;

/** Constants remain only at the top, or as `matches: { all: [] }`. There is no `every`, and no `in` without values. */
function simplified(condition: Condition, table: Table): Condition {
  if ('all' in condition) {
    const parts = condition.all.map((part) => simplified(part, table)).filter((part) => !isAlways(part));
    return parts.find(isNever) ?? (parts.length === 1 ? (parts[0] as Condition) : { all: parts });
  }
  if ('any' in condition) {
    const parts = condition.any.map((part) => simplified(part, table)).filter((part) => !isNever(part));
    return parts.find(isAlways) ?? (parts.length === 1 ? (parts[0] as Condition) : { any: parts });
  }
  if ('not' in condition) return opposite(simplified(condition.not, table));
  if ('link' in condition) {
    const matches = simplified(condition.matches, condition.target);
    return isNever(matches) ? never : { ...condition, matches };
  }
  if ('reverse' in condition) return simplifiedReverse(condition);
  if ('in' in condition && condition.in.length === 0) return never;
  // Postgres 17 folds these, too.
  if ('isSet' in condition && table.storedFields[condition.field]?.required) return condition.isSet ? always : never;
  return condition;
}

function opposite(condition: Condition): Condition {
  if (isAlways(condition)) return never;
  if (isNever(condition)) return always;
  return 'not' in condition ? condition.not : { not: condition };
}

function simplifiedReverse({ reverse, quantifier, matches }: Extract<Condition, { quantifier: string }>): Condition {
  // "Every record matches" is "no record fails to match".
  const inner = simplified(quantifier === 'every' ? { not: matches } : matches, reverse.kind);
  if (isNever(inner)) return quantifier === 'some' ? never : always;
  return { reverse, quantifier: quantifier === 'some' ? 'some' : 'none', matches: inner };
}

type TreeScope = Pick<Scope, 'dialect' | 'workspaceId'>;
type Tree = Pick<ReverseLink, 'kind' | 'field'>;

export function ancestorsOf(scope: TreeScope, tree: Tree, first: Knex.Raw): Knex.QueryBuilder {
  const { builder } = scope.dialect;
  const firstId = builder.from(builder.raw('(select ? as id) as first', [first])).select('id');
  return withAncestors(scope, tree, firstId).select('record.*');
}

export const parentsOf = (scope: TreeScope, tree: Tree, ids: readonly string[]): Knex.QueryBuilder =>
  withAncestors(scope, tree, scope.dialect.rowsById(tree.kind, scope.workspaceId, ids).select('id')).select({
    id: 'record.id',
    parent: `record.${columnName(tree.field)}`,
  });

/** Because `union` adds each ID only once, the recursion also ends where a record is its own ancestor. */
function withAncestors(
  { dialect, workspaceId }: TreeScope,
  { kind, field }: Tree,
  firstIds: Knex.QueryBuilder,
): Knex.QueryBuilder {
  const recordsOfIds = (alias: string) =>
    dialect.builder.from('ancestor').joinRaw(dialect.joinById({ table: kind, alias }, 'ancestor.id'), [workspaceId]);
  const parentIds = recordsOfIds('child').select(`child.${columnName(field)}`);
  return recordsOfIds('record').withRecursive('ancestor', ['id'], firstIds.union(parentIds));
}
