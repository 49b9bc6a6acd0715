/** GET /asset-categories of a workspace with very many categories. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { assetCategory } from '../../src/records/index.ts';
import { toResponse } from '../../src/rest/response.ts';
import { createDatabase } from '../support/database.ts';
import { insert } from '../support/insert.ts';
import { storeOpener } from '../support/open-store.ts';
import { startService } from '../support/service.ts';
import { canListFiles, openTemporaryFiles } from '../support/temporary-files.ts';

let database: Awaited<ReturnType<typeof createDatabase>>;
let service: Awaited<ReturnType<typeof startService>>;
let expected: string;

const store = () => storeOpener(service.database)('default');

beforeAll(async () => {
  database = await createDatabase();
  // Limits of GraphQL responses do not apply to lists.
  service = await startService({ DATABASE_URL: database.url, MAX_RESPONSE_LENGTH: '1000', MAX_RECORD_LENGTH: '10000' });
  const description = 'ü'.repeat(3_600);
  const records = await insert(
    store(),
    assetCategory,
    Array.from({ length: 2_500 }, (_, n) => ({ name: `category ${n}`, ...(n % 2 === 0 && { description }) })),
  );
  // More than is kept in memory, and read in several slices.
  expected = JSON.stringify(records.map((record) => toResponse(assetCategory, record)));
  await service.app.listen({ port: 0, host: '127.0.0.1' });
});

afterAll(async () => {
  await service.stop();
  await database.remove();
});

const list = () => service.get('/asset-categories');

test('GET /asset-categories returns very many, oldest first, as one array, with the hash of the body as ETag', async () => {
  const { status, headers, text } = await list();

  expect(status).toBe(200);
  expect(text === expected).toBe(true);
  expect(headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(expected)),
    etag: `"${createHash('sha256').update(expected).digest('base64url')}"`,
  });
  const unchanged = await service.get('/asset-categories', { 'if-none-match': headers.etag });
  expect([unchanged.status, unchanged.text]).toEqual([304, '']);
  const head = await service.inject({ method: 'HEAD', url: '/asset-categories' });
  expect([head.status, head.headers.etag, head.text]).toEqual([200, headers.etag, '']);
});

test('GET /asset-categories reads a long list at most twice for simultaneous requests', async () => {
  const statements = await service.statements(async () => {
    const lists = await Promise.all(Array.from({ length: 5 }, list));
    expect(lists.every(({ text }) => text === expected)).toBe(true);
  });

  const slices = statements.filter((sql) => sql.includes('from asset_categories'));
  expect(slices.length).toBeLessThanOrEqual(2 * 4);
});

test('GET /asset-categories returns one consistent state of a long list: of two categories stored together during the read, both or neither', async () => {
  const { database } = service;
  const now = '2026-03-01T00:00:00.000Z';
  const insertPair = (n: number) =>
    database.transaction(async (run) => {
      for (const end of ['0', '7']) {
        await run(
          'insert into asset_categories (workspace_id, id, name, created_at, updated_at) values ($1, $2, $3, $4, $5)',
          [1, `category_${end}${String(n).padStart(25, '0')}`, 'later', now, now],
        );
      }
    });
  let isDone = false;
  const inserting = (async () => {
    for (let n = 0; !isDone; n += 1) await insertPair(n);
  })();

  const lists: { id: string }[][] = [];
  for (let round = 0; round < 2; round += 1) lists.push(JSON.parse((await list()).text));
  isDone = true;
  await inserting;

  for (const categories of lists) {
    const count = (start: string) => categories.filter(({ id }) => id.startsWith(`category_${start}`)).length;
    expect(count('00000')).toBe(count('70000'));
    expect(categories).toHaveLength(2_500 + 2 * count('00000'));
  }
  expect(lists.at(-1)?.length).toBeGreaterThan(2_500);
});

describe('a client that', () => {
  const request = async (): Promise<IncomingMessage> => {
    const { port } = service.app.server.address() as AddressInfo;
    const [response] = await once(
      get({ port, host: '127.0.0.1', path: '/asset-categories', agent: false }),
      'response',
    );
    return response;
  };

  test('stops reading holds no database connection', async () => {
    const slow = await Promise.all(Array.from({ length: 12 }, request));

    const others = await Promise.all([service.post('/locations', [{}]), list()]);

    expect(others.map(({ status }) => status)).toEqual([201, 200]);
    for (const response of slow) response.destroy();
  });

  test.runIf(canListFiles)('disconnects leaves no file open', async () => {
    const response = await request();
    expect(openTemporaryFiles().length).toBeGreaterThan(0);

    response.destroy();

    await vi.waitFor(() => expect(openTemporaryFiles()).toEqual([]));
  });

  test('sends a request while no temporary file can be created gets 503, and the list later', async () => {
    vi.stubEnv('TMPDIR', '/nowhere');
    const { status, headers, body } = await list();
    vi.unstubAllEnvs();

    expect([status, headers['retry-after'], body.error]).toEqual([
      503,
      '1',
      'there is no room for a list of this size, try again',
    ]);
    expect((await list()).status).toBe(200);
  });
});
