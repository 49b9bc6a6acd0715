/** The rules that need the stored records: references lead to records, unique values are free, and nothing refers to what is deleted. */
import { badRequest } from '../errors.ts';
import { count, type Issue, quote } from '../model/issues.ts';
import { counted, withArticle } from '../model/labels.ts';
import type { RecordKind, Values } from '../model/record-kind.ts';
import { kindNamed, kindOfId } from '../records/index.ts';
import { linkOrder } from '../records/link-order.ts';
import { reverseLinksOf } from '../records/reverse-links.ts';
import type { Condition } from '../store/query/record-query.ts';
import type { Tx } from '../store/writes/tx.ts';
import type { Change } from '../store/writes/write.ts';
import { updated } from './changes.ts';
import { byKind, dependOn, type Item, isValid, type Problem } from './item.ts';
import { noRecord, type RecordKey } from './match.ts';
import type { Session } from './session.ts';

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

/** Returns the changes that clear all references to the records that are deleted. Throws a ServiceError 400 for more than `maxCleared`. */
export async function clearedReferences(
  tx: Tx,
  session: Session,
  items: readonly Item[],
  maxCleared: number | undefined,
): Promise<Change[]> {
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
  const changes: Change[] = [];
  const now = new Date().toISOString();
  // A deletion of a project locks it before its work orders, and so must one that clears references in both.
  for (const referring of linkOrder) {
    const ids = idsByKind.get(referring);
    if (!ids || ids.size === 0) continue;
    const fields = links.filter((link) => link.kind === referring).map(({ field }) => field);
    for (const before of await tx.findToUpdate(referring, [...ids])) {
      const left = fields.filter((field) => going.has(String((before as Values)[field])));
      const cleared = Object.fromEntries(left.map((field) => [field, null]));
      // Others may have changed a record before it was locked.
      if (left.length > 0) changes.push(updated(session, referring, before, cleared, now));
    }
  }
  return changes;
}
