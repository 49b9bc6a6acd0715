/** Keeps trees of records free of cycles: no asset category may become its own ancestor. */
import { badRequest } from '../../errors.ts';
import { count, expected, type Issue, type Parsed, type PathOf, validValues } from '../../model/issues.ts';
import { withArticle } from '../../model/labels.ts';
import type { Linkable } from '../../model/links.ts';
import type { RecordKind } from '../../model/record-kind.ts';
import { kindOfId } from '../../records/index.ts';
import { reverseLinksOf } from '../../records/reverse-links.ts';
import type { Lookups } from '../../store/writes/lookups.ts';
import { type RejectedItems, rejectedItems, rejectItem } from './validation.ts';

/** The link from a record to its ancestors, if the kind forms a tree. */
export const treeOf = (kind: RecordKind) =>
  reverseLinksOf(kind.name).find(({ direction }) => direction === 'ancestors');

export const treeLock = ({ table }: RecordKind): string => `tree ${table}`;

/** Two moves at the same time can form a cycle that neither forms alone, so one waits for the other. */
export async function lockTree(
  find: Pick<Lookups, 'lock'>,
  kind: RecordKind,
  changes: readonly Linkable<object>[],
): Promise<void> {
  const tree = treeOf(kind);
  if (!tree) return;
  const mayMove = (change: Linkable<object>): boolean =>
    typeof validValues(change)[tree.field] === 'string' ||
    change.links?.some(({ field }) => field === tree.field) === true;
  if (changes.some(mayMove)) await find.lock(treeLock(kind));
}

interface Changes {
  readonly changes: readonly Parsed<object>[];
  readonly records: readonly ({ readonly id: string } | undefined)[];
  readonly pathOf: PathOf;
}

export const maxAncestors = 100_000;

interface Cycles {
  /** An issue for each change that makes a record its own ancestor, if all changes but the rejected ones take place at once. */
  among(rejected?: RejectedItems): Issue[];
  readonly moves: readonly number[];
  readonly field: string;
}

export async function findCycles(
  find: Pick<Lookups, 'ancestors'>,
  kind: RecordKind,
  { changes, records, pathOf }: Changes,
): Promise<Cycles> {
  const tree = treeOf(kind);
  const noCycles = { among: () => [], moves: [], field: '' };
  if (!tree) return noCycles;
  const { field } = tree;
  const moves = changes.flatMap((change, index) => {
    const { [field]: parentId } = validValues(change);
    const id = records[index]?.id;
    return id === undefined || parentId === undefined ? [] : [{ index, id, parentId }];
  });
  const isParent = (id: unknown): id is string => typeof id === 'string' && kindOfId(id) === kind;
  const parentIds = [...new Set(moves.map(({ parentId }) => parentId).filter(isParent))];
  if (parentIds.length === 0) return noCycles;

  const stored = await find.ancestors(tree, parentIds, maxAncestors + 1);
  if (stored.size > maxAncestors) {
    throw badRequest(`expected at most ${count(maxAncestors)} ${kind.pluralLabel} above those of a batch`);
  }
  return {
    among(rejected) {
      const made = rejected ? moves.filter(({ index }) => !rejected.has(index)) : moves;
      const moved = new Map(made.map(({ id, parentId }) => [id, parentId]));
      const parentOf = (id: string): string | undefined => {
        const parentId = moved.has(id) ? moved.get(id) : stored.get(id);
        return typeof parentId === 'string' ? parentId : undefined;
      };
      const { inCycles } = inTreeOrder(moved.keys(), parentOf);
      return made
        .filter(({ id }) => inCycles.has(id))
        .map(({ index, parentId }) => ({
          path: [...pathOf(index), field],
          message: expected(
            `the ID of ${withArticle(kind.label)} that is neither this one nor one of its descendants`,
            parentId,
          ),
        }));
    },
    moves: moves.map(({ index }) => index),
    field,
  };
}

/** Leaving the rejected moves out can close other cycles, and so on: then all moves are rejected. */
export function rejectCycles(rejected: RejectedItems, { among, moves, field }: Cycles): void {
  for (const [index, issues] of rejectedItems({ issues: among(rejected) })) rejected.set(index, issues);
  if (among(rejected).length === 0) return;
  for (const index of moves) {
    if (!rejected.has(index)) {
      rejectItem(rejected, index, { path: [field], message: 'other records that this batch moves were rejected' });
    }
  }
}

/** Returns the items with all their ancestors, each parent before its children, and those that are their own ancestors. */
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
