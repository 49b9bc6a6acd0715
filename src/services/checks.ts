/**
 * The rules that need the stored records: references lead to records, unique values are free, nothing refers to what is deleted, and trees
 * have no cycles: no asset category may become its own ancestor.
 */
import { badRequest } from '../errors.ts';
import { count, expected, type Issue, quote } from '../model/issues.ts';
import { counted, withArticle } from '../model/labels.ts';
import type { RecordKey } from '../model/links.ts';
import type { RecordKind, Values } from '../model/record-kind.ts';
import { kindNamed, kindOfId, linkOrder, recordKinds, reverseLinksOf } from '../records/index.ts';
import type { Condition } from '../store/query/record-query.ts';
import type { Tx } from '../store/writes/tx.ts';
import {
  byKind,
  dependOn,
  type Item,
  idOf,
  isValid,
  itemOf,
  type OnInvalid,
  type Problem,
  rejectDependents,
} from './item.ts';
import { noRecord } from './match.ts';

interface Reference {
  readonly item: Item;
  readonly field: string;
  readonly id: string;
}

/** A text that is no ID of this service is a foreign identifier, if the field may have one. */
export function referencesIn(items: readonly Item[]) {
  const byTarget = new Map<RecordKind, Reference[]>();
  const wrong: { readonly item: Item; readonly issue: Issue }[] = [];
  for (const [kind, ofKind] of byKind(items)) {
    for (const [name, field] of Object.entries(kind.fields)) {
      if (field.type !== 'reference') continue;
      const target = kindNamed(field.target);
      const references = byTarget.get(target) ?? [];
      byTarget.set(target, references);
      for (const item of ofKind) {
        const id = item.values[name];
        if (typeof id !== 'string') continue;
        const actual = kindOfId(id);
        if (actual === target) references.push({ item, field: name, id });
        else if (actual || field.mustExist) {
          wrong.push({ item, issue: { path: [name], message: wrongKind(target, id) } });
        }
      }
    }
  }
  return { byTarget, wrong };
}

function wrongKind(kind: RecordKind, id: string): string {
  const actual = kindOfId(id);
  const received = actual ? `that of ${withArticle(actual.label)}, ${quote(id)}` : quote(id);
  return `expected the ID of a stored ${kind.label} (${kind.idPrefix}_…), received ${received}`;
}

/**
 * Locks the records that are referred to, kind by kind in the order of all writes, but not those with the IDs of `own`: the caller checks
 * references to them, and locks them to write them.
 */
export async function checkReferences(
  tx: Tx,
  items: readonly Item[],
  own: { has(id: string): boolean } = new Set(),
): Promise<void> {
  const { byTarget, wrong } = referencesIn(items);
  for (const { item, issue } of wrong) item.issues.push(issue);
  const existing = new Set<string>();
  for (const target of linkOrder) {
    const ids = new Set((byTarget.get(target) ?? []).flatMap(({ id }) => (own.has(id) ? [] : [id])));
    if (ids.size === 0) continue;
    for (const id of await tx.existingValues(target, 'id', [...ids])) existing.add(id);
  }
  for (const [target, references] of byTarget) {
    for (const { item, field, id } of references) {
      if (!existing.has(id) && !own.has(id)) item.issues.push({ path: [field], message: noRecord(target, id) });
    }
  }
}

/** True if the stored record of the item will not have its value of this field any more. */
const givesUp = ({ op, values, before }: Item, field: string): boolean =>
  before !== undefined && (op === 'delete' || (values[field] !== undefined && values[field] !== before[field]));

/**
 * A record may keep its own values, and one that is restored may get those that another one gives up in the same write. Skips
 * the key by which records were found: matching has looked its values up.
 */
export async function checkUnique(tx: Tx, items: readonly Item[], by?: RecordKey): Promise<void> {
  for (const [kind, ofKind] of byKind(items)) {
    for (const [name, field] of Object.entries(kind.fields)) {
      if (!field.unique || (by && 'field' in by && by.field === name)) continue;
      const isNew = ({ values, before }: Item) => typeof values[name] === 'string' && values[name] !== before?.[name];
      const sent = ofKind.filter(isNew);
      if (sent.length === 0) continue;
      const textOf = ({ values }: Item) => String(values[name]);
      const stored = await tx.existingValues(kind, name, [...new Set(sent.map(textOf))]);
      const holders = new Map(ofKind.filter((item) => givesUp(item, name)).map((item) => [item.before?.[name], item]));
      const earlier = new Map<string, Item>();
      for (const item of sent) {
        const text = textOf(item);
        const first = earlier.get(text);
        const holder = item.op === 'restore' ? holders.get(text) : undefined;
        const takenBy = (other: string): Problem => {
          const message = `${other} has the ${name} ${quote(text)}`;
          return { path: [name], message, isConflict: true };
        };
        const another = `another ${kind.label}`;
        if (stored.has(text) && !holder) item.issues.push(takenBy(another));
        else if (first) {
          const place = first.path.at(-1);
          item.issues.push(takenBy(place === undefined ? another : `item [${place}] of this batch also`));
        } else {
          earlier.set(text, item);
          if (holder) dependOn(holder, item, takenBy(another));
        }
      }
    }
  }
}

const referencesTo = (kind: RecordKind) =>
  reverseLinksOf(kind.name).filter(({ direction }) => direction === 'referring');

/**
 * Nothing may refer to a record that is deleted. References that this write removes are ignored; if the item that would remove one is
 * rejected, so is the deletion. `advice` says at the end of a message what to do about the references.
 */
export async function checkDeletions(
  tx: Tx,
  items: readonly Item[],
  advice: (pronoun: 'it' | 'them') => string = () => '',
): Promise<void> {
  const deleted = items.filter((item) => item.op === 'delete' && isValid(item));
  const going = new Map(deleted.flatMap((item) => (item.before ? [[item.before.id, item]] : [])));
  if (going.size === 0) return;
  const groups = byKind(items);
  const known = new Map([...groups].map(([kind, ofKind]) => [kind, storedIds(ofKind)]));
  for (const [kind, ofKind] of byKind([...going.values()])) {
    for (const { kind: referring, field } of referencesTo(kind)) {
      for (const item of groups.get(referring) ?? []) {
        const target = going.get(String(item.before?.[field]));
        if (!target || target === item) continue;
        const message = `this ${kind.label} is still referenced by the ${referring.label} ${item.before?.id}`;
        const problem: Problem = { path: [], message, isConflict: true };
        if (isValid(item) && givesUp(item, field)) dependOn(item, target, problem);
        else target.issues.push(problem);
      }
    }
    for (const [id, { problem, total }] of await referenceProblems(tx, kind, storedIds(ofKind), known)) {
      const message = `${problem}${advice(total === 1 ? 'it' : 'them')}`;
      going.get(id)?.issues.push({ path: [], message, isConflict: true });
    }
  }
}

const storedIds = (items: readonly Item[]): ReadonlySet<string> =>
  new Set(items.flatMap(({ before }) => (before ? [before.id] : [])));

const maxNamed = 3;

/** The most referring records that are counted for a batch, by each of their fields, unless more are to be named. */
const maxCounted = 10_000;

/** `1 asset, 2 work orders and 1 project` */
const listed = new Intl.ListFormat('en-GB');

/** Returns what refers to each of the records, as `this asset is referenced by …`, if anything does but the records that do not count. */
async function referenceProblems(
  tx: Pick<Tx, 'pages'>,
  kind: RecordKind,
  ids: ReadonlySet<string>,
  uncounted: ReadonlyMap<RecordKind, ReadonlySet<string>>,
): Promise<ReadonlyMap<string, { readonly problem: string; readonly total: number }>> {
  const most = Math.max(maxNamed, Math.floor(maxCounted / ids.size));
  const referring = await Promise.all(
    referencesTo(kind).map(async (link) => {
      const others = uncounted.get(link.kind);
      const where: Condition = others ? { not: { field: 'id', in: [...others] } } : { all: [] };
      // Reads one more, to see whether there are others.
      const query = { where, limit: most + 1, withCount: false, fields: new Set(['id']) };
      return { link, pages: await tx.pages(link, [...ids], query) };
    }),
  );
  const problems = [...ids].flatMap((id) => {
    const found = referring.flatMap(({ link, pages }) => {
      const { records = [] } = pages.get(id) ?? {};
      return records.length > 0 ? [{ kind: link.kind, records }] : [];
    });
    if (found.length === 0) return [];
    const total = found.reduce((sum, { records }) => sum + records.length, 0);
    const counts = listed.format(found.map(({ kind, records }) => countedUpTo(most, records.length, kind)));
    const named = found.flatMap(({ records }) => records.map((record) => record.id)).slice(0, maxNamed);
    const list = `${named.join(', ')}${total > named.length ? ', …' : ''}`;
    return [[id, { problem: `this ${kind.label} is referenced by ${counts}: ${list}`, total }] as const];
  });
  return new Map(problems);
}

/** Returns `2 assets`, or `more than 10,000 assets` */
const countedUpTo = (most: number, found: number, kind: RecordKind): string =>
  found > most ? `more than ${counted(most, kind)}` : counted(found, kind);

/**
 * Returns items that set all references to the deleted records to null, so that the log has a change of each record that had one. Throws
 * a ServiceError 400 for more than `maxCleared`.
 */
export async function clearReferences(
  tx: Tx,
  items: readonly Item[],
  maxCleared: number | undefined,
): Promise<readonly Item[]> {
  const going = storedIds(items.filter(({ op }) => op === 'delete'));
  const [{ kind } = {}] = items;
  if (!kind || going.size === 0 || maxCleared === undefined) return [];
  const links = referencesTo(kind);
  const idsByKind = new Map(links.map((link) => [link.kind, new Set<string>()]));
  let references = 0;
  for (const link of links) {
    // Reads one more, to see whether there are others, and as many as may be deleted themselves.
    const found = await tx.findReferring(link, [...going], maxCleared + 1 + going.size);
    const staying = found.filter((id) => !going.has(id));
    references += staying.length;
    for (const id of staying) idsByKind.get(link.kind)?.add(id);
  }
  if (references > maxCleared) {
    const problem = `expected at most ${count(maxCleared)} references to clear, there are more`;
    throw badRequest(`${problem}: delete fewer records at once, or first change the records that refer to them`);
  }
  const cleared: Item[] = [];
  // A deletion of a project locks it before its work orders, and so must one that clears references in both.
  for (const referring of linkOrder) {
    const ids = idsByKind.get(referring);
    if (!ids || ids.size === 0) continue;
    const fields = links.filter((link) => link.kind === referring).map(({ field }) => field);
    for (const before of await tx.findToUpdate(referring, [...ids])) {
      // Others may have changed a record before it was locked.
      const left = fields.filter((field) => going.has(String((before as Values)[field])));
      const value = Object.fromEntries(left.map((field) => [field, null]));
      cleared.push({ ...itemOf('update', referring, [], { value }), before });
    }
  }
  return cleared;
}

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
