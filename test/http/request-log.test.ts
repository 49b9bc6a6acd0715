/** The log line of each request, whether its response is complete or not. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import type { InjectOptions } from 'fastify';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { eventually } from '../support/clock.ts';
import { openEvents } from '../support/event-stream.ts';
import { largeFile, listen, useSharedService } from '../support/service.ts';

const service = useSharedService();
const closed = useSharedService({ MAX_BATCH: '2', MAX_BODY_BYTES: '2000' }, { closed: true });

beforeEach(() => {
  for (const { logs } of [service, closed]) logs.length = 0;
});

const requestLines = () => service.logs.map((line) => JSON.parse(line)).filter(({ msg }) => !/listening/.test(msg));

/** A client that has sent a request and received part of the response, and reads no further. */
async function readPart(path: string): Promise<{ client: Socket; ofServer: Socket }> {
  const { port } = new URL(await listen(service.app));
  const connected = once(service.app.server, 'connection');
  const client = connect(Number(port), '127.0.0.1');
  client.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\naccept: text/html\r\n\r\n`);
  await once(client, 'readable');
  const [ofServer] = await connected;
  return { client, ofServer };
}

test('the line of a GraphQL request has the name of its operation, also where the document or its variables are refused', async () => {
  await service.graphql('query Machines { assets { nodes { nothing } } }');
  await service.graphql('query Machine($id: ID!) { asset(id: $id) { id } }');
  expect(requestLines()).toMatchObject([{ operation: 'Machines' }, { operation: 'Machine' }]);
});

const json = { 'content-type': 'application/json' };

/** Requests with the reason that is logged for them, and their status. They contain `secret`, which must not be logged. */
const refused: readonly [string, number, InjectOptions & { withKey?: 'read-only' | 'wrong' | 'none' }][] = [
  ['unknown path', 404, { url: '/secret' }],
  ['malformed URL', 400, { url: '/projects/%zzsecret' }],
  ['unsupported method', 405, { method: 'DELETE', url: '/assets' }],
  ['no API key', 401, { url: '/asset-categories', withKey: 'none' }],
  ['invalid API key', 401, { url: '/asset-categories', withKey: 'wrong' }],
  ['two API keys', 401, { url: '/asset-categories', headers: { 'x-api-key': 'secret' } }],
  ['read-only key', 403, { method: 'POST', url: '/assets', payload: [{ name: 'secret' }], withKey: 'read-only' }],
  ['unknown record', 404, { method: 'PATCH', url: '/projects/secret', payload: {} }],
  ['invalid input', 400, { method: 'POST', url: '/assets', headers: json, payload: '{ secret' }],
  ['batch too large', 413, { method: 'POST', url: '/assets', payload: [{}, {}, {}] }],
  ['body too large', 413, { method: 'POST', url: '/assets', payload: [{ name: 'secret'.repeat(1_000) }] }],
  [
    'unsupported content type',
    415,
    { method: 'POST', url: '/assets', headers: { 'content-type': 'a/secret' }, payload: '' },
  ],
  ['invalid input', 200, { method: 'POST', url: '/graphql', payload: { query: '{ secret }' } }],
  ['unsupported Accept', 406, { url: '/graphql?query={secret}', headers: { accept: 'text/secret' } }],
];

describe('a refused request is logged with the reason in a few words, and with nothing that was sent:', () => {
  test.each(refused)('%s, %i, %j', async (reason, status, { withKey, ...options }) => {
    const key = await closed.key({ readOnly: withKey === 'read-only' });
    const authorization = withKey === 'wrong' ? 'secret' : key;
    const headers = { ...(withKey !== 'none' && { authorization }), ...options.headers };

    await closed.inject({ ...options, headers });

    const lines = closed.logs.map((line) => JSON.parse(line));
    expect(lines).toMatchObject([{ status, reason, address: '127.0.0.1', msg: 'request completed' }]);
    expect(closed.logs.join('')).not.toContain('secret');
  });

  test('the first of several reasons in a response of GraphQL', async () => {
    const key = closed.as(await closed.key());
    await key.graphql(
      'mutation { a: updateProject(id: "x", input: {}) { id } b: createAssets(input: [{name: ""}]) { id } }',
    );
    expect(closed.logs.map((line) => JSON.parse(line))).toMatchObject([{ status: 200, reason: 'unknown record' }]);
  });
});

test('a request from elsewhere to an open service is logged as such', async () => {
  await service.get('/asset-categories', { 'x-forwarded-for': '203.0.113.7' });
  await service.get('/asset-categories', { host: 'yard.example.com' });

  await service.get('/asset-categories', { origin: 'https://elsewhere.example' });

  const reason = 'not from this machine, without an API key';
  expect(requestLines()).toMatchObject([
    { status: 403, reason, address: '127.0.0.1' },
    { status: 400, reason, address: '127.0.0.1' },
    { status: 403, reason: 'origin not in CORS_ORIGINS', address: '127.0.0.1' },
  ]);
});

test.each<[string, (sockets: Awaited<ReturnType<typeof readPart>>) => void]>([
  ['the client closes the connection', ({ client }) => client.destroy()],
  ['the service closes the connection of a client that does not read', ({ ofServer }) => ofServer.destroy()],
])('a response that was not sent completely is logged without a status: %s', async (_, leave) => {
  const sockets = await readPart(largeFile);
  service.logs.length = 0;

  leave(sockets);

  await eventually(() => expect(requestLines()).toHaveLength(1));
  const [line] = requestLines();
  expect(line).toMatchObject({ route: '/pages/:file', msg: 'connection closed before the response was complete' });
  expect(line).not.toHaveProperty('status');
});

const traceId = '0af7651916cd43dd8448eb211c80319c';
const parent = 'b7ad6b7169203331';

test('each line of a request with a valid traceparent has its trace ID, also that of an unexpected error', async () => {
  vi.spyOn(service.database.driver, 'query').mockRejectedValueOnce(new TypeError('not expected'));
  const headers = { traceparent: `00-${traceId}-${parent}-01`, 'x-request-id': 'request-7' };

  const { status, headers: received } = await service.get('/asset-categories', headers);

  const lines = service.logs.map((line) => JSON.parse(line));
  expect([status, received['x-request-id']]).toEqual([500, 'request-7']);
  expect(lines).toMatchObject([
    { msg: 'unexpected error', trace_id: traceId, reqId: 'request-7' },
    { msg: 'request completed', trace_id: traceId, reqId: 'request-7' },
  ]);
});

test.each([
  `00-${traceId}-${parent}-01-more`,
  `00-${traceId.toUpperCase()}-${parent}-01`,
  `00-${'0'.repeat(32)}-${parent}-01`,
  `00-${traceId}-${'0'.repeat(16)}-01`,
  `ff-${traceId}-${parent}-01`,
])('an invalid traceparent is ignored: %.60s', async (traceparent) => {
  expect((await service.get('/asset-categories', { traceparent })).status).toBe(200);
  expect(requestLines()).toHaveLength(1);
  expect(requestLines()[0]).not.toHaveProperty('trace_id');
});

describe('a slow request is a warning', () => {
  const impatient = useSharedService({ SLOW_REQUEST: '1' });
  const patient = useSharedService({ SLOW_REQUEST: '86400000' });
  const headers = { 'content-type': 'application/json' };

  /** The body comes after more than the limit. */
  async function* slowly(body: object) {
    await pause(20);
    yield JSON.stringify(body);
  }
  const lineOf = async ({ inject, logs }: typeof service, options: InjectOptions) => {
    await inject({ method: 'POST', headers, ...options });
    return JSON.parse(logs.at(-1) ?? '');
  };
  const query = 'query Names($first: Int) { assets(first: $first) { nodes { name } } }';
  const names = () => ({ url: '/graphql', payload: Readable.from(slowly({ query, variables: { first: 7 } })) });

  test('with its operation, its statements and its cost, without values and SQL', async () => {
    const line = await lineOf(impatient, names());
    const known = { level: 40, route: '/graphql', operation: 'Names', statements: 1, cost: expect.any(Number) };
    expect(line).toMatchObject({ ...known, status: 200, msg: 'request completed' });
    expect(JSON.stringify(line)).not.toMatch(/select|first|"7"/i);
    expect(await lineOf(impatient, { url: '/assets', payload: Readable.from(slowly([])) })).toMatchObject({
      level: 40,
    });
    expect(await lineOf(patient, names())).toMatchObject({ level: 30, cost: line.cost });
  });

  test('unless it is an event stream, which lasts as long as its client stays', async () => {
    const { close } = await openEvents(impatient.app, 'subscription { changes { endCursor } }');
    await pause(20);
    close();
    await eventually(() =>
      expect(JSON.parse(impatient.logs.at(-1) ?? '')).toMatchObject({ level: 30, route: '/graphql' }),
    );
  });
});
