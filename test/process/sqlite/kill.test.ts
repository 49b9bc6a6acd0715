/** The process is killed while clients write, again and again: nothing acknowledged is lost, and no batch is stored in part. */
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openDatabase } from '../../../src/store/database.ts';
import { byEffort } from '../../support/effort.ts';
import { post, useProcesses } from '../../support/process.ts';

const processes = useProcesses();

const rounds = byEffort({ small: 3, long: 50 });

/** Clients that post as fast as they can until the service is gone; some one record at a time, some a hundred. */
async function write(address: string, size: number, prefix: string, acknowledged: Map<string, number>): Promise<void> {
  for (let sent = 0; ; sent += 1) {
    const name = `${prefix} ${sent}`;
    const records = Array.from({ length: size }, (_, n) => ({ name, uid: `${name} ${n}` }));
    const response = await post(`${address}/assets`, records).catch(() => undefined);
    if (response?.status === 201) acknowledged.set(name, size);
    else if (response) throw new Error(`${response.status}: ${await response.text()}`);
    else return;
  }
}

test(`${rounds} times kill -9 while clients write`, async () => {
  const url = 'sqlite:yard.db';
  const acknowledged = new Map<string, number>();
  for (let round = 0; round < rounds; round += 1) {
    const service = processes.start({ DATABASE_URL: url, LOG_LEVEL: 'silent' });
    const address = await service.ready();
    const clients = Array.from({ length: 8 }, (_, n) => write(address, n < 6 ? 1 : 100, `${round}-${n}`, acknowledged));
    const before = acknowledged.size;
    while (acknowledged.size === before) await pause(5);
    await pause(Math.random() * 150);
    service.child.kill('SIGKILL');
    await Promise.all([service.exited, ...clients]);
  }

  const database = await openDatabase(`sqlite:${processes.folder}/yard.db`);
  const stored = new Map(
    (await database.run('select name, count(*) as count from assets group by name')).map(({ name, count }) => [
      String(name),
      Number(count),
    ]),
  );
  const [health] = await database.run('pragma integrity_check');
  await database.close();

  expect(health).toEqual({ integrity_check: 'ok' });
  expect([...acknowledged].filter(([name, size]) => stored.get(name) !== size)).toEqual([]);
  expect([...stored].filter(([, count]) => count !== 1 && count !== 100)).toEqual([]);
  expect(acknowledged.size).toBeGreaterThanOrEqual(rounds);
  console.info(`${acknowledged.size} creates acknowledged in ${rounds} lives, ${stored.size} stored`);
}, 240_000);
