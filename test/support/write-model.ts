/**
 * A model of what is stored, for tests of random writes: it makes random items for some kinds, and knows whether the rules allow them.
 * It sends nothing: the tests do, and keep in the model what was stored.
 */
import type { RecordKind } from '../../src/model/record-kind.ts';
import { asset, assetCategory, location, project, recordKinds, workOrder } from '../../src/records/index.ts';
import type { createRandom } from './random.ts';
import { unknownId } from './records.ts';

export type Fields = Readonly<Record<string, unknown>>;
export type Stored = Fields & { readonly id: string };

/** The kinds of the model, each with the fields that it sets. */
export const modelKinds = [
  { kind: location, fields: ['name', 'latitude', 'externalIds'] },
  { kind: project, fields: ['name', 'reference', 'locationId', 'externalIds'] },
  { kind: asset, fields: ['name', 'uid', 'currentLocationId', 'externalIds'] },
  { kind: workOrder, fields: ['name', 'reference', 'projectId', 'locationId', 'startDate', 'externalIds'] },
  { kind: assetCategory, fields: ['name', 'parentId'] },
] as const;
export type ModelKind = (typeof modelKinds)[number];

/** An item as it is sent, and the values that it stands for: undefined if a link of it leads to no record, or to several. */
export interface Item {
  readonly sent: Fields;
  readonly values: Fields | undefined;
}

/** The kind of record that a field refers to. */
export function targetOf(kind: RecordKind, field: string): RecordKind | undefined {
  const declared = kind.fields[field];
  return declared?.type === 'reference' ? recordKinds.find(({ name }) => name === declared.target) : undefined;
}

export const externalIdOf = (record: Fields, system: string): unknown =>
  (record.externalIds as Fields | null | undefined)?.[system];

export function createWriteModel(random: ReturnType<typeof createRandom>) {
  const records = new Map<RecordKind, Map<string, Stored>>(modelKinds.map(({ kind }) => [kind, new Map()]));
  const held = (kind: RecordKind) => records.get(kind) ?? new Map<string, Stored>();
  const anyHeld = (kind: RecordKind) => random.pick([...held(kind).values()]);
  const anyId = (kind: RecordKind) => (random.chance(0.05) ? unknownId(kind) : (anyHeld(kind)?.id ?? unknownId(kind)));
  const anySystem = () => random.pick(['erp', 'telematics']) ?? 'erp';
  /** Few enough to be met again, and enough to be rarely those of several records. */
  const anyKey = () => `K-${random.integer(200)}`;

  function anyValue(kind: RecordKind, field: string): unknown {
    const target = targetOf(kind, field);
    if (target) return random.chance(0.3) ? null : anyId(target);
    if (field === 'uid') return random.chance(0.3) ? null : `C-${random.integer(40)}`;
    if (field === 'reference') return anyKey();
    if (field === 'latitude') return random.integer(90);
    if (field === 'startDate') return new Date(Date.UTC(2026, 2, 1 + random.integer(30))).toISOString();
    if (field === 'externalIds') return random.chance(0.2) ? null : { [anySystem()]: anyKey() };
    return `name ${random.integer(200)}`;
  }

  const anyFields = ({ kind, fields }: ModelKind, hasName: boolean): Fields =>
    Object.fromEntries(
      fields
        .filter((field) => (hasName && field === 'name') || random.chance(0.5))
        .map((field) => [field, anyValue(kind, field)]),
    );

  /** Some references are sent as links by an external ID or a name. */
  function withLinks(kind: RecordKind, fields: Fields): Item {
    let item: Item = { sent: fields, values: fields };
    for (const [field, id] of Object.entries(fields)) {
      const target = targetOf(kind, field);
      if (!target || id === null || !random.chance(0.2)) continue;
      const system = target.fields.externalIds && random.chance(0.7) ? anySystem() : undefined;
      const textOf = (record: Fields) => (system === undefined ? record.name : externalIdOf(record, system));
      const known = textOf(held(target).get(String(id)) ?? {});
      const value = typeof known === 'string' ? known : anyKey();
      const [found, ...others] = [...held(target).values()].filter((record) => textOf(record) === value);
      const { [field]: _, ...sent } = item.sent;
      item = {
        sent: {
          ...sent,
          [field.slice(0, -'Id'.length)]: system === undefined ? { name: value } : { externalIds: { [system]: value } },
        },
        values: item.values && found && others.length === 0 ? { ...item.values, [field]: found.id } : undefined,
      };
    }
    return item;
  }

  /** Some external IDs of an item for a stored record are sent as those to merge into the record's, which some of them clear. */
  function withMerge(record: Fields | undefined, { sent, values }: Item): Item {
    const { externalIds, ...others } = sent;
    if (!externalIds || !random.chance(0.5)) return { sent, values };
    const merge = { ...(random.chance(0.3) && { [anySystem()]: null }), ...externalIds };
    const merged = Object.entries({ ...(record?.externalIds as object), ...merge }).filter(([, id]) => id !== null);
    return {
      sent: { ...others, mergeExternalIds: merge },
      values: values && { ...values, externalIds: merged.length > 0 ? Object.fromEntries(merged) : null },
    };
  }

  /**
   * Whether the records of the model may be replaced by these, and the new ones added, which have no ID: `sent` are the values of each
   * that the write sets.
   */
  function isAllowed(kind: RecordKind, changed: readonly Fields[], sent: readonly Fields[]): boolean {
    const references = sent.flatMap((fields) =>
      Object.entries(fields).filter(([name, value]) => value !== null && targetOf(kind, name)),
    );
    const exist = references.every(([, id]) => modelKinds.some((entry) => held(entry.kind).has(String(id))));
    const uids = changed.flatMap(({ id, uid }, index) => {
      const current = held(kind).get(String(id))?.uid;
      return typeof uid === 'string' && 'uid' in (sent[index] ?? {}) && uid !== current ? [uid] : [];
    });
    const taken = [...held(kind).values()].some(({ uid }) => uids.includes(uid as string));
    const parents = new Map([...held(kind).values(), ...changed].map(({ id, parentId }) => [id, parentId]));
    return exist && !taken && new Set(uids).size === uids.length && !changed.some(({ id }) => isInCycle(id, parents));
  }

  return { held, anyHeld, anyId, anyKey, anySystem, anyFields, withLinks, withMerge, isAllowed };
}

/** Whether the parents of a record lead back to it. */
export function isInCycle(id: unknown, parents: ReadonlyMap<unknown, unknown>): boolean {
  let above = parents.get(id);
  for (let level = 0; above && level <= parents.size; level += 1) {
    if (above === id) return true;
    above = parents.get(above);
  }
  return false;
}
