/** Interface: "Endpoints". */

import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { version } from '../../package.json';
import { recordKinds } from '../../src/records/index.ts';
import { routes } from '../../src/rest/routes.ts';
import { createWorkspaces, type Workspaces } from '../../src/store/admin/workspaces.ts';
import { migrationNames } from '../../src/store/schema/migrations.ts';
import { numberOf } from '../support/open-store.ts';
import { startService, useService, useSharedService } from '../support/service.ts';

const service = useSharedService();

const creates = [
  ['/assets', 'asset', { name: 'Excavator' }],
  ['/work-orders', 'work_order', {}],
  ['/projects', 'project', { name: 'Bridge' }],
  ['/locations', 'location', {}],
  ['/transport-orders', 'transport_order', {}],
  ['/asset-categories', 'category', {}],
] as const;

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

test('GET /asset-categories returns an empty array if there are none', async () => {
  expect((await service.get('/asset-categories')).text).toBe('[]');
});

test.each(creates)(
  'POST %s returns 201 with the created records, in the order sent, each with what the service sets',
  async (path, prefix, smallest) => {
    const sent = Array.from({ length: 30 }, (_, index) => ({ ...smallest, name: `record ${index}` }));
    const before = new Date().toISOString();

    const { status, body } = await service.post(path, sent);

    expect(status).toBe(201);
    expect(body).toMatchObject(sent);
    const ids: string[] = body.map(({ id }: { id: string }) => id);
    for (const id of ids) expect(id).toMatch(new RegExp(`^${prefix}_[0-7][0-9a-z]{25}$`));
    expect(ids.toSorted()).toEqual(ids);
    const [{ workspaceId, createdAt, updatedAt }] = body;
    expect([workspaceId, updatedAt]).toEqual(['default', createdAt]);
    expect(createdAt >= before && createdAt <= new Date().toISOString()).toBe(true);
  },
);

describe('GET /asset-categories with If-None-Match', () => {
  test('returns 304 without a body while nothing has changed', async () => {
    await service.create('/asset-categories', { name: 'first' });
    const { headers } = await service.get('/asset-categories');
    for (const etag of [headers.etag, `"other", ${headers.etag}`, `W/${headers.etag}`, '*']) {
      const { status, text } = await service.get('/asset-categories', { 'if-none-match': etag });
      expect([status, text], String(etag)).toEqual([304, '']);
    }
  });

  describe('returns what is stored now, although there were as many changes before,', () => {
    const own = useService({}, { closed: true });
    const create = async (name: string) => {
      const acme = own.as(await own.key());
      await acme.create('/asset-categories', { name });
      // Cached from the second time on.
      for (const _time of [1, 2]) await acme.get('/asset-categories');
      return acme;
    };
    const namesIn = async (acme: ReturnType<typeof own.as>, etag: unknown) => {
      const { status, text } = await acme.get('/asset-categories', { 'if-none-match': etag });
      return [status, text && JSON.parse(text).map(({ name }: { name: string }) => name)];
    };

    test.each([
      ['deleted', (workspaces: Workspaces) => workspaces.remove('acme')],
      ['renamed', (workspaces: Workspaces) => workspaces.rename('acme', 'beta')],
    ])('in another workspace of the name of one that was %s', async (_, giveUp) => {
      const { etag } = (await (await create('old')).get('/asset-categories')).headers;
      // The last key is not deleted.
      await own.key({ workspace: 'other' });
      await giveUp(createWorkspaces(own.database, recordKinds));
      expect(await namesIn(await create('new'), etag)).toEqual([200, ['new']]);
    });

    test('with the name that its workspace has now', async () => {
      await create('old');
      await own.key({ workspace: 'other' });
      await createWorkspaces(own.database, recordKinds).rename('acme', 'beta');
      const beta = own.as(await own.key({ workspace: 'beta' }));
      expect((await beta.get('/asset-categories')).body).toMatchObject([{ name: 'old', workspaceId: 'beta' }]);
    });

    test('after a backup was restored', async () => {
      const acme = await create('old');
      const { etag } = (await acme.get('/asset-categories')).headers;
      for (const table of ['asset_categories', 'changes', 'change_numbers'])
        await own.database.knex(table).where('workspace_id', numberOf('acme')).delete();
      // The time of its only change is another one.
      await pause(5);

      await create('new');
      expect(await namesIn(acme, etag)).toEqual([200, ['new']]);
    });
  });
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

  const cut = await startService();
  await cut.database.close();
  expect((await cut.get('/healthz')).status).toBe(200);
  const { status, headers, body } = await cut.get('/readyz');
  await cut.stop();
  expect([status, headers['retry-after'], body.code]).toEqual([503, '1', '503']);
});
