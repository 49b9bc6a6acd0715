/**
 * What concurrent writes, and deletions of workspaces, wait for on Postgres, and in which order: otherwise they would wait for each other, or
 * for longer than needed.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createKey } from '../../../src/auth/keys.ts';
import { asset, assetCategory, location, recordKinds } from '../../../src/records/index.ts';
import { createSession, updateRecords, upsertRecords } from '../../../src/services/write.ts';
import { createKeyStore } from '../../../src/store/admin/api-keys.ts';
import { createWorkspaces } from '../../../src/store/admin/workspaces.ts';
import { type Database, openDatabase } from '../../../src/store/database.ts';
import { eventually } from '../../support/clock.ts';
import { insert } from '../../support/insert.ts';
import { addWorkspace, numberOf, storeOpener } from '../../support/open-store.ts';
import { openOwnDatabase } from '../../support/own-database.ts';
import { hasTriggers, queryNodes } from '../../support/postgres.ts';
import { startService } from '../../support/service.ts';

const limits = { maxTextLength: 100, maxExternalIds: 100, maxRecordLength: 1_000 };
const options = { limits, onInvalid: 'fail', withBefore: false } as const;

/** A connection that does not belong to the service. The caller must end it. */
async function connectTo(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return client;
}

/** Resolves when this many connections wait for a lock. */
const untilWaiting = (connections: number) =>
  eventually(async () => {
    const waiting = await queryNodes(url, 'select from pg_locks where not granted and pid <> pg_backend_pid()');
    expect(waiting.length).toBeGreaterThanOrEqual(connections);
  });

let database: Database;
let url: string;
let other: Client;

beforeEach(async () => {
  const own = await openOwnDatabase();
  ({ database, url } = own);
  other = await connectTo(url);
  return async () => {
    await other.end();
    await own.close();
  };
});

/** Two processes at the nodes of a cluster, on which advisory locks hold on one node only. */
describe('two processes whose advisory locks do not hold for each other', () => {
  let nodes: readonly Database[];

  beforeEach(async () => {
    // A no-op in front of the function of the same name.
    await other.query(`create function public.pg_advisory_xact_lock(bigint) returns void language sql as 'select'`);
    await other.query(`do $$ begin
      execute format('alter database %I set search_path = public, pg_catalog', current_database());
    end $$`);
    nodes = [await openDatabase(url), await openDatabase(url)];
  });

  afterEach(async () => {
    for (const node of nodes) await node.close();
  });

  const session = (node: number) =>
    createSession(storeOpener(nodes[node] as Database)('ours'), { userId: null, mayWrite: true });
  const rounds = Array.from({ length: 8 }, (_, round) => round);

  const upsert = (node: number, erp: string) => {
    const batch = [{ value: { name: 'Crane', externalIds: { erp } } }];
    return upsertRecords(session(node), asset, batch, { ...options, by: { externalId: 'erp' } });
  };

  test('create one record if both upsert a new key', async () => {
    for (const round of rounds) {
      const upserted = await Promise.all([upsert(0, `E-${round}`), upsert(1, `E-${round}`)]);
      expect(upserted.flat().map(({ outcome }) => outcome)).toEqual(expect.arrayContaining(['created', 'unchanged']));
    }
  });

  test('form no cycle if each moves a category below that of the other', async () => {
    const move = (node: number, id = '', parentId = '') =>
      updateRecords(session(node), assetCategory, [{ id, value: { parentId } }], limits);
    for (const _ of rounds) {
      const [a, b] = await insert(storeOpener(nodes[0] as Database)('ours'), assetCategory, [
        { name: 'a' },
        { name: 'b' },
      ]);
      const moves = await Promise.allSettled([move(0, a?.id, b?.id), move(1, b?.id, a?.id)]);

      expect(moves.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    }
  });
});

test('of two updates of the same records, while others refer to them, one waits for the other, and not both for each other', async () => {
  const store = storeOpener(database)('ours');
  const session = createSession(store, { userId: null, mayWrite: true });
  const [crane, pump] = await insert(store, asset, [{ name: 'Crane' }, { name: 'Pump' }]);
  const ids = [crane, pump].map((record) => record?.id ?? '');
  const rename = (name: string) =>
    updateRecords(
      session,
      asset,
      ids.map((id) => ({ id, value: { name } })),
      limits,
    );
  const sent: string[] = [];
  database.knex.on('query', ({ sql }) => sent.push(sql));
  const referring = await connectTo(url);
  await referring.query('begin');
  await referring.query(`select from assets where id = '${ids[0]}' for key share`);
  await other.query('begin');
  await other.query(`update assets set name = 'Tower crane' where id = '${ids[0]}'`);

  const first = rename('Excavator');
  await untilWaiting(1);
  const second = rename('Loader');
  await untilWaiting(2);
  await other.query('commit');
  const outcomes = await Promise.allSettled([first, second]);
  await referring.end();

  expect(outcomes).toMatchObject([
    { value: [{ name: 'Excavator' }, { name: 'Excavator' }] },
    { value: [{ name: 'Loader' }, { name: 'Loader' }] },
  ]);
  expect(sent).not.toContain('rollback');
});

test('a workspace that is deleted leaves no locks behind', async () => {
  const batch = [{ value: { name: 'Crane', uid: 'C-7' } }];
  const workspaces = createWorkspaces(database, recordKinds);
  await addWorkspace(database, 'theirs');
  for (const workspace of ['theirs', 'others']) {
    const session = createSession(storeOpener(database)(workspace), { userId: null, mayWrite: true });
    await upsertRecords(session, asset, batch, { ...options, by: { field: 'uid' } });
  }

  await workspaces.remove('theirs');

  expect(await database.run('select workspace_id, name from locks')).toEqual([
    { workspace_id: numberOf('others'), name: 'upsert assets' },
  ]);
});

const insertLate = `insert into locations (workspace_id, id, name, created_at, updated_at)
  values (${numberOf('acme')}, 'location_late', 'late', now(), now())`;
const takeNumber = `update change_numbers set number = number + 1 where workspace_id = ${numberOf('acme')}`;
const log = `insert into changes (workspace_id, number, kind, action, record_id, at)
  values (${numberOf('acme')}, 2, 'Location', 'created', 'location_late', now())`;

const names = async (workspace: string) =>
  (await storeOpener(database)(workspace).list(location)).map(({ name }) => name).toSorted();

describe('deleting a workspace', () => {
  beforeEach(async () => {
    for (const workspace of ['acme', 'yard']) {
      await addWorkspace(database, workspace);
      await createKey(createKeyStore(database), { workspace, user: 'erp', readOnly: false });
    }
    await insert(storeOpener(database)('acme'), location, [{ name: 'a' }]);
  });

  const remove = () => createWorkspaces(database, recordKinds).remove('acme');

  test('takes along what is committed after its records were deleted and before writes are stopped', async () => {
    for (const sql of ['begin', insertLate, takeNumber, log]) await other.query(sql);

    const ending = remove();
    await untilWaiting(1);
    await other.query('commit');
    await ending;

    expect(await names('acme')).toEqual([]);
    expect(await database.knex('changes').where('workspace_id', numberOf('acme'))).toEqual([]);
  });

  test('waits for an upsert before it takes a number, for which the upsert could wait in turn', async () => {
    await other.query(`insert into locks (workspace_id, name) values (${numberOf('acme')}, 'upsert locations')`);
    await other.query('begin');
    await other.query(`update locks set name = name where workspace_id = ${numberOf('acme')}`);

    const ending = remove();
    await untilWaiting(1);
    // Before the server notices that the two wait for each other, and ends one of them.
    await other.query(`set local lock_timeout = '500ms'`);
    for (const sql of [insertLate, takeNumber, log, 'commit']) await other.query(sql);

    await ending;
    expect(await names('acme')).toEqual([]);
  });

  test('waits for nobody who has not taken a number yet, who then can take none', async () => {
    await other.query('begin');
    await other.query(insertLate);
    await remove();
    await expect(other.query(takeNumber)).rejects.toThrow('change_numbers_open');
    await other.query('rollback');
    expect(await names('acme')).toEqual([]);
  });
});

describe('new records of one workspace', () => {
  let service: Awaited<ReturnType<typeof startService>>;
  let ours: ReturnType<typeof service.as>;
  let theirs: ReturnType<typeof service.as>;

  beforeEach(async () => {
    service = await startService({ DATABASE_URL: url }, { closed: true });
    [ours, theirs] = [service.as(await service.key()), service.as(await service.key({ workspace: 'theirs' }))];
    return () => service.stop();
  });

  const statusesOf = async (requests: Promise<{ status: number }>[]) =>
    (await Promise.all(requests)).map(({ status }) => status);

  const times = <T>(count: number, work: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => work(n));

  /** What another transaction of the workspace `acme` may lock, and a create that then waits, for the row with this ID. */
  const locks: Record<string, { lock: (id: string) => string; create: (id: string) => [object[], object?] }> = {
    'a record to which they refer': {
      lock: (id) => `select from locations where workspace_id = ${numberOf('acme')} and id = '${id}' for update`,
      create: (id) => [[{ name: 'Crane', currentLocationId: id }]],
    },
    'a unique value': {
      lock: () =>
        `insert into assets (workspace_id, id, name, uid, created_at, updated_at)
        values (${numberOf('acme')}, 'asset_1', 'Pump', 'EX-1', now(), now())`,
      create: () => [[{ name: 'Crane', uid: 'EX-1' }]],
    },
    'the number of the last change': {
      lock: () => `update change_numbers set number = number where workspace_id = ${numberOf('acme')}`,
      create: () => [[{ name: 'Crane' }]],
    },
    'an idempotency key': {
      lock: () => `insert into idempotency_keys values (${numberOf('acme')}, 'POST /assets', 'key-1', '', now(), '{}')`,
      create: () => [[{ name: 'Crane' }], { 'idempotency-key': 'key-1' }],
    },
  };

  test.each(Object.entries(locks))(
    'creates wait for %s, and those of other workspaces do not wait with them',
    async (_name, { lock, create }) => {
      const [{ id }] = await ours.create('/locations', { name: 'Yard' });
      await other.query('begin');
      await other.query(lock(id));

      const waiting = [ours.post('/assets', ...create(id))];
      await untilWaiting(1);
      waiting.push(...times(3, () => ours.post('/assets', ...create(id))));
      const others = Promise.all([
        statusesOf(times(20, (n) => theirs.post('/assets', [{ name: `Crane ${n}` }]))),
        statusesOf(times(20, (n) => theirs.post('/locations', [{ name: `Yard ${n}` }]))),
      ]);
      const finished = await Promise.race([others.then(() => 'other workspaces'), pause(5_000, 'the wait')]);
      const isStillWaiting = await Promise.race([Promise.any(waiting).then(() => false), pause(0, true)]);
      await other.query('rollback');

      expect(finished).toBe('other workspaces');
      expect(isStillWaiting).toBe(true);
      expect((await others).flat()).toEqual(Array(40).fill(201));
      // Of those with the same unique value, one is stored. With the same idempotency key, all get its response.
      expect((await statusesOf(waiting)).toSorted()[0]).toBe(201);
      expect((await statusesOf(waiting)).every((status) => status === 201 || status === 409)).toBe(true);
    },
  );

  test.runIf(hasTriggers)('if the server of one workspace fails, the creates of the others are stored', async () => {
    await other.query(`create function fail() returns trigger language plpgsql as $$ begin
      raise exception 'disk full' using errcode = '53100'; end $$`);
    await other.query(`create trigger fail before insert on assets for each row
      when (new.workspace_id = ${numberOf('acme')}) execute function fail()`);

    const [failed, stored] = await Promise.all([
      statusesOf(times(20, () => ours.post('/assets', [{ name: 'Crane' }]))),
      statusesOf(times(20, () => theirs.post('/assets', [{ name: 'Crane' }]))),
    ]);

    expect(failed).toEqual(Array(20).fill(503));
    expect(stored).toEqual(Array(20).fill(201));
  });
});
