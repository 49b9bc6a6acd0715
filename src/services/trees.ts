/** Keeps trees of records free of cycles: no asset category may become its own ancestor. */
import { badRequest } from '../errors.ts';
import { count, expected } from '../model/issues.ts';
import { withArticle } from '../model/labels.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { kindOfId, recordKinds } from '../records/index.ts';
import { reverseLinksOf } from '../records/reverse-links.ts';
import type { Tx } from '../store/writes/tx.ts';
import type { Item, OnInvalid } from './item.ts';

const trees = new Map(
  recordKinds.map((kind) => [kind, reverseLinksOf(kind.name).find(({ direction }) => direction === 'ancestors')]),
);

/** The link from a record to its ancestors, if the kind forms a tree. */
export const treeOf = (kind: RecordKind) => trees.get(kind);

export const treeLock = ({ table }: RecordKind): string => `tree ${table}`;

/** Two moves at the same time can form a cycle that neither forms alone, so one waits for the other. New records have no descendants. */
export async function lockTrees(tx: Tx, items: readonly Item[]): Promise<void> {
  for (const kind of recordKinds) {
    const field = treeOf(kind)?.field;
    const mayMove = ({ op, values, links = [] }: Item) =>
      (op === 'update' || op === 'upsert') &&
      field !== undefined &&
      (typeof values[field] === 'string' || links.some((link) => link.field === field));
    if (field !== undefined && items.some((item) => item.kind === kind && mayMove(item))) await tx.lock(treeLock(kind));
  }
}

/** Returns the item of the same write that becomes the parent of a new one. */
export function parentIn({ kind, linked }: Item): Item | undefined {
  const tree = treeOf(kind);
  return tree && linked.get(tree.field);
}

export const maxAncestors = 100_000;

/** Notes the items that would make a record its own ancestor, if all of them, or all valid ones, are stored together. */
export async function checkTrees(
  tx: Tx,
  items: readonly Item[],
  { onInvalid = 'fail' }: { readonly onInvalid?: OnInvalid },
): Promise<void> {
  checkNewTrees(items);
  for (const kind of recordKinds) {
    const tree = treeOf(kind);
    if (!tree) continue;
    const { field } = tree;
    const moves = items.filter((item) => item.kind === kind && item.before && item.values[field] !== undefined);
    const parentIds = new Set(moves.map(({ values }) => values[field]).filter((id) => isIdOf(kind, id)));
    if (parentIds.size === 0) continue;
    const stored = await tx.ancestors(tree, [...parentIds], maxAncestors + 1);
    if (stored.size > maxAncestors) {
      throw badRequest(`expected at most ${count(maxAncestors)} ${kind.pluralLabel} above those of a batch`);
    }
    const made = () => (onInvalid === 'fail' ? moves : moves.filter(({ issues }) => issues.length === 0));
    for (const { values, issues } of movesInCycles(made(), field, stored)) {
      const what = `the ID of ${withArticle(kind.label)} that is neither this one nor one of its descendants`;
      issues.push({ path: [field], message: expected(what, values[field]) });
    }
    // To leave these moves out can close other cycles, and so on: then none is made.
    if (onInvalid === 'fail' || movesInCycles(made(), field, stored).length === 0) continue;
    for (const { issues } of made()) {
      issues.push({ path: [field], message: 'other records that this batch moves were rejected' });
    }
  }
}

const isIdOf = (kind: RecordKind, id: unknown): id is string => typeof id === 'string' && kindOfId(id) === kind;

function movesInCycles(
  moves: readonly Item[],
  field: string,
  stored: ReadonlyMap<string, string | null>,
): readonly Item[] {
  const moved = new Map(moves.map(({ before, values }) => [before?.id ?? '', values[field]]));
  const parentOf = (id: string): string | undefined => {
    const parentId = moved.has(id) ? moved.get(id) : stored.get(id);
    return typeof parentId === 'string' ? parentId : undefined;
  };
  const { inCycles } = inTreeOrder(moved.keys(), parentOf);
  return moves.filter(({ before }) => before && inCycles.has(before.id));
}

/** New records can refer to each other by `ref`, also in a circle. */
function checkNewTrees(items: readonly Item[]): void {
  const { inCycles } = inTreeOrder(items, parentIn);
  for (const { kind, links = [], issues } of inCycles) {
    const link = links.find(({ field }) => field === treeOf(kind)?.field);
    const message = `expected ${withArticle(kind.label)} that is neither this one nor one of its descendants`;
    if (link) issues.push({ path: [link.name], message });
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
