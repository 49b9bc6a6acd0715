/** The conditions of Postgres. */
import type { Knex } from 'knex';
import type { Filters, Pattern } from '../query/dialect.ts';

export const createFilters = (builder: Knex, isCitus: boolean): Filters => ({
  isOneOf: (column, _type, values) => builder.raw(`${column} = any(?)`, [values as string[]]),
  isSet: (column, isSet) => builder.raw(`${column} is ${isSet ? 'not null' : 'null'}`),
  contains: (column, text) => builder.raw(`strpos(${column}, ?) > 0`, [text]),
  endsWith: (column, text) => builder.raw(`right(${column}, ?) = ?`, [Array.from(text).length, text]),
  matchesAny: (column, patterns) => builder.raw(`${column} ~ any(?)`, [patterns.map(regularExpressionOf)]),
  hasExternalId({ workspaceId, table, alias, column }, key, value) {
    if (value === undefined) return builder.raw(`(${alias}.${column} ->> ?::text) is not null`, [key]);
    const object = JSON.stringify({ [workspaceId]: { [key]: value } });
    const found = builder.raw(`${table} as found where ${ownRow(isCitus)} and ${holds(column, '?::jsonb')}`, [
      workspaceId,
      object,
      object,
    ]);
    // Looked up first: otherwise Postgres may read the workspace's rows in order until it has found enough of them.
    return builder.raw(`${alias}.id = any(array(select found.id from ?))`, [found]);
  },
  idsWithExternalId({ workspaceId, table, column }, key, value, limit) {
    const object = `jsonb_build_object(?::text, jsonb_build_object(${key}, ${value}))`;
    const workspaceKey = String(workspaceId);
    return builder(`${table} as found`)
      .whereRaw(`${ownRow(isCitus)} and ${holds(column, object)}`, [workspaceId, workspaceKey, workspaceKey])
      .orderBy('found.id')
      .limit(limit)
      .select('found.id');
  },
  // Postgres makes a join of `exists`. Within `or` and `not` it would compare each row with all of the values of an `in`.
  isAmong: (column, rows) =>
    builder.raw(`exists (select 1 from ${rows.from} where ${rows.column} = ${column} and ?)`, [rows.where]),
});

/**
 * The condition that tells Citus which machine has the row. Any other server would read the whole workspace for each lookup, by
 * an index that begins with it.
 */
const ownRow = (isCitus: boolean) => (isCitus ? 'found.workspace_id = ?' : 'found.workspace_id + 0 = ?');

/**
 * Compares as the index does, whose entries contain the workspace: see migration 0009. The condition is there twice because
 * Postgres then expects few rows to meet it, so that the machines of Citus use that index, too.
 */
function holds(column: string, object: string): string {
  const condition = `jsonb_set('{}', array[found.workspace_id::text], found.${column}::jsonb) @> ${object}`;
  return `${condition} and ${condition}`;
}

function regularExpressionOf({ characters, isAnchoredAtStart, isAnchoredAtEnd }: Pattern): string {
  const parts = characters.map((forms) => {
    const escaped = forms.map(escapedCharacter).join('');
    return forms.length > 1 ? `[${escaped}]` : escaped;
  });
  return `${isAnchoredAtStart ? '^' : ''}${parts.join('')}${isAnchoredAtEnd ? '$' : ''}`;
}

const escapedCharacter = (character: string): string =>
  /^[A-Za-z0-9]$/.test(character) ? character : `\\U${(character.codePointAt(0) ?? 0).toString(16).padStart(8, '0')}`;
