/**
 * Isolation between workspaces, checked against a model: three workspaces read and write at once, over REST and GraphQL, with
 * their own IDs and those of the others. Every response has records of the caller's own workspace, and no others.
 * WALL_SEED repeats a run.
 */
import { expect, test } from 'vitest';
import { listField } from '../../src/model/labels.ts';
import { matchableFields, type RecordKind } from '../../src/model/record-kind.ts';
import {
  assetCategory,
  asset as assetKind,
  label,
  labelKey,
  location,
  newIds,
  project,
  recordKinds,
  reverseLinksOf,
  workOrder,
} from '../../src/records/index.ts';
import { isPostgres } from '../support/database.ts';
import { byEffort } from '../support/effort.ts';
import { deleteDocument, importDocument, updateDocument, upsertDocument } from '../support/mutations.ts';
import { numberOf } from '../support/open-store.ts';
import { createRandom } from '../support/random.ts';
import { pathOf, unknownId } from '../support/records.ts';
import { startService, type TestResponse } from '../support/service.ts';

/** On Postgres a request takes longer, and the code above the store is the same. */
const operations = byEffort(isPostgres ? { small: 150, long: 6_000 } : { small: 500, long: 51_000 });
const seed = Number(process.env.WALL_SEED ?? Date.now());

type Service = Awaited<ReturnType<typeof startService>>;
type Stored = Record<string, unknown> & { id: string; name: string };

interface Workspace {
  readonly name: string;
  readonly client: ReturnType<Service['as']>;
  /** Its records by kind, in the order of ids. */
  readonly records: Map<RecordKind, Stored[]>;
  /** The number of its changes. */
  changes: number;
  /** The values that its records had before they were changed or deleted, which its log shows. */
  readonly former: Set<unknown>;
  /** The last list of categories and its ETag. */
  list?: { text: string; etag: unknown };
}

const random = createRandom(seed);

const oneField = ({ name }: RecordKind) => name.charAt(0).toLowerCase() + name.slice(1);
const referencesOf = (kind: RecordKind) =>
  Object.entries(kind.fields).flatMap(([name, field]) =>
    field.type === 'reference'
      ? [{ name, target: recordKinds.find((other) => other.name === field.target) ?? kind }]
      : [],
  );

let workspaces: Workspace[];
let serial = 0;

const held = ({ records }: Workspace, kind: RecordKind): Stored[] => records.get(kind) ?? [];
const othersOf = (own: Workspace) => workspaces.filter((other) => other !== own);

/** An ID of the kind: of the caller's own workspace, of another workspace, or of no record. */
function anyId(own: Workspace, kind: RecordKind): string {
  const other = random.pick(othersOf(own));
  const ids = random.chance(0.5) ? held(own, kind) : other ? held(other, kind) : [];
  return random.chance(0.1) ? unknownId(kind) : (random.pick(ids)?.id ?? unknownId(kind));
}

const isOwn = (own: Workspace, kind: RecordKind, id: string) => held(own, kind).some((record) => record.id === id);

function keepFormer({ former }: Workspace, record: Stored): void {
  for (const value of Object.values(record)) former.add(value);
}

/** Expects a response to contain nothing of another workspace, except what the request sent. */
function requireOwn(own: Workspace, sent: string, { text, headers }: TestResponse): void {
  const received = `${text} ${JSON.stringify(headers)}`;
  for (const other of othersOf(own)) {
    expect(received, `of ${other.name}, seed ${seed}`).not.toContain(`${other.name}:`);
    expect(received).not.toContain(`"workspaceId":"${other.name}"`);
  }
  for (const [id] of received.matchAll(
    /\b(?:asset|category|label|location|project|work_order|transport_order)_[0-9a-z]{26}\b/g,
  )) {
    const isOwnOrSent =
      sent.includes(id) ||
      own.former.has(id) ||
      [...own.records.values()].some((records) => records.some((record) => record.id === id));
    expect(isOwnOrSent, `${id} is not ${own.name}'s, seed ${seed}`).toBe(true);
  }
}

/** The name of a record begins with its workspace. */
function recordFor(own: Workspace, kind: RecordKind) {
  serial += 1;
  const record: Record<string, unknown> = { name: `${own.name}:${serial}` };
  if ('uid' in kind.fields) record.uid = `shared ${random.integer(3_000)}`;
  if (kind === label) record.key = labelKey(random.pick(['Company', 'Status', 'AssetType']) ?? '', sharedId());
  for (const { name, target } of referencesOf(kind)) {
    if (random.chance(0.6)) record[name] = anyId(own, target);
  }
  for (const [name, { type }] of Object.entries(kind.fields)) {
    if (type === 'foreignReference' && random.chance(0.6)) record[name] = sharedId();
    if (type === 'externalIds' && random.chance(0.6)) record[name] = { erp: externalId() };
  }
  return record;
}

/** An ID of another system, which all workspaces use. */
const sharedId = () => `shared-${random.integer(30)}`;

/** Some are rarely those of several records. */
const externalId = () => (random.chance(0.3) ? sharedId() : `rare-${random.integer(300)}`);

const withExternalId = (own: Workspace, kind: RecordKind, value: string): Stored[] =>
  held(own, kind).filter(({ externalIds }) => (externalIds as { erp?: string } | undefined)?.erp === value);

function keepNew(own: Workspace, kind: RecordKind, records: readonly Stored[]): void {
  own.changes += records.length;
  own.records.set(
    kind,
    [...held(own, kind), ...records].toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  );
}

const hasOnlyOwnReferences = (own: Workspace, kind: RecordKind, record: Record<string, unknown>) =>
  referencesOf(kind).every(
    ({ name, target }) => record[name] === undefined || isOwn(own, target, String(record[name])),
  );

/** A reference to another workspace's record is rejected like one to no record. */
async function create(own: Workspace) {
  const kind = random.pick(recordKinds) as RecordKind;
  const record = recordFor(own, kind);
  const isTaken = ['uid', 'key'].some(
    (field) => field in record && held(own, kind).some((other) => other[field] === record[field]),
  );
  const isAccepted = hasOnlyOwnReferences(own, kind, record) && !isTaken;
  const sent = JSON.stringify(record);

  const overRest = random.chance(0.5);
  const response = overRest
    ? await own.client.post(pathOf(kind), [record])
    : await own.client.graphql(
        `mutation ($input: [Create${kind.name}Input!]!) { create${kind.plural}(input: $input) { id name workspaceId } }`,
        { input: [record] },
      );
  const made = overRest ? response.body[0] : response.body.data?.[`create${kind.plural}`]?.[0];

  if (isAccepted) {
    expect(made, `${response.text}, seed ${seed}`).toMatchObject({ name: record.name, workspaceId: own.name });
    keepNew(own, kind, [{ ...record, id: made.id } as Stored]);
  } else expect(made, `${response.text}, seed ${seed}`).toBeUndefined();
  return { sent, response };
}

async function change(own: Workspace) {
  const id = anyId(own, project);
  serial += 1;
  const name = `${own.name}:${serial}`;
  const current = held(own, project).find((record) => record.id === id);

  const overRest = random.chance(0.5);
  const response = overRest
    ? await own.client.patch(`/projects/${id}`, { name })
    : await own.client.graphql(
        'mutation ($id: ID!, $input: UpdateProjectInput!) { updateProject(id: $id, input: $input) { id name } }',
        { id, input: { name } },
      );
  const changed = overRest ? response.body : response.body.data?.updateProject;

  if (current) {
    expect(changed, `${response.text}, seed ${seed}`).toMatchObject({ id, name });
    own.changes += 1;
    current.name = name;
  } else expect(response.text).toContain('there is no project with the ID ');
  return { sent: id, response };
}

/** A batch of changes is rejected if one of its records, or one that they are to refer to, is another workspace's. */
async function changeSeveral(own: Workspace) {
  const kind = random.pick(recordKinds) as RecordKind;
  const reference = random.pick(referencesOf(kind).filter(({ target }) => target !== kind));
  const ids = new Set([anyId(own, kind), anyId(own, kind)]);
  const input = [...ids].map((id) => {
    serial += 1;
    const linked = reference && random.chance(0.6) ? { [reference.name]: anyId(own, reference.target) } : {};
    return { id, name: `${own.name}:${serial}`, ...linked };
  });
  const isAccepted = input.every(
    ({ id, ...fields }) => isOwn(own, kind, id) && hasOnlyOwnReferences(own, kind, fields),
  );

  const response = await own.client.graphql(updateDocument(kind, 'id name'), { input });

  expect(response.body.data.result !== null, `${response.text}, seed ${seed}`).toBe(isAccepted);
  if (isAccepted) own.changes += input.length;
  for (const change of isAccepted ? input : []) {
    const record = held(own, kind).find(({ id }) => id === change.id) as Stored;
    keepFormer(own, record);
    Object.assign(record, change);
  }
  return { sent: JSON.stringify(input), response };
}

/** Upserts find the caller's records by values that all workspaces use. What only others have is created, and not linked to. */
async function upsert(own: Workspace) {
  const isByUid = random.chance(0.4);
  const withIds = recordKinds.filter(({ fields }) => 'externalIds' in fields);
  const kind = isByUid ? assetKind : (random.pick(withIds) as RecordKind);
  const items = [0, 1].map(() => {
    serial += 1;
    const name = `${own.name}:${serial}`;
    const key = isByUid ? `shared ${random.integer(3_000)}` : externalId();
    const found = isByUid ? held(own, kind).filter(({ uid }) => uid === key) : withExternalId(own, kind, key);
    const link = anyLink(own, kind);
    return { key, found, link, values: { name, ...(isByUid ? { uid: key } : { externalIds: { erp: key } }) } };
  });
  const isAccepted =
    items[0]?.key !== items[1]?.key && items.every(({ found, link }) => found.length <= 1 && link.values);
  const input = items.map(({ values, link }) => ({ ...values, ...link.sent }));

  const response = await own.client.graphql(upsertDocument(kind, 'outcome record { id name }'), {
    by: isByUid ? { field: 'UID' } : { externalId: 'erp' },
    input,
  });

  const { result } = response.body.data;
  expect(result !== null, `${response.text}, seed ${seed}`).toBe(isAccepted);
  for (const [index, { outcome, record }] of (result ?? []).entries()) {
    const { found = [], values, link } = items[index] ?? {};
    expect(outcome, `seed ${seed}`).toBe(found.length > 0 ? 'UPDATED' : 'CREATED');
    const [stored] = found;
    if (!stored) {
      keepNew(own, kind, [{ ...values, ...link?.values, id: record.id, name: record.name }]);
      continue;
    }
    expect(record.id).toBe(stored.id);
    own.changes += 1;
    keepFormer(own, stored);
    Object.assign(stored, values, link?.values);
  }
  return { sent: JSON.stringify(input), response };
}

/** Sometimes a link by an external ID, with the reference that it stands for: undefined unless one record of the caller has the ID. */
function anyLink(own: Workspace, kind: RecordKind) {
  const linkable = referencesOf(kind).filter(({ target }) => 'externalIds' in target.fields);
  const reference = random.pick(linkable);
  if (!reference || random.chance(0.5)) return { sent: {}, values: {} };
  const value = externalId();
  const [found, ...others] = withExternalId(own, reference.target, value);
  return {
    sent: { [reference.name.slice(0, -'Id'.length)]: { externalId: { key: 'erp', value } } },
    values: found && others.length === 0 ? { [reference.name]: found.id } : undefined,
  };
}

/** An import is rejected if a record of it is to refer to another workspace's. UIDs that only others have are free. */
async function importSite(own: Workspace) {
  const named = () => {
    serial += 1;
    return { name: `${own.name}:${serial}` };
  };
  const projectId = anyId(own, project);
  const link = anyLink(own, workOrder);
  const uid = `shared ${random.integer(3_000)}`;
  const order =
    link.sent && 'project' in link.sent ? { ...named(), ...link.sent } : { ...named(), projectId, ...link.sent };
  const input = {
    locations: [{ ...named(), ref: 'yard' }],
    projects: [{ ...named(), location: { ref: 'yard' } }],
    assets: [{ ...named(), uid, currentLocation: { ref: 'yard' } }],
    workOrders: [order],
  };
  const isAccepted =
    link.values !== undefined &&
    ('project' in order || isOwn(own, project, projectId)) &&
    !held(own, assetKind).some((record) => record.uid === uid);

  const response = await own.client.graphql(
    importDocument('locations { id name } projects { id name } assets { id name uid } workOrders { id name }'),
    { input },
  );

  const { result } = response.body.data;
  expect(result !== null, `${response.text}, seed ${seed}`).toBe(isAccepted);
  if (isAccepted) {
    const [yard] = result.locations;
    keepNew(own, location, result.locations);
    keepNew(own, project, [{ ...result.projects[0], locationId: yard.id }]);
    keepNew(own, assetKind, [{ ...result.assets[0], currentLocationId: yard.id }]);
    const references = 'project' in order ? link.values : { projectId, ...link.values };
    keepNew(own, workOrder, [{ ...result.workOrders[0], ...references }]);
  }
  return { sent: JSON.stringify(input), response };
}

/** What other workspaces refer to, planted below, neither prevents a deletion nor is cleared by it. */
async function remove(own: Workspace) {
  const kind = random.pick(recordKinds) as RecordKind;
  const ids = [...new Set([anyId(own, kind), anyId(own, kind)])].slice(random.integer(2));
  const references = random.pick(['REFUSE', 'CLEAR']);
  const referring = reverseLinksOf(kind.name)
    .filter(({ direction }) => direction === 'referring')
    .flatMap(({ kind: source, field }) =>
      held(own, source)
        .filter((record) => ids.includes(String(record[field])) && !ids.includes(record.id))
        .map((record) => ({ record, field })),
    );
  const isAccepted = ids.every((id) => isOwn(own, kind, id)) && (references === 'CLEAR' || referring.length === 0);

  const response = await own.client.graphql(deleteDocument(kind, 'id name'), { ids, references });

  expect(response.body.data.result !== null, `${response.text}, seed ${seed}`).toBe(isAccepted);
  if (isAccepted) {
    own.changes += ids.length + new Set(referring.map(({ record }) => record)).size;
    for (const record of held(own, kind).filter(({ id }) => ids.includes(id))) keepFormer(own, record);
    for (const { record, field } of referring) record[field] = null;
    own.records.set(
      kind,
      held(own, kind).filter(({ id }) => !ids.includes(id)),
    );
  }
  return { sent: ids.join(' '), response };
}

/** The last changes, which are numbered without gaps, and what the log has of a record. */
async function feed(own: Workspace) {
  const kind = random.pick(recordKinds) as RecordKind;
  const id = anyId(own, kind);
  const after = Math.max(0, own.changes - 1 - random.integer(20));

  const response = await own.client.graphql(
    `query ($id: ID!, $after: String) { changeCursor
      changes(first: 100, after: $after) { nodes { cursor recordId record { id } user { id } fields { field before after } } endCursor }
      then: ${oneField(kind)}(id: $id, asOf: "2100-01-01") { id name }
      now: ${oneField(kind)}(id: $id) { history { nodes { recordId fields { before after } } } } }`,
    { id, after: String(after) },
  );

  const { changeCursor, changes, then, now } = response.body.data;
  expect(changeCursor, `seed ${seed}`).toBe(String(own.changes));
  expect(changes.nodes.map(({ cursor }: { cursor: string }) => Number(cursor))).toEqual(
    Array.from({ length: own.changes - after }, (_, index) => after + index + 1),
  );
  for (const { user } of changes.nodes) expect(user).toEqual({ id: own.name });
  const mine = held(own, kind).find((record) => record.id === id);
  expect(then, `seed ${seed}`).toEqual(mine ? { id, name: mine.name } : null);
  for (const { recordId } of now?.history.nodes ?? []) expect(recordId).toBe(id);
  if (!mine) expect(now).toBeNull();
  return { sent: id, response };
}

async function list(own: Workspace) {
  const response = await own.client.get('/asset-categories');
  const { text, headers } = response;

  expect(response.body.map(({ id, name }: Stored) => [id, name])).toEqual(
    held(own, assetCategory).map(({ id, name }) => [id, name]),
  );
  if (own.list?.etag === headers.etag) expect(text, `seed ${seed}`).toBe(own.list?.text);
  own.list = { text, etag: headers.etag };
  return { sent: '', response };
}

async function page(own: Workspace) {
  const kind = random.pick(recordKinds) as RecordKind;
  const fromEnd = random.chance(0.5);
  const size = 1 + random.integer(20);
  const cursor = random.chance(0.6) ? anyId(own, kind) : null;
  const links = referencesOf(kind).map(({ name }) => `${name} ${name.slice(0, -2)} { id name }`);

  const response = await own.client.graphql(
    `query ($cursor: String) { page: ${listField(kind)}(${fromEnd ? 'last' : 'first'}: ${size}, ${fromEnd ? 'before' : 'after'}: $cursor) {
      totalCount nodes { id name ${links.join(' ')} } edges { cursor } pageInfo { startCursor endCursor hasNextPage hasPreviousPage } } }`,
    { cursor },
  );

  const all = held(own, kind);
  const within = all.filter(({ id }) => cursor === null || (fromEnd ? id < cursor : id > cursor));
  const expected = fromEnd ? within.slice(-size) : within.slice(0, size);
  const { totalCount, nodes, pageInfo } = response.body.data.page;
  expect([totalCount, nodes.map(({ id, name }: Stored) => [id, name])], `seed ${seed}`).toEqual([
    all.length,
    expected.map(({ id, name }) => [id, name]),
  ]);
  expect([pageInfo.startCursor, pageInfo.endCursor]).toEqual([expected.at(0)?.id ?? null, expected.at(-1)?.id ?? null]);
  for (const node of nodes) {
    for (const { name, target } of referencesOf(kind)) {
      const linked = held(own, target).find(({ id }) => id === node[name]);
      expect(node[name.slice(0, -2)], `seed ${seed}`).toEqual(linked ? { id: linked.id, name: linked.name } : null);
    }
  }
  // A reference to another workspace's record, planted below, is returned as it is stored.
  return { sent: `${cursor} ${planted.join(' ')}`, response };
}

async function byId(own: Workspace) {
  const kind = random.pick(recordKinds) as RecordKind;
  const other = random.pick(recordKinds) as RecordKind;
  const [id, second] = [anyId(own, kind), anyId(own, other)];

  const response = await own.client.graphql(
    `query ($id: ID!, $ids: [ID!]!) { node(id: $id) { id } one: ${oneField(kind)}(id: $id) { id name }
      nodes(ids: $ids) { id } }`,
    { id, ids: [id, second] },
  );

  const mine = held(own, kind).find((record) => record.id === id);
  const { node, one, nodes } = response.body.data;
  expect([node, one], `seed ${seed}`).toEqual(mine ? [{ id }, { id, name: mine.name }] : [null, null]);
  expect(nodes.map((found: Stored | null) => found?.id ?? null)).toEqual([
    mine ? id : null,
    isOwn(own, other, second) ? second : null,
  ]);
  return { sent: `${id} ${second}`, response };
}

const selected = 'totalCount nodes { id name }';

/** Expects a connection to have these records, of which a page has the first. */
function requireRecords({ totalCount, nodes }: { totalCount: number; nodes: Stored[] }, records: readonly Stored[]) {
  expect([totalCount, nodes.map(({ id, name }) => [id, name])], `seed ${seed}`).toEqual([
    records.length,
    records.slice(0, 50).map(({ id, name }) => [id, name]),
  ]);
}

/** What refers to an ID of another system that all workspaces use, or to a user of any of them. */
async function ofForeign(own: Workspace) {
  const target = random.pick(['Company', 'Status', 'AssetType', 'PurchaseOrder', 'User']) as string;
  const id = target === 'User' ? (random.pick(workspaces)?.name ?? '') : sharedId();
  const links = reverseLinksOf(target).filter(({ field }) => field !== 'updatedBy');

  const response = await own.client.graphql(
    `query ($id: ID!) { it: ${target.charAt(0).toLowerCase()}${target.slice(1)}(id: $id) { labelled: name ${links.map(({ name }) => `${name} { ${selected} }`).join(' ')} } }`,
    { id },
  );

  const named = held(own, label).find(({ key }) => key === labelKey(target, id));
  expect(response.body.data.it.labelled, `seed ${seed}`).toBe(named?.name ?? null);
  for (const { name, kind, field } of links) {
    // Planted records have no creator.
    const isCreatedBy = (record: Stored) => id === own.name && !plantedRecords.has(record.id);
    const refers = (record: Stored) => (field === 'createdBy' ? isCreatedBy(record) : record[field] === id);
    requireRecords(response.body.data.it[name], held(own, kind).filter(refers));
  }
  return { sent: id, response };
}

/** What refers to a record of any workspace. */
async function backwards(own: Workspace) {
  const kind = random.pick(recordKinds.filter(({ name }) => reverseLinksOf(name).length > 0)) as RecordKind;
  const id = anyId(own, kind);
  const links = reverseLinksOf(kind.name).filter(({ direction }) => direction === 'referring');

  const response = await own.client.graphql(
    `query ($id: ID!) { one: ${oneField(kind)}(id: $id) { ${links.map(({ name }) => `${name} { ${selected} }`).join(' ')} } }`,
    { id },
  );

  const { one } = response.body.data;
  expect(one !== null, `seed ${seed}`).toBe(isOwn(own, kind, id));
  for (const link of one ? links : []) {
    requireRecords(
      one[link.name],
      held(own, link.kind).filter((record) => record[link.field] === id),
    );
  }
  return { sent: id, response };
}

/** Lists with filters: by IDs and names of any workspace, over links in both directions, and their summaries. */
async function filtered(own: Workspace) {
  const kind = random.pick(recordKinds) as RecordKind;
  const prefix = `${random.pick(workspaces)?.name}:`;
  const ids = [anyId(own, kind), anyId(own, kind)];
  const reference = random.pick(referencesOf(kind));
  const back = random.pick(reverseLinksOf(kind.name).filter(({ direction }) => direction === 'referring'));
  const startsWith = { name: { startsWith: prefix } };
  type Matches = (record: Stored) => boolean;
  const matches: Matches = ({ name }) => name.startsWith(prefix);
  const [where, isFound] = random.pick<[object, Matches]>([
    [{ id: { in: ids } }, ({ id }) => ids.includes(id)],
    [startsWith, matches],
    [{ not: startsWith }, (record) => !matches(record)],
    ...(reference
      ? [
          [
            { [reference.name.slice(0, -2)]: startsWith },
            (record: Stored) =>
              held(own, reference.target).some((linked) => linked.id === record[reference.name] && matches(linked)),
          ] as [object, Matches],
        ]
      : []),
    ...(back
      ? [
          [
            { [back.name]: { some: startsWith } },
            (record: Stored) =>
              held(own, back.kind).some((linked) => linked[back.field] === record.id && matches(linked)),
          ] as [object, Matches],
        ]
      : []),
  ]) as [object, Matches];

  const response = await own.client.graphql(
    `query ($where: ${kind.name}Filter) { page: ${listField(kind)}(where: $where) { ${selected} }
      summary: ${listField(kind)}Summary(where: $where, groupBy: [MONTH_OF_CREATED]) { totalCount groups { count } } }`,
    { where },
  );

  const records = held(own, kind).filter(isFound);
  const { page: found, summary } = response.body.data;
  requireRecords(found, records);
  expect([summary.totalCount, summary.groups], `seed ${seed}`).toEqual([
    records.length,
    records.length > 0 ? [{ count: records.length }] : [],
  ]);
  return { sent: JSON.stringify(where), response };
}

/** One record by a value that other workspaces use too. */
async function byValue(own: Workspace) {
  const value = externalId();
  const uid = `shared ${random.integer(3_000)}`;
  const kind = random.pick(recordKinds.filter(({ fields }) => 'externalIds' in fields)) as RecordKind;

  const response = await own.client.graphql(
    `query ($value: String!, $uid: String!) { byId: ${oneField(kind)}ByExternalId(key: "erp", value: $value) { id name } assetByUid(uid: $uid) { id name } }`,
    { value, uid },
  );

  const { byId, assetByUid } = response.body.data;
  const shown = ({ id, name }: Stored) => ({ id, name });
  const having = withExternalId(own, kind, value);
  expect(byId, `seed ${seed}`).toEqual(having.length === 1 ? having.map(shown)[0] : null);
  expect(response.body.errors?.length ?? 0, `seed ${seed}`).toBe(having.length > 1 ? 1 : 0);
  const [asset] = held(own, assetKind).filter((record) => record.uid === uid);
  expect(assetByUid, `seed ${seed}`).toEqual(asset ? shown(asset) : null);
  return { sent: '', response };
}

const newIdOf = (prefix: string): string => newIds(prefix, 1)[0] ?? '';

/** A field by whose values upserts find records. */
const matchableField = (kind: RecordKind): string => matchableFields(kind)[0] ?? '';

/** With an ID of another workspace, a request gets the same response at the same cost as with an ID of no record. */
async function compare(own: Workspace) {
  const kind = random.pick(recordKinds) as RecordKind;
  const other = random.pick(othersOf(own)) as Workspace;
  const foreign = random.pick(held(other, kind))?.id;
  if (!foreign) return list(own);
  const unknown = newIdOf(kind.idPrefix);
  // Each query is another text: one that was sent before may come from a cache, which changes its cost.
  const graphql = (query: string) => own.client.graphql(`${query} # ${newIdOf('text')}`);
  const referring = random.pick(
    recordKinds.flatMap((source) =>
      referencesOf(source).flatMap(({ name, target }) => (target === kind ? [{ source, name }] : [])),
    ),
  );
  const references = random.pick(['REFUSE', 'CLEAR']);
  const ask = random.pick([
    (id: string) => graphql(`{ node(id: "${id}") { id } }`),
    (id: string) => graphql(`{ ${oneField(kind)}(id: "${id}") { id } }`),
    (id: string) => graphql(`{ nodes(ids: ["${id}"]) { id } }`),
    (id: string) => graphql(`{ history(id: "${id}") { nodes { cursor recordId fields { before } } } }`),
    (id: string) => graphql(`{ ${oneField(kind)}(id: "${id}", asOf: "2100-01-01") { id history { endCursor } } }`),
    (id: string) => graphql(`{ ${listField(kind)}(where: { id: { eq: "${id}" } }) { totalCount nodes { id } } }`),
    (id: string) =>
      graphql(
        `{ ${listField(kind)}Summary(where: { id: { ne: "${id}" } }, groupBy: MONTH_OF_CREATED) { totalCount } }`,
      ),
    (id: string) => own.client.patch(`/projects/${id}`, { name: 'x' }),
    (id: string) => graphql(`mutation { updateProject(id: "${id}", input: { name: "x" }) { id } }`),
    (id: string) => graphql(`mutation { update${kind.plural}(input: { id: "${id}", name: "x" }) { id } }`),
    (id: string) => graphql(`mutation { delete${kind.plural}(ids: "${id}", references: ${references}) { id } }`),
    ...(referring
      ? [
          (id: string) => own.client.post(pathOf(referring.source), [{ name: `${own.name}:x`, [referring.name]: id }]),
          (id: string) =>
            graphql(
              `mutation { importRecords(input: { ${listField(referring.source)}: { name: "x", ${referring.name}: "${id}" } }) { assets { id } } }`,
            ),
          (id: string) =>
            graphql(
              `mutation { upsert${referring.source.plural}(by: { field: ${matchableField(referring.source).toUpperCase()} },
                input: { ${matchableField(referring.source)}: "new", name: "x", ${referring.name}: "${id}" }) { outcome } }`,
            ),
        ]
      : []),
  ]) as (id: string) => Promise<TestResponse>;

  const [response, expected] = [await ask(foreign), await ask(unknown)];

  const plain = ({ status, text, headers }: TestResponse, id: string) => [
    status,
    text.replaceAll(id, 'ID'),
    headers['content-type'],
    headers['content-length'],
    headers.etag,
  ];
  expect(plain(response, foreign), `seed ${seed}`).toEqual(plain(expected, unknown));
  const [one, two] = service.logs.slice(-2).map((line) => JSON.parse(line).statements);
  expect(one, `seed ${seed}`).toBe(two);
  return { sent: foreign, response };
}

let service: Service;
/** What planted records refer to. */
const planted: string[] = [];
const plantedRecords = new Set<string>();

/** Creates records that refer to those of another workspace, which no request can do: their links must be null. */
async function plantReferences() {
  for (const own of workspaces) {
    for (const other of othersOf(own)) {
      const [target] = held(other, project);
      const id = newIdOf('work_order');
      planted.push(String(target?.id));
      plantedRecords.add(id);
      const now = new Date().toISOString();
      await service.database.run(
        'insert into work_orders (workspace_id, id, name, project_id, created_at, updated_at) values ($1, $2, $3, $4, $5, $6)',
        [numberOf(own.name), id, `${own.name}:planted`, target?.id, now, now],
      );
      const kind = recordKinds.find(({ name }) => name === 'WorkOrder') as RecordKind;
      const record = { id, name: `${own.name}:planted`, projectId: target?.id } as Stored;
      own.records.set(
        kind,
        [...held(own, kind), record].toSorted((a, b) => (a.id < b.id ? -1 : 1)),
      );
    }
  }
}

test(`isolation between workspaces: ${operations} random requests of three workspaces return no records of another`, async () => {
  service = await startService({ MAX_QUERY_COST: '100000000' }, { closed: true });
  workspaces = await Promise.all(
    ['acme', 'bolt', 'core'].map(async (name) => ({
      name,
      client: service.as(await service.key({ workspace: name, user: name })),
      records: new Map(),
      changes: 1,
      former: new Set(),
    })),
  );
  for (const own of workspaces) {
    const [made] = await own.client.create('/projects', { name: `${own.name}:first` });
    own.records.set(project, [{ id: made.id, name: made.name }]);
  }
  await plantReferences();

  const reads = [list, feed, feed, page, page, byId, byId, ofForeign, backwards, filtered, filtered, byValue];
  let done = 0;
  while (done < operations) {
    // One workspace writes while the others read, so that the model determines what each read must return.
    const [writer, ...readers] = random.shuffle(workspaces) as [Workspace, ...Workspace[]];
    const outcomes = await Promise.all(
      [writer, ...readers].map(async (own) => {
        const isSmall = [...own.records.values()].flat().length < 600;
        const work =
          own === writer
            ? random.pick([
                ...(isSmall ? [create, create, create, importSite] : [changeSeveral, remove, remove, remove]),
                change,
                changeSeveral,
                upsert,
                remove,
              ])
            : random.pick([...reads, change]);
        return { own, ...(await (work ?? list)(own)) };
      }),
    );
    // Alone, so that the two lines it logs are the last ones.
    outcomes.push({ own: writer, ...(await compare(writer)) });
    for (const { own, sent, response } of outcomes) {
      expect(response.status, `${response.text}, seed ${seed}`).toBeLessThan(500);
      requireOwn(own, sent, response);
      done += 1;
    }
    service.logs.length = 0;
  }
  await service.stop();
}, 600_000);
