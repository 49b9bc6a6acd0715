/** Every path rejects an invalid Host, whether it needs an API key or not. */
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { listen, useSharedService } from '../support/service.ts';

const service = useSharedService({}, { closed: true });

const problem = 'Host: expected a host name or an IP address, optionally with a port, received';

const invalid = [
  ...['[', 'a b', '@', 'a@b', 'a/b', 'a?b', 'a\\b', '#', '%', '<x>', 'xn--', 'ä', '256.256.256.256'],
  ...['[::1', '[::1%eth0]', '[v1.x]', '::1', 'x:99999', 'x:1:2', 'example.com:port'],
];
const valid = [
  ...['localhost', 'yard.example.com', 'yard.example.com.', 'YARD', 'my_service', 'xn--mnchen-3ya.de', ''],
  ...['x:4000', 'x:', '127.0.0.1', '127.0.0.1:4000', '[::1]', '[::FFFF:127.0.0.1]:4000'],
];

test.each([
  ['/graphql?query={__typename}', 200],
  ['/asset-categories', 200],
  ['/healthz', 200],
  ['/nothing', 404],
])('%s with an invalid Host, or without one over HTTP/1.1, is 400, and otherwise %i', async (path, status) => {
  const key = await service.key();
  const get = (host: string) => service.as(key).get(path, { host });
  for (const host of invalid) {
    const { status, body } = await get(host);
    const message = body.errors?.[0].message ?? body.error;
    expect([status, message]).toEqual([400, `${problem} ${JSON.stringify(host)}`]);
  }
  for (const host of valid) expect([host, (await get(host)).status]).toEqual([host, status]);
  for (const [version, expected] of [
    ['1.1', '400 Bad Request'],
    ['1.0', `${status} `],
  ] as const) {
    const socket = connect(Number(new URL(await listen(service.app)).port), '127.0.0.1');
    socket.write(`GET ${path} HTTP/${version}\r\nauthorization: Bearer ${key}\r\nconnection: close\r\n\r\n`);
    const response = await text(socket);
    expect(response).toMatch(new RegExp(`^HTTP/1.1 ${expected}`));
    if (version === '1.1') expect(response).toContain(`${problem} nothing`);
  }
});
