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
import type { Item } from './item.ts';
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
  for (const kind of new Set(items.map((item) => item.kind))) {
    const ofKind = items.filter((item) => item.kind === kind);
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

/** Locks the records that are referred to. */
export async function checkReferences(tx: Tx, items: readonly Item[]): Promise<void> {
  const { byTarget, wrong } = referencesIn(items);
  for (const { item, issue } of wrong) item.issues.push(issue);
  for (const [target, references] of byTarget) {
    if (references.length === 0) continue;
    const existing = await tx.existingValues(target, 'id', [...new Set(references.map(({ id }) => id))]);
    for (const { item, field, id } of references) {
      if (!existing.has(id)) item.issues.push({ path: [field], message: noRecord(target, id) });
    }
  }
}

/** A record may keep its own values. Those of the key by which records were found are known to be free. */
export async function checkUnique(tx: Tx, items: readonly Item[], by: RecordKey | undefined): Promise<void> {
  for (const kind of new Set(items.map((item) => item.kind))) {
    for (const [name, field] of Object.entries(kind.fields)) {
      if (!field.unique || (by && 'field' in by && by.field === name)) continue;
      const isNew = ({ values, before }: Item) => typeof values[name] === 'string' && values[name] !== before?.[name];
      const sent = items.filter((item) => item.kind === kind && isNew(item));
      if (sent.length === 0) continue;
      const textOf = ({ values }: Item) => String(values[name]);
      const stored = await tx.existingValues(kind, name, [...new Set(sent.map(textOf))]);
      const earlier = new Map<string, Item>();
      for (const item of sent) {
        const text = textOf(item);
        const first = earlier.get(text);
        const has = `has the ${name} ${quote(text)}`;
        const message = stored.has(text)
          ? `another ${kind.label} ${has}`
          : `item [${first?.path.at(-1)}] of this batch also ${has}`;
        if (stored.has(text) || first) item.issues.push({ path: [name], message, isConflict: true });
        else earlier.set(text, item);
      }
    }
  }
}

const referencesTo = (kind: RecordKind) =>
  reverseLinksOf(kind.name).filter(({ direction }) => direction === 'referring');

/** Records that are deleted themselves do not count. */
export async function checkDeletions(tx: Tx, items: readonly Item[]): Promise<void> {
  const going = goingOf(items);
  const [{ kind } = {}] = items;
  if (!kind || going.size === 0) return;
  const problems = await referenceProblems(tx, kind, going, new Map([[kind, going]]));
  for (const { before, issues } of items) {
    const found = before && problems.get(before.id);
    if (!found) continue;
    const message = `${found.problem}; delete ${found.total === 1 ? 'it' : 'them'} first, or send references: CLEAR`;
    issues.push({ path: [], message, isConflict: true });
  }
}

const goingOf = (items: readonly Item[]): ReadonlySet<string> =>
  new Set(items.flatMap(({ op, before }) => (op === 'delete' && before ? [before.id] : [])));

const maxNamed = 3;

/** The most referring records that are counted for a batch, by each of their fields, unless more are to be named. */
const maxCounted = 10_000;

/** `1 asset, 2 work orders and 1 project` */
const listed = new Intl.ListFormat('en-GB');

/** Returns what refers to each of the records, as `this asset is referenced by …`, if anything does but the records that do not count. */
export async function referenceProblems(
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
  const going = goingOf(items);
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
  const now = Date.now();
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
