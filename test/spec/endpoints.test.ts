/** Interface: "Endpoints". */

import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { version } from '../../package.json';
import { recordKinds } from '../../src/records/index.ts';
import { routes } from '../../src/rest/routes.ts';
import { createWorkspaces } from '../../src/store/admin/workspaces.ts';
import { migrationNames } from '../../src/store/schema/migrations.ts';
import { restKinds } from '../support/records.ts';
import { startForTest, useSharedService } from '../support/service.ts';

const service = useSharedService();

test('the routes are exactly the operations of the endpoint table', () => {
  expect(routes.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'POST /assets',
    'POST /work-orders',
    'POST /projects',
    'PATCH /projects/:id',
    'POST /locations',
    'POST /transport-orders',
    'POST /asset-categories',
    'GET /asset-categories',
    'POST /labels',
  ]);
});

test('a write has no query parameters: one that would not be understood stores nothing', async () => {
  const [{ id }] = await service.create('/projects', { name: 'Wall' });
  const change = (query: string) => service.patch(`/projects/${id}${query}`, { name: 'Quay' });
  const answers = [change('?dryRun=true'), ...restKinds.map(({ path }) => service.post(`${path}?dry%0Arun`, []))];
  for (const { status, body } of await Promise.all(answers)) {
    expect([status, body.code]).toEqual([400, '400']);
    expect(body.error).toMatch(/^"dry(Run|\\nrun)": unknown parameter: \w+ \S+ has no query parameters$/);
  }
  expect((await change('?')).body.name).toBe('Quay');
});

test('GET /asset-categories returns an empty array if there are none', async () => {
  expect((await service.get('/asset-categories')).text).toBe('[]');
});

test('GET /asset-categories with If-None-Match returns what is stored now, although there were as many changes before: in another workspace of a name, in one that was renamed, and after a restore', async () => {
  const own = await startForTest({}, { closed: true });
  await own.key({ workspace: 'other' });
  const workspaces = createWorkspaces(own.database, recordKinds);
  const create = async (workspace: string, name: string) => {
    const client = own.as(await own.key({ workspace }));
    await client.create('/asset-categories', { name });
    // Cached from the second time on.
    for (const _time of [1, 2]) await client.get('/asset-categories');
    return { client, etag: (await client.get('/asset-categories')).headers.etag };
  };
  const names = async (client: Pick<typeof own, 'get'>, etag: unknown) =>
    (await client.get('/asset-categories', { 'if-none-match': etag })).body.map(
      ({ name, workspaceId }: Record<string, string>) => `${name} in ${workspaceId}`,
    );

  const deleted = await create('acme', 'deleted');
  await workspaces.remove('acme');
  const renamed = await create('acme', 'renamed');
  expect(await names(renamed.client, deleted.etag)).toEqual(['renamed in acme']);
  await workspaces.rename('acme', 'beta');
  const later = await create('acme', 'new');
  expect(await names(later.client, renamed.etag)).toEqual(['new in acme']);
  const beta = own.as(await own.key({ workspace: 'beta' }));
  expect(await names(beta, renamed.etag)).toEqual(['renamed in beta']);
  const { etag } = (await beta.get('/asset-categories')).headers;
  const [row] = await own.database.run("select number from workspaces where name = 'beta'");
  for (const table of ['asset_categories', 'changes', 'change_numbers'])
    await own.database.knex(table).where('workspace_id', Number(row?.number)).delete();
  // The time of its only change is another one.
  await pause(5);
  await create('beta', 'restored');
  expect(await names(beta, etag)).toEqual(['restored in beta']);
});

test.each([
  ['sync-42:retry.1', 'sync-42:retry.1'],
  ['with space', /^[\w-]{36}$/],
  ['x'.repeat(129), /^[\w-]{36}$/],
])(
  'every response has the API version and a request ID, that of the client if it is valid: %s',
  async (sent, expected) => {
    const { headers } = await service.get('/asset-categories', { 'x-request-id': sent });
    expect(headers['api-version']).toBe('1.0.0');
    expect(headers['x-request-id']).toMatch(expected);
  },
);

test('/healthz reports that the process runs, /readyz that the database responds', async () => {
  expect((await service.get('/healthz')).body).toEqual({
    status: 'ok',
    idempotencyKeys: true,
    version,
    schema: migrationNames.at(-1),
  });
  expect((await service.get('/readyz')).body).toEqual({ status: 'ok' });

  const cut = await startForTest();
  await cut.database.close();
  expect((await cut.get('/healthz')).status).toBe(200);
  const { status, headers, body } = await cut.get('/readyz');
  expect([status, headers['retry-after'], body.code]).toEqual([503, '1', '503']);
});
