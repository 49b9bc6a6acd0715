/** TRUSTED_PROXIES: whose X-Forwarded-For says from where a request comes. */
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { createServer } from '../../src/http/server.ts';
import { startService } from '../support/service.ts';

/** The statuses of two requests with a wrong key, from a peer that says that it forwards those of others. */
async function statuses(trusted: string, peer: string, forwarded: readonly string[]) {
  const service = await startService({ FAILED_LOGIN_LIMIT: '1', TRUSTED_PROXIES: trusted }, { closed: true });
  const found = [];
  for (const address of forwarded) {
    const headers = { 'x-api-key': 'wrong', 'x-forwarded-for': address };
    found.push((await service.app.inject({ url: '/asset-categories', remoteAddress: peer, headers })).statusCode);
  }
  await service.stop();
  return found;
}

test.each([
  ['the client behind a trusted proxy', '10.0.0.0/8', '10.0.0.7', ['203.0.113.1', '203.0.113.1'], 429],
  ['each client behind it', '10.0.0.0/8', '10.0.0.7', ['203.0.113.1', '203.0.113.2'], 401],
  // What the client itself has sent comes before what the proxy adds.
  [
    'the client, whatever it says itself',
    '10.0.0.0/8',
    '10.0.0.7',
    ['1.1.1.1, 203.0.113.1', '2.2.2.2, 203.0.113.1'],
    429,
  ],
  ['the peer if no proxy is trusted', '', '203.0.113.9', ['1.1.1.1', '2.2.2.2'], 429],
  ['the peer if it is not trusted', '10.0.0.0/8', '203.0.113.9', ['1.1.1.1', '2.2.2.2'], 429],
])('failed logins count for %s', async (_, trusted, peer, forwarded, second) => {
  expect(await statuses(trusted, peer, forwarded)).toEqual([401, second]);
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
