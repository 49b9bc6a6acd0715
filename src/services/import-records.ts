/** Creates records of several kinds together, which may refer to each other before they have IDs. */
import { newIds } from '../model/ids.ts';
import { type Issue, type PathOf, quote } from '../model/issues.ts';
import { withArticle } from '../model/labels.ts';
import { type Linkable, withIssues } from '../model/links.ts';
import type { CreateOf, RecordKind, RecordOf } from '../model/record-kind.ts';
import type { Lookups } from '../store/writes/lookups.ts';
import { created, draftOf, newRecords, type Written } from '../store/writes/work.ts';
import { requireFewParsedExternalIds } from './checks/batch.ts';
import { inTreeOrder, treeOf } from './checks/cycles.ts';
import {
  findIssues,
  type OnInvalid,
  type Rejected,
  type RejectedItems,
  referenceIssues,
  rejectedItems,
  rejectItem,
  throwIssues,
} from './checks/validation.ts';
import { type Refs, resolveLinks } from './resolve-links.ts';
import { creationStamps, type Session } from './session.ts';

export interface NewRecords<K extends RecordKind = RecordKind> {
  readonly kind: K;
  readonly items: readonly Linkable<CreateOf<K>>[];
  readonly pathOf: PathOf;
}

/** Throws like createRecords. With `skip`, invalid items and those that refer to them are returned with their issues instead. */
export async function importRecords(
  session: Session,
  batches: readonly NewRecords[],
  onInvalid: OnInvalid = 'fail',
): Promise<(RecordOf<RecordKind> | Rejected)[][]> {
  const write = session.writer();
  if (batches.every(({ items }) => items.length === 0)) return batches.map(() => []);
  requireFewParsedExternalIds(batches.flatMap(({ items }) => items));
  return write(async (find) => {
    const { planned, issues } = await checked(find, withIds(batches));
    if (onInvalid === 'fail') throwIssues(issues);
    const rejected = issues.map(rejectedItems);
    rejectReferring(rejected, planned);
    return createdTogether(session, planned.batches, rejected);
  });
}

async function checked(find: Lookups, { batches, refs }: Planned) {
  const resolved = await inTurn(batches, async (batch) => ({
    ...batch,
    items: await resolveLinks(find, batch.items, refs),
  }));
  const known = accepting(find, new Set(batches.flatMap(({ ids }) => ids)));
  const candidates = await inTurn(resolved, async ({ kind, items: parsed, pathOf }) => {
    const sent = { parsed, pathOf };
    return { kind, sent: { ...sent, unresolved: await referenceIssues(known, kind, sent) } };
  });
  const issues = await inTurn(candidates, ({ kind, sent }) => findIssues(known, kind, sent));
  return { planned: { batches: resolved, refs }, issues };
}

/** One after the other, as the transaction runs its statements: the first error is that of the first batch. */
async function inTurn<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const item of items) results.push(await work(item));
  return results;
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

function rejectReferring(rejected: readonly RejectedItems[], { batches, refs }: Planned): void {
  const items = batches.flatMap((batch, at) =>
    batch.items.map(({ ref, links = [] }, index) => ({
      index,
      links,
      rejected: rejected[at] as RejectedItems,
      // Of several items with the same ref, only the first can be referred to.
      ref: ref !== undefined && refs.get(ref) === batch.ids[index] ? ref : undefined,
    })),
  );
  const referring = new Map<string, { readonly item: (typeof items)[number]; readonly name: string }[]>();
  for (const item of items) {
    for (const { name, to } of item.links) {
      if (to.ref === undefined) continue;
      const others = referring.get(to.ref);
      if (others) others.push({ item, name });
      else referring.set(to.ref, [{ item, name }]);
    }
  }
  const left = items.filter((item) => item.rejected.has(item.index));
  for (let next = left.pop(); next; next = left.pop()) {
    const { ref } = next;
    if (ref === undefined) continue;
    for (const { item, name } of referring.get(ref) ?? []) {
      if (!item.rejected.has(item.index)) left.push(item);
      const message = `the record with the ref ${quote(ref)} was rejected`;
      rejectItem(item.rejected, item.index, { path: [name, 'ref'], message });
    }
  }
}

/** Creates the valid items. Only they get IDs: those of a creation are successive. */
function createdTogether(
  session: Session,
  batches: readonly NewRecords[],
  rejected: readonly RejectedItems[],
): Written<(RecordOf<RecordKind> | Rejected)[][]> {
  const valid = batches.map((batch, at) => ({
    ...batch,
    items: batch.items.filter((_, index) => !rejected[at]?.has(index)),
  }));
  const planned = withIds(valid);
  // The same for all kinds: as of that time, everything that was imported is there.
  const now = new Date().toISOString();
  const added = planned.batches.map(({ kind, items, ids, order }) => {
    const stamps = creationStamps(kind, session, now);
    const values = items.map((item) => valuesOf(item, planned.refs));
    const drafts = order.map((index) => draftOf(kind, values[index] as CreateOf<RecordKind>, stamps));
    const inOrder = order.map((index) => ids[index] ?? '');
    return { kind, ids, records: newRecords(kind, drafts, inOrder) };
  });
  return {
    changes: added.map(({ kind, records }) => created(kind, records)),
    returned: added.map(({ ids, records }, at) => {
      const byId = new Map(records.map((record) => [record.id, record]));
      const inOrderSent = ids.map((id) => byId.get(id) as RecordOf<RecordKind>).values();
      return (batches[at]?.items ?? []).map((_, index) => {
        const issues = rejected[at]?.get(index);
        return issues ? { outcome: 'rejected', issues } : (inOrderSent.next().value as RecordOf<RecordKind>);
      });
    }),
  };
}

interface WithIds {
  readonly ids: readonly string[];
  /** The places of the items in the order in which they are stored, which is that of their IDs. */
  readonly order: readonly number[];
}

interface Planned {
  readonly batches: readonly (NewRecords & WithIds)[];
  readonly refs: Refs;
}

/** Gives the items IDs. Those with a ref that an earlier one has, and those that are their own ancestors, get an issue. */
function withIds(sent: readonly NewRecords[]): Planned {
  const { batches, places } = withPlaces(sent);
  const planned = batches.map((batch, at) => inTreeOrderWithIds(batch, at, places));
  return {
    batches: planned,
    refs: new Map([...places].map(([ref, { batch, index }]) => [ref, planned[batch]?.ids[index] ?? ''])),
  };
}

type Places = Map<string, { readonly batch: number; readonly index: number }>;

function withPlaces(sent: readonly NewRecords[]): { batches: NewRecords[]; places: Places } {
  const places: Places = new Map();
  const batches = sent.map(({ items, ...batch }, at) => ({
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
  return { batches, places };
}

/** In the order sent, but parents before their children, without which these cannot be stored. */
function inTreeOrderWithIds(batch: NewRecords, at: number, places: Places): NewRecords & WithIds {
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

/** The values of a valid item, with the IDs that its refs stand for. */
function valuesOf<K extends RecordKind>({ value, links = [] }: Linkable<CreateOf<K>>, refs: Refs): CreateOf<K> {
  const linked = links.flatMap(({ field, to }) => (to.ref === undefined ? [] : [[field, refs.get(to.ref)]]));
  // The cast is safe: a valid item has values, and the fields are references of the kind.
  return { ...value, ...Object.fromEntries(linked) } as CreateOf<K>;
}
