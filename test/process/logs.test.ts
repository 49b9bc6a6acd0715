/** Logs that cannot be written: lines may be lost, requests may not, and the process ends as always. */
import { closeSync, openSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { eventually } from '../support/clock.ts';
import { freePort } from '../support/postgres.ts';
import { linesOf, useSharedProcesses } from '../support/process.ts';

const processes = useSharedProcesses();
const settings = { DATABASE_URL: 'sqlite::memory:', LOG_LEVEL: 'info' };

/** Sends so many requests on one connection, and returns how many of them get a 200. */
async function requests(address: string, count: number): Promise<number> {
  const socket = connect(Number(new URL(address).port), '127.0.0.1');
  // A long id makes a long log line.
  const request = `GET /favicon.ico HTTP/1.1\r\nhost: localhost\r\nx-request-id: ${'x'.repeat(128)}\r\n`;
  socket.write(`${request}\r\n`.repeat(count - 1));
  socket.write(`${request}connection: close\r\n\r\n`);
  return (await text(socket)).split('HTTP/1.1 200 OK').length - 1;
}

/** Without its output, only the port says that it is there. */
async function startOnPort(start: (settings: Record<string, string>) => ReturnType<typeof processes.start>) {
  const port = String(await freePort());
  const service = start({ ...settings, PORT: port });
  const address = `http://127.0.0.1:${port}`;
  const isReady = () => fetch(`${address}/healthz`).then(() => true);
  await eventually(isReady);
  return { service, address };
}

test.concurrent.each(['on a full disk', 'whose readers are gone'])(
  'output %s keeps the service neither from starting nor from ending',
  async (state) => {
    const full = openSync('/dev/full', 'w');
    const { service, address } = await startOnPort((own) => {
      if (state === 'on a full disk') return processes.startUnder({ streams: [full, full] }, own);
      const started = processes.start(own);
      started.child.stdout?.destroy();
      started.child.stderr?.destroy();
      return started;
    });
    closeSync(full);

    expect(await requests(address, 100)).toBe(100);
    // Later than the lines are flushed.
    await pause(300);
    expect(await requests(address, 100)).toBe(100);
    service.child.kill('SIGTERM');

    expect(await service.exited).toBe(0);
  },
);

test.concurrent('lines that nobody reads are lost, and once somebody reads again, one says how many', async () => {
  const service = processes.start(settings);
  service.child.stderr?.pause();
  const address = await service.ready();

  // A pipe holds up to 300 KB, the service 1 MB more: five thousand lines are 1.7 MB.
  for (let round = 0; round < 5; round += 1) expect(await requests(address, 1_000)).toBe(1_000);
  service.child.stderr?.resume();
  await eventually(() => expect(service.said.err).toContain('log lines were lost'));
  expect(await requests(address, 1)).toBe(1);
  service.child.kill('SIGTERM');
  await service.exited;

  const lines = linesOf(service.said.err);
  const said = lines.filter(({ msg }) => msg === 'log lines were lost');
  const answered = lines.filter(({ msg }) => msg === 'request completed');
  expect(said).toMatchObject([{ level: 40, pid: service.child.pid, lines: expect.any(Number) }]);
  // The line that says where the service listens is no request, and is written before any is lost.
  expect(answered.length + said[0].lines).toBe(5_001);
  expect(lines.slice(-2)).toMatchObject([{ msg: 'request completed' }, { msg: 'stopped' }]);
});

test.concurrent('a file gets every line, also those of the last moment', async () => {
  const path = join(processes.folder, 'log');
  const file = openSync(path, 'a');
  const { ready, child, exited } = processes.startUnder({ streams: ['pipe', file] }, settings);
  closeSync(file);

  expect(await requests(await ready(), 300)).toBe(300);
  child.kill('SIGINT');

  expect(await exited).toBe(0);
  expect(linesOf(readFileSync(path, 'utf8')).filter(({ msg }) => msg === 'request completed')).toHaveLength(300);
});
