/**
 * The rules that need the stored records: references lead to records, unique values are free, nothing refers to what is deleted, and trees
 * have no cycles: no asset category may become its own ancestor.
 */
import { badRequest } from '../errors.ts';
import { isSame } from '../model/fields.ts';
import { count, type FoundIssue, type IssueData } from '../model/issues.ts';
import type { AnyRecord, RecordKind, Values } from '../model/record-kind.ts';
import { kindNamed, kindOfId, linkOrder, recordKinds, reverseLinksOf } from '../records/index.ts';
import type { Condition } from '../store/query/record-query.ts';
import type { Tx } from '../store/writes/tx.ts';
import { byId, byKind, dependOn, type Item, isValid, itemOf, type OnInvalid, rejectDependents } from './item.ts';
import { noRecord } from './match.ts';

interface Reference {
  readonly item: Item;
  readonly field: string;
  readonly id: string;
}

/** A text that is no ID of this service is a foreign identifier, if the field may have one. */
export function referencesIn(items: readonly Item[]) {
  const byTarget = new Map<RecordKind, Reference[]>();
  const wrong: { readonly item: Item; readonly issue: FoundIssue }[] = [];
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
          wrong.push({ item, issue: { path: [name], ...wrongKind(target, id) } });
        }
      }
    }
  }
  return { byTarget, wrong };
}

function wrongKind({ label: kind, idPrefix: prefix }: RecordKind, id: string): IssueData {
  return { code: 'wrong-kind', kind, prefix, received: id, actual: kindOfId(id)?.label };
}

/** Locks the records that are referred to, kind by kind in the order of all writes, unless they are of the batch, and so locked with it. */
export async function checkReferences(tx: Tx, items: readonly Item[]): Promise<void> {
  const { byTarget, wrong } = referencesIn(items);
  for (const { item, issue } of wrong) item.issues.push(issue);
  const ofBatch = byId(items);
  const existing = new Set<string>();
  for (const target of linkOrder) {
    const ids = new Set((byTarget.get(target) ?? []).flatMap(({ id }) => (ofBatch.has(id) ? [] : [id])));
    if (ids.size === 0) continue;
    for (const id of await tx.existingValues(target, 'id', [...ids])) existing.add(id);
  }
  for (const [target, references] of byTarget) {
    for (const { item, field, id } of references) {
      if (!existing.has(id) && !ofBatch.has(id)) item.issues.push({ path: [field], ...noRecord(target, id) });
    }
  }
}

/** Checks references to records of the batch, which are read after those to others are locked. */
export function checkReferencesWithin(items: readonly Item[]): void {
  const ofBatch = byId(items);
  if (ofBatch.size === 0) return;
  for (const [target, references] of referencesIn(items).byTarget) {
    for (const { item, field, id } of references) {
      const other = ofBatch.get(id);
      if (!other || (other.before && other.op !== 'delete')) continue;
      const issue: FoundIssue = { path: [field], ...noRecord(target, id) };
      if (other.restored) dependOn(other, item, issue);
      else item.issues.push(issue);
    }
  }
}

/** True if the stored record of the item will not have its value of this field any more. */
const givesUp = ({ op, values, before }: Item, field: string): boolean =>
  before !== undefined && (op === 'delete' || (values[field] !== undefined && values[field] !== before[field]));

/** Rejects reversals of records that were changed after the range, unless they are as after it, or as before it already. */
export async function checkUnchanged(tx: Tx, items: readonly Item[]): Promise<void> {
  const reversals = items.filter(({ lastChange }) => lastChange !== undefined);
  if (reversals.length === 0) return;
  const histories = await tx.histories(
    reversals.map(({ id = '' }) => id),
    { limit: 1, withBefore: false },
  );
  const latest = new Map(histories.flat().map((change) => [change.id, change]));
  for (const [kind, ofKind] of byKind(reversals)) {
    const changed = ofKind.filter(({ id = '', lastChange = 0 }) => (latest.get(id)?.number ?? 0) > lastChange);
    const at = changed.map(({ id = '', lastChange = 0 }) => ({ id, number: lastChange }));
    const versions = at.length > 0 ? await tx.versions(kind, at) : [];
    for (const [index, item] of changed.entries()) {
      const { id = '', op, values, before } = item;
      const left = versions[index];
      const isAsLeft =
        before && left ? Object.keys(differing(before, clientValues(kind, left))).length === 0 : !before && !left;
      const isRestored = op === 'delete' ? !before : before && Object.keys(differing(before, values)).length === 0;
      if (!isAsLeft && !isRestored) item.issues.unshift(changedSince(kind, latest.get(id)?.number ?? 0));
    }
  }
  // A record that is stored again is newer than its deletion.
  for (const item of reversals) {
    const { id = '', before, restored } = item;
    if (restored && !before) item.restored = { ...restored, updatedAt: latest.get(id)?.at ?? restored.updatedAt };
  }
}

export const changedSince = ({ label }: RecordKind, number: number): FoundIssue => ({
  path: [],
  code: 'changed-since',
  kind: label,
  change: number,
});

/** Returns the fields of a record that clients may set. */
export const clientValues = ({ fields }: RecordKind, record: AnyRecord): Values =>
  Object.fromEntries(Object.keys(fields).map((field) => [field, record[field] ?? null]));

/** Returns only the values that a record does not have. */
export function differing(record: Values, values: Values): Values {
  const changed: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(values)) if (!isSame(record[name], value)) changed[name] = value;
  return changed;
}

/**
 * A record may keep its own values, and may get one that another record gives up in the same write. Records that exchange values have no
 * order in which each value is free when it is taken: these are refused.
 */
export async function checkUnique(tx: Tx, items: readonly Item[]): Promise<void> {
  for (const [kind, ofKind] of byKind(items)) {
    for (const [name, field] of Object.entries(kind.fields)) {
      // Values by which all items were found are looked up already.
      if (!field.unique || ofKind.every(({ by }) => by && 'field' in by && by.field === name)) continue;
      const textOf = ({ values }: Item) => String(values[name]);
      const taking = ofKind.filter(
        ({ values, before }) => typeof values[name] === 'string' && values[name] !== before?.[name],
      );
      if (taking.length === 0) continue;
      const stored = await tx.existingValues(kind, name, [...new Set(taking.map(textOf))]);
      const givingUp = new Map(ofKind.filter((item) => givesUp(item, name)).map((item) => [item.before?.[name], item]));
      const first = new Map<string, Item>();
      const waitsFor = new Map<Item, Item>();
      for (const item of taking) {
        const text = textOf(item);
        const earlier = first.get(text);
        const holder = givingUp.get(text);
        if (stored.has(text) && !holder) item.issues.push(taken(kind, name, text));
        else if (earlier) item.issues.push(taken(kind, name, text, earlier));
        else {
          first.set(text, item);
          if (!holder) continue;
          waitsFor.set(item, holder);
          dependOn(holder, item, taken(kind, name, text));
        }
      }
      const { inCycles } = inTreeOrder(waitsFor.keys(), (item) => waitsFor.get(item));
      for (const item of inCycles) rejectExchange(item, waitsFor.get(item));
    }
  }
}

/** Rejects an item that takes a unique value which another one frees only after it. */
export function rejectExchange(item: Item | undefined, holder: Item | undefined): void {
  if (!item || !holder) return;
  for (const [name, { unique }] of Object.entries(item.kind.fields)) {
    const text = item.values[name];
    if (!unique || typeof text !== 'string' || text !== holder.before?.[name]) continue;
    item.issues.push({ ...taken(item.kind, name, text, holder), inExchange: true });
  }
}

function taken({ label: kind }: RecordKind, field: string, text: string, by?: Item): FoundIssue & { code: 'taken' } {
  const other = by && by.path.length > 0 ? { other: by.path } : {};
  return { path: [field], code: 'taken', kind, by: { field }, text, ...other };
}

const referencesTo = (kind: RecordKind) =>
  reverseLinksOf(kind.name).filter(({ direction }) => direction === 'referring');

/**
 * Nothing may refer to a record that is deleted. References that this write removes are ignored; if the item that would remove one is
 * rejected, so is the deletion.
 */
export async function checkDeletions(tx: Tx, items: readonly Item[]): Promise<void> {
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
        const issue: FoundIssue = {
          path: [],
          code: 'still-referenced',
          kind: kind.label,
          referring: referring.label,
          id: String(item.before?.id),
        };
        if (isValid(item) && givesUp(item, field)) dependOn(item, target, issue);
        else target.issues.push(issue);
      }
    }
    for (const [id, references] of await findReferences(tx, kind, storedIds(ofKind), known)) {
      const item = going.get(id);
      const mayClear = item?.lastChange === undefined;
      item?.issues.push({ path: [], code: 'referenced', kind: kind.label, ...references, mayClear });
    }
  }
}

const storedIds = (items: readonly Item[]): ReadonlySet<string> =>
  new Set(items.flatMap(({ before }) => (before ? [before.id] : [])));

const maxNamed = 3;

/** The most referring records that are counted for a batch, by each of their fields, unless more are to be named. */
const maxCounted = 10_000;

type References = Pick<IssueData<'referenced'>, 'counts' | 'ids'>;

/** Returns by ID how many records of each kind refer to a record, if any do but those that do not count, and some of their IDs. */
async function findReferences(
  tx: Pick<Tx, 'pages'>,
  kind: RecordKind,
  ids: ReadonlySet<string>,
  uncounted: ReadonlyMap<RecordKind, ReadonlySet<string>>,
): Promise<ReadonlyMap<string, References>> {
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
  const references = [...ids].flatMap((id) => {
    const found = referring.flatMap(({ link, pages }) => {
      const { records = [] } = pages.get(id) ?? {};
      return records.length > 0 ? [{ kind: link.kind, records }] : [];
    });
    if (found.length === 0) return [];
    const counts = found.map(({ kind: { label, pluralLabel }, records: { length } }) => ({
      kind: label,
      plural: pluralLabel,
      count: Math.min(length, most),
      isMore: length > most,
    }));
    const named = found.flatMap(({ records }) => records.map((record) => record.id)).slice(0, maxNamed);
    return [[id, { counts, ids: named }] as const];
  });
  return new Map(references);
}

/**
 * Returns items that set all references to the deleted records, which are of one kind, to null, so that the log has a change of each record
 * that had one. Throws a ServiceError 400 for more than `maxCleared`.
 */
export async function clearReferences(
  tx: Tx,
  items: readonly Item[],
  maxCleared: number | undefined,
): Promise<readonly Item[]> {
  const deleted = items.filter(({ op, before }) => op === 'delete' && before);
  const going = storedIds(deleted);
  const [{ kind } = {}] = deleted;
  if (!kind || maxCleared === undefined) return [];
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

const maxAncestors = 100_000;

/** Notes the items that would make a record its own ancestor, if all of them, or all valid ones, are stored together. */
export async function checkTrees(tx: Tx, items: readonly Item[], onInvalid: OnInvalid): Promise<void> {
  for (const kind of recordKinds) {
    const field = treeOf(kind)?.field;
    if (field === undefined) continue;
    const moves = items.filter(
      (item) => item.kind === kind && !item.earlier && (item.linked?.has(field) || item.values[field] !== undefined),
    );
    // New records alone get no stored ones as descendants.
    const hasStored = moves.some(({ id }) => id !== undefined);
    const parents = hasStored ? await storedParents(tx, kind, field, moves) : new Map<string, string | null>();
    if (onInvalid === 'skip') rejectMovesInCycles(items, moves, field, parents);
    else for (const item of movesInCycles(moves, field, parents)) item.issues.push(cycleIssue(item, field));
  }
}

/** The stored parents of records, by ID; null for a root. */
type Parents = ReadonlyMap<string, string | null>;

async function storedParents(tx: Tx, kind: RecordKind, field: string, moves: readonly Item[]): Promise<Parents> {
  const tree = treeOf(kind);
  const ids = new Set(moves.map(({ values }) => values[field]).filter((id) => isIdOf(kind, id)));
  if (!tree || ids.size === 0) return new Map();
  const parents = await tx.ancestors(tree, [...ids], maxAncestors + 1);
  if (parents.size > maxAncestors) {
    throw badRequest(`expected at most ${count(maxAncestors)} ${kind.pluralLabel} above those of a batch`);
  }
  return parents;
}

const isIdOf = (kind: RecordKind, id: unknown): id is string => typeof id === 'string' && kindOfId(id) === kind;

/** After this many rounds, every remaining move is rejected. */
const maxRounds = 10;

/** Rejecting a move, and what depends on it, can create another cycle. */
function rejectMovesInCycles(items: readonly Item[], moves: readonly Item[], field: string, stored: Parents): void {
  for (let round = 1; ; round += 1) {
    rejectDependents(items);
    const made = moves.filter(isValid);
    const inCycles = movesInCycles(made, field, stored);
    if (inCycles.length === 0) return;
    if (round > maxRounds) for (const { issues } of made) issues.push({ path: [field], code: 'rejected-moves' });
    else for (const item of inCycles) item.issues.push(cycleIssue(item, field));
  }
}

function cycleIssue({ op, kind, values, linked, links = [] }: Item, field: string): FoundIssue {
  const issue = { code: 'cycle', kind: kind.label } as const;
  if (op === 'restore') return { path: [field], ...issue, isRestored: true };
  const name = linked?.has(field) && links.find((link) => link.field === field)?.name;
  return name ? { path: [name], ...issue } : { path: [field], ...issue, received: values[field] };
}

/** A parent is another item, or the ID of a stored record that is not moved. */
function movesInCycles(moves: readonly Item[], field: string, stored: Parents): Item[] {
  const moved = byId(moves);
  const nodeOf = (id: unknown) => (typeof id === 'string' ? (moved.get(id) ?? id) : undefined);
  const parentOf = (node: Item | string): Item | string | undefined =>
    typeof node === 'string' ? nodeOf(stored.get(node)) : (node.linked?.get(field) ?? nodeOf(node.values[field]));
  const { inCycles } = inTreeOrder<Item | string>(moves, parentOf);
  return moves.filter((item) => inCycles.has(item));
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
