/** The ancestors of a record in a tree of its kind. */
import type { Knex } from 'knex';
import type { ReverseLink } from '../../model/reverse-link.ts';
import { columnName } from '../columns.ts';
import type { Scope } from './conditions.ts';

/** The most levels that are followed: a cycle would otherwise never end. */
const maxLevels = 64;

/** A subquery for the record with the ID `first`, an expression, and its ancestors, with all columns of their table. */
export function ancestorsOf(
  { dialect, workspaceId }: Pick<Scope, 'dialect' | 'workspaceId'>,
  { kind, field }: Pick<ReverseLink, 'kind' | 'field'>,
  first: Knex.Raw,
): Knex.Raw {
  const { table } = kind;
  const ofWorkspace = `from ${table} as record where record.workspace_id = ?`;
  return dialect.builder.raw(
    `(with recursive ancestor as (
      select record.*, 1 as ancestor_level ${ofWorkspace} and record.id = ?
      union all
      select record.*, ancestor.ancestor_level + 1
      from ancestor join ${table} as record on record.workspace_id = ? and record.id = ancestor.${columnName(field)}
      where ancestor.ancestor_level < ${maxLevels}
    ) select * from ancestor)`,
    [workspaceId, first, workspaceId],
  );
}
