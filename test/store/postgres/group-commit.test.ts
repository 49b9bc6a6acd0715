/** What new records of one workspace wait for on Postgres, and that those of other workspaces do not wait with them. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from 'pg';
import { beforeEach, expect, test } from 'vitest';
import { createDatabase } from '../../support/database.ts';
import { connectTo, untilWaiting } from '../../support/locks.ts';
import { numberOf } from '../../support/open-store.ts';
import { hasTriggers } from '../../support/postgres.ts';
import { startService } from '../../support/service.ts';

let service: Awaited<ReturnType<typeof startService>>;
let ours: ReturnType<typeof service.as>;
let theirs: ReturnType<typeof service.as>;
let other: Client;

beforeEach(async () => {
  const { url, remove } = await createDatabase();
  service = await startService({ DATABASE_URL: url }, { closed: true });
  [ours, theirs] = [service.as(await service.key()), service.as(await service.key({ workspace: 'theirs' }))];
  other = await connectTo(url);
  return async () => {
    await other.end();
    await service.stop();
    await remove();
  };
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
    await untilWaiting(service.database, 1);
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
