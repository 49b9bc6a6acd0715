/**
 * A model of what is stored, for tests of random writes: it says what becomes of the items of a write, as plainly as possible. It sends
 * nothing: the tests do, and keep in the model what was stored.
 */
import { isDeepStrictEqual } from 'node:util';
import type { RecordKind } from '../../src/model/record-kind.ts';
import { recordKinds } from '../../src/records/index.ts';

export type Fields = Readonly<Record<string, unknown>>;
export type Stored = Fields & { readonly id: string };

/** All kinds, with their fields. */
export const modelKinds = recordKinds.map((kind) => ({ kind, fields: Object.keys(kind.fields) }));
export type ModelKind = (typeof modelKinds)[number];

export type Key = { readonly field: string } | { readonly externalId: string };

/** An item as it is sent. Without a key, it creates a record; with the ID as its key, it changes the record with its ID, if it has one. */
export interface Item {
  readonly entry: ModelKind;
  readonly by: Key | undefined;
  readonly sent: Fields;
  readonly path: readonly (string | number)[];
  /** The ID of its record in the model, if it is a new one. */
  readonly newId: string;
}

/** The record of an item before and after a write, and where its links lead. */
interface State {
  readonly before: Stored | undefined;
  /** Undefined if it is to change a record that does not exist. */
  readonly after: Stored | undefined;
  readonly links: Fields;
  readonly isRepeated: boolean;
}

type States = ReadonlyMap<Item, State>;

export function targetOf(kind: RecordKind, field: string): RecordKind | undefined {
  const declared = kind.fields[field];
  return declared?.type === 'reference' ? recordKinds.find(({ name }) => name === declared.target) : undefined;
}

export const uniqueOf = ({ fields }: RecordKind): string =>
  Object.keys(fields).find((name) => fields[name]?.unique) ?? 'none';

/** The references of a kind, by the names of their links: `currentLocation` */
export const linksOf = ({ kind, fields }: ModelKind) =>
  fields.flatMap((field) => {
    const target = targetOf(kind, field);
    return target ? [{ name: field.slice(0, -'Id'.length), field, target }] : [];
  });

export const keyIn = (record: Fields, by: Key): unknown =>
  'field' in by ? record[by.field] : (record.externalIds as Fields | null | undefined)?.[by.externalId];

export const isBlank = (value: unknown): boolean => String(value ?? '').trim() === '';

export function createWriteModel() {
  const records = new Map<RecordKind, Map<string, Stored>>(modelKinds.map(({ kind }) => [kind, new Map()]));
  const held = (kind: RecordKind) => records.get(kind) ?? new Map<string, Stored>();

  /** The key and the stored record of an item, whether it has what finds one or needs none, and whether it is of a record at all. */
  function find({ entry: { kind }, by, sent }: Item) {
    const { id = null, externalIds, mergeExternalIds = externalIds } = sent;
    const isById = by && 'field' in by && by.field === 'id';
    const key = isById ? id : by && keyIn({ ...sent, externalIds: mergeExternalIds }, by);
    const [before, other] = key ? [...held(kind).values()].filter((record) => keyIn(record, by as Key) === key) : [];
    if (isById) return { key, before, isRight: before || !id, isRecord: before || !id };
    const isKey = typeof key === 'string' && !isBlank(key) && !other;
    return { key, before: isKey ? before : undefined, isRight: id === null && (isKey || !by), isRecord: true };
  }

  /** The fields that an item sets, but for its links. */
  function valuesOf({ entry, by, sent }: Item, before: Stored | undefined): Fields {
    const values = Object.fromEntries(Object.entries(sent).filter(([name]) => entry.fields.includes(name)));
    const isMerged = before && by && 'externalId' in by && values.externalIds;
    const patch = sent.mergeExternalIds ?? (isMerged ? values.externalIds : undefined);
    if (!patch) return values;
    const merged = Object.entries({ ...(before?.externalIds as object), ...patch }).filter(([, id]) => id !== null);
    return { ...values, externalIds: merged.length > 0 ? Object.fromEntries(merged) : null };
  }

  /** What would become of items if all of them were stored together, and which of them are wrong: they break a rule. */
  function evaluate(items: readonly Item[]) {
    const states = new Map<Item, State>();
    const wrong = new Set<Item>();
    const require = (isRight: unknown, item: Item) => isRight || wrong.add(item);
    const identities = new Set<string>();
    const byRef = new Map<unknown, Item>();
    for (const item of items) {
      const { entry, sent, newId } = item;
      const { key, before: found, isRight, isRecord } = find(item);
      const identity = found?.id ?? `${entry.kind.name} ${typeof key === 'string' ? key : newId}`;
      const isRepeated = identities.has(identity);
      identities.add(identity);
      const before = isRepeated ? undefined : found;
      const values = valuesOf(item, found);
      const unset = Object.fromEntries(entry.fields.map((field) => [field, null]));
      const after: Stored = { ...unset, ...found, ...values, id: before?.id ?? newId };
      require(isRight && !isRepeated, item);
      require(!sent.ifUpdatedAt || sent.ifUpdatedAt === found?.updatedAt, item);
      require(sent.ref === undefined || !byRef.has(sent.ref), item);
      const required = entry.fields.filter((field) => entry.kind.fields[field]?.required);
      require(required.every((field) => after[field] || sent[field.replace(/Id$/, '')]), item);
      require(Number(sent.latitude ?? 0) <= 90, item);
      for (const { field, target } of linksOf(entry))
        require(!values[field] || held(target).has(String(values[field])), item);
      if (!byRef.has(sent.ref)) byRef.set(sent.ref, item);
      states.set(item, { before, after: isRecord ? after : undefined, links: {}, isRepeated });
    }
    for (const [item, state] of states) {
      const found = linksOf(item.entry).flatMap(({ name, field, target }) => {
        const link = item.sent[name] as Fields | undefined;
        return link ? [[field, targetOfLink(link, target, states, byRef)]] : [];
      });
      require(found.every(([, id]) => id !== undefined), item);
      const links = Object.fromEntries(found);
      states.set(item, { ...state, after: state.after && { ...state.after, ...links }, links });
    }
    for (const item of takingTaken(states)) wrong.add(item);
    return { states, wrong };
  }

  /** The record of which all that a link says is true after the write, if there is exactly one. */
  function targetOfLink(link: Fields, target: RecordKind, states: States, byRef: ReadonlyMap<unknown, Item>): unknown {
    const { ref, externalIds, ...texts } = link;
    const other = byRef.get(ref);
    if (ref !== undefined) return other?.entry.kind === target ? states.get(other)?.after?.id : undefined;
    const criteria: (readonly [Key, unknown])[] = [
      ...Object.entries(texts).map(([field, text]) => [{ field }, text] as const),
      ...Object.entries((externalIds ?? {}) as Fields).map(([externalId, text]) => [{ externalId }, text] as const),
    ];
    const given = criteria.filter(([, text]) => text !== null);
    if (given.length === 0 || given.some(([, text]) => isBlank(text))) return undefined;
    const after = new Map(held(target));
    for (const [{ entry }, { after: state, isRepeated }] of states) {
      if (entry.kind === target && state && !isRepeated) after.set(state.id, state);
    }
    const [only, ...others] = [...after.values()].filter((record) =>
      criteria.every(([by, text]) => (text === null ? isBlank(keyIn(record, by)) : keyIn(record, by) === text)),
    );
    return others.length === 0 ? only?.id : undefined;
  }

  /** The items whose unique value another record keeps or an earlier item takes, and those that wait for another to give it up. */
  function takers(states: States) {
    const waitsFor = new Map<Item, Item>();
    const first = new Set<string>();
    const taken: Item[] = [];
    for (const [item, { before }] of states) {
      const { kind } = item.entry;
      const name = uniqueOf(kind);
      const { [name]: value } = item.sent;
      if (typeof value !== 'string' || value === before?.[name]) continue;
      const holder = [...held(kind).values()].find((record) => record[name] === value);
      const giving = [...states].find(([, it]) => holder && it.before === holder && it.after?.[name] !== value);
      const isTaken = (holder && !giving) || first.has(`${name} ${value}`);
      if (isTaken) taken.push(item);
      else if (giving) waitsFor.set(item, giving[0]);
      if (!holder || giving) first.add(`${name} ${value}`);
    }
    return { taken, waitsFor };
  }

  /** The items whose unique value another item gives up only in exchange. */
  function takingTaken(states: States): Item[] {
    const { taken, waitsFor } = takers(states);
    return [...taken, ...[...waitsFor.keys()].filter((item) => isInCycle(item, waitsFor))];
  }

  /** The items that take a value from one that must come later: its new parent, or one above, waits for it to be free. */
  function takingTooEarly(states: States): Item[] {
    const { waitsFor } = takers(states);
    const byNewId = new Map([...states].flatMap(([item, { before }]) => (before ? [] : [[item.newId, item] as const])));
    const waiting = new Set(states.keys());
    const mustWait = (item: Item) =>
      [waitsFor.get(item), byNewId.get(String(states.get(item)?.after?.parentId))].some((it) => it && waiting.has(it));
    for (let size = -1; size !== waiting.size; ) {
      size = waiting.size;
      for (const item of waiting) if (!mustWait(item)) waiting.delete(item);
    }
    return [...waiting].filter((item) => waiting.has(waitsFor.get(item) as Item));
  }

  /** The items that make a record its own ancestor. */
  function inCycles(states: States): Item[] {
    const all = new Map<unknown, Stored>([...records.values()].flatMap((ofKind) => [...ofKind]));
    for (const { after, isRepeated } of states.values()) if (after && !isRepeated) all.set(after.id, after);
    const parents = new Map([...all].map(([id, { parentId }]) => [id, parentId]));
    const moves = [...states].filter(([{ sent }, { links }]) => (sent.parentId ?? links.parentId) !== undefined);
    return moves.flatMap(([item, { after }]) => (isInCycle(after?.id, parents) ? [item] : []));
  }

  /** The items that move a record to a time at which another one occupies the same: a stored one, or one that starts earlier. */
  function clashing(states: States, wrong: ReadonlySet<Item>): Item[] {
    const moved = [...states].flatMap(([item, { before, after, isRepeated }]) => {
      const { occupies } = item.entry.kind;
      const isMoved = occupies && [occupies, 'startDate', 'endDate'].some((name) => before?.[name] !== after?.[name]);
      return isMoved && after && !isRepeated ? [{ item, before, after, occupies }] : [];
    });
    const left = new Set(moved.map(({ before }) => before));
    const accepted: Stored[] = [];
    return moved
      .filter(({ item, after }) => !wrong.has(item) && hasTime(after))
      .toSorted((a, b) => String(a.after.startDate).localeCompare(String(b.after.startDate)))
      .flatMap(({ item, after, occupies }) => {
        const stored = [...held(item.entry.kind).values()].filter((record) => !left.has(record));
        const isFree = ![...stored, ...accepted].some(
          (other) => other[occupies] === after[occupies] && overlap(other, after),
        );
        if (isFree) accepted.push(after);
        return isFree ? [] : [item];
      });
  }

  /**
   * What becomes of a write: the items that are wrong, for which all are refused; and the states of those that are stored if others are
   * left out: what is wrong, and what would be wrong without it, or would mean another record.
   */
  function foresee(items: readonly Item[], rejectsClashes: boolean) {
    const clashes = (states: States, wrong: ReadonlySet<Item>) => (rejectsClashes ? clashing(states, wrong) : []);
    const whole = evaluate(items);
    const wrong = new Set([...whole.wrong, ...inCycles(whole.states)]);
    for (const item of clashes(whole.states, wrong)) wrong.add(item);
    if (wrong.size === 0) for (const item of takingTooEarly(whole.states)) wrong.add(item);
    let left = items;
    for (;;) {
      const now = evaluate(left);
      const isOther = (item: Item) => !isDeepStrictEqual(now.states.get(item)?.links, whole.states.get(item)?.links);
      let rejected = left.filter((item) => now.wrong.has(item) || isOther(item));
      if (rejected.length === 0) rejected = inCycles(now.states);
      if (rejected.length === 0) rejected = clashes(now.states, new Set());
      if (rejected.length === 0) rejected = takingTooEarly(now.states);
      if (rejected.length === 0) return { wrong, states: now.states };
      const out = new Set(rejected);
      left = left.filter((item) => !out.has(item));
    }
  }

  return { held, foresee };
}

const hasTime = ({ startDate, endDate }: Fields): boolean =>
  startDate !== null && (endDate === null || String(startDate) < String(endDate));

/** Both have a time, and each starts before the other ends. */
export const overlap = (a: Fields, b: Fields): boolean =>
  hasTime(a) &&
  hasTime(b) &&
  (a.endDate === null || String(b.startDate) < String(a.endDate)) &&
  (b.endDate === null || String(a.startDate) < String(b.endDate));

/** Whether the parents of a record lead back to it. */
export function isInCycle(id: unknown, parents: ReadonlyMap<unknown, unknown>): boolean {
  let above = parents.get(id);
  for (let level = 0; above && level <= parents.size; level += 1) {
    if (above === id) return true;
    above = parents.get(above);
  }
  return false;
}
