/** The log line of each request, whether its response is complete or not. */
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect, test, vi } from 'vitest';
import { largeAsset, useService } from '../support/service.ts';

const service = useService();

const requestLines = () => service.logs.map((line) => JSON.parse(line)).filter(({ msg }) => !/listening/.test(msg));

/** A client that has sent a request and received part of the response, and reads no further. */
async function readPart(path: string): Promise<{ client: Socket; ofServer: Socket }> {
  await service.app.listen({ port: 0, host: '127.0.0.1' });
  const connected = once(service.app.server, 'connection');
  const client = connect((service.app.server.address() as AddressInfo).port, '127.0.0.1');
  client.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\naccept: text/html\r\n\r\n`);
  await once(client, 'readable');
  const [ofServer] = await connected;
  return { client, ofServer };
}

test('a complete response is logged with its status', async () => {
  const { headers } = await service.get('/asset-categories');

  expect(requestLines()).toMatchObject([
    {
      reqId: headers['x-request-id'],
      method: 'GET',
      route: '/asset-categories',
      status: 200,
      msg: 'request completed',
    },
  ]);
});

test.each<[string, (sockets: Awaited<ReturnType<typeof readPart>>) => void]>([
  ['the client closes the connection', ({ client }) => client.destroy()],
  ['the client resets the connection', ({ client }) => client.resetAndDestroy()],
  ['the service closes the connection of a client that does not read', ({ ofServer }) => ofServer.destroy()],
])('a response that was not sent completely is logged without a status: %s', async (_, leave) => {
  const sockets = await readPart(await largeAsset(service));
  service.logs.length = 0;

  leave(sockets);

  await vi.waitFor(() => expect(requestLines()).toHaveLength(1));
  const [line] = requestLines();
  expect(line).toMatchObject({ route: '/explorer/:file', msg: 'connection closed before the response was complete' });
  expect(line).not.toHaveProperty('status');
});

test.each([
  ['/nowhere', 404],
  ['/locations/%zz', 400],
])('a request that no route matches is logged, without its path: %s', async (path, status) => {
  const { headers } = await service.get(path);

  expect(requestLines()).toMatchObject([
    { reqId: headers['x-request-id'], method: 'GET', status, msg: 'request completed' },
  ]);
  expect(service.logs.join('')).not.toContain(path);
});
