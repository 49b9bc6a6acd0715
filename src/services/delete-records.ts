/** Deletes records, and handles the references to them. */
import { badRequest, conflict, invalid } from '../errors.ts';
import { count, type Issue, inBatch, type Parsed } from '../model/issues.ts';
import { counted } from '../model/labels.ts';
import type { RecordKind, RecordOf, Values } from '../model/record-kind.ts';
import type { ReverseLink } from '../model/reverse-link.ts';
import { reverseLinksOf } from '../records/reverse-links.ts';
import type { Condition } from '../store/condition.ts';
import type { Page } from '../store/read-records.ts';
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
 * session may not write, 400 for unknown and malformed IDs, 409 if records that are not deleted refer to those that are, with every issue of the batch.
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
    const referring = await findReferring(transaction, kind, deleted);
    const blocked = references === 'refuse' ? stillReferred(kind, ids, referring) : [];
    const unknown = [...malformed, ...batch.issues];
    const issues = [...unknown, ...blocked].toSorted((a, b) => Number(a.path[0]) - Number(b.path[0]));
    if (unknown.length > 0) throw invalid(issues);
    if (issues.length > 0) throw conflict(issues);

    await clearReferences(transaction, session, deleted, referring, maxCleared);
    const latest = records.reduce((a, b) => (a.updatedAt > b.updatedAt ? a : b));
    await transaction.delete(kind, records, timeAfter(latest));
    return records;
  });
}

/** A reference to the deleted records, with the number of those that have it, and the first few, by the ID of what they refer to. */
interface Referring {
  readonly link: ReverseLink;
  readonly where: Condition;
  readonly pages: ReadonlyMap<string, Page>;
}

/** How many of the records that refer to one that is to be deleted are named. */
const maxNamed = 3;

/** Records that are deleted themselves do not count. */
const findReferring = (store: TransactionStore, kind: RecordKind, deleted: ReadonlySet<string>): Promise<Referring[]> =>
  Promise.all(
    reverseLinksOf(kind.name)
      .filter(({ direction }) => direction === 'referring')
      .map(async (link) => {
        const where: Condition = link.kind === kind ? { not: { field: 'id', in: [...deleted] } } : { all: [] };
        const query = { where, limit: maxNamed, withCount: true, fields: new Set(['id']) };
        return { link, where, pages: await store.pages(link, [...deleted], query) };
      }),
  );

/** `1 asset, 2 work orders and 1 project` */
const listed = new Intl.ListFormat('en-GB');

function stillReferred(
  kind: RecordKind,
  ids: readonly (string | undefined)[],
  referring: readonly Referring[],
): Issue[] {
  return ids.flatMap((id = '', index) => {
    const found = referring.flatMap(({ link, pages }) => {
      const { records = [], count = 0 } = pages.get(id) ?? {};
      return count > 0 ? [{ kind: link.kind, records, count }] : [];
    });
    if (found.length === 0) return [];
    const total = found.reduce((sum, { count }) => sum + count, 0);
    const counts = listed.format(found.map(({ kind, count }) => counted(count, kind)));
    const named = found.flatMap(({ records }) => records.map((record) => record.id)).slice(0, maxNamed);
    const list = `${named.join(', ')}${total > named.length ? ', …' : ''}`;
    const problem = `${counts} ${total === 1 ? 'points' : 'point'} at this ${kind.label}: ${list}`;
    const message = `${problem}; delete ${total === 1 ? 'it' : 'them'} first, or send references: CLEAR`;
    return [{ path: [index], message }];
  });
}

/** Clears the references in all records that have them, each of which gets a new version. */
async function clearReferences(
  store: TransactionStore,
  session: Session,
  deleted: ReadonlySet<string>,
  referring: readonly Referring[],
  maxCleared: number,
): Promise<void> {
  const inUse = referring.map((reference) => ({ ...reference, total: totalOf(reference) }));
  const total = inUse.reduce((sum, reference) => sum + reference.total, 0);
  if (total > maxCleared) {
    const problem = `expected at most ${count(maxCleared)} references to clear, there are ${count(total)}`;
    throw badRequest(`${problem}: delete fewer records at once, or change those that refer to them first`);
  }
  for (const { link, where, total } of inUse) {
    if (total === 0) continue;
    const query = { where, limit: maxCleared, withCount: false, fields: new Set(['id']) };
    const found = await store.pages(link, [...deleted], query);
    const ids = [...found.values()].flatMap(({ records }) => records.map(({ id }) => id));
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

const totalOf = ({ pages }: Referring): number => [...pages.values()].reduce((sum, { count = 0 }) => sum + count, 0);
