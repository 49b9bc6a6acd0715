/** People behind an authenticating proxy: who they are, and who is refused. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { listen, startService, useSharedService } from '../support/service.ts';

const secret = 'a-shared-secret-of-32-characters';
const header = { REMOTE_USER_HEADER: 'X-Remote-User', REMOTE_USER_SECRET: secret };
const settings = { TRUSTED_PROXIES: '10.0.0.0/8,loopback', ...header };
const service = useSharedService(settings, { closed: true });
const limited = useSharedService({ ...settings, RATE_LIMIT: '10000' }, { closed: true });

type Headers = Record<string, string>;
const forwarded = { 'x-forwarded-for': '203.0.113.7' };
const withSecret = { ...forwarded, 'x-remote-user-secret': secret };
const proxied = (user: string): Headers => ({ ...withSecret, 'x-remote-user': user });

const createOrder = (on: typeof service, key: string, headers: Headers, remoteAddress = '10.1.2.3') =>
  on.inject({
    ...{ method: 'POST', url: '/work-orders', remoteAddress, payload: [{ name: 'Lift' }] },
    headers: { authorization: `Bearer ${key}`, ...headers },
  });

test.each([
  ['anna', 'anna'],
  [Buffer.from('Jörg Müller').toString('latin1'), 'Jörg Müller'],
  ['cn=anna, ou=yard', 'cn=anna, ou=yard'],
  ['x'.repeat(255), 'x'.repeat(255)],
])('a request of the proxy has the user %s in records, changes, viewer and log', async (sent, id) => {
  for (const on of [service, limited]) {
    const key = await on.key({ workspace: `of-${id.length}`, user: 'proxy' });
    on.logs.length = 0;
    for (const address of ['10.1.2.3', '127.0.0.1', '::ffff:10.1.2.3'])
      expect((await createOrder(on, key, proxied(sent), address)).status).toBe(201);
    expect(on.logs.map((line) => JSON.parse(line).user)).toEqual([id, id, id]);
    const query = `{ viewer { user { id } mayWrite } changes { nodes { user { id } } }
      workOrders { nodes { createdBy { id } updatedBy { id } } } }`;
    for (const headers of [proxied(sent), forwarded]) {
      const sending = { headers: { authorization: `Bearer ${key}`, ...headers }, remoteAddress: '10.1.2.3' };
      const { data } = (await on.inject({ method: 'POST', url: '/graphql', payload: { query }, ...sending })).body;
      // Without the headers, a program uses the key.
      expect(data.viewer).toEqual({ user: { id: headers === forwarded ? 'proxy' : id }, mayWrite: true });
      expect(data.workOrders.nodes).toEqual(Array(3).fill({ createdBy: { id }, updatedBy: { id } }));
      expect(data.changes.nodes).toEqual(Array(3).fill({ user: { id } }));
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
])('a request %s is refused in the documented form, and stores nothing', async (_, error, headers, address) => {
  const status = error === invalid ? 400 : 401;
  for (const on of [service, limited]) {
    const key = await on.key({ workspace: 'refusing' });
    const refused = await createOrder(on, key, headers, address);
    expect(refused).toMatchObject({ status, body: { error, code: String(status) } });
    expect((await on.as(key).data('{ changes { endCursor } }')).changes.endCursor).toBe('0');
  }
});

test.each([['ben'], ['anna']])('a request with the users anna and %s is refused', async (user) => {
  const headers = { ...withSecret, authorization: await service.key(), 'x-remote-user': ['anna', user] };
  const [response]: IncomingMessage[] = await once(
    request(`${await listen(service.app)}/asset-categories`, { headers }).end(),
    'response',
  );
  expect([response?.statusCode, await response?.setEncoding('utf8').toArray()]).toEqual([
    400,
    [JSON.stringify({ error: invalid, code: '400' })],
  ]);
});

test('with a user, a key is still required, and its rights apply; without the setting, the headers mean nothing', async () => {
  const reader = await service.key({ readOnly: true });
  expect((await createOrder(service, reader, proxied('anna'))).status).toBe(403);
  for (const key of ['', `${reader}x`]) expect((await createOrder(service, key, proxied('anna'))).status).toBe(401);

  const plain = await startService({ TRUSTED_PROXIES: '10.0.0.0/8' }, { closed: true });
  onTestFinished(() => plain.stop());
  const { body } = await createOrder(plain, await plain.key({ user: 'erp' }), proxied('anna'));
  expect(body).toMatchObject([{ updatedBy: 'erp' }]);
});

test('the header needs proxies and a secret, which an error does not repeat', () => {
  const load = (changes: object) => () => loadConfig({ ...settings, ...changes });
  for (const missing of ['REMOTE_USER_SECRET', 'TRUSTED_PROXIES'])
    expect(load({ [missing]: '' })).toThrow(
      /^REMOTE_USER_HEADER: expected with REMOTE_USER_SECRET and TRUSTED_PROXIES$/,
    );
  for (const REMOTE_USER_SECRET of ['short', `${secret} ${secret}`])
    expect(load({ REMOTE_USER_SECRET })).toThrow(
      /^REMOTE_USER_SECRET: expected 32 to 255 printable ASCII.*, no spaces\n/,
    );
  for (const REMOTE_USER_HEADER of ['Authorization', 'X_Remote_User', 'a b', 'X-API-Key'])
    expect(load({ REMOTE_USER_HEADER })).toThrow('REMOTE_USER_HEADER: expected the name of a header');
});
