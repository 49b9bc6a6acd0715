/** Limits on connections: the length of headers, the time that a request may take, and the number of connections. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, type TestContext, test } from 'vitest';
import { eventually } from '../support/clock.ts';
import { largeFile, listen, startService } from '../support/service.ts';

/** Starts a service for a test. The tests wait for its timeouts at the same time. */
async function start({ onTestFinished }: TestContext, settings: Record<string, string> = {}) {
  const sockets: Socket[] = [];
  const service = await startService(settings);
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await service.stop();
  });
  const url = await listen(service.app);

  async function open(): Promise<Socket> {
    // It reads nothing by itself, and stays open when the service closes its side.
    const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', () => undefined);
    sockets.push(socket);
    await once(socket, 'connect');
    return socket;
  }

  /** Resolves once `count` connections can be opened and used at once. */
  const areServed = (count: number) =>
    eventually(async () => {
      const opened = await Promise.all(Array.from({ length: count }, open));
      const responses = await Promise.all(opened.map(ask));
      for (const socket of opened) socket.destroy();
      expect(responses).toEqual(Array(count).fill('HTTP/1.1 200 OK'));
    });

  return { service, url, open, areServed };
}

/** The status line of a response on this connection, or `closed`. */
async function ask(socket: Socket): Promise<string | undefined> {
  if (socket.destroyed) return 'closed';
  socket.write('GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n');
  // A closed connection may be reset, which is an error here.
  const responded = Promise.race([
    once(socket, 'data'),
    once(socket, 'end').then(() => ['closed']),
    once(socket, 'close').then(() => ['closed']),
  ]);
  const [response] = await responded.catch(() => ['closed']);
  return String(response).split('\r\n')[0];
}

test.concurrent('as many connections as MAX_CONNECTIONS are served, one more is closed, and closing one makes room for another', async (context) => {
  const { open, areServed } = await start(context, { MAX_CONNECTIONS: '3' });
  const held = [await open(), await open(), await open()];
  expect(await Promise.all(held.map(ask))).toEqual(Array(3).fill('HTTP/1.1 200 OK'));
  expect(await ask(await open())).toBe('closed');
  held[0]?.destroy();
  await areServed(1);
});

const post = 'POST /locations HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n';

test.concurrent('connections of clients that stall and do not read the error are closed by force', async (context) => {
  const { service, open, areServed } = await start(context, {
    MAX_CONNECTIONS: '8',
    MAX_BODY_BYTES: '1024',
    HEADER_TIMEOUT: '500',
    REQUEST_TIMEOUT: '500',
  });
  const stalled: readonly [string, number?, string?][] = [
    // Never sends anything.
    ['', 408, 'request too slow'],
    ['GET /healthz HTTP/1.1\r\nhost: loc', 408, 'request too slow'],
    [`${post}content-length: 100\r\n\r\n[{"na`, 408, 'request too slow'],
    // 413, but never sends all of it.
    [`${post}content-length: 1000000\r\n\r\n[`, 408, 'request too slow'],
    // 417, and never sends all of it.
    [`${post}expect: x\r\ncontent-length: 9\r\n\r\n`, 408, 'request too slow'],
    ['secret-nonsense\r\n\r\n', 400, 'invalid HTTP'],
    [`GET / HTTP/1.1\r\nx: ${'secret'.repeat(5_000)}`, 431, 'headers too large'],
    // A response of five megabytes that is never read.
    [`GET ${largeFile} HTTP/1.1\r\nhost: localhost\r\n\r\n`],
  ];
  expect(stalled.length).toBe(8);
  for (const [sent] of stalled) (await open()).write(sent);

  await areServed(stalled.length);

  const lines = service.logs
    .map((line) => JSON.parse(line))
    .filter(({ msg }) => msg === 'not a valid HTTP request')
    .map(({ level, status, reason, address }) => `${level} ${status} ${reason} ${address}`);
  const expected = stalled.flatMap(([, status, reason]) => (status ? [`30 ${status} ${reason} 127.0.0.1`] : []));
  // On a busy machine, those that ask whether others are closed may be too slow as well.
  const others = lines.filter((line) => !line.includes('too slow'));
  expect(others.toSorted()).toEqual(expected.filter((line) => !line.includes('too slow')).toSorted());
  expect(lines.length).toBeGreaterThanOrEqual(expected.length);
  expect(service.logs.join('')).not.toContain('secret');
});

test.concurrent('a client that reads slowly gets all of its response', async (context) => {
  const { open } = await start(context, { HEADER_TIMEOUT: '2000', REQUEST_TIMEOUT: '2000' });
  const socket = await open();
  socket.write(`GET ${largeFile} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`);

  let length = 0;
  for await (const chunk of socket) {
    length += chunk.length;
    // In all, longer than the timeout of a client that reads nothing.
    if (length % 1_000_000 < chunk.length) await new Promise((resolve) => setTimeout(resolve, 500));
  }

  expect(length).toBeGreaterThan(5_000_000);
});

test.concurrent('an unknown Expect gets a 417, and a CONNECT a closed connection: the service goes on', async (context) => {
  const { service, open } = await start(context);
  const expecting = await open();
  expecting.write('GET /healthz HTTP/1.1\r\nhost: localhost\r\nexpect: x\r\n\r\n');
  expect(String(await once(expecting, 'data'))).toMatch(/^HTTP\/1.1 417 /);

  const tunnel = await open();
  tunnel.write('CONNECT secret:1 HTTP/1.1\r\nhost: secret\r\n\r\n');
  expect(await text(tunnel)).toBe('');

  expect((await service.get('/healthz')).status).toBe(200);
});

test.concurrent('a request that is completed after its timeout is not executed', async (context) => {
  const { url, open } = await start(context, { HEADER_TIMEOUT: '500', REQUEST_TIMEOUT: '500' });
  const socket = await open();
  const body = '[{"name": "North yard"}]';
  socket.write(`${post}content-length: ${body.length}\r\n\r\n${body.slice(0, 5)}`);
  const [response] = await once(socket, 'data');
  socket.write(body.slice(5));
  // A write to a closed connection resets it.
  const trickle = setInterval(() => socket.write(' '), 100);
  await new Promise((resolve) => socket.once('close', resolve));
  clearInterval(trickle);

  expect(String(response)).toMatch(/^HTTP\/1.1 408 /);
  const query = '?query={locations{totalCount}}';
  const { data } = await (await fetch(`${url}/graphql${query}`)).json();
  expect(data.locations.totalCount).toBe(0);
});
