/** TRUSTED_PROXIES: whose X-Forwarded-For says from where a request comes. */
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { createServer } from '../../src/http/server.ts';
import { startService } from '../support/service.ts';

/** The statuses of requests with a wrong key, from a peer that says that it forwards those of others. */
async function statuses(trusted: string, requests: readonly (readonly [peer: string, forwardedFor: string])[]) {
  const service = await startService({ FAILED_LOGIN_LIMIT: '1', TRUSTED_PROXIES: trusted }, { closed: true });
  const found = [];
  for (const [remoteAddress, forwarded] of requests) {
    const headers = { 'x-api-key': 'wrong', 'x-forwarded-for': forwarded };
    found.push((await service.app.inject({ url: '/asset-categories', remoteAddress, headers })).statusCode);
  }
  await service.stop();
  return found;
}

describe('failed logins', () => {
  test('count for the client behind a trusted proxy', async () => {
    const [proxy, first, second] = ['10.0.0.7', '203.0.113.1', '203.0.113.2'];

    expect(
      await statuses('10.0.0.0/8', [
        [proxy, first],
        [proxy, first],
        [proxy, second],
      ]),
    ).toEqual([401, 429, 401]);
    // What the client itself has sent comes before what the proxy adds.
    expect(
      await statuses('10.0.0.0/8', [
        [proxy, `1.1.1.1, ${first}`],
        [proxy, `2.2.2.2, ${first}`],
      ]),
    ).toEqual([401, 429]);
  });

  test('count for the peer, whatever it says, unless it is trusted', async () => {
    const peer = '203.0.113.9';

    expect(
      await statuses('', [
        [peer, '1.1.1.1'],
        [peer, '2.2.2.2'],
      ]),
    ).toEqual([401, 429]);
    expect(
      await statuses('10.0.0.0/8', [
        [peer, '1.1.1.1'],
        [peer, '2.2.2.2'],
      ]),
    ).toEqual([401, 429]);
  });
});

test('the log has the address of the client', async () => {
  const lines: string[] = [];
  const config = loadConfig({ TRUSTED_PROXIES: 'loopback' });
  const app = createServer(config, { write: (line) => void lines.push(line) });
  app.get('/', async () => 'ok');
  for (const remoteAddress of ['127.0.0.1', '203.0.113.9']) {
    await app.inject({ url: '/', remoteAddress, headers: { 'x-forwarded-for': '198.51.100.4' } });
  }
  await app.close();

  expect(lines.map((line) => JSON.parse(line).address)).toEqual(['198.51.100.4', '203.0.113.9']);
});

test.each(['10.0.0.0/33', '10.0.0', 'proxy.example.com', '10.0.0.1,,', '10.0.0.0/8/8', '::1/129'])(
  'what is no address is rejected at the start: %s',
  (text) => {
    expect(() => loadConfig({ TRUSTED_PROXIES: text })).toThrow(/^TRUSTED_PROXIES: expected addresses, ranges such as/);
  },
);
