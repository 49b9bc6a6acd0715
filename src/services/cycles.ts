/** Keeps trees of records free of cycles: no asset category may become its own ancestor. */
import { badRequest } from '../errors.ts';
import { count, expected, type Issue, type Parsed, type PathOf } from '../model/issues.ts';
import { withArticle } from '../model/labels.ts';
import type { Linkable } from '../model/links.ts';
import type { RecordKind, Values } from '../model/record-kind.ts';
import { kindOfId } from '../records/index.ts';
import { reverseLinksOf } from '../records/reverse-links.ts';
import type { Lookups } from '../store/writes/lookups.ts';

/** Returns the link from a record to its ancestors, if the kind forms a tree. */
export const treeOf = (kind: RecordKind) =>
  reverseLinksOf(kind.name).find(({ direction }) => direction === 'ancestors');

const valuesOf = ({ value, validFields = {} }: Parsed<object>): Values => (value ?? validFields) as Values;

/**
 * Makes the transaction wait for others that move records in the tree, because two moves can form a cycle that neither forms alone. Does
 * nothing if no change moves a record below another one.
 */
export async function lockTree(
  find: Pick<Lookups, 'lock'>,
  kind: RecordKind,
  changes: readonly Linkable<object>[],
): Promise<void> {
  const tree = treeOf(kind);
  if (!tree) return;
  const mayMove = (change: Linkable<object>): boolean =>
    typeof valuesOf(change)[tree.field] === 'string' ||
    change.links?.some(({ field }) => field === tree.field) === true;
  if (changes.some(mayMove)) await find.lock(`tree ${kind.table}`);
}

interface Changes {
  readonly changes: readonly Parsed<object>[];
  /** The stored records; undefined where there is none. */
  readonly records: readonly ({ readonly id: string } | undefined)[];
  readonly pathOf: PathOf;
}

/** The most ancestors that are read for one batch. */
const maxAncestors = 100_000;

/** Returns an issue for each change that makes a record its own ancestor, in a batch whose changes all take place at once. */
export async function cycleIssues(
  find: Pick<Lookups, 'ancestors'>,
  kind: RecordKind,
  { changes, records, pathOf }: Changes,
): Promise<Issue[]> {
  const tree = treeOf(kind);
  if (!tree) return [];
  const moves = changes.flatMap((change, index) => {
    const { [tree.field]: parentId } = valuesOf(change);
    const id = records[index]?.id;
    return id === undefined || parentId === undefined ? [] : [{ index, id, parentId }];
  });
  const moved = new Map(moves.map(({ id, parentId }) => [id, parentId]));
  const parentIds = [...new Set(moved.values())].filter((id) => typeof id === 'string' && kindOfId(id) === kind);
  if (parentIds.length === 0) return [];

  const stored = await find.ancestors(tree, parentIds as string[], maxAncestors + 1);
  if (stored.size > maxAncestors) {
    throw badRequest(`expected at most ${count(maxAncestors)} ancestors of the ${kind.pluralLabel} of a batch`);
  }
  const parentOf = (id: string): string | undefined => {
    const parentId = moved.has(id) ? moved.get(id) : stored.get(id);
    return typeof parentId === 'string' ? parentId : undefined;
  };
  const { inCycles } = inTreeOrder(moved.keys(), parentOf);
  return moves
    .filter(({ id }) => inCycles.has(id))
    .map(({ index, parentId }) => ({
      path: [...pathOf(index), tree.field],
      message: expected(
        `the ID of ${withArticle(kind.label)} that is neither this one nor one of its descendants`,
        parentId,
      ),
    }));
}

/**
 * Returns the items with all their ancestors, in an order in which each parent comes before its children, and those that are
 * their own ancestors. Each is visited once.
 */
export function inTreeOrder<T>(items: Iterable<T>, parentOf: (item: T) => T | undefined) {
  const visited = new Set<T>();
  const inCycles = new Set<T>();
  const order: T[] = [];
  for (const start of items) {
    const path: T[] = [];
    let item: T | undefined = start;
    while (item !== undefined && !visited.has(item)) {
      visited.add(item);
      path.push(item);
      item = parentOf(item);
    }
    const meets = item === undefined ? -1 : path.indexOf(item);
    if (meets >= 0) for (const member of path.slice(meets)) inCycles.add(member);
    for (const member of path.reverse()) order.push(member);
  }
  return { order, inCycles };
}
