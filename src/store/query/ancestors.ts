import type { Knex } from 'knex';
import type { ReverseLink } from '../../model/reverse-link.ts';
import { columnName } from './columns.ts';
import type { Dialect } from './dialect.ts';

interface Scope {
  readonly dialect: Dialect;
  readonly workspaceId: number;
}

type Tree = Pick<ReverseLink, 'kind' | 'field'>;

export function ancestorsOf(scope: Scope, tree: Tree, first: Knex.Raw): Knex.QueryBuilder {
  const { builder } = scope.dialect;
  const firstId = builder.from(builder.raw('(select ? as id) as first', [first])).select('id');
  return withAncestors(scope, tree, firstId).select('record.*');
}

export const parentsOf = (scope: Scope, tree: Tree, ids: readonly string[]): Knex.QueryBuilder =>
  withAncestors(scope, tree, scope.dialect.rowsById(tree.kind, scope.workspaceId, ids).select('id')).select({
    id: 'record.id',
    parent: `record.${columnName(tree.field)}`,
  });

/** Because `union` adds each ID only once, the recursion also ends where a record is its own ancestor. */
function withAncestors(
  { dialect, workspaceId }: Scope,
  { kind, field }: Tree,
  firstIds: Knex.QueryBuilder,
): Knex.QueryBuilder {
  const recordsOfIds = (alias: string) =>
    dialect.builder.from('ancestor').joinRaw(dialect.joinById({ table: kind, alias }, 'ancestor.id'), [workspaceId]);
  const parentIds = recordsOfIds('child').select(`child.${columnName(field)}`);
  return recordsOfIds('record').withRecursive('ancestor', ['id'], firstIds.union(parentIds));
}
