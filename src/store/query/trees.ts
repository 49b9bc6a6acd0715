/**
 * Walks up and down the tree of a kind in one statement. `union` adds each ID once: the recursion ends where a record
 * is its own ancestor.
 */
import type { Knex } from 'knex';
import { columnName } from './columns.ts';
import type { Dialect } from './dialect.ts';
import type { Condition, Tree } from './record-query.ts';

interface TreeScope {
  readonly dialect: Dialect;
  readonly workspaceId: number;
}

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

function withAncestors(
  { dialect, workspaceId }: TreeScope,
  { kind, field }: Tree,
  firstIds: Knex.QueryBuilder,
): Knex.QueryBuilder {
  const recordsOfIds = (alias: string) =>
    dialect.builder.from('ancestor').joinRaw(dialect.joinByKey({ table: kind, alias }, 'ancestor.id'), [workspaceId]);
  const parentIds = recordsOfIds('child').select(`child.${columnName(field)}`);
  return recordsOfIds('record').withRecursive('ancestor', ['id'], firstIds.union(parentIds));
}

/** Includes the ID of the record itself. */
export function descendantIds({ dialect, workspaceId }: TreeScope, { kind, field }: Tree, id: Knex.Raw) {
  const { builder } = dialect;
  // From the table, because the columns of a recursion must agree in their collation.
  const firstId = builder.from(kind.table).whereRaw('workspace_id = ? and id = ?', [workspaceId, id]).select('id');
  const children = dialect.joinReferring({ table: kind, alias: 'child', column: columnName(field) }, 'descendant.id');
  const childIds = builder.from('descendant').joinRaw(children, [workspaceId]).select('child.id');
  return builder.withRecursive('descendant', ['id'], firstId.union(childIds)).from('descendant').select('id');
}

/** Includes these IDs. A record below two of them comes twice. */
export function idsBelowEach({ dialect, workspaceId }: TreeScope, { kind, field }: Tree, ids: readonly string[]) {
  const { builder } = dialect;
  const first = dialect.rowsById(kind, workspaceId, ids).select({ root: 'id', id: 'id' });
  const children = dialect.joinReferring({ table: kind, alias: 'child', column: columnName(field) }, 'descendant.id');
  const childIds = builder
    .from('descendant')
    .joinRaw(children, [workspaceId])
    .select({ root: 'descendant.root', id: 'child.id' });
  return builder.withRecursive('descendant', ['root', 'id'], first.union(childIds)).from('descendant').select('id');
}

/** Replaces each condition on a part of a tree by the IDs that `idsWithin` returns. */
export async function resolveWithin(
  condition: Condition,
  idsWithin: (id: string, tree: Tree) => Promise<readonly string[]>,
): Promise<Condition> {
  const resolve = (part: Condition) => resolveWithin(part, idsWithin);
  if ('within' in condition) return { field: 'id', in: await idsWithin(condition.within, condition.tree) };
  if ('all' in condition) return { all: await Promise.all(condition.all.map(resolve)) };
  if ('any' in condition) return { any: await Promise.all(condition.any.map(resolve)) };
  if ('not' in condition) return { not: await resolve(condition.not) };
  return 'matches' in condition ? { ...condition, matches: await resolve(condition.matches) } : condition;
}
