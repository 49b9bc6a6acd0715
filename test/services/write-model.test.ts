/**
 * Random batches of creates, changes, upserts, imports, deletions and reversals of changes, some of them after a dry run or repeated with
 * their key, against a model: each is accepted or refused as the rules say, what is stored is what the model has, and the log of changes
 * leads from nothing to it. WRITES_SEED repeats a run.
 */
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { matchableFields, type RecordKind } from '../../src/model/record-kind.ts';
import { assetCategory, kindOfId, reverseLinksOf } from '../../src/records/index.ts';
import type { WorkspaceStore } from '../../src/store/workspace-store.ts';
import { requireConsistentLog } from '../support/consistent-log.ts';
import { isPostgres } from '../support/database.ts';
import { byEffort } from '../support/effort.ts';
import {
  createDocument,
  deleteDocument,
  importDocument,
  updateDocument,
  upsertDocument,
} from '../support/mutations.ts';
import { storeOpener } from '../support/open-store.ts';
import { createRandom } from '../support/random.ts';
import { anyImport, listOf } from '../support/random-imports.ts';
import { useSharedService } from '../support/service.ts';
import {
  createWriteModel,
  externalIdOf,
  type Fields,
  type Item,
  isInCycle,
  type ModelKind,
  modelKinds,
  type Stored,
  targetOf,
} from '../support/write-model.ts';

const service = useSharedService();
const writes = byEffort(isPostgres ? { small: 120, long: 3_000 } : { small: 300, long: 10_000 });
const seed = Number(process.env.WRITES_SEED ?? Date.now());
const random = createRandom(seed);
const model = createWriteModel(random);
const { held, anyHeld, anyId, anyKey, anySystem, anyFields, withLinks, withMerge, isAllowed } = model;

/** How many writes were stored, by their names. */
const stored = new Map<string, number>();

let keys = 0;

/** Runs a write, at times after a dry run of it or twice with an Idempotency-Key, and applies its result to the model if it is to be accepted. */
async function write<T>(
  { name }: { name: string },
  [document, variables]: [string, object],
  isAccepted: boolean,
  check: (result: T) => () => void,
): Promise<void> {
  const send = async (dryRun: boolean) => {
    const headers = random.chance(0.3) ? { 'idempotency-key': `write ${keys++}` } : undefined;
    const post = () => service.post('/graphql', { query: document, variables: { ...variables, dryRun } }, headers);
    const { body, text } = await post();
    expect(body.errors === undefined, `${text}, ${JSON.stringify(variables)}, seed ${seed}`).toBe(isAccepted);
    if (headers && isAccepted && !dryRun) expect((await post()).text, `seed ${seed}`).toBe(text);
    return { errors: body.errors, apply: isAccepted ? check(body.data.result) : () => {} };
  };
  const tried = random.chance(0.3) ? await send(true) : undefined;
  const { errors, apply } = await send(false);
  if (tried) expect(tried.errors, `seed ${seed}`).toEqual(errors);
  if (!isAccepted) return;
  apply();
  stored.set(name, (stored.get(name) ?? 0) + 1);
}

const selected = ({ fields }: ModelKind) => `id createdAt updatedAt ${fields.join(' ')}`;
const several = <T>(most: number, make: () => T): T[] => Array.from({ length: 1 + random.integer(most) }, make);
const unset = ({ fields }: ModelKind) => Object.fromEntries(fields.map((field) => [field, null]));
const isResolved = ({ values }: Item): boolean => values !== undefined;
const keep = (kind: RecordKind, records: readonly Stored[]) => {
  for (const record of records) held(kind).set(record.id, record);
};

const hasAll = (record: Fields | undefined, values: Fields = {}): boolean =>
  Object.entries(values).every(([name, value]) => isDeepStrictEqual(record?.[name], value));

async function create(entry: ModelKind) {
  const { kind } = entry;
  const items = several(5, () => withLinks(kind, anyFields(entry, true)));
  const values = items.map((item) => item.values ?? {});
  const call: [string, object] = [createDocument(kind, selected(entry)), { input: items.map(({ sent }) => sent) }];

  await write<Stored[]>(create, call, items.every(isResolved) && isAllowed(kind, values, values), (result) => {
    expect(result, `seed ${seed}`).toMatchObject(values.map((fields) => ({ ...unset(entry), ...fields })));
    return () => keep(kind, result);
  });
}

async function update(entry: ModelKind) {
  const { kind } = entry;
  const patches = several(5, () => {
    const id = anyId(kind);
    const known = held(kind).get(id)?.updatedAt ?? null;
    const ifUpdatedAt = random.chance(0.8) ? null : random.chance(0.8) ? known : '2026-01-01T00:00:00.000Z';
    return { id, ifUpdatedAt, ...withMerge(held(kind).get(id), withLinks(kind, anyFields(entry, false))) };
  });
  const values = patches.map((patch) => patch.values ?? {});
  const changed = patches.map(({ id }, index) => ({ ...held(kind).get(id), ...values[index] }));
  const isAccepted =
    patches.every(isResolved) &&
    patches.every(({ id }) => held(kind).has(id)) &&
    new Set(patches.map(({ id }) => id)).size === patches.length &&
    patches.every(({ id, ifUpdatedAt }) => ifUpdatedAt === null || ifUpdatedAt === held(kind).get(id)?.updatedAt) &&
    isAllowed(kind, changed, values);
  const input = patches.map(({ id, ifUpdatedAt, sent }) => ({ id, ...sent, ...(ifUpdatedAt && { ifUpdatedAt }) }));

  await write<Stored[]>(update, [updateDocument(kind, selected(entry)), { input }], isAccepted, (result) => {
    for (const [index, record] of result.entries()) {
      const { updatedAt: before, ...expected } = changed[index] as Stored;
      expect(record, `seed ${seed}`).toMatchObject(expected);
      expect(record.updatedAt === before).toBe(hasAll(held(kind).get(record.id), values[index]));
    }
    return () => keep(kind, result);
  });
}

type Key = { readonly field: string } | { readonly externalId: string };

const keyIn = (fields: Fields, by: Key): unknown =>
  'field' in by ? fields[by.field] : externalIdOf(fields, by.externalId);

function anyUpsertKey({ kind, fields }: ModelKind): Key {
  const keys = matchableFields(kind).map((field) => ({ field }));
  const systems = (fields as readonly string[]).includes('externalIds') ? [{ externalId: anySystem() }] : [];
  return random.pick<Key>([...keys, ...systems]) as Key;
}

/** Most items have a key: that of a record, or any. */
function withKey(kind: RecordKind, by: Key, fields: Fields): Fields {
  if (random.chance(0.03)) return fields;
  const known = random.chance(0.6) ? keyIn(anyHeld(kind) ?? {}, by) : undefined;
  const key = typeof known === 'string' ? known : anyKey();
  if ('field' in by) return { ...fields, [by.field]: key };
  return { ...fields, externalIds: { ...(fields.externalIds as object), [by.externalId]: key } };
}

async function upsert(entry: ModelKind) {
  const { kind } = entry;
  const by = anyUpsertKey(entry);
  const items = several(5, () => withLinks(kind, withKey(kind, by, anyFields(entry, random.chance(0.9))))).map(
    ({ sent, values = {} }, index, all) => {
      const key = keyIn(sent, by);
      const matches = [...held(kind).values()].filter((record) => keyIn(record, by) === key);
      const [before] = matches;
      const externalIds = { ...(before?.externalIds as object), ...(values.externalIds as object) };
      const item = withMerge(before, { sent, values });
      const isByExternalId = before && 'externalId' in by && !('mergeExternalIds' in item.sent);
      const merged: Fields = { ...item.values, ...(isByExternalId && { externalIds }) };
      const isComplete = Object.entries(kind.fields).every(
        ([name, field]) => !('required' in field && field.required) || before || merged[name] !== undefined,
      );
      const isValid =
        typeof key === 'string' &&
        matches.length <= 1 &&
        isComplete &&
        all.every((other, place) => place === index || keyIn(other.sent, by) !== key) &&
        all.every(isResolved);
      return { sent: item.sent, before, values: merged, isValid };
    },
  );
  const values = items.map((item) => item.values);
  const changed = items.map(({ before }, index) => ({ ...before, ...values[index] }));
  const isAccepted = items.every(({ isValid }) => isValid) && isAllowed(kind, changed, values);
  const call: [string, object] = [
    upsertDocument(kind, `outcome record { ${selected(entry)} }`),
    { by: 'field' in by ? { field: by.field.toUpperCase() } : by, input: items.map(({ sent }) => sent) },
  ];

  await write<{ outcome: string; record: Stored }[]>(upsert, call, isAccepted, (result) => {
    for (const [index, { outcome, record }] of result.entries()) {
      const before = items[index]?.before;
      const isSame = hasAll(before, values[index]);
      expect(outcome, `seed ${seed}`).toBe(!before ? 'CREATED' : isSame ? 'UNCHANGED' : 'UPDATED');
      const { updatedAt: _, ...expected } = { ...unset(entry), ...changed[index] } as Fields;
      expect(record, `seed ${seed}`).toMatchObject(expected);
      if (before) expect(record.updatedAt === before.updatedAt).toBe(isSame);
    }
    return () =>
      keep(
        kind,
        result.map(({ record }) => record),
      );
  });
}

async function importAll() {
  const { batches, idIn, isAccepted } = anyImport(random, model);
  const input = Object.fromEntries(batches.map(({ entry, items }) => [listOf(entry), items.map(({ sent }) => sent)]));
  const document = importDocument(modelKinds.map((entry) => `${listOf(entry)} { ${selected(entry)} }`).join(' '));

  await write<Record<string, Stored[]>>(importAll, [document, { input }], isAccepted, (result) => {
    for (const { entry, items } of batches) {
      const expected = items.map(({ values, refs }) => ({
        ...unset(entry),
        ...values,
        ...Object.fromEntries(Object.entries(refs).map(([field, ref]) => [field, idIn(result, ref)])),
      }));
      expect(result[listOf(entry)], `seed ${seed}`).toMatchObject(expected);
      // Of several statements, one stores the parents, and a later one the children.
      const isBelow = ({ id, parentId }: Stored) => String(parentId ?? '') < id;
      expect(
        result[listOf(entry)]?.filter((record) => !isBelow(record)),
        `seed ${seed}`,
      ).toEqual([]);
    }
    return () => {
      for (const { entry } of batches) keep(entry.kind, result[listOf(entry)] ?? []);
    };
  });
}

async function remove(entry: ModelKind) {
  const { kind } = entry;
  const ids = several(3, () => anyId(kind));
  const references = random.pick(['REFUSE', 'CLEAR']);
  const referring = reverseLinksOf(kind.name)
    .filter(({ direction }) => direction === 'referring')
    .flatMap((link) =>
      [...held(link.kind).values()]
        .filter((record) => ids.includes(String(record[link.field])) && !ids.includes(record.id))
        .map((record) => ({ link, record })),
    );
  const isAccepted =
    ids.every((id) => held(kind).has(id)) &&
    new Set(ids).size === ids.length &&
    (references === 'CLEAR' || referring.length === 0);

  await write<Stored[]>(remove, [deleteDocument(kind, selected(entry)), { ids, references }], isAccepted, (result) => {
    expect(result, `seed ${seed}`).toEqual(ids.map((id) => held(kind).get(id)));
    return () => {
      for (const id of ids) held(kind).delete(id);
      for (const { link, record } of referring) {
        const current = held(link.kind).get(record.id) as Stored;
        keep(link.kind, [{ ...current, [link.field]: null, updatedAt: null }]);
      }
    };
  });
}

interface Logged {
  readonly kind: RecordKind;
  readonly id: string;
  readonly before: Stored | undefined;
  readonly after: Stored | undefined;
}

/** The records before and after each change of the service's log, which only says whose change has which number, from 1 on. */
const log: Logged[] = [];
const lastLogged = new Map<string, Stored | undefined>();
/** The numbers of the last changes of writes. */
const ends = new Set([0]);

async function followLog(store: WorkspaceStore): Promise<void> {
  for (const { id } of await store.changes({ after: log.length, limit: 10_000, withBefore: false })) {
    const kind = kindOfId(id) as RecordKind;
    const after = held(kind).get(id);
    log.push({ kind, id, before: lastLogged.get(id), after });
    lastLogged.set(id, after);
  }
  ends.add(log.length);
}

const isSameState = (a: Stored | undefined, b: Stored | undefined): boolean =>
  isDeepStrictEqual({ ...a, updatedAt: null }, { ...b, updatedAt: null });

/** Whether a record cannot have this state, or be deleted, beside the others. */
function isImpossible({ kind, id, state }: { kind: RecordKind; id: string; state: Stored | undefined }, all: Records) {
  const others = [...all.values()].filter((record) => record.id !== id);
  if (!state) return others.some((record) => Object.values(record).includes(id));
  const isDangling = ([name, value]: [string, unknown]) =>
    value !== null && targetOf(kind, name) !== undefined && !all.has(String(value));
  return Object.entries(state).some(isDangling) || (state.uid && others.some(({ uid }) => uid === state.uid));
}

type Records = ReadonlyMap<string, Stored>;

const revertDocument = `mutation ($after: String!, $upTo: String!, $dryRun: Boolean! = false) {
  result: revertChanges(after: $after, upTo: $upTo, dryRun: $dryRun) {
    reversed kept failed notReversed { cursor recordId outcome }
  }
}`;

interface Reverted {
  readonly notReversed: readonly { readonly cursor: string; readonly recordId: string; readonly outcome: string }[];
}

/** Of one change or several, the latest or earlier ones. */
async function revert() {
  const upTo = random.chance(0.03)
    ? log.length + 1
    : Math.max(0, log.length - random.integer(random.pick([1, 30]) ?? 1));
  const after = Math.max(0, upTo - 1 - random.integer(random.pick([1, 10, 300]) ?? 1));
  const range = log.slice(after, upTo);
  const touched = new Map<
    string,
    { kind: RecordKind; id: string; state: Stored | undefined; left: Stored | undefined }
  >();
  for (const { kind, id, before, after: left } of range) {
    const { state } = touched.get(id) ?? { state: before };
    touched.set(id, { kind, id, state, left });
  }
  const call: [string, object] = [revertDocument, { after: String(after), upTo: String(upTo) }];

  await write<Reverted>(revert, call, upTo <= log.length, ({ notReversed, ...counts }) => {
    const outcomes = new Map(notReversed.map(({ recordId, outcome }) => [recordId, outcome]));
    const expected = range.map(({ id }, index) => ({
      cursor: String(after + index + 1),
      recordId: id,
      outcome: outcomes.get(id),
    }));
    expect(notReversed, `seed ${seed}`).toEqual(expected.filter(({ outcome }) => outcome));
    const numberOf = (outcome?: string) => expected.filter((change) => change.outcome === outcome).length;
    const [reversed, kept, failed] = [numberOf(), numberOf('KEPT'), numberOf('FAILED')];
    expect(counts, `seed ${seed}`).toEqual({ reversed, kept, failed });
    // Between two changes of a write, a reference may lead to a record that is logged later.
    if (upTo === log.length && ends.has(after)) expect(reversed, `seed ${seed}`).toBe(range.length);

    const isToDelete = (id: unknown) => touched.has(String(id)) && touched.get(String(id))?.state === undefined;
    const all = new Map(modelKinds.flatMap(({ kind }) => [...held(kind)]));
    const changed = [...touched.values()].filter(({ id }) => !outcomes.has(id));
    for (const { id, state } of changed) {
      if (state) all.set(id, state);
      else all.delete(id);
    }
    const parents = new Map([...all.values()].map(({ id, parentId }) => [id, parentId]));
    expect([...all.keys()].filter((id) => isInCycle(id, parents))).toEqual([]);
    for (const item of touched.values()) {
      const { kind, id, state, left } = item;
      const stored = held(kind).get(id);
      const isKept = !isSameState(stored, left) && !isSameState(stored, state);
      // Of the moves that would form a cycle, all are left out, although fewer would do.
      const isInOne = kind === assetCategory && mayBeInCycle(id, touched);
      // From between two changes of a write on, a record to restore may refer to one to delete: it fails, even if that one cannot be deleted.
      const isTorn = !ends.has(after) && Object.values(state ?? {}).some(isToDelete);
      const mayFail = outcomes.get(id) === 'FAILED' && (isInOne || isTorn);
      const outcome = isKept ? 'KEPT' : mayFail || isImpossible(item, all) ? 'FAILED' : undefined;
      expect(outcomes.get(id), `${id} in ${after} to ${upTo}, seed ${seed}`).toBe(outcome);
    }
    return () => {
      for (const { kind, id, state } of changed) {
        if (state) keep(kind, [{ ...state, updatedAt: null }]);
        else held(kind).delete(id);
      }
    };
  });
}

/** Whether a category leads back to itself by parents that some categories have, and others had. */
function mayBeInCycle(id: string, touched: ReadonlyMap<string, { readonly state: Stored | undefined }>): boolean {
  const parentsOf = (child: unknown) =>
    [held(assetCategory).get(String(child)), touched.get(String(child))?.state].flatMap((it) => it?.parentId ?? []);
  const above = new Set(parentsOf(id));
  for (const parent of above) for (const next of parentsOf(parent)) above.add(next);
  return above.has(id);
}

const plain = (entry: ModelKind, record: Fields) =>
  Object.fromEntries(['id', 'createdAt', ...entry.fields].map((field) => [field, record[field]]));

test(`${writes} random writes are accepted or refused, and store and log, as in the model`, async () => {
  const store = storeOpener(service.database)('default');
  const methods = ['create', 'importAll', 'remove', 'revert', 'update', 'upsert'];
  // By chance, nothing may have been deleted yet.
  for (let done = 0; done < writes || (stored.size < methods.length && done < 4 * writes); done += 1) {
    const entry = random.pick(modelKinds) as ModelKind;
    // With more records, most keys would be those of several.
    const isFull = held(entry.kind).size > 60;
    const work = isFull
      ? remove
      : random.pick([create, update, update, update, upsert, upsert, importAll, remove, revert]);
    await (work ?? create)(entry);
    for (const { kind } of modelKinds) {
      // What a deletion has cleared or a reversal has changed has a time of its own.
      const cleared = [...held(kind).values()].filter(({ updatedAt }) => updatedAt === null);
      const ids = cleared.map(({ id }) => id);
      for (const { id, updatedAt } of ids.length > 0 ? await store.find(kind, ids) : []) {
        keep(kind, [{ ...(held(kind).get(id) as Stored), updatedAt }]);
      }
    }
    await followLog(store);
  }

  for (const entry of modelKinds) {
    const records = (await store.list(entry.kind)).map((record) => plain(entry, record as never));
    const expected = [...held(entry.kind).values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
    expect(records, `seed ${seed}`).toEqual(expected.map((record) => plain(entry, record)));
  }
  expect([...stored.keys()].toSorted()).toEqual(methods);
  await requireConsistentLog(
    store,
    modelKinds.map(({ kind }) => kind),
  );
}, 600_000);
