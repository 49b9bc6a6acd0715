/** Creates records of several kinds together, which may refer to each other before they have IDs. */
import { newIds } from '../model/ids.ts';
import { type Issue, type PathOf, quote } from '../model/issues.ts';
import { withArticle } from '../model/labels.ts';
import { type Linkable, withIssues } from '../model/links.ts';
import type { CreateOf, RecordKind, RecordOf } from '../model/record-kind.ts';
import type { Lookups } from '../store/writes/lookups.ts';
import { created, draftOf, newRecords, type Written } from '../store/writes/work.ts';
import { requireFewParsedExternalIds } from './batch-size.ts';
import { inTreeOrder, treeOf } from './cycles.ts';
import { type Refs, resolveLinks } from './resolve-links.ts';
import type { Session } from './session.ts';
import { creationStamps } from './stamps.ts';
import { findIssues, referenceIssues, throwIssues } from './validation.ts';

/** The records of one kind to create. */
export interface NewRecords<K extends RecordKind = RecordKind> {
  readonly kind: K;
  readonly items: readonly Linkable<CreateOf<K>>[];
  readonly pathOf: PathOf;
}

/**
 * Creates the records of all kinds in one transaction, or none, and returns them in the order sent. Throws a ServiceError: 403 if the
 * session may not write, otherwise 400, or 409 if every issue is a taken value, with every invalid field.
 */
export async function importRecords(
  session: Session,
  batches: readonly NewRecords[],
): Promise<RecordOf<RecordKind>[][]> {
  const write = session.writer();
  if (batches.every(({ items }) => items.length === 0)) return batches.map(() => []);
  requireFewParsedExternalIds(batches.flatMap(({ items }) => items));
  return write((find) => createTogether(find, session, batches));
}

async function createTogether(
  find: Lookups,
  session: Session,
  batches: readonly NewRecords[],
): Promise<Written<RecordOf<RecordKind>[][]>> {
  const named = withRefs(batches);
  const planned = named.batches.map((batch, at) => withIds(batch, at, named.places));
  const refs: Refs = new Map(
    [...named.places].map(([ref, { batch, index }]) => [ref, planned[batch]?.ids[index] ?? '']),
  );
  const resolved: readonly (NewRecords & Planned)[] = await inTurn(planned, async (batch) => ({
    ...batch,
    items: await resolveLinks(find, batch.items, refs),
  }));

  const known = accepting(find, new Set(planned.flatMap(({ ids }) => ids)));
  const checked = await inTurn(resolved, async (batch) => {
    const sent = { parsed: batch.items, pathOf: batch.pathOf };
    return { kind: batch.kind, sent, references: await referenceIssues(known, batch.kind, sent) };
  });
  throwIssues(
    await inTurn(checked, ({ kind, sent, references }) =>
      findIssues(known, kind, { ...sent, ...references }, 'lookup'),
    ),
  );

  // All kinds get the same time: as of then, everything that was imported is there.
  const now = new Date().toISOString();
  const added = resolved.map(({ kind, items, ids, order }) => {
    const stamps = creationStamps(kind, session, now);
    // All of them are valid.
    const drafts = order.map((index) => draftOf(kind, items[index]?.value as CreateOf<RecordKind>, stamps));
    const inOrder = order.map((index) => ids[index] ?? '');
    return { kind, ids, records: newRecords(kind, drafts, inOrder) };
  });
  return {
    changes: added.map(({ kind, records }) => created(kind, records)),
    returned: added.map(({ ids, records }) => {
      const byId = new Map(records.map((record) => [record.id, record]));
      return ids.map((id) => byId.get(id) as RecordOf<RecordKind>);
    }),
  };
}

/**
 * Does the work for one item after the other, as the transaction runs its statements: the first error is that of the first batch.
 */
async function inTurn<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const item of items) results.push(await work(item));
  return results;
}

interface Place {
  readonly batch: number;
  readonly index: number;
}

/** Returns the items by their refs. An item with a ref that an earlier one has gets an issue. */
function withRefs(batches: readonly NewRecords[]) {
  const places = new Map<string, Place>();
  const checked = batches.map(({ items, ...batch }, at) => ({
    ...batch,
    items: items.map((item, index) => {
      const { ref } = item;
      if (ref === undefined) return item;
      if (!places.has(ref)) {
        places.set(ref, { batch: at, index });
        return item;
      }
      const issue: Issue = { path: ['ref'], message: `another record of this mutation has the ref ${quote(ref)}` };
      return withIssues(item, [issue]);
    }),
  }));
  return { batches: checked, places: places as ReadonlyMap<string, Place> };
}

interface Planned {
  /** The ID of each item. */
  readonly ids: readonly string[];
  /** The places of the items in the order of their IDs, in which they are stored. */
  readonly order: readonly number[];
}

/** Gives the items their IDs: in the order sent, but to parents before their children, without which these cannot be stored. */
function withIds(batch: NewRecords, at: number, places: ReadonlyMap<string, Place>): NewRecords & Planned {
  const { kind, items } = batch;
  const tree = treeOf(kind);
  const parentOf = items.map(({ links = [] }) => {
    const link = links.find(({ field }) => field === tree?.field);
    const place = link?.to.ref === undefined ? undefined : places.get(link.to.ref);
    return link && place?.batch === at ? { name: link.name, index: place.index } : undefined;
  });
  const { order, inCycles } = inTreeOrder(items.keys(), (index) => parentOf[index]?.index);
  const ids: string[] = [];
  newIds(kind.idPrefix, items.length).forEach((id, place) => {
    ids[order[place] ?? place] = id;
  });
  const checked = items.map((item, index) => {
    const parent = parentOf[index];
    if (!parent || !inCycles.has(index)) return item;
    const message = `expected ${withArticle(kind.label)} that is neither this one nor one of its descendants`;
    return withIssues(item, [{ path: [parent.name], message }]);
  });
  return { ...batch, items: checked, ids, order };
}

/** Treats planned IDs as existing. */
const accepting = (find: Lookups, newIds: ReadonlySet<string>): Lookups => ({
  ...find,
  async existingValues(kind, field, values) {
    if (field !== 'id') return find.existingValues(kind, field, values);
    const others = values.filter((id) => !newIds.has(id));
    const existing = others.length > 0 ? await find.existingValues(kind, field, others) : [];
    return new Set([...existing, ...values.filter((id) => newIds.has(id))]);
  },
});
