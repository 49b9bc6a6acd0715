/** What the client does when something fails: what it sends again, what it never does, and what it says. */
import { createServer } from 'node:http';
import { describe, expect, test } from 'vitest';
import {
  ConnectionError,
  GraphqlError,
  ServiceError,
  TimeoutError,
  UnexpectedAnswerError,
  Yardgraph,
} from '../../src/client/index.ts';
import { delayAfter } from '../../src/client/repeat.ts';
import { errorOf } from '../support/client.ts';
import { freePort } from '../support/postgres.ts';
import { half, hang, hangUp, json, page, problem, type Reply, useScriptedServer } from '../support/scripted-server.ts';

const server = useScriptedServer();

const client = (options = {}) => new Yardgraph({ serverURL: server.url, ...options });
const write = (options = {}) => client(options).assets.create([{ name: 'Excavator' }]);
const read = (options = {}) => client(options).assetCategories.list();

const created = json(201, [{ id: 'asset_1', name: 'Excavator' }]);
const listed = json(200, []);
const now = { headers: { 'retry-after': '0' } };
const tooMany = problem(429, 'too many requests', now);
const away = problem(503, 'the database is not available, try again', now);

describe('what is sent again', () => {
  test.each([
    ['429', tooMany],
    ['429 of a proxy', page(429, { 'retry-after': '0' })],
    ['503 that refuses', away],
  ])('a write after %s, until it is answered, with the same body', async (_, failure) => {
    server.replies = [failure, failure, created];

    const [asset] = await write();

    expect(asset?.id).toBe('asset_1');
    expect(server.received.map(({ method, path, body }) => [method, path, body])).toEqual(
      Array(3).fill(['POST', '/assets', '[{"name":"Excavator"}]']),
    );
  });

  test.each([
    ['429', tooMany],
    ['503', away],
    ['503 of a proxy', page(503)],
    ['503 that leaves open what was stored, for it concerns a write', problem(503, 'away', { ...now, type: 'urn:x' })],
    ['connection that breaks', hangUp],
  ])('a read after a %s', async (_, failure) => {
    server.replies = [failure, listed];

    expect(await read()).toEqual([]);
    expect(server.received).toHaveLength(2);
  });

  test('a read that was not answered in time', async () => {
    server.replies = [hang, listed];

    expect(await read({ timeout: 300 })).toEqual([]);
  });

  test('a write to a service that is just being started', async () => {
    const port = await freePort();
    const starting = createServer((_, response) => created(response));

    const asset = write({ serverURL: `http://127.0.0.1:${port}` });
    await new Promise((resolve) => setTimeout(resolve, 150));
    starting.listen(port, '127.0.0.1');

    expect(await asset).toEqual([{ id: 'asset_1', name: 'Excavator' }]);
    starting.close();
  });

  test('a write to a service that never starts is an error in the end', async () => {
    const serverURL = `http://127.0.0.1:${await freePort()}`;
    const before = Date.now();

    const error = await errorOf(ConnectionError, write({ serverURL, retries: 1 }));

    expect(error).toMatchObject({ code: 'ECONNREFUSED', mayBeStored: false });
    expect(error.message).toBe('no answer from the service: ECONNREFUSED');
    expect(Date.now() - before).toBeGreaterThanOrEqual(250);
  });

  test('a query of GraphQL after 503, as often as anything else that reads', async () => {
    const unavailable = json(503, { errors: [{ message: 'away', path: ['assets'] }] }, { 'retry-after': '0' });
    server.replies = [unavailable, json(200, { data: { assets: [] } })];

    expect(await client().graphql('{ assets { nodes { id } } }')).toEqual({ assets: [] });
  });

  test('three times at most, and as often as the option says', async () => {
    server.replies = [away];

    const error = await errorOf(ServiceError, write());
    expect([error.status, error.mayBeStored, server.received.length]).toEqual([503, false, 4]);

    await errorOf(ServiceError, write({ retries: 1 }));
    await errorOf(ServiceError, write({ retries: 0 }));
    expect(server.received).toHaveLength(4 + 2 + 1);
  });
});

describe('what is never sent again: a write that may be stored', () => {
  test.each([
    [
      '503 that says so',
      problem(503, 'connection lost during commit', { ...now, type: 'urn:yardgraph:may-be-stored' }),
    ],
    ['503 without a type, through whatever left it out', json(503, { error: 'away', code: '503' }, now.headers)],
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
  ])('after a proxy has answered %s', async (_, failure) => {
    server.replies = [failure, created];

    const error = await errorOf(UnexpectedAnswerError, write());

    expect([error.mayBeStored, server.received.length]).toEqual([true, 1]);
  });

  test('when the connection breaks before the answer', async () => {
    server.replies = [hangUp, created];

    const error = await errorOf(ConnectionError, write());

    expect([error.mayBeStored, server.received.length]).toEqual([true, 1]);
  });

  test('when the connection breaks within the answer', async () => {
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
    ['nothing comes', hang],
    ['the answer stops halfway', half(201, '[{"id":')],
  ])('when it takes too long: %s', async (_, reply) => {
    server.replies = [reply, created];
    const before = Date.now();

    const error = await errorOf(TimeoutError, write({ timeout: 300 }));

    expect([error.message, error.mayBeStored]).toEqual(['no answer from the service within 300 ms', true]);
    expect(Date.now() - before).toBeLessThan(5_000);
    expect(server.received).toHaveLength(1);
  });

  test('a PATCH, and a mutation of GraphQL, are writes too', async () => {
    server.replies = [hangUp];

    await errorOf(ConnectionError, client().projects.update('project_1', { name: 'Tunnel' }));
    await errorOf(ConnectionError, client().graphql('mutation { createAssets(input: []) { id } }'));

    expect(server.received).toHaveLength(2);
  });

  test('a mutation that was begun: of several, the first ones may be stored', async () => {
    server.replies = [json(503, { errors: [{ message: 'away', path: ['second'] }] }, now.headers)];

    const error = await errorOf(GraphqlError, client().graphql('mutation { first: a second: b }'));

    expect([error.status, error.mayBeStored, server.received.length]).toEqual([503, true, 1]);
  });
});

test('what is wrong is not sent again', async () => {
  server.replies = [problem(400, '[0].name: required', { errors: [{ index: 0, field: 'name', message: 'required' }] })];

  const error = await errorOf(ServiceError, write());

  expect(error.items).toEqual([{ index: 0, field: 'name', message: 'required' }]);
  expect(server.received).toHaveLength(1);
});

test('a wait of an hour is the caller’s to decide on', async () => {
  server.replies = [problem(429, 'too many requests', { headers: { 'retry-after': '3600' } })];

  const error = await errorOf(ServiceError, write());

  expect([error.retryAfter, server.received.length]).toEqual([3600, 1]);
});

describe('the wait before it', () => {
  const tooManyFor = (retryAfter?: number) =>
    new ServiceError('', { status: 429, mayBeStored: false, requestId: undefined, retryAfter });
  const waits = (failures: number, retryAfter?: number) =>
    Array.from({ length: 200 }, () => delayAfter(tooManyFor(retryAfter), failures) ?? 0);

  test.each([
    [0, 250, 500],
    [1, 500, 1_000],
    [2, 1_000, 2_000],
    [20, 4_000, 8_000],
  ])('after %i failures before is from %i to %i ms, and never the same', (failures, min, max) => {
    expect(Math.min(...waits(failures))).toBeGreaterThanOrEqual(min);
    expect(Math.max(...waits(failures))).toBeLessThanOrEqual(max);
    expect(new Set(waits(failures)).size).toBeGreaterThan(100);
  });

  test('is longer than the service asks for', () => {
    expect(Math.min(...waits(0, 7))).toBeGreaterThanOrEqual(7_000);
  });

  test('is what Retry-After says, also as a date', async () => {
    const date = new Date(Date.now() + 3_600_000).toUTCString();
    server.replies = [problem(429, 'too many requests', { headers: { 'retry-after': date } })];

    const { retryAfter } = await errorOf(ServiceError, write());

    expect(retryAfter).toBeGreaterThan(3_500);
    expect(retryAfter).toBeLessThanOrEqual(3_600);
  });
});

describe('an answer that is not ours is an error of its own kind', () => {
  test.each<[string, Reply, string]>([
    ['a page', page(200), '200 with text/html'],
    ['JSON that breaks off', half(200, '[{"id"', { isEnded: true }), '200 with application/json'],
    ['JSON of something else', json(200, { hello: 'world' }), '200 with application/json'],
    ['JSON without its type', (response) => void response.end('[]'), '200 with no content type'],
    ['a path that is not there', page(404), '404 with text/html'],
    ['an error of something else', json(400, { message: 'no' }), '400 with application/json'],
    ['a redirect', page(302, { location: '/asset-categories' }), '302 with text/html'],
  ])('%s', async (_, reply, received) => {
    server.replies = [reply];

    const error = await errorOf(UnexpectedAnswerError, read());

    expect(error.message).toBe(`expected an answer of Yardgraph, received ${received}`);
    expect(server.received).toHaveLength(1);
  });

  test('to a create, fewer records than were sent are one', async () => {
    server.replies = [json(201, [])];

    expect((await errorOf(UnexpectedAnswerError, write())).mayBeStored).toBe(true);
  });

  test('to a create, a redirect is not followed: what is found there would pass for what was created', async () => {
    server.replies = [page(301, { location: '/asset-categories' }), json(200, [{ id: 'category_1' }])];

    const error = await errorOf(UnexpectedAnswerError, client().assetCategories.create([{}]));

    expect([error.status, error.mayBeStored, server.received.length]).toEqual([301, false, 1]);
  });

  test('to GraphQL, neither data nor errors are one', async () => {
    server.replies = [json(200, { data: null })];

    await errorOf(UnexpectedAnswerError, client().graphql('{ __typename }'));
  });
});

test('an error is JSON with everything but its cause', async () => {
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
