/** What a connection leaves: none of its earlier responses in memory, and none open when its client has left. */
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, expect, test } from 'vitest';
import { trackResponses } from '../../src/http/server.ts';
import { eventually } from '../support/clock.ts';

let server: Server;

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** Starts a server that responds with `respond`, and returns a client that has sent a request and does not read. */
async function sendRequest(respond: RequestListener): Promise<Socket> {
  server = createServer(respond).listen(0, '127.0.0.1');
  trackResponses(server);
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
  return socket;
}

test('a connection that stays open keeps none of its responses in memory', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc');
  const responses: WeakRef<object>[] = [];
  const socket = await sendRequest((_request, response) => {
    responses.push(new WeakRef(response));
    response.end('response');
  });
  await once(socket, 'data');
  socket.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
  await once(socket, 'data');

  // Node keeps the last one until the next request.
  await eventually(() => {
    collectGarbage();
    // A failed comparison of the response itself would keep it.
    expect(responses[0]?.deref() === undefined).toBe(true);
  });
  expect(responses).toHaveLength(2);
  expect(socket.destroyed).toBe(false);
});

test('responses to pipelined requests all close when their client leaves', async () => {
  const closed: string[] = [];
  const socket = await sendRequest(({ url = '' }, response) => {
    response.once('close', () => closed.push(url));
    if (url === '/' || url === '/1') response.end('first');
    // The client leaves while these are sent, are ready, and are still to come.
    if (url === '/2' || url === '/3') response.end(Buffer.alloc(20_000_000));
  });
  for (const url of ['/1', '/2', '/3', '/4']) socket.write(`GET ${url} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
  await once(socket, 'data');

  socket.resetAndDestroy();

  await eventually(() => expect(closed.toSorted()).toEqual(['/', '/1', '/2', '/3', '/4']));
});
