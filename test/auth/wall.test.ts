/**
 * Isolation between workspaces: no response depends on what other workspaces hold. The same random requests, over REST and GraphQL, are sent
 * in one workspace while there is no other, and then in others, which use the same keys, uids and external IDs. Where the first one sends an
 * ID of no record, they send that of a record of another workspace. Every response is the same except for the IDs, times and name of its
 * workspace, at the same cost, and after as many statements. WALL_SEED repeats a run.
 */
import { expect, test } from 'vitest';
import { listField, uncapitalized } from '../../src/model/labels.ts';
import { linkFields } from '../../src/model/links.ts';
import { matchableFields, type RecordKind } from '../../src/model/record-kind.ts';
import {
  kindNamed,
  kindOfId,
  label,
  labelKey,
  labelledTypes,
  newIds,
  project,
  recordKinds,
  reverseLinksOf,
  workOrder,
} from '../../src/records/index.ts';
import { isPostgres } from '../support/database.ts';
import { byEffort } from '../support/effort.ts';
import {
  createDocument,
  deleteDocument,
  importDocument,
  updateDocument,
  upsertDocument,
} from '../support/mutations.ts';
import { numberOf } from '../support/open-store.ts';
import { createRandom } from '../support/random.ts';
import { restKinds } from '../support/records.ts';
import { startForTest, type TestResponse } from '../support/service.ts';

/** In each workspace. On Postgres a request takes longer, and the code above the store is the same. */
const requests = byEffort(isPostgres ? { small: 40, long: 1_000 } : { small: 90, long: 3_000 });
const seed = Number(process.env.WALL_SEED ?? Date.now());

type Service = Awaited<ReturnType<typeof startForTest>>;

interface Workspace {
  readonly name: string;
  /** All IDs that its records have had, in the order in which its responses had them. */
  readonly ids: string[];
  contents(): Promise<string>;
  /** What it gets for a request, without what differs from workspace to workspace. */
  next(): Promise<Received>;
}

interface Received {
  readonly shown: unknown;
  /** The number of statements that the request took, where others do not change it. */
  readonly statements: number | undefined;
}

const referencesOf = (kind: RecordKind) =>
  linkFields(kind).map(([link, field, { target }]) => ({ link, field, target: kindNamed(target) }));
const hasExternalIds = ({ fields }: RecordKind) => 'externalIds' in fields;
const reversesOf = (name: string) => reverseLinksOf(name).filter(({ direction }) => direction === 'referring');

const prefixes = recordKinds.map(({ idPrefix }) => idPrefix).join('|');
const idForm = new RegExp(`\\b(?:${prefixes})_[0-9a-z]{26}\\b`, 'g');
const timeForm = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;
const selected = 'totalCount nodes { id name }';
const selectionOf = (links: readonly { readonly name: string }[]) =>
  links.map(({ name }) => `${name} { ${selected} }`).join(' ');

/** A workspace whose requests are those of `seed`, with the IDs that `others` have instead of IDs of no record. */
async function createWorkspace(service: Service, name: string, others: readonly Workspace[]): Promise<Workspace> {
  const random = createRandom(seed);
  const client = service.as(await service.key({ workspace: name, user: name }));
  const ids: string[] = [];
  const places = new Map<string, number>();
  const foreign = new Set<string>();
  let serial = 0;
  let changes = 0;
  let etag = '';

  const pick = <T>(items: readonly T[]): T => random.pick(items) as T;
  const several = <T>(make: () => T): T[] => Array.from({ length: 1 + random.integer(2) }, make);
  const anyKind = () => pick(recordKinds);
  const ofKind =
    <T>(draw: (kind: RecordKind) => T) =>
    () =>
      draw(anyKind());
  const anyName = () => `${name}:${serial}`;
  const anyUid = () => `uid ${random.integer(300)}`;
  const anyExternalId = () => `id ${random.integer(60)}`;
  /** An ID that records of all workspaces have for something in another system. */
  const anyShared = () => `shared-${random.integer(10)}`;

  function anyForeign(kind: RecordKind): string {
    const place = random.integer(1_000);
    // Each once: the first workspace never sends the same one twice.
    const theirs = others.flatMap((other) => other.ids.filter((id) => kindOfId(id) === kind && !foreign.has(id)));
    const id = theirs[place % theirs.length] ?? newIds(kind.idPrefix, 1)[0] ?? '';
    foreign.add(id);
    return id;
  }

  const anyOwn = (kind: RecordKind) => random.pick(ids.filter((id) => kindOfId(id) === kind));

  function anyId(kind: RecordKind): string {
    const own = anyOwn(kind);
    return own === undefined || random.chance(0.25) ? anyForeign(kind) : own;
  }

  const anyWorkspace = () => pick([name, others[0]?.name ?? 'none']);
  const anyLink = () => ({ externalId: { key: 'erp', value: anyExternalId() } });

  /** Links by external IDs are possible over GraphQL only. */
  function anyRecord(kind: RecordKind, overGraphql = true): Record<string, unknown> {
    const record: Record<string, unknown> = { name: anyName() };
    if ('uid' in kind.fields && random.chance(0.7)) record.uid = anyUid();
    if (kind === label) record.key = labelKey(pick(labelledTypes), anyShared());
    for (const { field, link, target } of referencesOf(kind)) {
      if (random.chance(0.5)) continue;
      if (overGraphql && hasExternalIds(target) && random.chance(0.1)) record[link] = anyLink();
      else record[field] = anyId(target);
    }
    for (const [field, { type }] of Object.entries(kind.fields)) {
      if (type === 'foreignReference') record[field] = anyShared();
      if (type === 'externalIds' && random.chance(0.6)) record[field] = { erp: anyExternalId() };
    }
    return record;
  }

  const send = (method: 'POST' | 'PATCH') => (path: string, body: unknown) =>
    client.send(method, path, body, { 'idempotency-key': `key ${serial}` });
  const [post, patch] = [send('POST'), send('PATCH')];
  /** Most documents are the same in all workspaces: others may have cached the response. */
  function graphql(query: string, variables: object = {}) {
    const text = random.chance(0.9) ? query : `${query} # ${name} ${serial}`;
    return () => post('/graphql', { query: text, variables });
  }

  const anyKey = (kind: RecordKind) => {
    const [field] = matchableFields(kind);
    return field && (!hasExternalIds(kind) || random.chance(0.5))
      ? { by: { field: field.toUpperCase() }, value: field === 'uid' ? anyUid() : anyName(), field }
      : { by: { externalId: 'erp' }, value: anyExternalId(), field: 'externalIds' };
  };

  // Each draws a request, and returns what sends it.
  function create() {
    const { kind, path } = pick(restKinds);
    const records = several(() => anyRecord(kind, false));
    return () => post(path, records);
  }
  const writes = [
    ofKind((kind) => graphql(createDocument(kind, 'id name workspaceId'), { input: several(() => anyRecord(kind)) })),
    () => {
      const id = anyId(project);
      return () => patch(`/projects/${id}`, { name: anyName() });
    },
    () => {
      const query = 'mutation ($id: ID!, $name: String) { updateProject(id: $id, input: { name: $name }) { id name } }';
      return graphql(query, { id: anyId(project), name: anyName() });
    },
    ofKind((kind) => {
      const input = several(() => ({ ...anyRecord(kind), id: anyId(kind) }));
      return graphql(updateDocument(kind, 'id name'), { input });
    }),
    ofKind((kind) => {
      const { by, field } = anyKey(kind);
      const keyOf = () => (field === 'externalIds' ? { erp: anyExternalId() } : anyKey(kind).value);
      const input = several(() => ({ ...anyRecord(kind), [field]: keyOf() }));
      return graphql(upsertDocument(kind, 'outcome record { id name }'), { by, input });
    }),
    () => {
      const input = {
        locations: [{ name: anyName(), ref: 'yard' }],
        projects: [{ name: anyName(), location: { ref: 'yard' } }],
        ...Object.fromEntries(several(anyKind).map((kind) => [listField(kind), several(() => anyRecord(kind))])),
      };
      const lists = recordKinds.map((kind) => `${listField(kind)} { id name }`).join(' ');
      return graphql(importDocument(lists), { input });
    },
    ofKind((kind) => {
      const references = pick(['REFUSE', 'CLEAR']);
      return graphql(deleteDocument(kind, 'id name'), { ids: several(() => anyId(kind)), references });
    }),
    ofKind((kind) => {
      const { by, value } = anyKey(kind);
      const document = `mutation ($by: ${kind.name}Key, $keys: [String!]) { delete${kind.plural}(by: $by, keys: $keys) { id } }`;
      return graphql(document, { by, keys: [value] });
    }),
    () => {
      const query = `mutation ($after: String!, $upTo: String!) { revertChanges(after: $after, upTo: $upTo) {
        reversed kept failed notReversed { cursor recordId outcome message } } }`;
      return graphql(query, { after: String(Math.max(0, changes - 1 - random.integer(5))), upTo: String(changes) });
    },
  ];

  const reads = [
    () => {
      const after = String(Math.max(0, changes - 1 - random.integer(20)));
      const query = `query ($after: String) { changeCursor changes(first: 100, after: $after) {
        nodes { cursor recordId record { id } user { id } fields { field before after } } endCursor } }`;
      return graphql(query, { after });
    },
    ofKind((kind) => {
      const one = uncapitalized(kind.name);
      const id = anyId(kind);
      // One at a time: whether several find what they have in common in one statement depends on which is done first.
      const field = pick([
        'history(id: $id) { nodes { cursor recordId fields { before after } } endCursor }',
        `${one}(id: $id, asOf: "2100-01-01") { id name }`,
        `${one}(id: $id) { history { nodes { recordId fields { before after } } } }`,
      ]);
      return graphql(`query ($id: ID!) { ${field} }`, { id });
    }),
    () => () => client.get('/asset-categories', { 'if-none-match': etag }),
    ofKind((kind) => () => client.get(`/export/${listField(kind)}.csv`)),
    ofKind((kind) => {
      const [size, from, past] = pick(['first, after, hasNextPage', 'last, before, hasPreviousPage']).split(', ');
      const links = referencesOf(kind).map(({ field, link }) => `${field} ${link} { id name }`);
      return graphql(
        `query ($cursor: String) { ${listField(kind)}(${size}: ${1 + random.integer(20)}, ${from}: $cursor) {
        totalCount nodes { id name ${links.join(' ')} } edges { cursor } pageInfo { startCursor endCursor ${past} } } }`,
        { cursor: random.chance(0.6) ? (anyOwn(kind) ?? null) : null },
      );
    }),
    ofKind((kind) => {
      const variables = { id: anyId(kind), ids: [anyId(anyKind()), anyId(anyKind())] };
      const query = `query ($id: ID!, $ids: [ID!]!) { node(id: $id) { id }
        ${uncapitalized(kind.name)}(id: $id) { id name } nodes(ids: $ids) { id } }`;
      return graphql(query, variables);
    }),
    () => {
      const target = pick([...labelledTypes]);
      const links = reverseLinksOf(target).filter(({ field }) => field !== 'updatedBy');
      const query = `query ($id: ID!) { ${uncapitalized(target)}(id: $id) { name ${selectionOf(links)} } }`;
      return graphql(query, { id: target === 'User' ? pick([anyShared(), anyWorkspace()]) : anyShared() });
    },
    () => {
      const kind = pick(recordKinds.filter((each) => reversesOf(each.name).length > 0));
      const query = `query ($id: ID!) { ${uncapitalized(kind.name)}(id: $id) { ${selectionOf(reversesOf(kind.name))} } }`;
      return graphql(query, { id: anyId(kind) });
    },
    ofKind((kind) => {
      const startsWith = { name: { startsWith: anyWorkspace() } };
      const links = [
        ...referencesOf(kind).map(({ link }) => ({ [link]: startsWith })),
        ...reversesOf(kind.name).map((link) => ({ [link.name]: { some: startsWith } })),
      ];
      const where = pick<object>([
        { id: { in: several(() => anyId(kind)) } },
        startsWith,
        { not: startsWith },
        ...links,
      ]);
      return graphql(
        `query ($where: ${kind.name}Filter) { page: ${listField(kind)}(where: $where) { ${selected} }
        summary: ${listField(kind)}Summary(where: $where, groupBy: [MONTH_OF_CREATED]) { totalCount groups { count } } }`,
        { where },
      );
    }),
    () => {
      const kind = pick(recordKinds.filter(hasExternalIds));
      const query = `query ($id: String!, $uid: String!) { assetByUid(uid: $uid) { id name }
        ${uncapitalized(kind.name)}ByExternalId(key: "erp", value: $id) { id name } }`;
      return graphql(query, { id: anyExternalId(), uid: anyUid() });
    },
  ];

  // No request can store a work order that refers to a project of another workspace: its link must be null.
  const [planted = ''] = newIds(workOrder.idPrefix, 1);
  places.set(planted, ids.push(planted));
  await service.database.run(
    'insert into work_orders (workspace_id, id, name, project_id, created_at, updated_at) values ($1, $2, $3, $4, $5, $5)',
    [numberOf(name), planted, `${name}:planted`, anyForeign(project), new Date().toISOString()],
  );

  /** IDs of the workspace by their place among its IDs, and those of no record of it, as far as they were sent, as such. */
  function withoutIds(text: string): string {
    return text
      .replaceAll(idForm, (id) => {
        if (foreign.has(id)) return 'FOREIGN';
        const place = places.get(id) ?? ids.push(id);
        places.set(id, place);
        return `ID ${place}`;
      })
      .replaceAll(timeForm, 'TIME')
      .replaceAll(name, 'NAME');
  }

  const shown = ({ status, text, headers }: TestResponse) => [
    status,
    withoutIds(text),
    ...['content-type', 'content-length', 'query-cost', 'idempotency-replayed'].map((header) => headers[header]),
  ];

  return {
    name,
    ids,
    contents: async () => (await post('/graphql', { query: everything })).text,
    async next() {
      serial += 1;
      service.logs.length = 0;
      const isWrite = random.chance(serial < 20 ? 0.9 : 0.5);
      const draw = isWrite && random.chance(0.4) ? create : pick(isWrite ? writes : reads);
      const send = draw();
      const response = await send();
      // On Postgres, what other tests write meanwhile makes this one read again what it has cached.
      const statements = isPostgres ? undefined : JSON.parse(service.logs.at(-1) ?? '{}').statements;
      changes = Number(response.body?.data?.changeCursor ?? changes);
      etag = String(response.headers.etag ?? etag);
      return { shown: [shown(response), random.chance(0.1) && shown(await send())], statements };
    },
  };
}

const everything = `{ changeCursor changes(first: 1000) { nodes { cursor at fields { after } } }
  ${recordKinds.map((kind) => `${listField(kind)}(first: 1000) { nodes { ${Object.keys(kind.fields).join(' ')} updatedAt } }`).join(' ')} }`;

test(`isolation between workspaces: ${requests} random requests get the same responses whatever others hold`, async () => {
  const service = await startForTest({ MAX_QUERY_COST: '100000000' }, { closed: true });
  const first = await createWorkspace(service, 'acme', []);
  const expected: Received[] = [];
  while (expected.length < requests || first.ids.length < requests / 10) expected.push(await first.next());
  const held = await first.contents();

  const second = await createWorkspace(service, 'bolt', [first]);
  for (const [n, { shown, statements }] of expected.entries()) {
    expect(await second.next(), `${n}, seed ${seed}`).toEqual({ shown, statements });
  }
  const both = await Promise.all(['core', 'dome'].map((name) => createWorkspace(service, name, [first, second])));
  const sentAtOnce = both.map(async ({ name, next }) => {
    for (const [n, { shown }] of expected.entries())
      expect((await next()).shown, `${name}, ${n}, seed ${seed}`).toEqual(shown);
  });
  await Promise.all(sentAtOnce);

  expect(await first.contents()).toBe(held);
  const all = [first, second, ...both].flatMap(({ ids }) => ids);
  expect(new Set(all).size, `seed ${seed}`).toBe(all.length);
}, 600_000);
