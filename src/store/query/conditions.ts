/**
 * Conditions as SQL. What a condition does not match may be false or null: only `not` and its like tell them apart. Every table
 * that a condition reads is limited to the workspace, and every value is a parameter.
 */
import type { Knex } from 'knex';
import type { Table } from '../../model/record-kind.ts';
import { ancestorsOf } from './ancestors.ts';
import { columnName } from './columns.ts';
import { comparisonSql, fieldOf } from './comparisons.ts';
import type { Condition } from './condition.ts';
import type { Dialect } from './dialect.ts';
import { isAlways, simplified } from './simplify.ts';

/** The records that a condition is about: rows of a table, under the alias that columns are qualified with. */
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

/**
 * Joins conditions as a balanced tree: SQLite allows expressions that are 1,000 levels deep, and a chain has a level for each
 * condition.
 */
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
