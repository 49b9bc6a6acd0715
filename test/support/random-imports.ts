/** Random imports of several kinds at once, whose records refer to each other and to those of a model, for tests of random writes. */
import type { RecordKind } from '../../src/model/record-kind.ts';
import type { createRandom } from './random.ts';
import { type createWriteModel, isInCycle, type ModelKind, modelKinds, type Stored, targetOf } from './write-model.ts';

type Random = ReturnType<typeof createRandom>;
type WriteModel = ReturnType<typeof createWriteModel>;

/** The name of the kind's list in an import. */
export const listOf = ({ kind }: ModelKind) => kind.plural.charAt(0).toLowerCase() + kind.plural.slice(1);

/** New items of all kinds, some of which have refs, by which the references of others are sent. */
export function anyImport(random: Random, { anyFields, withLinks, isAllowed }: WriteModel) {
  const places = new Map<string, { readonly kind: RecordKind; readonly list: string; readonly index: number }>();
  let areUnique = true;
  const lists = modelKinds.map((entry) => {
    const items = Array.from({ length: random.integer(3) }, (_, index) => {
      if (random.chance(0.4)) return { fields: anyFields(entry, true) };
      const ref = random.chance(0.02) ? 'ref 0' : `ref ${places.size}`;
      areUnique &&= !places.has(ref);
      if (!places.has(ref)) places.set(ref, { kind: entry.kind, list: listOf(entry), index });
      return { fields: anyFields(entry, true), ref };
    });
    return { entry, items };
  });

  const batches = lists.map(({ entry, items }) => ({
    entry,
    items: items.map(({ fields, ref }) => {
      const refs: Record<string, string> = {};
      const others: Record<string, unknown> = {};
      for (const [field, value] of Object.entries(fields)) {
        const target = targetOf(entry.kind, field);
        const ofTarget = [...places].filter(([, { kind }]) => kind === target).map(([name]) => name);
        const isWrong = random.chance(0.01);
        const sent = random.pick(isWrong ? [...places.keys(), 'none'] : ofTarget);
        if (target && sent !== undefined && random.chance(0.5)) refs[field] = sent;
        else others[field] = value;
      }
      const item = withLinks(entry.kind, others);
      const links = Object.fromEntries(Object.entries(refs).map(([field, to]) => [field.slice(0, -2), { ref: to }]));
      const lead = Object.entries(refs).every(([field, to]) => places.get(to)?.kind === targetOf(entry.kind, field));
      return {
        sent: { ...item.sent, ...links, ...(ref && { ref }) },
        values: lead ? item.values : undefined,
        ref,
        refs,
      };
    }),
  }));
  const all = batches.flatMap(({ items }) => items);
  const parents = new Map<unknown, unknown>(all.map(({ ref, refs }) => [ref, refs.parentId]));
  const isAccepted =
    areUnique &&
    all.every(({ values }) => values !== undefined) &&
    !all.some(({ ref }) => ref && isInCycle(ref, parents)) &&
    batches.every(({ entry, items }) => {
      const values = items.map((item) => item.values ?? {});
      return isAllowed(entry.kind, values, values);
    });
  /** The ID that the result has for the record with a ref. */
  const idIn = (result: Readonly<Record<string, readonly Stored[]>>, ref: string): string | undefined => {
    const { list = '', index = 0 } = places.get(ref) ?? {};
    return result[list]?.[index]?.id;
  };
  return { batches, idIn, isAccepted };
}
