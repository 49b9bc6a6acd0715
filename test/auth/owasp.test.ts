/**
 * OWASP API Security Top 10 (2023): those items that no other test is about. Authentication (API2) is in keys.test.ts, properties (API3) in
 * bad-input.test.ts, consumption (API4, API6) in the tests of limits. https://owasp.org/API-Security/editions/2023/en/0x11-t10/
 */
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeAll, expect, test } from 'vitest';
import { project, recordKinds } from '../../src/records/index.ts';
import { routes } from '../../src/rest/routes.ts';
import { kinds, unknownId } from '../support/records.ts';
import { useSharedService } from '../support/service.ts';

const service = useSharedService({}, { closed: true });
let ours: ReturnType<typeof service.as>;
let theirs: ReturnType<typeof service.as>;
let reader: ReturnType<typeof service.as>;

beforeAll(async () => {
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
      '/docs',
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
  expect(calls).toEqual(['config.ts', 'http/error-response.ts', 'http/sockets.ts', 'store/postgres/driver.ts']);
});
