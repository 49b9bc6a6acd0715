/**
 * Random batches of creates, changes and deletions, dry runs among them, against a model: each is accepted or refused as the rules say,
 * what is stored is what the model has, and the log of changes leads from nothing to it. WRITES_SEED repeats a run.
 */
import { expect, test } from 'vitest';
import type { RecordKind } from '../../src/model/record-kind.ts';
import { asset, assetCategory, location, project, workOrder } from '../../src/records/index.ts';
import { reverseLinksOf } from '../../src/records/reverse-links.ts';
import { isPostgres } from '../support/database.ts';
import { byEffort } from '../support/effort.ts';
import { createDocument, deleteDocument, updateDocument } from '../support/mutations.ts';
import { storeOpener } from '../support/open-store.ts';
import { createRandom } from '../support/random.ts';
import { unknownId } from '../support/records.ts';
import { useService } from '../support/service.ts';

const service = useService();
const writes = byEffort(
  isPostgres ? { small: 150, middle: 500, long: 3_000 } : { small: 400, middle: 1_500, long: 10_000 },
);
const seed = Number(process.env.WRITES_SEED ?? Date.now());
const random = createRandom(seed);

type Stored = Readonly<Record<string, unknown>> & { readonly id: string };

/** The kinds of the model, each with the fields that it sets. */
const kinds = [
  { kind: location, fields: ['name', 'latitude'] },
  { kind: project, fields: ['name', 'locationId'] },
  { kind: asset, fields: ['name', 'uid', 'currentLocationId'] },
  { kind: workOrder, fields: ['name', 'projectId', 'locationId', 'startDate'] },
  { kind: assetCategory, fields: ['name', 'parentId'] },
] as const;
type Entry = (typeof kinds)[number];

const model = new Map<RecordKind, Map<string, Stored>>(kinds.map(({ kind }) => [kind, new Map()]));
const held = (kind: RecordKind) => model.get(kind) ?? new Map<string, Stored>();
const anyId = (kind: RecordKind) =>
  random.chance(0.05) ? unknownId(kind) : (random.pick([...held(kind).keys()]) ?? unknownId(kind));

function anyValue(kind: RecordKind, field: string): unknown {
  const declared = kind.fields[field];
  if (declared?.type === 'reference') {
    const target = kinds.find((entry) => entry.kind.name === declared.target)?.kind;
    return random.chance(0.3) || !target ? null : anyId(target);
  }
  if (field === 'uid') return random.chance(0.3) ? null : `C-${random.integer(40)}`;
  if (field === 'latitude') return random.integer(90);
  if (field === 'startDate') return new Date(Date.UTC(2026, 2, 1 + random.integer(30))).toISOString();
  return `name ${random.integer(1_000)}`;
}

const anyFields = ({ kind, fields }: Entry, isNew: boolean) =>
  Object.fromEntries(
    fields
      .filter((field) => (isNew && field === 'name') || random.chance(0.5))
      .map((field) => [field, anyValue(kind, field)]),
  );

/** Whether the records of the model with these replaced follow the rules. */
function isAllowed(kind: RecordKind, changed: readonly Readonly<Record<string, unknown>>[], sent: readonly object[]) {
  const references = sent.flatMap((fields) =>
    Object.entries(fields).filter(([name, value]) => value !== null && kind.fields[name]?.type === 'reference'),
  );
  const exist = references.every(([, id]) => kinds.some((entry) => held(entry.kind).has(id)));
  const uids = changed.flatMap(({ id, uid }, index) => {
    const current = held(kind).get(String(id))?.uid;
    return typeof uid === 'string' && 'uid' in (sent[index] ?? {}) && uid !== current ? [uid] : [];
  });
  const taken = [...held(kind).values()].some(({ uid }) => uids.includes(uid as string));
  const parents = new Map<unknown, unknown>(
    [...held(kind).values(), ...changed].map(({ id, parentId }) => [id, parentId]),
  );
  const hasCycle = changed.some(({ id }) => {
    let above = parents.get(id);
    for (let level = 0; above && level <= parents.size; level += 1) {
      if (above === id) return true;
      above = parents.get(above);
    }
    return false;
  });
  return exist && !taken && new Set(uids).size === uids.length && !hasCycle;
}

/** Runs a write, and applies it to the model if it is to be accepted. */
async function write(document: string, variables: object, isAccepted: boolean, apply: (result: Stored[]) => void) {
  const dryRun = random.chance(0.2);
  const { body, text } = await service.graphql(document, { ...variables, dryRun });
  expect(body.errors === undefined, `${text}, ${JSON.stringify(variables)}, seed ${seed}`).toBe(isAccepted);
  if (isAccepted && !dryRun) apply(body.data.result);
}

const selected = ({ fields }: Entry) => `id updatedAt ${fields.join(' ')}`;

async function create(entry: Entry) {
  const { kind, fields } = entry;
  const input = Array.from({ length: 1 + random.integer(5) }, () => anyFields(entry, true));
  const unset = Object.fromEntries(fields.map((field) => [field, null]));
  await write(createDocument(kind, selected(entry)), { input }, isAllowed(kind, input, input), (result) => {
    result.forEach((record, index) => {
      expect(record).toMatchObject({ ...unset, ...input[index] });
      held(kind).set(record.id, record);
    });
  });
}

async function update(entry: Entry) {
  const { kind } = entry;
  const ids = Array.from({ length: 1 + random.integer(5) }, () => anyId(kind));
  const input = ids.map((id) => {
    const known = held(kind).get(id)?.updatedAt ?? null;
    const stale = '2026-01-01T00:00:00.000Z';
    return {
      id,
      ...anyFields(entry, false),
      ...(random.chance(0.2) && { ifUpdatedAt: random.chance(0.8) ? known : stale }),
    };
  });
  const changed = input.map(({ ifUpdatedAt: _, ...fields }) => ({ ...held(kind).get(fields.id), ...fields }));
  const isAccepted =
    ids.every((id) => held(kind).has(id)) &&
    new Set(ids).size === ids.length &&
    input.every(
      ({ id, ifUpdatedAt = null }) => ifUpdatedAt === null || ifUpdatedAt === held(kind).get(id)?.updatedAt,
    ) &&
    isAllowed(
      kind,
      changed,
      input.map(({ id: _, ifUpdatedAt: __, ...fields }) => fields),
    );
  await write(updateDocument(kind, selected(entry)), { input }, isAccepted, (result) => {
    result.forEach((record, index) => {
      const before = held(kind).get(record.id);
      const { updatedAt: _, ...expected } = changed[index] as Stored;
      expect(record, `seed ${seed}`).toMatchObject(expected);
      const isSame = Object.keys(input[index] ?? {}).every((name) => name === 'id' || name === 'ifUpdatedAt');
      expect(record.updatedAt === before?.updatedAt).toBe(isSame);
      held(kind).set(record.id, record);
    });
  });
}

async function remove(entry: Entry) {
  const { kind } = entry;
  const ids = Array.from({ length: 1 + random.integer(3) }, () => anyId(kind));
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
  await write(deleteDocument(kind, selected(entry)), { ids, references }, isAccepted, (result) => {
    expect(result, `seed ${seed}`).toEqual(ids.map((id) => held(kind).get(id)));
    for (const id of ids) held(kind).delete(id);
    for (const { link, record } of referring) {
      held(link.kind).set(record.id, {
        ...(held(link.kind).get(record.id) as Stored),
        [link.field]: null,
        updatedAt: null,
      });
    }
  });
}

const plain = (entry: Entry, record: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(['id', ...entry.fields].map((field) => [field, record[field]]));

test(`${writes} random writes`, async () => {
  const store = storeOpener(service.database)('default');
  for (let done = 0; done < writes; done += 1) {
    const entry = random.pick(kinds) as Entry;
    await (random.pick([create, create, update, update, update, remove]) ?? create)(entry);
    for (const { kind } of kinds) {
      // What a deletion has cleared has a time of its own.
      for (const record of await store.list(kind)) {
        const known = held(kind).get(record.id);
        if (known?.updatedAt === null) held(kind).set(record.id, { ...known, updatedAt: record.updatedAt });
      }
    }
  }

  for (const entry of kinds) {
    const stored = (await store.list(entry.kind)).map((record) => plain(entry, record as never));
    const expected = [...held(entry.kind).values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
    expect(stored, `seed ${seed}`).toEqual(expected.map((record) => plain(entry, record)));
  }
  await requireConsistentLog(store);
});

/** Every record was created once, each change follows the version that was before it, and what is left is what is stored. */
async function requireConsistentLog(store: ReturnType<ReturnType<typeof storeOpener>>) {
  const log = await store.changes({ after: 0, limit: 1_000_000, withBefore: true });
  expect(log.map(({ number }) => number)).toEqual(log.map((_, index) => index + 1));
  expect(await store.lastChange()).toBe(log.length);

  for (const { kind } of kinds) {
    const stored = new Map((await store.list(kind)).map((record) => [record.id, record as object]));
    const changes = log.filter((change) => change.kind === kind.name);
    const ids = [...new Set(changes.map(({ id }) => id))];
    for (const id of ids) {
      const own = changes.filter((change) => change.id === id);
      expect(
        own.map(({ action }) => action),
        id,
      ).toEqual([
        'created',
        ...own.slice(1, -1).map(() => 'updated'),
        ...(own.length > 1 ? [stored.has(id) ? 'updated' : 'deleted'] : []),
      ]);
      for (const [index, { at, action }] of own.entries()) {
        // The version that this change made is what was before the next one, or what is stored.
        const version = own[index + 1]?.before ?? stored.get(id);
        expect(version === undefined).toBe(action === 'deleted');
        if (version) expect(version).toMatchObject({ id, updatedAt: at });
        const earlier = own[index - 1];
        if (earlier) expect(at > earlier.at).toBe(true);
      }
    }
    expect(ids.filter((id) => stored.has(id))).toHaveLength(stored.size);
  }
}
