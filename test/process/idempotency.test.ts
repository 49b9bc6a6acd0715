/** Requests that are repeated at several processes at once, and after their process was killed: each is carried out once. */
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createDatabase } from '../support/database.ts';
import { byEffort } from '../support/effort.ts';
import { useProcesses } from '../support/process.ts';

const processes = useProcesses();

const send = async (address: string, method: string, path: string, body: unknown, key?: string) => {
  const headers = { 'content-type': 'application/json', ...(key !== undefined && { 'idempotency-key': key }) };
  const response = await fetch(`${address}${path}`, { method, headers, body: JSON.stringify(body) });
  return {
    status: response.status,
    text: await response.text(),
    isReplayed: response.headers.has('idempotency-replayed'),
  };
};

const countOf = async (address: string, list: string): Promise<number> => {
  const { text } = await send(address, 'POST', '/graphql', { query: `{ ${list} { totalCount } }` });
  return JSON.parse(text).data[list].totalCount;
};

const rounds = byEffort({ small: 10, long: 300 });

test('three processes that get the same requests at once carry out each of them once', async () => {
  const database = await createDatabase({ empty: true });
  const first = processes.start({ DATABASE_URL: database.url, LOG_LEVEL: 'silent' });
  const addresses = [await first.ready()];
  const others = [1, 2].map(() => processes.start({ DATABASE_URL: database.url, LOG_LEVEL: 'silent' }));
  for (const other of others) addresses.push(await other.ready());
  const at = (n: number) => addresses[n % addresses.length] ?? '';
  const [wall] = JSON.parse((await send(at(0), 'POST', '/projects', [{ name: 'Harbour wall' }])).text);

  for (let round = 0; round < rounds; round += 1) {
    const creates = [0, 1, 2, 3, 4, 5].map((n) =>
      send(
        at(n),
        'POST',
        '/assets',
        [{ name: `Crane ${round}`, uid: `CR-${round}` }, { name: 'Pump' }],
        `create ${round}`,
      ),
    );
    const changes = [0, 1, 2].map((n) =>
      send(at(n), 'PATCH', `/projects/${wall.id}`, { notes: `phase ${round}` }, `change ${round}`),
    );
    // Others that share their group commits, and must not suffer.
    const alone = [0, 1, 2].map((n) => send(at(n), 'POST', '/locations', [{ name: 'Yard' }], `alone ${round} ${n}`));

    const created = await Promise.all(creates);
    const changed = await Promise.all(changes);
    const unaffected = await Promise.all(alone);
    expect(new Set(created.map(({ text }) => text)).size).toBe(1);
    expect(created.map(({ status }) => status)).toEqual(created.map(() => 201));
    expect(created.filter(({ isReplayed }) => !isReplayed)).toHaveLength(1);
    expect(new Set(changed.map(({ text }) => text)).size).toBe(1);
    expect(changed.filter(({ isReplayed }) => !isReplayed)).toHaveLength(1);
    expect(unaffected.map(({ status, isReplayed }) => [status, isReplayed])).toEqual(Array(3).fill([201, false]));
  }

  expect(await countOf(at(0), 'assets')).toBe(2 * rounds);
  expect(await countOf(at(1), 'locations')).toBe(3 * rounds);
  for (const { child } of [first, ...others]) child.kill('SIGKILL');
  await Promise.all([first, ...others].map(({ exited }) => exited));
  await database.remove();
});

const lives = byEffort({ small: 3, long: 50 });

test(`${lives} times kill -9 while clients write with keys: a repeat gets what was stored, or stores it`, async () => {
  const database = await createDatabase({ empty: true });
  /** The response to each request that got one, by its key. */
  const acknowledged = new Map<string, string>();
  const sent = new Map<string, object[]>();

  async function write(address: string, prefix: string, size: number): Promise<void> {
    for (let n = 0; ; n += 1) {
      const key = `${prefix}-${n}`;
      sent.set(
        key,
        Array.from({ length: size }, (_, index) => ({ name: `${key} ${index}` })),
      );
      const response = await send(address, 'POST', '/assets', sent.get(key), key).catch(() => undefined);
      if (!response) return;
      expect(response.status).toBe(201);
      acknowledged.set(key, response.text);
    }
  }

  for (let life = 0; life < lives; life += 1) {
    const service = processes.start({ DATABASE_URL: database.url, LOG_LEVEL: 'silent' });
    const address = await service.ready();
    const before = acknowledged.size;
    const writers = [1, 1, 1, 1, 100, 100].map((size, n) => write(address, `life ${life} ${n}`, size));
    while (acknowledged.size < before + 5) await pause(5);
    await pause(Math.random() * 100);
    service.child.kill('SIGKILL');
    await Promise.all([service.exited, ...writers]);
  }

  const service = processes.start({ DATABASE_URL: database.url, LOG_LEVEL: 'silent' });
  const address = await service.ready();
  const found = { replayed: 0, stored: 0 };
  for (const [key, records] of sent) {
    const { status, text, isReplayed } = await send(address, 'POST', '/assets', records, key);
    expect(status).toBe(201);
    const first = acknowledged.get(key);
    if (first !== undefined) expect([isReplayed, text]).toEqual([true, first]);
    else found[isReplayed ? 'replayed' : 'stored'] += 1;
  }
  expect(await countOf(address, 'assets')).toBe([...sent.values()].reduce((sum, { length }) => sum + length, 0));
  service.child.kill('SIGKILL');
  await service.exited;
  await database.remove();
  console.info(
    `${acknowledged.size} acknowledged; of the others, ${found.replayed} were stored and ${found.stored} were not`,
  );
}, 240_000);
