/** Deletes records, and handles the references to them. */
import { badRequest, conflict, invalid } from '../errors.ts';
import { count, type Issue, inBatch, type Parsed } from '../model/issues.ts';
import { counted } from '../model/labels.ts';
import type { RecordKind, RecordOf, Values } from '../model/record-kind.ts';
import type { ReverseLink } from '../model/reverse-link.ts';
import { reverseLinksOf } from '../records/reverse-links.ts';
import type { Condition } from '../store/condition.ts';
import type { TransactionStore } from '../store/workspace-store.ts';
import { findBatch } from './batch-ids.ts';
import { requireMayWrite, type Session } from './session.ts';
import { timeAfter, updateStamps } from './stamps.ts';

interface DeleteOptions {
  /** What to do if other records refer to those that are deleted: reject the deletion, or clear the references. */
  readonly references: 'refuse' | 'clear';
  /** The most records of which references may be cleared. */
  readonly maxCleared: number;
}

/**
 * Deletes all records with these IDs in one transaction, or none, and returns them in the order sent. Throws a ServiceError: 403 if the
 * session may not write, 400 for unknown and malformed IDs, 409 if records that are not deleted refer to those that are, with every issue
 * of the batch.
 */
export async function deleteRecords<K extends RecordKind>(
  session: Session,
  kind: K,
  sent: readonly Parsed<string>[],
  { references, maxCleared }: DeleteOptions,
): Promise<RecordOf<K>[]> {
  requireMayWrite(session);
  if (sent.length === 0) return [];
  const ids = sent.map(({ value }) => value);
  const malformed = sent.flatMap(({ issues = [] }, index) => issues.map((issue) => ({ ...issue, path: [index] })));
  return session.store.transaction(async (transaction) => {
    const batch = await findBatch(kind, ids, inBatch, (known) => transaction.findToDelete(kind, known));
    const records = batch.records.filter((record) => record !== undefined);
    const deleted = new Set(records.map(({ id }) => id));
    const blocked = references === 'refuse' ? await stillReferred(transaction, kind, ids, deleted) : [];
    const unknown = [...malformed, ...batch.issues];
    const issues = [...unknown, ...blocked].toSorted((a, b) => Number(a.path[0]) - Number(b.path[0]));
    if (unknown.length > 0) throw invalid(issues);
    if (issues.length > 0) throw conflict(issues);

    if (references === 'clear') await clearReferences(transaction, session, { kind, deleted, maxCleared });
    const latest = records.reduce((a, b) => (a.updatedAt > b.updatedAt ? a : b));
    await transaction.delete(kind, records, timeAfter(latest));
    return records;
  });
}

/** The references to records of the kind. */
const referencesTo = (kind: RecordKind) =>
  reverseLinksOf(kind.name).filter(({ direction }) => direction === 'referring');

/** How many of the records that refer to one that is to be deleted are named. */
const maxNamed = 3;

/** How many of the records that refer to those of a batch are counted, by each of their fields, unless more are to be named. */
const maxCounted = 10_000;

/** `1 asset, 2 work orders and 1 project` */
const listed = new Intl.ListFormat('en-GB');

/** An issue for each record that others refer to. */
async function stillReferred(
  store: TransactionStore,
  kind: RecordKind,
  ids: readonly (string | undefined)[],
  deleted: ReadonlySet<string>,
): Promise<Issue[]> {
  const most = Math.max(maxNamed, Math.floor(maxCounted / ids.length));
  const referring = await Promise.all(
    referencesTo(kind).map(async (link) => {
      // Records that are deleted themselves do not count.
      const where: Condition = link.kind === kind ? { not: { field: 'id', in: [...deleted] } } : { all: [] };
      // One more, to see whether there are others.
      const query = { where, limit: most + 1, withCount: false, fields: new Set(['id']) };
      return { link, pages: await store.pages(link, [...deleted], query) };
    }),
  );
  return ids.flatMap((id = '', index) => {
    const found = referring.flatMap(({ link, pages }) => {
      const { records = [] } = pages.get(id) ?? {};
      return records.length > 0 ? [{ kind: link.kind, records }] : [];
    });
    if (found.length === 0) return [];
    const total = found.reduce((sum, { records }) => sum + records.length, 0);
    const counts = listed.format(found.map(({ kind, records }) => countedUpTo(most, records.length, kind)));
    const named = found.flatMap(({ records }) => records.map((record) => record.id)).slice(0, maxNamed);
    const list = `${named.join(', ')}${total > named.length ? ', …' : ''}`;
    const problem = `${counts} ${total === 1 ? 'points' : 'point'} at this ${kind.label}: ${list}`;
    const message = `${problem}; delete ${total === 1 ? 'it' : 'them'} first, or send references: CLEAR`;
    return [{ path: [index], message }];
  });
}

/** `2 assets`, or `more than 10,000 assets` */
const countedUpTo = (most: number, found: number, kind: RecordKind): string =>
  found > most ? `more than ${counted(most, kind)}` : counted(found, kind);

/** Clears the references in all records that have them, each of which gets a new version. */
async function clearReferences(
  store: TransactionStore,
  session: Session,
  { kind, deleted, maxCleared }: { kind: RecordKind; deleted: ReadonlySet<string>; maxCleared: number },
): Promise<void> {
  const referring = await Promise.all(
    referencesTo(kind).map(async (link) => {
      // One more, to see whether there are others, and those that are deleted themselves.
      const found = await store.findReferring(link, [...deleted], maxCleared + 1 + deleted.size);
      return { link, ids: found.filter((id) => !deleted.has(id)) };
    }),
  );
  if (referring.reduce((sum, { ids }) => sum + ids.length, 0) > maxCleared) {
    const problem = `expected at most ${count(maxCleared)} references to clear, there are more`;
    throw badRequest(`${problem}: delete fewer records at once, or change those that refer to them first`);
  }
  for (const { link, ids } of referring) {
    if (ids.length === 0) continue;
    const records = await store.findToUpdate(link.kind, ids);
    // Others may have changed a record before it was locked.
    const stillRefer = records.filter((record) => deleted.has(String((record as Values)[link.field])));
    await store.update(
      link.kind,
      stillRefer.map((before) => ({ before, after: withoutReference(session, link, before) })),
    );
  }
}

/** The cast is safe because the field of a link is a reference, which may be null. */
const withoutReference = <R extends RecordOf<RecordKind>>(session: Session, { kind, field }: ReverseLink, record: R) =>
  ({ ...record, [field]: null, ...updateStamps(kind, session, record) }) as object as R;
