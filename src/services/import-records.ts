/** Creates records of several kinds together, which may refer to each other before they have IDs. */
import { quote } from '../model/issues.ts';
import type { CreateOf, RecordKind, RecordOf } from '../model/record-kind.ts';
import type { Lookups } from '../store/writes/lookups.ts';
import { created, draftOf, newRecords, type Written } from '../store/writes/work.ts';
import { requireFewParsedExternalIds } from './checks/batch.ts';
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
import { type NewRecords, type Planned, valuesOf, withIds } from './planned-ids.ts';
import { resolveLinks } from './resolve-links.ts';
import type { Session } from './session.ts';
import { creationStamps } from './stamps.ts';

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
