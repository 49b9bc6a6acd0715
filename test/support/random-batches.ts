/** Random batches of items, new, changed and unchanged ones, that refer to each other and to the records of a model. */
import type { Field } from '../../src/model/fields.ts';
import { listField } from '../../src/model/labels.ts';
import { matchableFields, type RecordKind } from '../../src/model/record-kind.ts';
import { createDocument, importDocument, updateDocument, upsertDocument } from './mutations.ts';
import type { createRandom } from './random.ts';
import { unknownId } from './records.ts';
import {
  type createWriteModel,
  type Fields,
  type Item,
  type Key,
  keyIn,
  linksOf,
  type ModelKind,
  modelKinds,
  type Stored,
  targetOf,
  uniqueOf,
} from './write-model.ts';

export type Verb = 'create' | 'update' | 'upsert' | 'import';

/** An item in the making, and the stored record that it is to change. */
interface Draft extends Item {
  readonly record: Stored | undefined;
  sent: Fields;
}

export const selected = ({ fields }: ModelKind) => `id createdAt updatedAt ${fields.join(' ')}`;

export function createRandomBatches(
  random: ReturnType<typeof createRandom>,
  { held }: ReturnType<typeof createWriteModel>,
) {
  const anyHeld = (kind: RecordKind) => random.pick([...held(kind).values()]);
  const anyId = (kind: RecordKind) => (random.chance(0.02) ? unknownId(kind) : (anyHeld(kind)?.id ?? unknownId(kind)));
  const anySystem = () => random.pick(['erp', 'telematics']) ?? 'erp';
  /** Few enough to be met again, and enough to be rarely those of several records. */
  const anyText = (prefix: string) => (random.chance(0.01) ? ' \t' : `${prefix}-${random.integer(200)}`);

  function anyValue(kind: RecordKind, field: string): unknown {
    const target = targetOf(kind, field);
    const { type, form, required } = kind.fields[field] as Field & { form?: { example: string } };
    if (target && !required && (random.chance(0.3) || held(target).size === 0)) return null;
    if (target) return anyId(target);
    if (field === uniqueOf(kind)) return random.chance(0.1) ? null : `STATUS:${random.integer(200)}`;
    if (type === 'number') return random.integer(110);
    if (type === 'boolean') return random.chance(0.5);
    if (type === 'dateTime') return new Date(Date.UTC(2026, 2, 1 + random.integer(30))).toISOString();
    if (type === 'externalIds') return random.chance(0.2) ? null : { [anySystem()]: anyText('K') };
    return field === 'name' ? `name ${random.integer(random.chance(0.1) ? 3 : 400)}` : (form?.example ?? anyText('R'));
  }

  function anyKey({ kind }: ModelKind): Key {
    const texts: readonly string[] = ['id', ...matchableFields(kind)];
    const systems = kind.fields.externalIds ? [{ externalId: anySystem() }] : [];
    return random.pick<Key>([...texts.map((field) => ({ field })), ...systems]) ?? { field: 'id' };
  }

  /** Most items have a key: that of a record, or any. */
  function withKey({ kind }: ModelKind, by: Key, record: Stored | undefined, fields: Fields): Fields {
    if ('field' in by && by.field === 'id') return record ? { ...fields, id: record.id } : fields;
    if (random.chance(0.01)) return fields;
    const key = record && keyIn(record, by);
    if ('field' in by) return { ...fields, [by.field]: key ?? anyValue(kind, by.field) };
    return { ...fields, externalIds: { ...(fields.externalIds as object), [by.externalId]: key ?? anyText('K') } };
  }

  function anyDraft(entry: ModelKind, by: Key | undefined, verb: Verb, path: Item['path']): Draft {
    const { kind } = entry;
    const matched = by ? [...held(kind).values()].filter((record) => typeof keyIn(record, by) === 'string') : [];
    const record = random.chance(verb === 'update' ? 1 : 0.6) ? random.pick(matched) : undefined;
    const isUnchanged = record && random.chance(0.2);
    const isWhole = !record && random.chance(0.98);
    const isNeeded = (field: string) => isWhole && (field === 'name' || kind.fields[field]?.required);
    const names = entry.fields.filter((field) => isNeeded(field) || random.chance(0.5));
    const values = names.map((field) => [field, isUnchanged ? record[field] : anyValue(kind, field)]);
    let sent: Fields = Object.fromEntries(values);
    if (by) sent = withKey(entry, by, record, sent);
    if (verb === 'update' && !record) sent = { ...sent, id: unknownId(kind) };
    if (verb === 'update' && random.chance(0.1)) {
      sent = { ...sent, ifUpdatedAt: random.chance(0.8) ? record?.updatedAt : '2026-01-01T00:00:00.000Z' };
    }
    if (verb !== 'create' && verb !== 'update' && random.chance(0.01))
      sent = { ...sent, id: random.pick([null, anyId(kind)]) };
    if (verb !== 'create' && sent.externalIds && random.chance(0.4)) {
      const { externalIds, ...others } = sent;
      const cleared = random.chance(0.3) && { [anySystem()]: null };
      sent = { ...others, mergeExternalIds: { ...cleared, ...(externalIds as object) } };
    }
    return { entry, by, record, sent, path, newId: `new ${path.join(' ')}` };
  }

  /** Some items take the unique value of the record of another one, most of which give it up, some in exchange. */
  function exchangeUnique(drafts: readonly Draft[]): void {
    for (const taking of drafts.filter(() => random.chance(0.4))) {
      const { entry, record } = taking;
      const name = uniqueOf(entry.kind);
      const holding = drafts.filter((other) => other !== taking && other.entry === entry && other.record?.[name]);
      const giving = random.pick(holding);
      if (!giving) continue;
      const left = random.chance(0.2) ? (record?.[name] ?? null) : anyValue(entry.kind, name);
      if (random.chance(0.8)) giving.sent = { ...giving.sent, [name]: left };
      taking.sent = { ...taking.sent, [name]: giving.record?.[name] };
    }
  }

  function addRefs(drafts: readonly Draft[]): void {
    for (const [index, draft] of drafts.entries()) {
      if (random.chance(0.5)) draft.sent = { ...draft.sent, ref: `ref ${random.chance(0.03) ? index - 1 : index}` };
    }
  }

  /** Some references are sent as links: by the ref of another item, or by what a record of the batch or another one has, or had. */
  function addLinks(drafts: readonly Draft[]): void {
    for (const draft of drafts) {
      for (const { name, field, target } of linksOf(draft.entry)) {
        if (!random.chance(0.35)) continue;
        const ofTarget = drafts.filter(({ entry }) => entry.kind === target);
        const ref = random.pick((random.chance(0.02) ? drafts : ofTarget).flatMap(({ sent }) => sent.ref ?? []));
        const { [field]: _, ...sent } = draft.sent;
        draft.sent = { ...sent, [name]: ref && random.chance(0.5) ? { ref } : anyCriteria(target, ofTarget) };
      }
    }
  }

  function anyCriteria(target: RecordKind, ofTarget: readonly Draft[]): Fields {
    const draft = random.chance(0.75) ? random.pick(ofTarget) : undefined;
    const known: Fields = (draft ? { ...draft.record, ...(random.chance(0.8) && draft.sent) } : anyHeld(target)) ?? {};
    const has = (name: string) => target.storedFields[name] && (known[name] || random.chance(0.05));
    const [first = 'name', second] = random.shuffle(['name', 'externalIds', 'reference', 'id'].filter(has));
    const criteria = [first, ...(second && random.chance(0.3) ? [second] : [])].map((name) => {
      if (name === 'id') return [name, known.id ?? anyId(target)];
      return [name, random.chance(0.03) ? anyValue(target, name) : (known[name] ?? null)];
    });
    const { externalIds, ...texts } = Object.fromEntries(criteria);
    const isUnset = target.fields.externalIds && random.chance(0.3);
    const ids = { ...(isUnset && { [anySystem()]: null }), ...externalIds };
    return Object.keys(ids).length > 0 ? { ...texts, externalIds: ids } : texts;
  }

  /** Returns the items in the order sent, and the document and the variables that send them. */
  function anyBatch(verb: Verb, one: ModelKind) {
    const isImport = verb === 'import';
    const entries = isImport ? modelKinds : [one];
    const keys = new Map<ModelKind, Key>();
    for (const entry of entries) {
      if (verb === 'update') keys.set(entry, { field: 'id' });
      else if (verb === 'upsert' || (isImport && random.chance(0.7))) keys.set(entry, anyKey(entry));
    }
    const size = () => (isImport ? random.integer(4) : 1 + random.integer(5));
    const items = entries.flatMap((entry) =>
      Array.from({ length: size() }, (_, index) => {
        const path = isImport ? ['input', listField(entry.kind), index] : ['input', index];
        return anyDraft(entry, keys.get(entry), verb, path);
      }),
    );
    exchangeUnique(items);
    if (verb === 'create' || isImport) addRefs(items);
    addLinks(items);
    const byEntry = (valueFor: (entry: ModelKind) => unknown) =>
      isImport ? Object.fromEntries(entries.map((entry) => [listField(entry.kind), valueFor(entry)])) : valueFor(one);
    const input = byEntry((one) => items.filter(({ entry }) => entry === one).map(({ sent }) => sent));
    const how =
      verb === 'upsert' || isImport
        ? { by: byEntry((entry) => sentKey(keys.get(entry))), onInvalid: random.pick(['FAIL', 'SKIP']) }
        : {};
    const rejectsClashes = (isImport || one.kind.occupies !== undefined) && random.chance(0.5);
    const variables = { input, ...how, ...(rejectsClashes && { onClash: 'REJECT' }) };
    return { items, document: documentOf(verb, one), variables, isSkipping: how.onInvalid === 'SKIP', rejectsClashes };
  }

  return { anyId, anyKey, anyBatch };
}

/** A key as GraphQL has it. */
export const sentKey = (by: Key | undefined): object | undefined =>
  by && 'field' in by ? { field: by.field.toUpperCase() } : by;

const upserted = (entry: ModelKind) =>
  `outcome issues { path code message other } before { ${selected(entry)} } record { ${selected(entry)} }`;

function documentOf(verb: Verb, one: ModelKind): string {
  if (verb === 'create') return createDocument(one.kind, selected(one));
  if (verb === 'update') return updateDocument(one.kind, selected(one));
  if (verb === 'upsert') return upsertDocument(one.kind, upserted(one));
  const lists = (fieldsOf: (entry: ModelKind) => string) =>
    modelKinds.map((entry) => `${listField(entry.kind)} { ${fieldsOf(entry)} }`).join(' ');
  return importDocument(
    `results { ${lists(upserted)} } ${lists(() => 'id')} rejected { list index issues { path code other } }`,
  );
}
