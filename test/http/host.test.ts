/** Every path rejects an invalid Host, whether it needs an API key or not. */
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { beforeAll, describe, expect, test } from 'vitest';
import { useSharedService } from '../support/service.ts';

const service = useSharedService({}, { closed: true });
let key: string;

beforeAll(async () => {
  key = await service.key();
});

const problem = 'Host: expected a host name or an IP address, optionally with a port, received';

const names = ['[', 'a b', '@', 'a@b', 'a/b', 'a?b', 'a\\b', '#', '%', '<x>', 'xn--', 'ä', '256.256.256.256'];
const addresses = ['[::1', '[::1%eth0]', '[v1.x]', '::1', 'x:99999', 'x:1:2', 'example.com:port'];
const validNames = [
  'localhost',
  'yard.example.com',
  'yard.example.com.',
  'YARD',
  'my_service',
  'xn--mnchen-3ya.de',
  '',
];
const validAddresses = ['x:4000', 'x:', '127.0.0.1', '127.0.0.1:4000', '[::1]', '[::FFFF:127.0.0.1]:4000'];

describe.each([
  ['/graphql?query={__typename}', 200],
  ['/asset-categories', 200],
  ['/healthz', 200],
  ['/nothing', 404],
])('%s', (path, status) => {
  test.each([...names, ...addresses])('with the Host %s is 400', async (host) => {
    const response = await service.as(key).get(path, { host });
    const { errors, error } = response.body;

    expect([response.status, errors?.[0].message ?? error]).toEqual([400, `${problem} ${JSON.stringify(host)}`]);
  });

  test.each([...validNames, ...validAddresses])(`with the Host %j is ${status}`, async (host) => {
    expect((await service.as(key).get(path, { host })).status).toBe(status);
  });

  test.each([
    ['1.1', '400 Bad Request'],
    ['1.0', `${status} `],
  ])('without Host over HTTP/%s is %s', async (version, expected) => {
    if (!service.app.server.listening) await service.app.listen({ port: 0, host: '127.0.0.1' });
    const socket = connect((service.app.server.address() as AddressInfo).port, '127.0.0.1');
    let response = '';
    socket.on('data', (data) => {
      response += data;
    });
    socket.write(`GET ${path} HTTP/${version}\r\nauthorization: Bearer ${key}\r\nconnection: close\r\n\r\n`);
    await once(socket, 'close');

    expect(response).toMatch(new RegExp(`^HTTP/1.1 ${expected}`));
    if (version === '1.1') expect(response).toContain(`${problem} nothing`);
  });
});
