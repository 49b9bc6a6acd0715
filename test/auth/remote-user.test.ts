/** People behind an authenticating proxy: who they are, and who is refused. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { listen, useSharedService } from '../support/service.ts';

const secret = 'a-shared-secret-of-32-characters';
const proxies = { TRUSTED_PROXIES: '10.0.0.0/8,loopback' };
const settings = { ...proxies, REMOTE_USER_HEADER: 'X-Remote-User', REMOTE_USER_SECRET: secret };
const service = useSharedService(settings, { closed: true });
const limited = useSharedService({ ...settings, RATE_LIMIT: '10000' }, { closed: true });
const plain = useSharedService(proxies, { closed: true });

type Headers = Record<string, string>;
const forwarded = { 'x-forwarded-for': '203.0.113.7' };
const withSecret = { ...forwarded, 'x-remote-user-secret': secret };
const proxied = (user: string): Headers => ({ ...withSecret, 'x-remote-user': user });

const send = (on: typeof service, key: string, headers: Headers, query: string, remoteAddress = '10.1.2.3') =>
  on.inject({
    ...{ method: 'POST', url: '/graphql', remoteAddress, payload: { query } },
    headers: { authorization: `Bearer ${key}`, ...headers },
  });
const create = 'mutation { createWorkOrders(input: [{ name: "Lift" }]) { createdBy { id } updatedBy { id } } }';
const shown = '{ viewer { user { id } } changes { nodes { user { id } } } }';

test.each([
  ['anna', 'anna'],
  [Buffer.from('Jörg Müller').toString('latin1'), 'Jörg Müller'],
  ['cn=anna, ou=yard', 'cn=anna, ou=yard'],
  ['x'.repeat(255), 'x'.repeat(255)],
])('a request of the proxy has the user %s in records, changes, viewer and log', async (sent, id) => {
  for (const on of [service, limited]) {
    const key = await on.key({ workspace: `of-${id.length}`, user: 'proxy' });
    on.logs.length = 0;
    for (const address of ['10.1.2.3', '127.0.0.1', '::ffff:10.1.2.3']) {
      const { body } = await send(on, key, proxied(sent), create, address);
      expect(body.data.createWorkOrders).toEqual([{ createdBy: { id }, updatedBy: { id } }]);
    }
    expect(on.logs.map((line) => JSON.parse(line).user)).toEqual([id, id, id]);
    // Without the headers, a program uses the key.
    for (const [headers, user] of [[proxied(sent), id] as const, [forwarded, 'proxy'] as const]) {
      const { data } = (await send(on, key, headers, shown)).body;
      expect(data).toEqual({ viewer: { user: { id: user } }, changes: { nodes: Array(3).fill({ user: { id } }) } });
    }
  }
});

const untrusted =
  'x-remote-user: expected from a proxy in TRUSTED_PROXIES, with X-Forwarded-For and the secret in X-Remote-User-Secret';
const invalid = 'x-remote-user: expected one user of 1 to 255 characters, no control characters';

test.each<[string, string, Headers, string?]>([
  ['without the secret', untrusted, { ...forwarded, 'x-remote-user': 'anna' }],
  ['with another secret', untrusted, { ...proxied('anna'), 'x-remote-user-secret': secret.toUpperCase() }],
  ['with two secrets', untrusted, { ...proxied('anna'), 'x-remote-user-secret': `${secret}, ${secret}` }],
  ['without the address of a client', untrusted, { 'x-remote-user': 'anna', 'x-remote-user-secret': secret }],
  ['from another address', untrusted, proxied('anna'), '203.0.113.9'],
  ['from one that claims to be a proxy', untrusted, { ...proxied('anna'), 'x-forwarded-for': '10.1.2.3' }, '::1:2'],
  ['with an empty user', invalid, proxied('')],
  ['with the secret and no user', invalid, withSecret],
  ['with a long user', invalid, proxied('x'.repeat(256))],
  ['with a control character', invalid, proxied(Buffer.from('an\u009bna').toString('latin1'))],
])('a request %s is refused, and stores nothing', async (_, message, headers, address) => {
  const [status, code] = message === invalid ? [400, 'BAD_USER_INPUT'] : [401, 'UNAUTHENTICATED'];
  for (const on of [service, limited]) {
    const key = await on.key({ workspace: 'refusing' });
    expect((await send(on, `${key}x`, proxied('anna'), create)).status).toBe(401);
    const refused = await send(on, key, headers, create, address);
    expect([refused.status, refused.body]).toEqual([status, { errors: [{ message, extensions: { code } }] }]);
    expect((await on.as(key).data(shown)).changes.nodes).toEqual([]);
  }
  expect((await send(plain, await plain.key(), headers, create, address)).body.errors).toBeUndefined();
});

test.each([['ben'], ['anna']])('a request with the users anna and %s is refused', async (user) => {
  const headers = { ...withSecret, authorization: await service.key(), 'x-remote-user': ['anna', user] };
  const sent = request(`${await listen(service.app)}/asset-categories`, { headers }).end();
  const [response]: IncomingMessage[] = await once(sent, 'response');
  expect(await response?.setEncoding('utf8').toArray()).toEqual([JSON.stringify({ error: invalid, code: '400' })]);
});

test.each<[Record<string, string>, RegExp]>([
  [{ REMOTE_USER_SECRET: '' }, /^REMOTE_USER_HEADER: expected with REMOTE_USER_SECRET and TRUSTED_PROXIES$/],
  [{ TRUSTED_PROXIES: '' }, /^REMOTE_USER_HEADER: expected with REMOTE_USER_SECRET and TRUSTED_PROXIES$/],
  [{ REMOTE_USER_SECRET: `${secret} x` }, /^REMOTE_USER_SECRET: expected 32 to 255 printable ASCII.*, no spaces\n/],
  [{ REMOTE_USER_HEADER: 'Authorization' }, /: expected the name of a header such as X-Remote-User$/],
])('the settings are refused with %j', (changes, problem) => {
  expect(() => loadConfig({ ...settings, ...changes })).toThrow(problem);
});
