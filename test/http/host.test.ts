/** Every path rejects an invalid Host, whether it needs an API key or not. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { beforeAll, describe, expect, test } from 'vitest';
import { listen, useSharedService } from '../support/service.ts';

const service = useSharedService({}, { closed: true });
let key: string;

beforeAll(async () => {
  key = await service.key();
});

const problem = 'Host: expected a host name or an IP address, optionally with a port, received';

const invalid = [
  ...['[', 'a b', '@', 'a@b', 'a/b', 'a?b', 'a\\b', '#', '%', '<x>', 'xn--', 'ä', '256.256.256.256'],
  ...['[::1', '[::1%eth0]', '[v1.x]', '::1', 'x:99999', 'x:1:2', 'example.com:port'],
];
const valid = [
  ...['localhost', 'yard.example.com', 'yard.example.com.', 'YARD', 'my_service', 'xn--mnchen-3ya.de', ''],
  ...['x:4000', 'x:', '127.0.0.1', '127.0.0.1:4000', '[::1]', '[::FFFF:127.0.0.1]:4000'],
];

describe.each([
  ['/graphql?query={__typename}', 200],
  ['/asset-categories', 200],
  ['/healthz', 200],
  ['/nothing', 404],
])('%s', (path, status) => {
  test(`with an invalid Host is 400, and with a valid one ${status}`, async () => {
    for (const host of invalid) {
      const { status, body } = await service.as(key).get(path, { host });
      const message = body.errors?.[0].message ?? body.error;
      expect([status, message]).toEqual([400, `${problem} ${JSON.stringify(host)}`]);
    }
    for (const host of valid) {
      expect([host, (await service.as(key).get(path, { host })).status]).toEqual([host, status]);
    }
  });

  test.each([
    ['1.1', '400 Bad Request'],
    ['1.0', `${status} `],
  ])('without Host over HTTP/%s is %s', async (version, expected) => {
    const { port } = new URL(await listen(service.app));
    const socket = connect(Number(port), '127.0.0.1');
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
