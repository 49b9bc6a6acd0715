/** What is not found here, such as a link in a fragment on an interface, is loaded by its own resolver. */
import { type FieldNode, type GraphQLResolveInfo, Kind, type SelectionSetNode } from 'graphql';
import { linkFields } from '../../model/links.ts';
import type { RecordKind } from '../../model/record-kind.ts';
import { kindNamed } from '../../records/index.ts';
import type { LinkToRead } from '../../store/records/linked-records.ts';

export type FieldInfo = Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments'>;

export type FieldsOf = (kind: RecordKind) => ReadonlySet<string>;

interface SelectedConnection {
  readonly readsPage: boolean;
  readonly readsCount: boolean;
  readonly links: readonly LinkToRead[];
}

/** The most links read with a page: more make rows long, and the statement takes longer to plan than to run. */
const maxJoined = 8;

/** By the nodes of a field, which are the same in all executions of a compiled document. */
const known = new WeakMap<readonly FieldNode[], SelectedConnection>();

export function selectedConnection(kind: RecordKind, info: FieldInfo, fieldsOf: FieldsOf): SelectedConnection {
  const { fieldNodes, fragments } = info;
  const cached = known.get(fieldNodes);
  if (cached) return cached;
  const parts = fieldsBelow(fieldNodes, `${kind.name}Connection`, fragments);
  const edges = fieldsBelow(parts.get('edges') ?? [], `${kind.name}Edge`, fragments);
  const records = [...(parts.get('nodes') ?? []), ...(edges.get('node') ?? [])];
  const selected = {
    readsPage: ['nodes', 'edges', 'pageInfo'].some((name) => parts.has(name)),
    readsCount: parts.has('totalCount'),
    links: linksBelow(kind, records, fragments, fieldsOf),
  };
  known.set(fieldNodes, selected);
  return selected;
}

/** Returns the links as a tree; none if there are too many of them. */
function linksBelow(
  kind: RecordKind,
  records: readonly FieldNode[],
  fragments: FieldInfo['fragments'],
  fieldsOf: FieldsOf,
): readonly LinkToRead[] {
  let left = maxJoined;
  const follow = (from: RecordKind, nodes: readonly FieldNode[]): LinkToRead[] => {
    const selected = fieldsBelow(nodes, from.name, fragments);
    const links: LinkToRead[] = [];
    for (const [name, field, { target }] of linkFields(from)) {
      const below = selected.get(name);
      if (!below || left-- <= 0) continue;
      const to = kindNamed(target);
      links.push({ name, field, kind: to, fields: fieldsOf(to), links: follow(to, below) });
    }
    return links;
  };
  const links = follow(kind, records);
  return left < 0 ? [] : links;
}

/** Each fragment is visited once: chains of fragments that spread each other twice would double the work with each link. */
function fieldsBelow(
  nodes: readonly FieldNode[],
  type: string,
  fragments: FieldInfo['fragments'],
): ReadonlyMap<string, readonly FieldNode[]> {
  const fields = new Map<string, FieldNode[]>();
  const visited = new Set<SelectionSetNode>();

  function visit(selectionSet: SelectionSetNode | undefined): void {
    if (!selectionSet || visited.has(selectionSet)) return;
    visited.add(selectionSet);
    for (const node of selectionSet.selections) {
      if (node.kind === Kind.FIELD) {
        const same = fields.get(node.name.value);
        if (same) same.push(node);
        else fields.set(node.name.value, [node]);
      } else {
        const fragment = node.kind === Kind.INLINE_FRAGMENT ? node : fragments[node.name.value];
        if (fragment && (fragment.typeCondition?.name.value ?? type) === type) visit(fragment.selectionSet);
      }
    }
  }

  for (const { selectionSet } of nodes) visit(selectionSet);
  return fields;
}
