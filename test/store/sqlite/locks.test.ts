/**
 * Locks that others hold, statements that run too long and full disks, separately and all at once: every acknowledged write is in the file,
 * where another connection finds it.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import sqlite3 from 'sqlite3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createFile } from '../../support/database.ts';
import { createRandom } from '../../support/random.ts';
import { startService } from '../../support/service.ts';

const rounds = Number(process.env.LOCK_ROUNDS ?? 12);

const endless = 'with recursive n(i) as (values (1) union all select i + 1 from n) select count(*) from n';

type Client = Pick<Awaited<ReturnType<typeof startService>>, 'post' | 'patch' | 'get' | 'create'>;

let file: Awaited<ReturnType<typeof createFile>>;
let service: Awaited<ReturnType<typeof startService>>;
/** As another process has it. */
let other: ReturnType<typeof connect>;
let ours: Client;
let theirs: Client;
let projectId: string;

beforeAll(async () => {
  file = await createFile();
  // Statements, and with them waits for a lock, end after 100 ms.
  service = await startService({ DATABASE_URL: file.url, DATABASE_STATEMENT_TIMEOUT: '100' }, { closed: true });
  other = connect(file.url.replace('sqlite:', ''));
  ours = service.as(await service.key());
  theirs = service.as(await service.key({ workspace: 'theirs' }));
  [{ id: projectId }] = await ours.create('/projects', { name: 'Harbour wall' });
});

afterAll(async () => {
  await service.stop();
  await other.close();
  await file.remove();
});

function connect(path: string) {
  const connection = new sqlite3.Database(path);
  return {
    run: promisify<string, void>(connection.exec.bind(connection)),
    read: promisify<string, { name: string }[]>(connection.all.bind(connection)),
    close: promisify<void>(connection.close.bind(connection)),
  };
}

async function whileLocked(work: () => Promise<unknown>): Promise<void> {
  await other.run('begin immediate');
  await work().finally(() => other.run('rollback'));
}

/** The names of these assets that the other connection finds in the file. */
async function storedNames(names: readonly string[]): Promise<unknown[]> {
  const list = names.map((name) => `'${name}'`).join(', ');
  return (await other.read(`select name from assets where name in (${list}) order by name`)).map(({ name }) => name);
}

test('reads and /readyz do not wait for a lock', async () => {
  await whileLocked(async () => {
    let refused = 0;
    const writes = Array.from({ length: 5 }, async () => {
      const response = await ours.patch(`/projects/${projectId}`, { notes: 'refused' });
      refused += 1;
      return response;
    });

    const reads = await Promise.all([ours.get('/asset-categories'), service.get('/readyz')]);

    expect(reads.map(({ status }) => status)).toEqual([200, 200]);
    // They wait for the lock one after the other.
    expect(refused).toBeLessThan(5);
    expect((await Promise.all(writes)).map(({ status }) => status)).toEqual([503, 503, 503, 503, 503]);
  });
});

test('a connection that is not idle after an error is closed at once, which releases its locks, and is replaced', async () => {
  const { database } = service;
  const stuck = database.run('begin immediate').then(() => database.run('select nothing'));

  await expect(stuck).rejects.toThrow('database error: SQLITE_ERROR');
  await other.run('begin immediate');
  await other.run('rollback');
  await ours.create('/assets', { name: 'replaced' });

  expect(await storedNames(['replaced'])).toEqual(['replaced']);
});

test(`through ${rounds} rounds of locks, cancelled statements and full disks, every acknowledged write is in the file`, async () => {
  const random = createRandom(20260301);
  const { database } = service;
  const acknowledged: string[] = [];
  const statuses = new Map<number, number>();

  async function createAssets(round: number, client: number): Promise<void> {
    const names = Array.from({ length: 1 + random.integer(3) }, (_, n) => `${round} ${client} ${n}`);
    const { status } = await ours.post(
      '/assets',
      names.map((name) => ({ name, ...(random.chance(0.5) && { uid: `${round} ${random.integer(6)} ${name}` }) })),
    );
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    if (status !== 201) return;
    acknowledged.push(...names);
    expect(await storedNames(names)).toEqual(names);
  }

  const disturbances = [
    () => whileLocked(() => pause(random.integer(250))),
    () => database.run(endless).catch(() => {}),
    () => database.transaction((run) => run(endless)).catch(() => {}),
    () => ours.patch(`/projects/${projectId}`, { notes: 'changed' }),
    () => theirs.post('/work-orders', [{ projectId }]),
    () => theirs.get('/asset-categories'),
    async () => {
      await database.run('pragma max_page_count = 1').catch(() => {});
      await pause(random.integer(50));
      await database.run('pragma max_page_count = 1000000').catch(() => {});
    },
  ];
  for (let round = 0; round < rounds; round += 1) {
    const clients = Array.from({ length: 6 }, (_, client) => createAssets(round, client));
    await Promise.all([
      ...clients,
      random
        .pick(disturbances)?.()
        .catch(() => {}),
    ]);
  }
  await database.run('pragma max_page_count = 1000000');

  expect(new Set(await storedNames(acknowledged))).toEqual(new Set(acknowledged));
  expect(acknowledged.length).toBeGreaterThan(rounds);
  expect([...statuses.keys()].toSorted()).toEqual([201, 503]);
});
