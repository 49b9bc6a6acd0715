import { badRequest, conflict, invalid } from '../errors.ts';
import { count, type Issue, inBatch, type Parsed } from '../model/issues.ts';
import { counted } from '../model/labels.ts';
import type { RecordKind, RecordOf, Values } from '../model/record-kind.ts';
import { linkOrder } from '../records/link-order.ts';
import { reverseLinksOf } from '../records/reverse-links.ts';
import type { Condition } from '../store/query/record-query.ts';
import type { Lookups } from '../store/writes/lookups.ts';
import { type Change, deleted, updated } from '../store/writes/work.ts';
import { findBatch } from './checks/batch.ts';
import { findToDeleteByKeys, type RecordKey } from './record-keys.ts';
import { type Session, timeAfter, updateStamps } from './session.ts';

interface DeleteOptions {
  readonly references: 'refuse' | 'clear';
  readonly maxCleared: number;
  /** What was sent are such keys, instead of IDs. */
  readonly by?: RecordKey | undefined;
}

/** Deletes all or none, in the order sent. Throws a ServiceError with every issue: 403, 400, or 409 if records that stay refer to these. */
export async function deleteRecords<K extends RecordKind>(
  session: Session,
  kind: K,
  sent: readonly Parsed<string>[],
  { references, maxCleared, by }: DeleteOptions,
): Promise<RecordOf<K>[]> {
  const write = session.writer();
  if (sent.length === 0) return [];
  return write(async (find) => {
    const batch = by ? await findToDeleteByKeys(find, kind, by, sent) : await findToDeleteByIds(find, kind, sent);
    const unknown = batch.issues;
    const records = batch.records.filter((record) => record !== undefined);
    const going = new Set(records.map(({ id }) => id));
    const ids = batch.records.map((record) => record?.id);
    const blocked = references === 'refuse' ? await stillReferred(find, kind, ids, going) : [];
    const issues = [...unknown, ...blocked].toSorted((a, b) => Number(a.path[0]) - Number(b.path[0]));
    if (unknown.length > 0) throw invalid(issues);
    if (issues.length > 0) throw conflict(issues);

    const cleared = references === 'clear' ? await clearedReferences(find, session, { kind, going, maxCleared }) : [];
    const latest = records.reduce((a, b) => (a.updatedAt > b.updatedAt ? a : b));
    return { changes: [...cleared, deleted(kind, records, timeAfter(latest))], returned: records };
  });
}

async function findToDeleteByIds<K extends RecordKind>(find: Lookups, kind: K, sent: readonly Parsed<string>[]) {
  const ids = sent.map(({ value }) => value);
  const malformed = sent.flatMap(({ issues = [] }, index) => issues.map((issue) => ({ ...issue, path: [index] })));
  const { records, issues } = await findBatch(kind, ids, inBatch, (known) => find.findToDelete(kind, known));
  return { records, issues: [...malformed, ...issues] };
}

const referencesTo = (kind: RecordKind) =>
  reverseLinksOf(kind.name).filter(({ direction }) => direction === 'referring');

const maxNamed = 3;

/** The most referring records that are counted for a batch, by each of their fields, unless more are to be named. */
const maxCounted = 10_000;

/** `1 asset, 2 work orders and 1 project` */
const listed = new Intl.ListFormat('en-GB');

async function stillReferred(
  find: Lookups,
  kind: RecordKind,
  ids: readonly (string | undefined)[],
  going: ReadonlySet<string>,
): Promise<Issue[]> {
  // Records that are deleted themselves do not count.
  const problems = await referenceProblems(find, kind, going, new Map([[kind, going]]));
  return ids.flatMap((id = '', index) => {
    const found = problems.get(id);
    if (!found) return [];
    const message = `${found.problem}; delete ${found.total === 1 ? 'it' : 'them'} first, or send references: CLEAR`;
    return [{ path: [index], message }];
  });
}

/** Returns what refers to each of the records, as `this asset is referenced by …`, if anything does but the records that do not count. */
export async function referenceProblems(
  find: Pick<Lookups, 'pages'>,
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
      return { link, pages: await find.pages(link, [...ids], query) };
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

async function clearedReferences(
  find: Lookups,
  session: Session,
  { kind, going, maxCleared }: { kind: RecordKind; going: ReadonlySet<string>; maxCleared: number },
): Promise<Change[]> {
  const links = referencesTo(kind);
  const idsByKind = new Map(links.map((link) => [link.kind, new Set<string>()]));
  let references = 0;
  for (const link of links) {
    // Reads one more, to see whether there are others, and as many as may be deleted themselves.
    const found = await find.findReferring(link, [...going], maxCleared + 1 + going.size);
    const staying = found.filter((id) => !going.has(id));
    references += staying.length;
    for (const id of staying) idsByKind.get(link.kind)?.add(id);
  }
  if (references > maxCleared) {
    const problem = `expected at most ${count(maxCleared)} references to clear, there are more`;
    throw badRequest(`${problem}: delete fewer records at once, or first change the records that refer to them`);
  }
  const changes: Change[] = [];
  // A deletion of a project locks it before its work orders, and so must one that clears references in both.
  for (const referring of linkOrder) {
    const ids = idsByKind.get(referring);
    if (!ids || ids.size === 0) continue;
    const records = await find.findToUpdate(referring, [...ids]);
    const fields = links.filter((link) => link.kind === referring).map(({ field }) => field);
    const cleared = records.flatMap((before) => {
      const values = before as Values;
      const left = fields.filter((field) => going.has(String(values[field])));
      // Others may have changed a record before it was locked.
      return left.length > 0 ? [{ before, after: without(session, referring, before, left) }] : [];
    });
    changes.push(updated(referring, cleared));
  }
  return changes;
}

/** The cast is safe: the fields are references, which may be null. */
const without = <K extends RecordKind>(session: Session, kind: K, record: RecordOf<K>, fields: readonly string[]) =>
  ({
    ...record,
    ...Object.fromEntries(fields.map((field) => [field, null])),
    ...updateStamps(kind, session, record),
  }) as object as RecordOf<K>;
