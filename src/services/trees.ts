/** Keeps trees of records free of cycles: no asset category may become its own ancestor. */
import { badRequest } from '../errors.ts';
import { count, expected } from '../model/issues.ts';
import { withArticle } from '../model/labels.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { kindOfId, recordKinds } from '../records/index.ts';
import { reverseLinksOf } from '../records/reverse-links.ts';
import type { Tx } from '../store/writes/tx.ts';
import { type Item, idOf, isValid, type OnInvalid, type Problem, rejectDependents } from './item.ts';

const trees = new Map(
  recordKinds.map((kind) => [kind, reverseLinksOf(kind.name).find(({ direction }) => direction === 'ancestors')]),
);

/** The link from a record to its ancestors, if the kind forms a tree. */
export const treeOf = (kind: RecordKind) => trees.get(kind);

/** Two moves at the same time can form a cycle that neither forms alone, so one waits for the other. New records have no descendants. */
export async function lockTrees(tx: Tx, items: readonly Item[]): Promise<void> {
  for (const kind of recordKinds) {
    const field = treeOf(kind)?.field;
    if (field === undefined) continue;
    const mayMove = ({ op, values, links = [] }: Item) =>
      op !== 'create' &&
      op !== 'delete' &&
      (typeof values[field] === 'string' || links.some((link) => link.field === field));
    if (items.some((item) => item.kind === kind && mayMove(item))) await tx.lock(`tree ${kind.table}`);
  }
}

/** Returns the item of the same write that becomes the parent of a new one. */
export function parentIn({ kind, linked }: Item): Item | undefined {
  const tree = treeOf(kind);
  return tree && linked?.get(tree.field);
}

const maxAncestors = 100_000;

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
    const moves = items.filter((item) => item.kind === kind && idOf(item) && item.values[field] !== undefined);
    const parentIds = new Set(moves.map(({ values }) => values[field]).filter((id) => isIdOf(kind, id)));
    if (parentIds.size === 0) continue;
    const stored = await tx.ancestors(tree, [...parentIds], maxAncestors + 1);
    if (stored.size > maxAncestors) {
      throw badRequest(`expected at most ${count(maxAncestors)} ${kind.pluralLabel} above those of a batch`);
    }
    if (onInvalid === 'skip') rejectMovesInCycles(items, moves, field, stored);
    else for (const item of movesInCycles(moves, field, stored)) item.issues.push(cycleProblem(item, field));
  }
}

/** After this many rounds, every remaining move is rejected. */
const maxRounds = 10;

/** Rejecting a move, and what depends on it, can create another cycle. */
function rejectMovesInCycles(items: readonly Item[], moves: readonly Item[], field: string, stored: Parents): void {
  for (let round = 1; ; round += 1) {
    rejectDependents(items);
    const made = moves.filter(isValid);
    const inCycles = movesInCycles(made, field, stored);
    if (inCycles.length === 0) return;
    const message = 'other records that this batch moves were rejected';
    if (round > maxRounds) for (const { issues } of made) issues.push({ path: [field], message });
    else for (const item of inCycles) item.issues.push(cycleProblem(item, field));
  }
}

function cycleProblem({ op, kind, values }: Item, field: string): Problem {
  const what = `the ID of ${withArticle(kind.label)} that is neither this one nor one of its descendants`;
  const message =
    op === 'restore'
      ? `this ${kind.label} would be its own ancestor, because others have been moved since`
      : expected(what, values[field]);
  return { path: [field], message };
}

/** The stored parents of records, by ID; null for a root. */
type Parents = ReadonlyMap<string, string | null>;

const isIdOf = (kind: RecordKind, id: unknown): id is string => typeof id === 'string' && kindOfId(id) === kind;

function movesInCycles(moves: readonly Item[], field: string, stored: Parents): readonly Item[] {
  const moved = new Map(moves.map((item) => [idOf(item) ?? '', item.values[field]]));
  const parentOf = (id: string): string | undefined => {
    const parentId = moved.has(id) ? moved.get(id) : stored.get(id);
    return typeof parentId === 'string' ? parentId : undefined;
  };
  const { inCycles } = inTreeOrder(moved.keys(), parentOf);
  return moves.filter((item) => inCycles.has(idOf(item) ?? ''));
}

/** New records can refer to each other by `ref`, also in a circle. */
function checkNewTrees(items: readonly Item[]): void {
  const linked = items.filter((item) => item.linked);
  const { inCycles } = inTreeOrder(linked, parentIn);
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
