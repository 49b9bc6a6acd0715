import { badRequest } from '../errors.ts';
import { isSame } from '../model/fields.ts';
import { formatCount, type IssueData, type ValidationIssue } from '../model/issues.ts';
import type { AnyRecord, RecordKind, Values } from '../model/record-kind.ts';
import type { ReverseLink } from '../model/reverse-link.ts';
import {
  kindNamed,
  kindOfId,
  label,
  labelKey,
  labelledTypes,
  linkOrder,
  recordKinds,
  reverseLinksOf,
  treeOf,
} from '../records/index.ts';
import type { Condition } from '../store/query/record-query.ts';
import type { Tx } from '../store/writes/tx.ts';
import {
  addDependent,
  createItem,
  groupByKind,
  type Item,
  indexById,
  isValid,
  type OnInvalid,
  rejectDependents,
} from './item.ts';
import { noRecord } from './match.ts';

interface Reference {
  readonly item: Item;
  readonly field: string;
  readonly id: string;
}

/** A text that is not an ID of this service is a foreign identifier, unless the field requires a stored record. */
export function collectReferences(items: readonly Item[]) {
  const byTarget = new Map<RecordKind, Reference[]>();
  const wrong: { readonly item: Item; readonly issue: ValidationIssue }[] = [];
  for (const [kind, ofKind] of groupByKind(items)) {
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
        else if (actual || field.mustExist) wrong.push({ item, issue: { path: [name], ...wrongKind(target, id) } });
      }
    }
  }
  return { byTarget, wrong };
}

function wrongKind({ label: kind, idPrefix: prefix }: RecordKind, received: string): IssueData {
  return { code: 'wrong-kind', kind, prefix, received, actual: kindOfId(received)?.label };
}

/** Locks targets kind by kind, in the order all writes use. Targets in the batch are locked with it. */
export async function checkReferences(tx: Tx, items: readonly Item[]): Promise<void> {
  const { byTarget, wrong } = collectReferences(items);
  for (const { item, issue } of wrong) item.issues.push(issue);
  const batchById = indexById(items);
  const existing = new Set<string>();
  for (const target of linkOrder) {
    const ids = new Set((byTarget.get(target) ?? []).flatMap(({ id }) => (batchById.has(id) ? [] : [id])));
    if (ids.size === 0) continue;
    for (const id of await tx.existingValues(target, 'id', [...ids])) existing.add(id);
  }
  for (const [target, references] of byTarget) {
    for (const { item, field, id } of references) {
      if (!existing.has(id) && !batchById.has(id)) item.issues.push({ path: [field], ...noRecord(target, id) });
    }
  }
}

/** The records of the batch must be locked. */
export function checkReferencesInBatch(items: readonly Item[]): void {
  const batchById = indexById(items);
  if (batchById.size === 0) return;
  for (const [kind, references] of collectReferences(items).byTarget) {
    for (const { item, field, id } of references) {
      const target = batchById.get(id);
      if (!target || (target.before && target.op !== 'delete')) continue;
      const issue: ValidationIssue = { path: [field], ...noRecord(kind, id) };
      if (target.restored) addDependent(target, item, issue);
      else item.issues.push(issue);
    }
  }
}

const releases = ({ op, values, before }: Item, field: string): boolean =>
  before !== undefined && (op === 'delete' || (values[field] !== undefined && values[field] !== before[field]));

/** Rejects a reversal if its record has changed since, except to the state to be restored. */
export async function checkUnchanged(tx: Tx, items: readonly Item[]): Promise<void> {
  const reversals = items.filter(({ unchangedSince }) => unchangedSince !== undefined);
  if (reversals.length === 0) return;
  const ids = reversals.map(({ id = '' }) => id);
  const histories = await tx.histories(ids, { limit: 1, withBefore: false });
  // After the histories: a pruned one would look unchanged.
  await tx.lastChange(reversals[0]?.unchangedSince);
  const latest = new Map(histories.flat().map((change) => [change.id, change]));
  for (const [kind, ofKind] of groupByKind(reversals)) {
    const changed = ofKind.filter(({ id = '', unchangedSince = 0 }) => (latest.get(id)?.number ?? 0) > unchangedSince);
    const at = changed.map(({ id = '', unchangedSince = 0 }) => ({ id, number: unchangedSince }));
    const versions = at.length > 0 ? await tx.versions(kind, at) : [];
    for (const [index, item] of changed.entries()) {
      const { id = '', op, values, before } = item;
      const expected = versions[index];
      const isUnchanged = before && expected ? hasValues(before, clientValues(kind, expected)) : !before && !expected;
      const isRestored = op === 'delete' ? !before : before && hasValues(before, values);
      if (!isUnchanged && !isRestored) item.issues.unshift(changedSinceIssue(kind, latest.get(id)?.number ?? 0));
    }
  }
  // A restored record must have a later `updatedAt` than its deletion.
  for (const item of reversals) {
    const { id = '', before, restored } = item;
    if (restored && !before) item.restored = { ...restored, updatedAt: latest.get(id)?.at ?? restored.updatedAt };
  }
}

export function changedSinceIssue({ label: kind }: RecordKind, change: number): ValidationIssue {
  return { path: [], code: 'changed-since', kind, change };
}

export const clientValues = ({ fields }: RecordKind, record: AnyRecord): Values =>
  Object.fromEntries(Object.keys(fields).map((field) => [field, record[field] ?? null]));

export function changedValues(record: AnyRecord, values: Values): Values {
  const changed: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(values)) if (!isSame(record[name], value)) changed[name] = value;
  return changed;
}

const hasValues = (record: AnyRecord, values: Values): boolean =>
  Object.keys(changedValues(record, values)).length === 0;

/**
 * A record may take a unique value that another releases in the same write. Exchanges are rejected: in no order is each
 * value free before it is taken.
 */
export async function checkUnique(tx: Tx, items: readonly Item[]): Promise<void> {
  for (const [kind, ofKind] of groupByKind(items)) {
    for (const [name, field] of Object.entries(kind.fields)) {
      // A key was looked up already.
      if (!field.unique || ofKind.every(({ by }) => by && 'field' in by && by.field === name)) continue;
      await checkUniqueField(tx, kind, name, ofKind);
    }
  }
}

async function checkUniqueField(tx: Tx, kind: RecordKind, name: string, items: readonly Item[]): Promise<void> {
  const textOf = ({ values }: Item) => String(values[name]);
  const taking = items.filter(
    ({ values, before }) => typeof values[name] === 'string' && values[name] !== before?.[name],
  );
  if (taking.length === 0) return;
  const stored = await tx.existingValues(kind, name, [...new Set(taking.map(textOf))]);
  const releasing = new Map(items.filter((item) => releases(item, name)).map((item) => [item.before?.[name], item]));
  const takers = new Map<string, Item>();
  const waitsFor = new Map<Item, Item>();
  for (const item of taking) {
    const text = textOf(item);
    const taker = takers.get(text);
    const holder = releasing.get(text);
    if (stored.has(text) && !holder) item.issues.push(takenIssue(kind, name, text));
    else if (taker) item.issues.push(takenIssue(kind, name, text, taker));
    else {
      takers.set(text, item);
      if (!holder) continue;
      waitsFor.set(item, holder);
      addDependent(holder, item, takenIssue(kind, name, text));
    }
  }
  for (const item of findCycles(waitsFor.keys(), (taker) => waitsFor.get(taker))) {
    rejectExchange(item, waitsFor.get(item));
  }
}

export function rejectExchange(item: Item | undefined, holder: Item | undefined): void {
  if (!item || !holder) return;
  for (const [name, { unique }] of Object.entries(item.kind.fields)) {
    const text = item.values[name];
    if (!unique || typeof text !== 'string' || text !== holder.before?.[name]) continue;
    item.issues.push({ ...takenIssue(item.kind, name, text, holder), inExchange: true });
  }
}

function takenIssue({ label: kind }: RecordKind, field: string, text: string, holder?: Item) {
  const other = holder && holder.path.length > 0 ? { other: holder.path } : {};
  return { path: [field], code: 'taken', kind, by: { field }, text, ...other } as const;
}

const referencesTo = (type: string) => reverseLinksOf(type).filter(({ direction }) => direction === 'referring');

const mayBeCleared = ({ kind, field }: ReverseLink): boolean => !kind.storedFields[field]?.required;

/**
 * References that this write removes or clears do not count; if the item that removes one is rejected, so is the
 * deletion.
 */
export async function checkDeletions(
  tx: Tx,
  items: readonly Item[],
  { clearsReferences }: { readonly clearsReferences: boolean },
): Promise<void> {
  const deleted = items.filter((item) => item.op === 'delete' && item.before && isValid(item));
  if (deleted.length === 0) return;
  const groups = groupByKind(items);
  const batchIds = new Map([...groups].map(([kind, ofKind]) => [kind, lockedIds(ofKind)]));
  for (const { type, targets, since } of targetsOf(deleted)) {
    const links = referencesTo(type).filter((link) => !clearsReferences || !mayBeCleared(link));
    for (const { kind: referring, field } of links) {
      for (const item of groups.get(referring) ?? []) {
        const target = targets.get(String(item.before?.[field]));
        if (!target || target === item) continue;
        const labels = { kind: target.kind.label, referring: referring.label };
        const issue: ValidationIssue = { path: [], code: 'still-referenced', ...labels, id: String(item.before?.id) };
        if (isValid(item) && releases(item, field)) addDependent(item, target, issue);
        else target.issues.push(issue);
      }
    }
    const isChanged: Condition =
      since === undefined ? { all: [] } : { field: 'updatedAt', compare: 'gt', value: since };
    const isCounted = (referring: RecordKind): Condition => {
      const excluded = batchIds.get(referring);
      return excluded ? { all: [isChanged, { not: { field: 'id', in: [...excluded] } }] } : isChanged;
    };
    for (const [id, references] of await findReferences(tx, links, [...targets.keys()], isCounted)) {
      const { kind, unchangedSince, issues } = targets.get(id) as Item;
      const mayClear = references.mayClear && unchangedSince === undefined;
      issues.push({ path: [], code: 'referenced', kind: kind.label, ...references, mayClear });
    }
  }
}

interface Targets {
  /** A record kind, or a type in another system. */
  readonly type: string;
  /** By the text of references to them. */
  readonly targets: ReadonlyMap<string, Item>;
  /** Only references of records that have changed since then count. */
  readonly since?: string;
}

/** A status needs no label: an undo only keeps labels whose status or company records may have got from them. */
function* targetsOf(deleted: readonly Item[]): Generator<Targets> {
  for (const [kind, ofKind] of groupByKind(deleted))
    yield { type: kind.name, targets: new Map(ofKind.map((item) => [String(item.before?.id), item])) };
  const labels = deleted.filter(({ kind, unchangedSince }) => kind === label && unchangedSince !== undefined);
  for (const type of labels.length > 0 ? labelledTypes : []) {
    const start = labelKey(type, '');
    const ofType = labels.filter(({ before }) => String(before?.key).startsWith(start));
    const targets = new Map(ofType.map((item) => [String(item.before?.key).slice(start.length), item]));
    const [since] = ofType.map(({ before }) => String(before?.createdAt)).sort();
    if (since !== undefined) yield { type, targets, since };
  }
}

type Ids = ReadonlySet<string>;

const lockedIds = (items: readonly Item[]): Ids => new Set(items.flatMap(({ before }) => (before ? [before.id] : [])));

const maxNamed = 3;

/** For a batch and a field, unless `maxNamed` needs more. */
const maxCounted = 10_000;

type References = Pick<IssueData<'referenced'>, 'counts' | 'ids' | 'mayClear'>;

/** Counts referring records outside the batch, by target. */
async function findReferences(
  tx: Tx,
  links: readonly ReverseLink[],
  ids: readonly string[],
  isCounted: (kind: RecordKind) => Condition,
) {
  const most = Math.max(maxNamed, Math.floor(maxCounted / ids.length));
  const references = new Map<string, References>();
  for (const link of links) {
    const { label: kind, pluralLabel: plural } = link.kind;
    const where = isCounted(link.kind);
    const query = { where, limit: most + 1, withCount: false, fields: new Set(['id']) };
    for (const [id, { records }] of await tx.pages(link, ids, query)) {
      if (records.length === 0) continue;
      const { counts, ids: named, mayClear } = references.get(id) ?? { counts: [], ids: [], mayClear: true };
      const count = Math.min(records.length, most);
      references.set(id, {
        counts: [...counts, { kind, plural, count, isMore: records.length > most }],
        ids: [...named, ...records.map((record) => record.id)].slice(0, maxNamed),
        mayClear: mayClear && mayBeCleared(link),
      });
    }
  }
  return references;
}

/**
 * Returns items, so that the log has each change. Deletions are of one kind. Throws a 400 for more than `maxCleared`.
 */
export async function clearReferences(tx: Tx, items: readonly Item[], maxCleared: number | undefined) {
  const deleted = items.filter(({ op, before }) => op === 'delete' && before);
  const deletedIds = lockedIds(deleted);
  const [{ kind } = {}] = deleted;
  if (!kind || maxCleared === undefined) return [];
  const links = referencesTo(kind.name).filter(mayBeCleared);
  const idsByKind = new Map(links.map((link) => [link.kind, new Set<string>()]));
  let references = 0;
  for (const link of links) {
    // The deleted records may refer to each other.
    const found = await tx.findReferring(link, [...deletedIds], maxCleared + 1 + deletedIds.size);
    const staying = found.filter((id) => !deletedIds.has(id));
    references += staying.length;
    for (const id of staying) idsByKind.get(link.kind)?.add(id);
  }
  if (references > maxCleared) {
    const problem = `expected at most ${formatCount(maxCleared)} references to clear, there are more`;
    throw badRequest(`${problem}: delete fewer records at once, or first change the records that refer to them`);
  }
  const cleared: Item[] = [];
  for (const referring of linkOrder) {
    const ids = idsByKind.get(referring);
    if (!ids || ids.size === 0) continue;
    const fields = links.filter((link) => link.kind === referring).map(({ field }) => field);
    for (const before of await tx.findToUpdate(referring, [...ids])) {
      // Another write may have changed the references before the lock.
      const toClear = fields.filter((field) => deletedIds.has(String(before[field])));
      const value = Object.fromEntries(toClear.map((field) => [field, null]));
      cleared.push({ ...createItem('update', referring, [], { value }), before });
    }
  }
  return cleared;
}

const trees = recordKinds.flatMap(({ name }) => treeOf(name) ?? []);

/**
 * Two simultaneous moves can form a cycle that neither forms alone, so one waits for the other. A new record has no
 * descendants.
 */
export async function lockTrees(tx: Tx, items: readonly Item[]): Promise<void> {
  for (const { kind, field } of trees) {
    const mayMove = ({ op, values, links = [] }: Item) =>
      op !== 'create' &&
      op !== 'delete' &&
      (typeof values[field] === 'string' || links.some((link) => link.field === field));
    if (items.some((item) => item.kind === kind && mayMove(item))) await tx.lock(`tree ${kind.table}`);
  }
}

const maxAncestors = 100_000;

/** Rejects items that make a record its own ancestor: all items count, or only valid ones with `skip`. */
export async function checkTrees(tx: Tx, items: readonly Item[], onInvalid: OnInvalid): Promise<void> {
  const movesInTrees: Moves[] = [];
  for (const tree of trees) {
    const { kind, field } = tree;
    const sets = ({ pendingReferences, values }: Item) => pendingReferences?.has(field) || values[field] !== undefined;
    const moves = items.filter((item) => item.kind === kind && !item.duplicateOf && sets(item));
    // Only new records are below new records.
    const hasStored = moves.some(({ id }) => id !== undefined);
    const stored = hasStored ? await storedParents(tx, tree, moves) : new Map<string, string | null>();
    movesInTrees.push({ field, moves, stored });
  }
  if (onInvalid === 'skip') rejectMovesInCycles(items, movesInTrees);
  else {
    for (const { field, moves, stored } of movesInTrees) {
      for (const item of movesInCycles(moves, field, stored)) item.issues.push(cycleIssue(item, field));
    }
  }
}

/** Stored parents by ID; null for a root. */
type Parents = ReadonlyMap<string, string | null>;

/** The items that set a parent in one tree. */
interface Moves {
  readonly field: string;
  readonly moves: readonly Item[];
  readonly stored: Parents;
}

async function storedParents(tx: Tx, tree: ReverseLink, moves: readonly Item[]): Promise<Parents> {
  const { kind, field } = tree;
  const isIdOfKind = (id: unknown): id is string => typeof id === 'string' && kindOfId(id) === kind;
  const ids = new Set(moves.map(({ values }) => values[field]).filter(isIdOfKind));
  if (ids.size === 0) return new Map();
  const parents = await tx.ancestors(tree, [...ids], maxAncestors + 1);
  if (parents.size > maxAncestors) {
    throw badRequest(`expected at most ${formatCount(maxAncestors)} ${kind.pluralLabel} above those of a batch`);
  }
  return parents;
}

/** After this many rounds, every remaining move in a tree with a cycle is rejected. */
const maxRounds = 10;

/** Works in rounds: a rejected move can leave another cycle, even in the tree of the items that link to it. */
function rejectMovesInCycles(items: readonly Item[], movesInTrees: readonly Moves[]): void {
  let hasCycle = true;
  for (let round = 1; hasCycle; round += 1) {
    rejectDependents(items);
    hasCycle = false;
    for (const { field, moves, stored } of movesInTrees) {
      const remaining = moves.filter(isValid);
      const inCycles = movesInCycles(remaining, field, stored);
      if (inCycles.length === 0) continue;
      hasCycle = true;
      if (round > maxRounds) for (const { issues } of remaining) issues.push({ path: [field], code: 'rejected-moves' });
      else for (const item of inCycles) item.issues.push(cycleIssue(item, field));
    }
  }
}

function cycleIssue({ op, kind, values, pendingReferences, links = [] }: Item, field: string): ValidationIssue {
  const issue = { code: 'cycle', kind: kind.label } as const;
  if (op === 'restore') return { path: [field], ...issue, isRestored: true };
  const name = pendingReferences?.has(field) && links.find((link) => link.field === field)?.name;
  return name ? { path: [name], ...issue } : { path: [field], ...issue, received: values[field] };
}

/** A parent is another item, or the ID of a stored record that does not move. */
function movesInCycles(moves: readonly Item[], field: string, stored: Parents): Item[] {
  const movedById = indexById(moves);
  const nodeOf = (id: unknown) => (typeof id === 'string' ? (movedById.get(id) ?? id) : undefined);
  const parentOf = (node: Item | string): Item | string | undefined =>
    typeof node === 'string'
      ? nodeOf(stored.get(node))
      : (node.pendingReferences?.get(field) ?? nodeOf(node.values[field]));
  const inCycles = findCycles<Item | string>(moves, parentOf);
  return moves.filter((item) => inCycles.has(item));
}

function findCycles<T>(items: Iterable<T>, parentOf: (item: T) => T | undefined): ReadonlySet<T> {
  const visited = new Set<T>();
  const inCycles = new Set<T>();
  for (const start of items) {
    const path: T[] = [];
    let item: T | undefined = start;
    while (item !== undefined && !visited.has(item)) {
      visited.add(item);
      path.push(item);
      item = parentOf(item);
    }
    const cycleStart = item === undefined ? -1 : path.indexOf(item);
    if (cycleStart >= 0) for (const member of path.slice(cycleStart)) inCycles.add(member);
  }
  return inCycles;
}
