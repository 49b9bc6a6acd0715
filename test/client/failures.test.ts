/** The client when requests fail: what it retries, what it never retries, and which errors it throws. */
import { createServer } from 'node:http';
import { describe, expect, test, vi } from 'vitest';
import {
  ConnectionError,
  GraphqlError,
  ServiceError,
  TimeoutError,
  UnexpectedResponseError,
  Yardgraph,
} from '../../client/index.ts';
import { delayAfter } from '../../client/retry.ts';
import { errorOf, useShortDelays } from '../support/client.ts';
import { freePort } from '../support/postgres.ts';
import { half, hang, hangUp, json, page, problem, type Reply, useScriptedServer } from '../support/scripted-server.ts';

const server = useScriptedServer();
const delays = useShortDelays();

const client = (options = {}) => new Yardgraph({ serverURL: server.url, ...options });
const write = (options = {}) => client(options).assets.create([{ name: 'Excavator' }]);
const read = (options = {}) => client(options).assetCategories.list();

const created = json(201, [{ id: 'asset_1', name: 'Excavator' }]);
const listed = json(200, []);
const now = { headers: { 'retry-after': '0' } };
const tooManyRequests = problem(429, 'too many requests', now);
const unavailable = problem(503, 'the database is not available, try again', now);

describe('the client retries', () => {
  test.each([
    ['429', tooManyRequests],
    ['429 from a proxy', page(429, { 'retry-after': '0' })],
    ['503 after which nothing is stored', unavailable],
  ])('a write after %s, with the same body, until it succeeds', async (_, failure) => {
    server.replies = [failure, failure, created];

    const [asset] = await write();

    expect(asset?.id).toBe('asset_1');
    expect(server.received.map(({ method, path, body }) => [method, path, body])).toEqual(
      Array(3).fill(['POST', '/assets', '[{"name":"Excavator"}]']),
    );
  });

  test.each([
    ['429', tooManyRequests],
    ['503', unavailable],
    ['503 from a proxy', page(503)],
    ['503 that does not rule out that something was stored', problem(503, 'away', { ...now, type: 'urn:x' })],
    ['lost connection', hangUp],
  ])('a read after a %s', async (_, failure) => {
    server.replies = [failure, listed];

    expect(await read()).toEqual([]);
    expect(server.received).toHaveLength(2);
  });

  test('a read that timed out', async () => {
    server.replies = [hang, listed];

    expect(await read({ timeout: 300 })).toEqual([]);
  });

  test('a write to a service that is still starting', async () => {
    const port = await freePort();
    const starting = createServer((_, response) => created(response));

    const asset = write({ serverURL: `http://127.0.0.1:${port}`, retries: 100 });
    await vi.waitFor(() => expect(delays).not.toEqual([]));
    starting.listen(port, '127.0.0.1');

    expect(await asset).toEqual([{ id: 'asset_1', name: 'Excavator' }]);
    starting.close();
  });

  test('a write to a service that never starts, and then throws an error', async () => {
    const serverURL = `http://127.0.0.1:${await freePort()}`;

    const error = await errorOf(ConnectionError, write({ serverURL, retries: 1 }));

    expect(error).toMatchObject({ code: 'ECONNREFUSED', mayBeStored: false });
    expect(error.message).toBe('no response from the service: ECONNREFUSED');
    expect(delays).toHaveLength(1);
    expect(delays[0]).toBeGreaterThanOrEqual(250);
  });

  test('a GraphQL query after 503', async () => {
    const failed = json(503, { errors: [{ message: 'away', path: ['assets'] }] }, { 'retry-after': '0' });
    server.replies = [failed, json(200, { data: { assets: [] } })];

    expect(await client().graphql('{ assets { nodes { id } } }')).toEqual({ assets: [] });
  });

  test('three times by default, or as many times as the option sets', async () => {
    server.replies = [unavailable];

    const error = await errorOf(ServiceError, write());
    expect([error.status, error.mayBeStored, server.received.length]).toEqual([503, false, 4]);

    await errorOf(ServiceError, write({ retries: 1 }));
    await errorOf(ServiceError, write({ retries: 0 }));
    expect(server.received).toHaveLength(4 + 2 + 1);
  });
});

describe('the client never retries a write that may be stored by a service that does not know keys:', () => {
  test.each([
    [
      '503 that says it may be stored',
      problem(503, 'connection lost during commit', { ...now, type: 'urn:yardgraph:may-be-stored' }),
    ],
    ['503 whose type was lost on the way', json(503, { error: 'away', code: '503' }, now.headers)],
    ['500', problem(500, 'unexpected error, request 1')],
  ])('after a %s', async (_, failure) => {
    server.replies = [failure, created];

    const error = await errorOf(ServiceError, write());

    expect([error.mayBeStored, server.received.length]).toEqual([true, 1]);
  });

  test.each([
    ['502', page(502, now.headers)],
    ['503', page(503, now.headers)],
    ['504', page(504, now.headers)],
  ])('after %s from a proxy', async (_, failure) => {
    server.replies = [failure, created];

    const error = await errorOf(UnexpectedResponseError, write());

    expect([error.mayBeStored, server.received.length]).toEqual([true, 1]);
  });

  test('when the connection is lost before the response', async () => {
    server.replies = [hangUp, created];

    const error = await errorOf(ConnectionError, write());

    expect([error.mayBeStored, server.received.length]).toEqual([true, 1]);
  });

  test('when the connection is lost within the response', async () => {
    server.replies = [
      (response) => {
        response.writeHead(201, { 'content-type': 'application/json', 'content-length': '1000' });
        response.write('[{"id":', () => response.destroy());
      },
      created,
    ];

    const error = await errorOf(ConnectionError, write());

    expect([error.mayBeStored, server.received.length]).toEqual([true, 1]);
  });

  test.each([
    ['there is no response', hang],
    ['the response stops halfway', half(201, '[{"id":')],
  ])('when it times out: %s', async (_, reply) => {
    server.replies = [reply, created];
    const before = Date.now();

    const error = await errorOf(TimeoutError, write({ timeout: 300 }));

    expect([error.message, error.mayBeStored]).toEqual(['no response from the service within 300 ms', true]);
    expect(Date.now() - before).toBeLessThan(5_000);
    expect(server.received).toHaveLength(1);
  });

  test('a PATCH and a GraphQL mutation are writes too', async () => {
    server.replies = [hangUp];

    await errorOf(ConnectionError, client().projects.update('project_1', { name: 'Tunnel' }));
    await errorOf(ConnectionError, client().graphql('mutation { createAssets(input: []) { id } }'));

    expect(server.received).toHaveLength(2);
  });

  test('a GraphQL operation in which the first of several mutations may be stored', async () => {
    server.replies = [json(503, { errors: [{ message: 'away', path: ['second'] }] }, now.headers)];

    const error = await errorOf(GraphqlError, client().graphql('mutation { first: a second: b }'));

    expect([error.status, error.mayBeStored, server.received.length]).toEqual([503, true, 1]);
  });
});

test('a request with a Retry-After of an hour is not retried', async () => {
  server.replies = [problem(429, 'too many requests', { headers: { 'retry-after': '3600' } })];

  const error = await errorOf(ServiceError, write());

  expect([error.retryAfter, server.received.length]).toEqual([3600, 1]);
});

describe('the wait before a retry', () => {
  const errorWith = (retryAfter?: number) =>
    new ServiceError('', { status: 429, mayBeStored: false, requestId: undefined, retryAfter });
  const waits = (failures: number, retryAfter?: number) =>
    Array.from({ length: 200 }, () => delayAfter(errorWith(retryAfter), failures) ?? 0);

  test.each([
    [0, 250, 500],
    [1, 500, 1_000],
    [2, 1_000, 2_000],
    [20, 4_000, 8_000],
  ])('after %i earlier failures is random, from %i to %i ms', (failures, min, max) => {
    expect(Math.min(...waits(failures))).toBeGreaterThanOrEqual(min);
    expect(Math.max(...waits(failures))).toBeLessThanOrEqual(max);
    expect(new Set(waits(failures)).size).toBeGreaterThan(100);
  });

  test('is at least as long as Retry-After', () => {
    expect(Math.min(...waits(0, 7))).toBeGreaterThanOrEqual(7_000);
  });

  test('follows a Retry-After that is a date', async () => {
    const date = new Date(Date.now() + 3_600_000).toUTCString();
    server.replies = [problem(429, 'too many requests', { headers: { 'retry-after': date } })];

    const { retryAfter } = await errorOf(ServiceError, write());

    expect(retryAfter).toBeGreaterThan(3_500);
    expect(retryAfter).toBeLessThanOrEqual(3_600);
  });
});

describe('a response that does not come from Yardgraph is an UnexpectedResponseError:', () => {
  test.each<[string, Reply, string]>([
    ['a page', page(200), '200 with text/html'],
    ['incomplete JSON', half(200, '[{"id"', { isEnded: true }), '200 with application/json'],
    ['JSON of another service', json(200, { hello: 'world' }), '200 with application/json'],
    ['JSON without a content type', (response) => void response.end('[]'), '200 with no content type'],
    ['404 from another server', page(404), '404 with text/html'],
    ['an error of another service', json(400, { message: 'no' }), '400 with application/json'],
    ['a redirect', page(302, { location: '/asset-categories' }), '302 with text/html'],
  ])('%s', async (_, reply, received) => {
    server.replies = [reply];

    const error = await errorOf(UnexpectedResponseError, read());

    expect(error.message).toBe(`expected a response from Yardgraph, received ${received}`);
    expect(server.received).toHaveLength(1);
  });

  test('fewer records than were sent', async () => {
    server.replies = [json(201, [])];

    expect((await errorOf(UnexpectedResponseError, write())).mayBeStored).toBe(true);
  });

  test('a redirect of a create, which is not followed because its target could look like created records', async () => {
    server.replies = [page(301, { location: '/asset-categories' }), json(200, [{ id: 'category_1' }])];

    const error = await errorOf(UnexpectedResponseError, client().assetCategories.create([{}]));

    expect([error.status, error.mayBeStored, server.received.length]).toEqual([301, false, 1]);
  });

  test('a GraphQL response with neither data nor errors', async () => {
    server.replies = [json(200, { data: null })];

    await errorOf(UnexpectedResponseError, client().graphql('{ __typename }'));
  });
});

test('a long message of a response is cut', async () => {
  server.replies = [problem(400, 'x'.repeat(10_000))];

  expect((await errorOf(ServiceError, write())).message).toBe(`${'x'.repeat(5_000)}…`);
});

test.each([
  ['create: expected an array of records, received an object', ({ assets }: Yardgraph) => assets.create({} as never)],
  [
    'update: expected the ID as a string, received undefined',
    ({ projects }: Yardgraph) => projects.update(undefined as never, {}),
  ],
  ['graphql: expected a document as a string or an AST, received an object', ({ graphql }: Yardgraph) => graphql({})],
])('an invalid argument rejects before anything is sent: %s', async (message, call) => {
  await expect(call(client())).rejects.toThrow(new TypeError(message));
  expect(server.received).toEqual([]);
});

test('the JSON of an error has everything but its cause', async () => {
  server.replies = [problem(400, '[0].name: required', { errors: [{ index: 0, field: 'name', message: 'required' }] })];

  const error = await errorOf(ServiceError, write());

  expect(JSON.parse(JSON.stringify(error))).toEqual({
    name: 'ServiceError',
    message: '[0].name: required',
    status: 400,
    items: [{ index: 0, field: 'name', message: 'required' }],
    mayBeStored: false,
  });
});
