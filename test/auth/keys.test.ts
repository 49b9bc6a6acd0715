/** API keys: who may use the service, in which workspace, and for how long. */
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createApp } from '../../src/app.ts';
import { Keyring } from '../../src/auth/keyring.ts';
import { revokeKey } from '../../src/auth/keys.ts';
import { loadConfig } from '../../src/config.ts';
import { unavailable } from '../../src/errors.ts';
import { matchableFields, type RecordKind } from '../../src/model/record-kind.ts';
import { project, recordKinds } from '../../src/records/index.ts';
import { routes } from '../../src/rest/routes.ts';
import { createKeyStore } from '../../src/store/admin/api-keys.ts';
import type { Run } from '../../src/store/connections/driver.ts';
import { eventually, passTime } from '../support/clock.ts';
import { unknownId } from '../support/records.ts';
import { startForTest, useSharedService } from '../support/service.ts';

const service = useSharedService({ FAILED_LOGIN_LIMIT: '10000' }, { closed: true });

afterEach(() => {
  vi.useRealTimers();
});

const keys = () => createKeyStore(service.database);
const client = { ip: '127.0.0.1' };
const prefixOf = (key: string) => key.slice(0, -44);
const query = '{ locations { totalCount } }';

describe('a key', () => {
  test('has a prefix that names its workspace and a secret of 256 random bits, of which only the hash is stored', async () => {
    const key = await service.key({ workspace: 'north-yard' });
    expect(key).toMatch(/^yardgraph_north-yard_[0-9a-f]{8}_[\w-]{43}$/);
    expect(Buffer.from(key.slice(-43), 'base64url')).toHaveLength(32);
    const rows = await service.database.run('select * from api_keys');
    expect(JSON.stringify(rows)).not.toContain(key.slice(-43));
    expect(JSON.stringify(rows)).toContain(prefixOf(key));
  });

  test.each([
    ['Authorization: Bearer', (key: string) => ({ authorization: `Bearer ${key}` })],
    ['authorization: bearer', (key: string) => ({ authorization: `bearer ${key}` })],
    ['Authorization:', (key: string) => ({ authorization: key })],
    ['X-API-Key:', (key: string) => ({ 'x-api-key': key })],
    ['the same key in two headers', (key: string) => ({ authorization: `Bearer ${key}`, 'x-api-key': key })],
  ])('is accepted as %s', async (_, headers) => {
    const key = await service.key();
    expect((await service.post('/locations', [{}], headers(key))).status).toBe(201);
    expect((await service.post('/graphql', { query }, headers(key))).body.data.locations.totalCount).toBeGreaterThan(0);
  });

  test('is not valid after it expires', async () => {
    const key = await service.key({ expires: 60_000 });
    expect((await service.as(key).get('/asset-categories')).status).toBe(200);
    vi.useFakeTimers({ toFake: ['Date'] });
    vi.setSystemTime(Date.now() + 60_001);
    expect((await service.as(key).get('/asset-categories')).status).toBe(401);
  });

  test('has the time and the address of its last use written, at most once a minute', async () => {
    const key = await service.key();

    let updates = 0;
    const count = ({ sql }: { sql: string }) => {
      if (sql.startsWith('update api_keys')) updates += 1;
    };
    service.database.knex.on('query', count);

    for (let request = 0; request < 20; request += 1) await service.as(key).get('/asset-categories');
    const use = { lastUsedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/), lastUsedFrom: '127.0.0.1' };
    await eventually(async () => expect(await keys().find(prefixOf(key))).toMatchObject(use));
    service.database.knex.removeListener('query', count);

    expect(updates).toBe(1);
  });
});

describe('a request without a valid key', () => {
  test('gets 401 in the documented form, over REST and GraphQL alike', async () => {
    const key = await service.key();
    const other = await service.key();
    const invalid = 'the API key is not valid';
    const flipped = key.slice(0, -1) + (key.endsWith('A') ? 'B' : 'A');
    const different = 'expected one API key, received different ones in Authorization and X-API-Key';
    for (const [name, headers, error] of [
      ['none', {}, 'an API key is required: send it as Authorization: Bearer KEY, or as X-API-Key: KEY'],
      ['an unknown one', { authorization: `Bearer yardgraph_acme_00000000_${'x'.repeat(43)}` }, invalid],
      ['one with a wrong secret', { authorization: `Bearer ${flipped}` }, invalid],
      ['one of another workspace', { 'x-api-key': key.replace('_acme_', '_other_') }, invalid],
      ['another scheme', { authorization: `Basic ${key}` }, invalid],
      ['two different ones', { authorization: `Bearer ${key}`, 'x-api-key': other }, different],
    ] as const) {
      const rest = await service.post('/locations', [{}], headers);
      const list = await service.get('/asset-categories', headers);
      const graphql = await service.post('/graphql', { query }, headers);

      const shown = [rest, graphql].map(({ status, headers, body }) => [status, headers['www-authenticate'], body]);
      const realm = 'Bearer realm="yardgraph"';
      const errors = [{ message: error, extensions: { code: 'UNAUTHENTICATED' } }];
      expect(shown, name).toEqual([
        [401, realm, { error, code: '401' }],
        [401, realm, { errors }],
      ]);
      expect(list.status).toBe(401);
    }
  });

  test('may send it as the password of a user for exports, and for nothing else', async () => {
    const key = await service.key();
    await service.as(key).create('/assets', { name: 'Crane' });
    const basic = (user: string, password: string) => ({
      authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
    });
    const path = '/export/assets.csv';
    for (const user of ['office', '', 'ä ö'])
      expect((await service.get(path, basic(user, key))).text).toContain(',Crane,');
    const head = await service.inject({ method: 'HEAD', url: path, headers: basic('office', key) });
    const file = {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="assets.csv"',
    };
    expect(head).toMatchObject({ status: 200, headers: file });
    expect(head.headers).not.toHaveProperty('content-length');

    const refused = [
      service.get('/asset-categories', basic('office', key)),
      service.post('/assets', [{ name: 'Pump' }], basic('office', key)),
      service.post('/graphql', { query }, basic('office', key)),
      service.get(path, { authorization: `Bearer ${key}x` }),
      service.get(path, { ...basic('office', key), 'x-api-key': await service.key() }),
      service.get(path, { 'user-agent': 'Mozilla/5.0 (X11)' }),
    ];
    for (const { status, headers } of await Promise.all(refused))
      expect([status, headers['www-authenticate']]).toEqual([401, 'Bearer realm="yardgraph"']);
    const asked = [
      service.get(path),
      service.get(path, { 'user-agent': 'Mozilla/4.0 (compatible; MSOffice 16)' }),
      service.get(path, basic('office', `${key}x`)),
      service.get(path, basic(key, '')),
      service.get(path, { authorization: `Basic ${Buffer.from(key).toString('base64')}x:` }),
    ];
    for (const { headers } of await Promise.all(asked))
      expect(headers['www-authenticate']).toEqual(['Bearer realm="yardgraph"', 'Basic realm="Yardgraph"']);
    expect((await service.get(path)).text).toContain('as X-API-Key: KEY, or as the password, with any user');
  });

  test('is refused before the body is read, however large or invalid it is', async () => {
    expect((await service.post('/locations', '{ this is not JSON')).status).toBe(401);
    expect((await service.post('/locations', 'x'.repeat(11 * 1_048_576))).status).toBe(401);
    expect((await service.post('/graphql', 'nor this')).status).toBe(401);
  });

  test('may read the probes and the pages, which show no data', async () => {
    const page = await service.get('/graphql', { accept: 'text/html' });
    expect(page.status).toBe(200);
    for (const path of ['/', '/favicon.ico', '/healthz', '/readyz', '/openapi.json', '/reference', '/pages/key.js']) {
      expect([path, (await service.get(path)).status]).toEqual([path, 200]);
    }
  });
});

describe('a service without keys', () => {
  const open = useSharedService();

  test('is open to everyone on its machine, in the workspace "default" and without a user', async () => {
    const [project] = await open.create('/projects', { name: 'Bridge' });
    expect(project).toMatchObject({ workspaceId: 'default' });
    expect(project).not.toHaveProperty('createdBy');
  });

  const behindProxy = useSharedService({ TRUSTED_PROXIES: 'loopback' });

  test.each<[string, number, Record<string, string>]>([
    ['a page of another origin', 403, { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
    ['a page of another origin, in an older browser', 403, { origin: 'http://evil.example' }],
    ['a page of a name that leads here', 400, { host: 'evil.example', origin: 'http://evil.example' }],
    ['such a page that pretends to be a proxy', 400, { host: 'evil.example', 'x-forwarded-host': 'localhost' }],
    ['a request through a proxy', 403, { 'x-forwarded-for': '203.0.113.7' }],
    ['a request through a proxy of RFC 7239', 403, { forwarded: 'for=203.0.113.7' }],
  ])('refuses requests from elsewhere: %s', async (_, status, headers) => {
    for (const service of [open, behindProxy]) {
      expect((await service.get('/asset-categories', headers)).status).toBe(status);
      expect((await service.get('/graphql?query={__typename}', headers)).status).toBe(status);
      expect((await service.get('/readyz', { ...headers, host: 'yard.example.com' })).status).toBe(200);
    }
  });

  const listing = useSharedService({ CORS_ORIGINS: 'http://localhost:5173' });

  test.each(['localhost', '127.8.9.1', '[::1]:4000', 'LOCALHOST'])('accepts the host %s', async (host) => {
    expect((await open.get('/asset-categories', { host })).status).toBe(200);
  });

  test('accepts those of its own pages, and of pages that CORS_ORIGINS lists', async () => {
    for (const origin of ['http://localhost:4000', 'http://localhost:5173']) {
      const { status } = await listing.get('/asset-categories', { host: 'localhost:4000', origin });
      expect([origin, status]).toEqual([origin, 200]);
    }
  });

  test('requires a key within seconds of the first key, even after that key is revoked', async () => {
    const open = await startForTest();
    expect((await open.get('/asset-categories')).status).toBe(200);

    const key = await open.key({ workspace: 'default' });
    await passTime(2_001);

    expect((await open.get('/asset-categories')).status).toBe(401);
    expect((await open.as(key).get('/asset-categories')).status).toBe(200);

    await revokeKey(createKeyStore(open.database), prefixOf(key));
    await passTime(2_001);
    expect((await open.get('/asset-categories')).status).toBe(401);
    expect((await open.as(key).get('/asset-categories')).status).toBe(401);
  });
});

test('while the database cannot determine whether keys exist, the service counts as closed: 503 without a key', async () => {
  const read: Run = async (sql, values) => {
    if (sql.includes('api_keys limit')) throw unavailable('the database is not available, try again', '08006');
    return service.database.read(sql, values);
  };
  for (const open of ['loopback', 'yes-anyone-who-can-reach-this-port']) {
    const config = loadConfig({ HOST: '127.0.0.1', ALLOW_OPEN_ACCESS: open, LOG_LEVEL: 'silent' });
    const app = await createApp({ ...service.database, read }, config);
    const get = (headers: Record<string, string> = {}) => app.inject({ url: '/asset-categories', headers });
    const wrong = await get({ 'x-api-key': `yardgraph_acme_00000000_${'x'.repeat(43)}` });
    const { statusCode, headers } = await get();
    expect([wrong.statusCode, statusCode, headers['retry-after']]).toEqual([401, 503, '1']);
    await app.close();
  }
});

test('the first key counts at once, also where it is not known yet that there is one: nothing gets into the open workspace', async () => {
  const open = await startForTest();
  await open.create('/assets', { name: 'Crane' });
  const first = open.as(await open.key());
  expect((await first.create('/assets', { name: 'Pump' }))[0].workspaceId).toBe('acme');
  expect((await open.get('/asset-categories')).status).toBe(401);
});

const keyOf = (kind: RecordKind) => {
  const [field] = matchableFields(kind);
  return field ? `field: ${field.toUpperCase()}` : 'externalId: "erp"';
};

test('a read-only key is refused by every write, also by dry runs', async () => {
  const reader = service.as(await service.key({ readOnly: true }));
  for (const { method, path } of routes) {
    if (method === 'GET') continue;
    const { status } = await reader.send(
      method,
      path.replace(':id', unknownId(project)),
      method === 'POST' ? [{}] : {},
    );
    expect([method, path, status]).toEqual([method, path, 403]);
  }
  for (const mutation of [
    ...recordKinds.flatMap((kind) => [
      `create${kind.plural}(input: []) { id }`,
      `update${kind.plural}(input: [], dryRun: true) { id }`,
      `delete${kind.plural}(ids: [], dryRun: true) { id }`,
      `upsert${kind.plural}(by: { ${keyOf(kind)} }, input: []) { outcome }`,
    ]),
    'importRecords(input: {}) { assets { id } }',
    'updateProject(id: "x", input: {}) { id }',
    'revertChanges(after: "0", upTo: "0") { reversed }',
  ]) {
    const { status } = await reader.graphql(`mutation { ${mutation} }`);
    expect([mutation, status]).toEqual([mutation, 403]);
  }
});

describe('a lookup of keys', () => {
  const createKeyring = () => {
    const lookups = { count: 0 };
    const read: Run = async (sql, values) => {
      if (sql.includes('from api_keys inner join')) lookups.count += 1;
      return service.database.read(sql, values);
    };
    vi.spyOn(performance, 'now').mockReturnValue(1);
    onTestFinished(() => void vi.restoreAllMocks());
    return { lookups, keyring: new Keyring({ ...service.database, read }) };
  };
  const unknown = (index: number) => `yardgraph_acme_${index.toString(16).padStart(8, '0')}_${'x'.repeat(43)}`;

  test('is made once for a key, and not again for two seconds', async () => {
    const { lookups, keyring } = createKeyring();
    const key = await service.key();
    await Promise.all(Array.from({ length: 50 }, () => keyring.authenticate(key, client)));
    await keyring.authenticate(key, client);
    for (const _time of [1, 2])
      await expect(keyring.authenticate(unknown(1), client)).rejects.toThrow('the API key is not valid');
    expect(lookups.count).toBe(2);

    await revokeKey(keys(), prefixOf(key));
    vi.spyOn(performance, 'now').mockReturnValue(2_002);
    // The cache reads the clock at most once per millisecond.
    await new Promise((resolve) => setTimeout(resolve, 5));
    await expect(keyring.authenticate(key, client)).rejects.toThrow('the API key is not valid');
  });

  test('is not repeated for a valid key because of unknown ones, however many there are', async () => {
    const { lookups, keyring } = createKeyring();
    const key = await service.key();
    await keyring.authenticate(key, client);
    await Promise.all(
      Array.from({ length: 10_500 }, (_, n) => keyring.authenticate(unknown(n), client).catch(() => {})),
    );
    lookups.count = 0;
    await keyring.authenticate(key, client);
    expect(lookups.count).toBe(0);
  });
});
