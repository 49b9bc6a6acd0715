/**
 * Conditions as SQL. What a condition does not match may be false or null: only `not` and its like tell them apart. Every table
 * that a condition reads is limited to the workspace, and every value is a parameter.
 */
import type { Knex } from 'knex';
import type { Field } from '../../model/fields.ts';
import type { Table } from '../../model/record-kind.ts';
import { columnName } from '../columns.ts';
import type { Comparison, Condition } from '../condition.ts';
import type { Dialect } from '../dialect.ts';
import { ancestorsOf } from './ancestors.ts';
import { type Part, patternOf } from './letter-case.ts';

/** The records that a condition is about: rows of a table, under the alias that columns are qualified with. */
export interface Scope {
  readonly dialect: Dialect;
  readonly workspaceId: string;
  readonly table: Table;
  readonly alias: string;
  /** The number of subqueries around it, which makes the aliases inside differ from those outside. */
  readonly depth: number;
}

export function conditionSql(scope: Scope, condition: Condition): Knex.Raw {
  const { builder } = scope.dialect;
  if ('all' in condition) return joined(scope, condition.all, 'and');
  if ('any' in condition) return joined(scope, condition.any, 'or');
  if ('not' in condition) return builder.raw('(?) is not true', [conditionSql(scope, condition.not)]);
  if ('near' in condition) return nearSql(scope, condition.near);
  if ('link' in condition) return linkSql(scope, condition);
  if ('reverse' in condition) return reverseSql(scope, condition);
  const column = columnOf(scope, condition.field);
  if ('isSet' in condition) return builder.raw(`${column} is ${condition.isSet ? 'not null' : 'null'}`);
  if ('key' in condition) return scope.dialect.filters.hasExternalId(column, condition.key, condition.value);
  return comparisonSql(scope, column, condition);
}

const columnOf = ({ alias }: Pick<Scope, 'alias'>, field: string): string => `${alias}.${columnName(field)}`;

/** A balanced tree: SQLite allows expressions that are 1,000 levels deep, and a chain has a level for each condition. */
function joined(scope: Scope, conditions: readonly Condition[], operator: 'and' | 'or'): Knex.Raw {
  const { builder } = scope.dialect;
  const [first] = conditions;
  if (!first) return builder.raw(operator === 'and' ? 'true' : 'false');
  if (conditions.length === 1) return conditionSql(scope, first);
  const middle = conditions.length >> 1;
  const halves = [conditions.slice(0, middle), conditions.slice(middle)];
  return builder.raw(
    `(? ${operator} ?)`,
    halves.map((half) => joined(scope, half, operator)),
  );
}

function comparisonSql({ dialect, table }: Scope, column: string, condition: Comparison): Knex.Raw {
  const { builder, filters } = dialect;
  if ('compare' in condition) return builder.raw(`${column} ${operators[condition.compare]} ?`, [condition.value]);
  if ('in' in condition) {
    const values = condition.in;
    if (condition.ignoreCase) return filters.matchesAny(column, patternsOf(values.map(String), 'all'));
    return filters.isOneOf(column, typeOf(table, condition.field), values);
  }
  const { text, value, ignoreCase = false } = condition;
  if (ignoreCase) return filters.matchesAny(column, patternsOf([value], text));
  if (text === 'startsWith') return startsWithSql(builder, column, value);
  return filters[text](column, value);
}

const operators = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const;

const patternsOf = (texts: readonly string[], part: Part) => texts.map((text) => patternOf(text, part));

function typeOf({ storedFields }: Table, name: string): Field['type'] {
  const field = storedFields[name];
  if (!field) throw new Error(`there is no field ${name}`);
  return field.type;
}

/** As a range, for which an index can be used. */
function startsWithSql(builder: Knex, column: string, prefix: string): Knex.Raw {
  const end = firstTextAfter(prefix);
  if (end === undefined) return builder.raw(`${column} >= ?`, [prefix]);
  return builder.raw(`(${column} >= ? and ${column} < ?)`, [prefix, end]);
}

/** The first text, by code points, that follows all texts with this prefix; undefined if there is none. */
function firstTextAfter(prefix: string): string | undefined {
  const codePoints = Array.from(prefix, (character) => character.codePointAt(0) ?? 0);
  while (codePoints.at(-1) === 0x10_ff_ff) codePoints.pop();
  const last = codePoints.pop();
  if (last === undefined) return undefined;
  // Surrogates are not characters.
  return String.fromCodePoint(...codePoints, last === 0xd7_ff ? 0xe0_00 : last + 1);
}

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
  const where = ownRows(inner, quantifier === 'every' ? { not: matches } : matches);
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

const ownRows = (scope: Scope, matches: Condition): Knex.Raw =>
  scope.dialect.builder.raw(`${scope.alias}.workspace_id = ? and ?`, [scope.workspaceId, conditionSql(scope, matches)]);

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
