/** A proxy that closes connections at random: before it has passed a request on, or after the service has responded to it. */
import { once } from 'node:events';
import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** `random` returns a number from 0 to 1. Only writes are dropped, the fraction `rate` of them. */
export async function startDroppingProxy(target: () => string, rate: number, random: () => number) {
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    const chance = request.method === 'GET' ? 1 : random();
    if (chance < rate / 2) return void response.destroy();
    const { hostname, port } = new URL(target());
    const passedOn = send({ hostname, port, path: request.url, method: request.method, headers: request.headers });
    passedOn.on('error', () => response.destroy());
    passedOn.on('response', async (received) => {
      const content = await buffer(received).catch(() => undefined);
      if (!content || chance < rate) return void response.destroy();
      response.writeHead(received.statusCode ?? 500, received.headers).end(content);
    });
    passedOn.end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
