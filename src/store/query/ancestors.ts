/** The ancestors of a record in a tree of its kind. */
import type { Knex } from 'knex';
import type { ReverseLink } from '../../model/reverse-link.ts';
import { columnName } from '../columns.ts';
import type { Scope } from './conditions.ts';

/**
 * A subquery for the record with the ID `first`, an expression, and its ancestors, with all columns of their table. Because `union`
 * adds each ID only once, it also ends where a record is its own ancestor.
 */
export function ancestorsOf(
  { dialect, workspaceId }: Pick<Scope, 'dialect' | 'workspaceId'>,
  { kind, field }: Pick<ReverseLink, 'kind' | 'field'>,
  first: Knex.Raw,
): Knex.QueryBuilder {
  const { builder } = dialect;
  const recordsOfIds = (alias: string) => {
    const records = builder.from('ancestor');
    dialect.joinById(records, { table: kind, alias }, { workspaceId, reference: 'ancestor.id' });
    return records;
  };
  const firstId = builder.from(builder.raw('(select ? as id) as first', [first])).select('id');
  const parentIds = recordsOfIds('child').select(`child.${columnName(field)}`);
  return recordsOfIds('record').withRecursive('ancestor', ['id'], firstId.union(parentIds)).select('record.*');
}
