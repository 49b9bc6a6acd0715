/** Logs that cannot be written: lines may be lost, requests may not, and the process ends as always. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { useProcesses } from '../support/process.ts';

const processes = useProcesses();
const settings = { DATABASE_URL: 'sqlite::memory:', LOG_LEVEL: 'info' };

/** Sends so many requests on one connection, and returns how many of them get a 200. */
async function requests(address: string, count: number): Promise<number> {
  const socket = connect(Number(new URL(address).port), '127.0.0.1');
  // A long id makes a long log line.
  const request = `GET /favicon.ico HTTP/1.1\r\nhost: localhost\r\nx-request-id: ${'x'.repeat(128)}\r\n`;
  socket.write(`${request}\r\n`.repeat(count - 1));
  socket.write(`${request}connection: close\r\n\r\n`);
  let text = '';
  for await (const chunk of socket) text += chunk;
  return text.split('HTTP/1.1 200 OK').length - 1;
}

async function freePort(): Promise<string> {
  const { createServer } = await import('node:net');
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return String(typeof address === 'object' && address?.port);
}

/** Expects the service to respond to all requests, also later than lines are flushed, and to end as always. */
async function expectToServe(
  { child, exited }: ReturnType<typeof processes.start>,
  address: string,
  { count = 100, signal = 'SIGTERM' as 'SIGTERM' | 'SIGINT' } = {},
): Promise<void> {
  expect(await requests(address, count)).toBe(count);
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(await requests(address, count)).toBe(count);
  child.kill(signal);
  expect(await exited).toBe(0);
}

const linesOf = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('standard error', () => {
  test('on a full disk does not stop the service, nor its end', async () => {
    const full = openSync('/dev/full', 'w');
    const service = processes.startUnder({ streams: ['pipe', full] }, settings);
    closeSync(full);

    await expectToServe(service, await service.ready());
  });

  test('whose reader is gone does not stop the service, nor its end', async () => {
    const service = processes.start(settings);
    const address = await service.ready();
    service.child.stderr?.destroy();

    await expectToServe(service, address);
  });

  test.each(['SIGTERM', 'SIGINT'] as const)(
    'that nobody reads does not stop the service, nor its end by %s',
    async (signal) => {
      const fifo = join(processes.folder, 'log');
      execFileSync('mkfifo', [fifo]);
      const reader = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK);
      const writer = openSync(fifo, 'w');
      const service = processes.startUnder({ streams: ['pipe', writer] }, settings);
      closeSync(writer);

      // A pipe holds 64 KB.
      await expectToServe(service, await service.ready(), { count: 1_000, signal });
      closeSync(reader);
    },
  );

  test('that is read again says once how many lines were lost', async () => {
    const service = processes.start(settings);
    service.child.stderr?.pause();
    const address = await service.ready();

    for (let round = 0; round < 6; round += 1) expect(await requests(address, 1_000)).toBe(1_000);
    service.child.stderr?.resume();
    await vi.waitFor(() => expect(service.said.err).toContain('log lines were lost'), { timeout: 50_000 });
    expect(await requests(address, 1)).toBe(1);
    service.child.kill('SIGTERM');
    await service.exited;

    const lines = linesOf(service.said.err);
    const said = lines.filter(({ msg }) => msg === 'log lines were lost');
    const answered = lines.filter(({ msg }) => msg === 'request completed');
    expect(said).toMatchObject([{ level: 40, pid: service.child.pid, lines: expect.any(Number) }]);
    // The line that says where the service listens is no request, and is written before any is lost.
    expect(answered.length + said[0].lines).toBe(6_001);
    expect(lines.slice(-2)).toMatchObject([{ msg: 'request completed' }, { msg: 'stopped' }]);
  });

  test('that is a file gets every line, also those of the last moment', async () => {
    const path = join(processes.folder, 'log');
    const file = openSync(path, 'a');
    const service = processes.startUnder({ streams: ['pipe', file] }, settings);
    closeSync(file);

    expect(await requests(await service.ready(), 1_000)).toBe(1_000);
    service.child.kill('SIGTERM');
    expect(await service.exited).toBe(0);

    expect(linesOf(readFileSync(path, 'utf8')).filter(({ msg }) => msg === 'request completed')).toHaveLength(1_000);
  });
});

describe('standard output', () => {
  test('on a full disk does not keep the service from starting, nor from ending', async () => {
    const full = openSync('/dev/full', 'w');
    const port = await freePort();
    const service = processes.startUnder({ streams: [full, 'pipe'] }, { ...settings, PORT: port });
    closeSync(full);

    await vi.waitFor(() => expect(service.said.err).toContain('Server listening'), { timeout: 50_000 });
    await expectToServe(service, `http://127.0.0.1:${port}`);
  });

  test('that nobody reads does not keep the service from starting, nor from ending', async () => {
    const port = await freePort();
    const service = processes.start({ ...settings, PORT: port });
    service.child.stdout?.destroy();

    await vi.waitFor(() => expect(service.said.err).toContain('Server listening'), { timeout: 50_000 });
    await expectToServe(service, `http://127.0.0.1:${port}`);
  });
});
