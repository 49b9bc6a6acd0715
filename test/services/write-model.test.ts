/**
 * Random batches of creates, changes, upserts, imports, deletions and reversals of changes, some of them after a dry run or repeated later
 * with their key, against a model: each is accepted or refused as the rules say, a dry run says what storing then does, what is stored is what
 * the model has, and the log of changes leads from nothing to it. WRITES_SEED repeats a run.
 */
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { listField } from '../../src/model/labels.ts';
import type { RecordKind } from '../../src/model/record-kind.ts';
import { kindOfId, reverseLinksOf } from '../../src/records/index.ts';
import type { WorkspaceStore } from '../../src/store/workspace-store.ts';
import { runCommand } from '../support/command.ts';
import { requireConsistentLog } from '../support/consistent-log.ts';
import { isPostgres } from '../support/database.ts';
import { byEffort } from '../support/effort.ts';
import { deleteDocument } from '../support/mutations.ts';
import { storeOpener } from '../support/open-store.ts';
import { createRandom } from '../support/random.ts';
import { createRandomBatches, selected, sentKey, type Verb } from '../support/random-batches.ts';
import { useSharedService } from '../support/service.ts';
import {
  createWriteModel,
  type Fields,
  type Item,
  isBlank,
  isInCycle,
  keyIn,
  type ModelKind,
  modelKinds,
  type Stored,
  targetOf,
  uniqueOf,
} from '../support/write-model.ts';

const service = useSharedService();
const writes = byEffort(isPostgres ? { small: 80, long: 3_000 } : { small: 200, long: 10_000 });
const seed = Number(process.env.WRITES_SEED ?? Date.now());
const random = createRandom(seed);
const model = createWriteModel();
const { held, foresee } = model;
const { anyId, anyKey, anyBatch } = createRandomBatches(random, model);

const stored = new Map<string, number>();

/** The last write, for messages of failures. */
let said = '';

let keys = 0;
/** Repeats of writes with a key: whatever is written meanwhile, each gets its first response, and writes nothing. */
const repeats: (() => Promise<void>)[] = [];

interface Write<T> {
  readonly name: string;
  readonly document: string;
  readonly variables: object;
  readonly isAccepted: boolean;
  /** Checks the result, and keeps it in the model. */
  accept(result: T): void;
  refuse?(paths: readonly (readonly unknown[])[]): void;
}

/** Runs a write, at times after a dry run of it or with an Idempotency-Key. */
async function write<T>({ name, document, variables, isAccepted, accept, refuse }: Write<T>): Promise<void> {
  const send = async (dryRun: boolean) => {
    const headers = random.chance(0.3) ? { 'idempotency-key': `write ${keys++}` } : undefined;
    const post = () => service.post('/graphql', { query: document, variables: { ...variables, dryRun } }, headers);
    const { body, text } = await post();
    if (headers && isAccepted && !dryRun) repeats.push(async () => expect((await post()).text, said).toBe(text));
    return { body, text };
  };
  const tried = random.chance(0.4) ? await send(true) : undefined;
  const { body, text } = await send(false);
  said = `seed ${seed}: ${JSON.stringify(variables)}: ${text}`;
  expect(body.errors === undefined, said).toBe(isAccepted);
  if (tried) expect(comparable(tried.text), said).toBe(comparable(text));
  if (!isAccepted) {
    refuse?.((body.errors[0].extensions.issues ?? []).map(({ path }: { path: unknown[] }) => path));
    return;
  }
  accept(body.data.result);
  stored.set(name, (stored.get(name) ?? 0) + 1);
}

/** A response without the IDs of new records, which a dry run does not know, and the times. */
function comparable(text: string): string {
  const ids = new Map<string, string>();
  const isNew = (id: string) => !modelKinds.some(({ kind }) => held(kind).has(id));
  return text
    .replace(/"(created|updated)At":"[^"]*"/g, '')
    .replace(/\b[a-z_]+_[0-7][0-9a-z]{25}\b/g, (id) =>
      isNew(id) ? (ids.get(id) ?? (ids.set(id, `new ${ids.size}`).get(id) as string)) : id,
    );
}

const keep = (kind: RecordKind, records: readonly Stored[]) => {
  for (const record of records) held(kind).set(record.id, record);
};

const pathsOf = (items: readonly Item[]) => items.map(({ path }) => path.join());

interface Result {
  readonly record: Stored | null;
  /** Those of upserts and imports alone. */
  readonly outcome?: string;
  readonly before?: Stored | null;
  readonly issues?: readonly object[];
}

async function writeItems(verb: Verb, one: ModelKind): Promise<void> {
  const { items, document, variables, isSkipping, rejectsClashes } = anyBatch(verb, one);
  const { wrong, states } = foresee(items, rejectsClashes);

  await write<never>({
    name: verb,
    document,
    variables,
    isAccepted: isSkipping || wrong.size === 0,
    refuse(paths) {
      const named = items.filter(({ path }) => paths.some((other) => path.every((step, at) => step === other[at])));
      // A reference to an item that is wrong may be so, too.
      const expected = items.filter((item) => wrong.has(item) || (named.includes(item) && !states.has(item)));
      expect(pathsOf(named), said).toEqual(pathsOf(expected));
    },
    accept(result) {
      const results = verb === 'import' ? importedIn(result) : resultsIn(result);
      const ids = new Map(items.map(({ newId }, index) => [newId, results[index]?.record?.id]));
      for (const [index, item] of items.entries()) {
        const { record, outcome, before, issues = [] } = results[index] as Result;
        const state = states.get(item);
        if (record) keep(item.entry.kind, [record]);
        if (!state?.after) {
          expect([outcome, record, before, issues.length > 0], said).toEqual(['REJECTED', null, null, true]);
          continue;
        }
        const { updatedAt, createdAt, ...after } = state.after;
        const expected = Object.entries(after).map(([field, value]) => [field, ids.get(String(value)) ?? value]);
        const isSame = isDeepStrictEqual(plain(item.entry, state.after), plain(item.entry, state.before ?? {}));
        expect(record, said).toMatchObject(Object.fromEntries(expected));
        expect(record?.updatedAt === updatedAt && record?.createdAt === createdAt, said).toBe(isSame);
        if (outcome === undefined) continue;
        expect(outcome, said).toBe(!state.before ? 'CREATED' : isSame ? 'UNCHANGED' : 'UPDATED');
        expect([before, issues], said).toEqual([state.before ?? null, []]);
      }
    },
  });
}

const resultsIn = (results: readonly (Result | Stored)[]): Result[] =>
  results.map((result) => ('record' in result ? (result as Result) : { record: result }));

/** Returns the results of all kinds in their order, of which the other lists have the records. */
const importedIn = (imported: Readonly<Record<string, object>> & { results: Readonly<Record<string, Result[]>> }) =>
  modelKinds
    .map(({ kind }) => listField(kind))
    .flatMap((list) => {
      const results = imported.results[list] ?? [];
      expect(imported[list], said).toEqual(results.flatMap(({ record }) => (record ? [{ id: record.id }] : [])));
      return results;
    });

async function remove(entry: ModelKind): Promise<void> {
  const { kind } = entry;
  const by = random.chance(0.5) ? anyKey(entry) : undefined;
  const some = Array.from({ length: 1 + random.integer(3) }, () => anyId(kind));
  const keyOf = (record: Fields) => keyIn(record, by ?? { field: 'id' });
  const keys = some.map((id) => String(keyOf(held(kind).get(id) ?? { id }) ?? 'none'));
  const found = keys.map((key) => [...held(kind).values()].filter((record) => !isBlank(key) && keyOf(record) === key));
  const ids = found.map(([record]) => String(record?.id));
  const references = random.pick(['REFUSE', 'CLEAR']);
  const referring = reverseLinksOf(kind.name)
    .filter(({ direction }) => direction === 'referring')
    .flatMap((link) =>
      [...held(link.kind).values()]
        .filter((record) => ids.includes(String(record[link.field])) && !ids.includes(record.id))
        .map((record) => ({ link, record })),
    );
  const isAccepted =
    found.every(({ length }) => length === 1) &&
    new Set(ids).size === ids.length &&
    referring.every(({ link }) => references === 'CLEAR' && !link.kind.fields[link.field]?.required);

  await write<Stored[]>({
    name: 'remove',
    document: deleteDocument(kind, selected(entry)),
    variables: { ...(by ? { by: sentKey(by), keys } : { ids: keys }), references },
    isAccepted,
    accept(result) {
      expect(result, said).toEqual(ids.map((id) => held(kind).get(id)));
      for (const id of ids) held(kind).delete(id);
      for (const { link, record } of referring) {
        const current = held(link.kind).get(record.id) as Stored;
        keep(link.kind, [{ ...current, [link.field]: null, updatedAt: null }]);
      }
    },
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
const lastLogged = new Map<string, Stored>();
/** The numbers of the last changes of writes. */
const ends = new Set([0]);

/** Each change can be made by itself, after those before it. */
async function followLog(store: WorkspaceStore): Promise<void> {
  for (const { id } of await store.changes({ after: log.length, limit: 10_000, withBefore: false })) {
    const kind = kindOfId(id) as RecordKind;
    const after = held(kind).get(id);
    expect(isImpossible(kind, id, after, lastLogged), said).toBe(false);
    log.push({ kind, id, before: lastLogged.get(id), after });
    if (after) lastLogged.set(id, after);
    else lastLogged.delete(id);
  }
  ends.add(log.length);
}

const isSameState = (a: Stored | undefined, b: Stored | undefined): boolean =>
  isDeepStrictEqual({ ...a, updatedAt: null }, { ...b, updatedAt: null });

/** Whether a record cannot have this state, or be deleted, beside the others. */
function isImpossible(kind: RecordKind, id: string, state: Stored | undefined, all: ReadonlyMap<string, Stored>) {
  const others = [...all.values()].filter((record) => record.id !== id);
  if (!state) return others.some((record) => Object.values(record).includes(id));
  const isDangling = ([name, value]: [string, unknown]) =>
    value !== null && targetOf(kind, name) !== undefined && !all.has(String(value));
  const { [uniqueOf(kind)]: value } = state;
  const isTaken = value && others.some((other) => other[uniqueOf(kind)] === value);
  return Boolean(isTaken) || Object.entries(state).some(isDangling);
}

const revertDocument = `mutation ($after: String!, $upTo: String!, $dryRun: Boolean! = false) {
  result: revertChanges(after: $after, upTo: $upTo, dryRun: $dryRun) {
    reversed kept failed notReversed { cursor recordId outcome }
  }
}`;

interface Reverted {
  readonly notReversed: readonly { readonly cursor: string; readonly recordId: string; readonly outcome: string }[];
}

async function revert() {
  const upTo = random.chance(0.03)
    ? log.length + 1
    : Math.max(0, log.length - random.integer(random.pick([1, 30]) ?? 1));
  const after = Math.max(0, upTo - 1 - random.integer(random.pick([1, 10, 300]) ?? 1));
  const range = log.slice(after, upTo);
  /** Each record before the range, and after it. */
  const touched = new Map<string, Logged>();
  for (const change of range) touched.set(change.id, { ...change, before: (touched.get(change.id) ?? change).before });

  await write<Reverted>({
    name: 'revert',
    document: revertDocument,
    variables: { after: String(after), upTo: String(upTo) },
    isAccepted: upTo <= log.length,
    accept({ notReversed, ...counts }) {
      const outcomes = new Map(notReversed.map(({ recordId, outcome }) => [recordId, outcome]));
      const expected = range.map(({ id }, index) => ({
        cursor: String(after + index + 1),
        recordId: id,
        outcome: outcomes.get(id),
      }));
      expect(notReversed, said).toEqual(expected.filter(({ outcome }) => outcome));
      const numberOf = (outcome?: string) => expected.filter((change) => change.outcome === outcome).length;
      const [reversed, kept, failed] = [numberOf(), numberOf('KEPT'), numberOf('FAILED')];
      expect(counts, said).toEqual({ reversed, kept, failed });
      // Between two changes of a write, a reference may lead to a record that is logged later.
      if (upTo === log.length && ends.has(after)) expect(reversed, said).toBe(range.length);

      const isToDelete = (id: unknown) => touched.has(String(id)) && touched.get(String(id))?.before === undefined;
      const all = new Map(modelKinds.flatMap(({ kind }) => [...held(kind)]));
      const changed = [...touched.values()].filter(({ id }) => !outcomes.has(id));
      for (const { id, before } of changed) {
        if (before) all.set(id, before);
        else all.delete(id);
      }
      const parents = new Map([...all.values()].map(({ id, parentId }) => [id, parentId]));
      expect([...all.keys()].filter((id) => isInCycle(id, parents))).toEqual([]);
      for (const { kind, id, before: state, after: left } of touched.values()) {
        const stored = held(kind).get(id);
        const isKept = !isSameState(stored, left) && !isSameState(stored, state);
        // Of the moves that would form a cycle, all are left out, although fewer would do.
        const isInOne = mayBeInCycle(kind, id, touched);
        // From between two changes of a write on, a record to restore may refer to one to delete: it fails, even if that one cannot be deleted.
        const isTorn = !ends.has(after) && Object.values(state ?? {}).some(isToDelete);
        const mayFail = outcomes.get(id) === 'FAILED' && (isInOne || isTorn);
        const outcome = isKept ? 'KEPT' : mayFail || isImpossible(kind, id, state, all) ? 'FAILED' : undefined;
        expect(outcomes.get(id), said).toBe(outcome);
      }
      for (const { kind, id, before } of changed) {
        if (before) keep(kind, [{ ...before, updatedAt: null }]);
        else held(kind).delete(id);
      }
    },
  });
}

/** Whether a record leads back to itself by parents that some records have, and others had. */
function mayBeInCycle(kind: RecordKind, id: string, touched: ReadonlyMap<string, Logged>): boolean {
  const parentsOf = (child: unknown) =>
    [held(kind).get(String(child)), touched.get(String(child))?.before].flatMap((it) => it?.parentId ?? []);
  const above = new Set(parentsOf(id));
  for (const parent of above) for (const next of parentsOf(parent)) above.add(next);
  return above.has(id);
}

const plain = (entry: ModelKind, record: Fields) =>
  Object.fromEntries(['id', 'createdAt', ...entry.fields].map((field) => [field, record[field]]));

test(`${writes} random writes are accepted or refused, and store and log, as in the model`, async () => {
  const store = storeOpener(service.database)('default');
  const methods = ['create', 'import', 'remove', 'revert', 'update', 'upsert'];
  // By chance, nothing may have been deleted yet.
  for (let done = 0; done < writes || (stored.size < methods.length && done < 4 * writes); done += 1) {
    const entry = random.pick(modelKinds) as ModelKind;
    const verb = random.pick<Verb | 'remove' | 'revert'>([
      ...(['create', 'update', 'update', 'update', 'upsert', 'upsert', 'import', 'import', 'import'] as const),
      ...(['remove', 'revert'] as const),
    ]);
    // With more records, most keys would be those of several.
    if (verb === 'remove' || held(entry.kind).size > 60) await remove(entry);
    else if (verb === 'revert') await revert();
    else await writeItems(verb ?? 'create', entry);
    for (const { kind } of modelKinds) {
      // What a deletion has cleared or a reversal has changed has a time of its own.
      const cleared = [...held(kind).values()].filter(({ updatedAt }) => updatedAt === null);
      const ids = cleared.map(({ id }) => id);
      for (const { id, updatedAt } of ids.length > 0 ? await store.find(kind, ids) : []) {
        keep(kind, [{ ...(held(kind).get(id) as Stored), updatedAt }]);
      }
    }
    await random.pick(repeats)?.();
    await followLog(store);
  }

  for (const entry of modelKinds) {
    const records = (await store.list(entry.kind)).map((record) => plain(entry, record as never));
    const expected = [...held(entry.kind).values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
    expect(records, said).toEqual(expected.map((record) => plain(entry, record)));
  }
  expect([...stored.keys()].toSorted()).toEqual(methods);
  await requireConsistentLog(
    store,
    modelKinds.map(({ kind }) => kind),
  );
  const { code, err } = await runCommand({ DATABASE_URL: service.url }, 'check');
  expect([code, err]).toEqual([0, expect.stringMatching(/^database: .*$/)]);
}, 600_000);
