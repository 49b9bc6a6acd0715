/** What a connection may take: headers, time, and company. Decisions: "Limits". */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { useProcesses } from '../support/process.ts';

const processes = useProcesses();
const sockets: Socket[] = [];

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

async function start(settings: Record<string, string>) {
  const service = processes.start({ DATABASE_URL: 'sqlite::memory:', ...settings });
  return { service, port: Number(new URL(await service.ready()).port) };
}

async function open(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  sockets.push(socket);
  await once(socket, 'connect');
  return socket;
}

/** All that comes until the service closes the connection, and after how many milliseconds that is. */
async function rest(socket: Socket) {
  const before = Date.now();
  let text = '';
  for await (const chunk of socket) text += chunk;
  return { text, milliseconds: Date.now() - before };
}

test.each([
  [2_000, 200],
  [2_300, 431],
])('headers of about %i bytes, where 2,048 are allowed, are %i', async (bytes, status) => {
  const { port } = await start({ MAX_HEADER_BYTES: '2048' });
  const socket = await open(port);
  const head = 'GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nx: ';

  socket.write(`${head}${'x'.repeat(bytes - head.length)}\r\n\r\n`);

  expect((await rest(socket)).text).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
});

test('headers that come a byte at a time are cut off with 408', async () => {
  const { port } = await start({ HEADER_TIMEOUT: '500' });
  const socket = await open(port);
  const trickle = setInterval(() => socket.write('x'), 100);

  socket.write('GET /healthz HTTP/1.1\r\nx: ');
  const { text, milliseconds } = await rest(socket);
  clearInterval(trickle);

  expect(text).toMatch(/^HTTP\/1.1 408 /);
  expect(text).toContain('"code":"408"');
  expect(milliseconds).toBeLessThan(10_000);
});

test('a body that comes a byte at a time is cut off', async () => {
  const { port } = await start({ HEADER_TIMEOUT: '500', REQUEST_TIMEOUT: '1000' });
  const socket = await open(port);
  const trickle = setInterval(() => socket.write('['), 100);

  socket.write(
    'POST /locations HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100000\r\n\r\n',
  );
  const { text } = await rest(socket);
  clearInterval(trickle);

  expect(text).toMatch(/^HTTP\/1.1 408 /);
});

test('as many connections as are allowed are served, one more is closed, and room is made again', async () => {
  const { port } = await start({ MAX_CONNECTIONS: '3' });
  const ask = async (socket: Socket) => {
    if (socket.destroyed) return 'closed';
    socket.write('GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n');
    // A connection that is closed may be reset, which is an error here.
    const answered = Promise.race([once(socket, 'data'), once(socket, 'close').then(() => ['closed'])]);
    const [answer] = await answered.catch(() => ['closed']);
    return String(answer).split('\r\n')[0];
  };
  const held = [await open(port), await open(port), await open(port)];

  expect(await Promise.all(held.map(ask))).toEqual(Array(3).fill('HTTP/1.1 200 OK'));
  expect(await ask(await open(port))).toBe('closed');

  held[0]?.destroy();
  await vi.waitFor(async () => expect(await ask(await open(port))).toBe('HTTP/1.1 200 OK'), { timeout: 10_000 });
});
