/** OWASP API Security Top 10 (2023), one test per item. https://owasp.org/API-Security/editions/2023/en/0x11-t10/ */
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeEach, expect, test } from 'vitest';
import { project, recordKinds } from '../../src/records/index.ts';
import { routes } from '../../src/rest/routes.ts';
import { kinds, unknownId } from '../support/records.ts';
import { useService } from '../support/service.ts';

const service = useService({ RATE_LIMIT: '200' }, { closed: true });
let ours: ReturnType<typeof service.as>;
let theirs: ReturnType<typeof service.as>;
let reader: ReturnType<typeof service.as>;

beforeEach(async () => {
  ours = service.as(await service.key({ workspace: 'ours' }));
  theirs = service.as(await service.key({ workspace: 'theirs' }));
  reader = service.as(await service.key({ workspace: 'ours', readOnly: true }));
});

test('API1 Broken object level authorization: an ID of another workspace is treated like an unknown ID', async () => {
  const [foreign] = await theirs.create('/projects', { name: 'Bridge' });

  for (const ask of [
    (id: string) => ours.patch(`/projects/${id}`, { name: 'taken' }),
    (id: string) => ours.post('/work-orders', [{ projectId: id }]),
    (id: string) =>
      ours.graphql(`{ node(id: "${id}") { id } project(id: "${id}") { id name } nodes(ids: ["${id}"]) { id } }`),
    (id: string) => ours.graphql(`mutation { updateProject(id: "${id}", input: { name: "taken" }) { id } }`),
  ]) {
    const [response, expected] = [await ask(foreign.id), await ask(unknownId(project))];
    expect([response.status, response.text.replaceAll(foreign.id, 'ID')]).toEqual([
      expected.status,
      expected.text.replaceAll(unknownId(project), 'ID'),
    ]);
  }
  expect((await theirs.data(`{ project(id: "${foreign.id}") { name } }`)).project.name).toBe('Bridge');
});

test('API2 Broken authentication: an unknown key and a wrong secret cost and return the same, and keys are not stored', async () => {
  const key = await service.key();
  const attempts = [key.slice(0, -43) + 'x'.repeat(43), `yardgraph_acme_00000000_${'x'.repeat(43)}`];

  const outcomes = [];
  for (const attempt of attempts) {
    const statements = await service.statements(async () => {
      const { status, text } = await service.as(attempt).get('/asset-categories');
      outcomes.push([status, text]);
    });
    outcomes.push(statements.map((sql) => sql.slice(0, 6)));
  }

  expect(outcomes.slice(0, 2)).toEqual(outcomes.slice(2));
  expect(JSON.stringify(await service.database.run('select * from api_keys'))).not.toContain(key.slice(-43));
});

test('API3 Broken object property level authorization: fields the service sets cannot be sent, and only declared fields are returned', async () => {
  for (const { kind, path, smallest } of kinds) {
    for (const field of ['id', 'workspaceId', 'createdAt', 'updatedAt', 'createdBy', 'updatedBy', 'isAdmin']) {
      const { status, body } = await ours.post(path, [{ ...smallest, [field]: 'theirs' }]);
      expect([status, body.error]).toEqual([
        400,
        expect.stringMatching(`^\\[0\\]\\.${field}: (?:read-only|unknown) field`),
      ]);
    }
    const [record] = await ours.create(path, smallest);
    expect(Object.keys(kind.storedFields)).toEqual(expect.arrayContaining(Object.keys(record)));
    expect(record.workspaceId).toBe('ours');
  }
});

test('API4 Unrestricted resource consumption: bodies, batches, pages, costs and rates have their limits', async () => {
  expect((await ours.post('/locations', `["${'x'.repeat(10 * 1_048_576)}"]`)).status).toBe(413);
  expect((await ours.post('/locations', Array(10_001).fill({}))).status).toBe(413);
  expect((await ours.graphql('{ assets(first: 1001) { nodes { id } } }')).text).toContain('from 1 to 1000');
  const costly = 'a: workOrders(first: 1000) { nodes { project { location { id name } } } }';
  const { text } = await ours.graphql(
    `{ ${Array.from({ length: 40 }, (_, i) => costly.replace('a', `a${i}`)).join(' ')} }`,
  );
  expect(text).toContain('costs more than');

  const statuses = new Set<number>();
  for (let request = 0; request < 200; request += 1) statuses.add((await ours.get('/asset-categories')).status);
  expect(statuses).toEqual(new Set([200, 429]));
});

test('API5 Broken function level authorization: a read-only key is refused by every write', async () => {
  for (const { method, path } of routes) {
    if (method === 'GET') continue;
    const { status } = await reader.send(
      method,
      path.replace(':id', unknownId(project)),
      method === 'POST' ? [{}] : {},
    );
    expect([method, path, status]).toEqual([method, path, 403]);
  }
  for (const { plural, name } of recordKinds) {
    const { status } = await reader.graphql(
      `mutation ($input: [Create${name}Input!]!) { create${plural}(input: $input) { id } }`,
      { input: [] },
    );
    expect([plural, status]).toEqual([plural, 403]);
  }
  for (const mutation of [
    'updateProject(id: "x", input: {}) { id }',
    'revertChanges(after: "0", upTo: "0") { reversed }',
  ]) {
    const { status } = await reader.graphql(`mutation { ${mutation} }`);
    expect([mutation, status]).toEqual([mutation, 403]);
  }
});

test('API6 Unrestricted access to sensitive business flows: the requests of a key are counted over REST and GraphQL together', async () => {
  for (let request = 0; request < 100; request += 1) {
    await ours.get('/asset-categories');
    await ours.graphql('{ __typename }');
  }

  expect((await ours.post('/locations', [{}])).status).toBe(429);
  expect((await ours.graphql('mutation { createLocations(input: [{}]) { id } }')).status).toBe(429);
  // A request cannot have several operations.
  expect((await theirs.post('/graphql', [{ query: '{ __typename }' }, { query: '{ __typename }' }])).status).toBe(400);
});

test('API7 Server side request forgery: URLs in records are only text, and the service never requests them', async () => {
  let calls = 0;
  const trap = createServer((_request, response) => {
    calls += 1;
    response.end();
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => trap.once('listening', resolve));
  const address = `http://127.0.0.1:${(trap.address() as AddressInfo).port}/`;

  for (const { kind, path } of kinds) {
    const texts = Object.entries(kind.fields).flatMap(([name, { type }]) =>
      ['text', 'reference', 'foreignReference'].includes(type) && name !== 'parentId' ? [[name, address]] : [],
    );
    await ours.create(path, Object.fromEntries(texts));
  }
  await ours.data('{ assets { nodes { name currentLocation { id } owner { id } } } }');

  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(calls).toBe(0);
  await new Promise((resolve) => trap.close(resolve));
});

test('API8 Security misconfiguration: errors reveal no stack trace, SQL or server version, and allow no other origin', async () => {
  const responses = [
    await ours.post('/locations', '{'),
    await ours.post('/locations', [{ name: 1 }]),
    await ours.get('/nowhere'),
    await ours.post('/graphql', { query: '{ nope }' }, { accept: 'application/graphql-response+json' }),
    await ours.send('PUT', '/locations', []),
    await service.inject({ method: 'TRACE' as 'GET', url: '/locations' }),
  ];

  for (const { status, text, headers } of responses) {
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
    expect(text).not.toMatch(/\bat .*:\d+:\d+|select |insert |node_modules|\.ts\b/i);
    expect(headers).not.toHaveProperty('server');
    expect(headers).not.toHaveProperty('x-powered-by');
    expect(headers).not.toHaveProperty('access-control-allow-origin');
    expect(headers['x-content-type-options']).toBe('nosniff');
  }
});

test('API9 Improper inventory management: the OpenAPI document describes all REST paths, and responses have the API version', async () => {
  const described = (await service.get('/openapi.json')).body.paths;
  const served = service.app.printRoutes({ commonPrefix: false });

  const { headers } = await ours.get('/asset-categories');
  expect(headers['api-version']).toBe('1.0.0');
  // All of them are below the home page.
  const paths = [...served.matchAll(/^ {4}[├└]── (\S+)/gm)].map(([, path]) => `/${path}`);
  const undescribed = paths.filter(
    (path) => !Object.keys(described).some((other) => other.startsWith(`/${path?.split('/')[1]}`)),
  );
  expect(new Set(undescribed.map((path) => `/${path?.split('/')[1]}`))).toEqual(
    new Set([
      '/documentation',
      '/explorer',
      '/favicon.ico',
      '/graphql',
      '/healthz',
      '/openapi.json',
      '/readyz',
      '/reference',
      '/schema.graphql',
    ]),
  );
});

test('API10 Unsafe consumption of APIs: the service connects only to its database', () => {
  const calls = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.startsWith('client'))
    .filter((file) =>
      /(?<!\.)\bfetch\(|\brequest\(|from 'node:https?'|from 'node:net'|axios|undici/.test(
        readFileSync(`src/${file}`, 'utf8').replaceAll(/^import type .*/gm, ''),
      ),
    )
    .toSorted();

  // The last one cancels statements of its own database; the others import status texts and a check of addresses.
  expect(calls).toEqual([
    'config.ts',
    'http/error-response.ts',
    'http/send-error.ts',
    'http/sockets.ts',
    'store/postgres/driver.ts',
  ]);
});
