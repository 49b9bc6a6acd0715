/** Gives new records their IDs before they are stored, so that others of the same write can refer to them. */
import { newIds } from '../model/ids.ts';
import { type Issue, type PathOf, quote } from '../model/issues.ts';
import { withArticle } from '../model/labels.ts';
import { type Linkable, withIssues } from '../model/links.ts';
import type { CreateOf, RecordKind } from '../model/record-kind.ts';
import { inTreeOrder, treeOf } from './checks/cycles.ts';
import type { Refs } from './resolve-links.ts';

export interface NewRecords<K extends RecordKind = RecordKind> {
  readonly kind: K;
  readonly items: readonly Linkable<CreateOf<K>>[];
  readonly pathOf: PathOf;
}

interface WithIds {
  readonly ids: readonly string[];
  /** The places of the items in the order in which they are stored, which is that of their IDs. */
  readonly order: readonly number[];
}

export interface Planned {
  readonly batches: readonly (NewRecords & WithIds)[];
  readonly refs: Refs;
}

/** Gives the items IDs. Those with a ref that an earlier one has, and those that are their own ancestors, get an issue. */
export function withIds(sent: readonly NewRecords[]): Planned {
  const { batches, places } = withPlaces(sent);
  const planned = batches.map((batch, at) => inTreeOrderWithIds(batch, at, places));
  return {
    batches: planned,
    refs: new Map([...places].map(([ref, { batch, index }]) => [ref, planned[batch]?.ids[index] ?? ''])),
  };
}

interface Place {
  readonly batch: number;
  readonly index: number;
}

type Places = ReadonlyMap<string, Place>;

function withPlaces(sent: readonly NewRecords[]): { batches: NewRecords[]; places: Places } {
  const places = new Map<string, Place>();
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
export function valuesOf<K extends RecordKind>({ value, links = [] }: Linkable<CreateOf<K>>, refs: Refs): CreateOf<K> {
  const linked = links.flatMap(({ field, to }) => (to.ref === undefined ? [] : [[field, refs.get(to.ref)]]));
  // The cast is safe: a valid item has values, and the fields are references of the kind.
  return { ...value, ...Object.fromEntries(linked) } as CreateOf<K>;
}
