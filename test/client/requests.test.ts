/** The client's requests: its options, what it sends again, with which key, and which errors it throws. */

import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  ConnectionError,
  type Options,
  PartialBatchError,
  ServiceError,
  UnexpectedResponseError,
  type WriteOptions,
  Yardgraph,
  YardgraphError,
} from '../../client/index.ts';
import { errorOf, useShortDelays } from '../support/client.ts';
import { freePort } from '../support/postgres.ts';
import { hangUp, json, page, problem, type Reply, useScriptedServer } from '../support/scripted-server.ts';

const server = useScriptedServer();
const delays = useShortDelays();

/** The time of an attempt is over when its request has arrived at a server that hangs. */
let timeIsUp = () => {};
beforeEach(() => {
  const spy = vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => {
    const controller = new AbortController();
    timeIsUp = () => controller.abort();
    return controller.signal;
  });
  return () => spy.mockRestore();
});
const hang: Reply = () => timeIsUp();

const client = (options: Partial<Options> = {}) => new Yardgraph({ serverURL: server.url, ...options });
const write = (options: Partial<Options> = {}, own: WriteOptions = {}) =>
  client(options).assets.create([{ name: 'Crane' }], own);
const change = ({ projects }: Yardgraph) => projects.update('project_1', { name: 'Quay' });
const mutate = ({ graphql }: Yardgraph) => graphql('mutation { createAssets(input: []) { id } }');
const read = (options: Partial<Options> = {}) => client(options).assetCategories.list();
const sent = (name: string) => server.received.map(({ headers }) => headers[name]);
const keys = () => sent('idempotency-key');

const now = { headers: { 'retry-after': '0' } };
const created = json(201, [{ id: 'asset_1', name: 'Crane' }]);
const listed = json(200, []);
const tooManyRequests = problem(429, 'too many requests', now);
const unavailable = problem(503, 'the database is not available, try again', now);
const maybeStored = problem(503, 'connection lost during commit', { ...now, type: 'urn:yardgraph:may-be-stored' });
const cutOff: Reply = (response) => {
  response.writeHead(201, { 'content-type': 'application/json', 'content-length': '1000' });
  response.write('[{"id":', () => response.destroy());
};

describe('the client retries', () => {
  test.each<[string, Reply, () => Promise<unknown>, Reply]>([
    ['a write after 429', tooManyRequests, write, created],
    ['a write after 503, with which nothing is stored', unavailable, write, created],
    ['a read after 503', unavailable, read, listed],
    ['a read after 503 that does not rule out that something was stored', maybeStored, read, listed],
    ['a read after a lost connection', hangUp, read, listed],
    ['a read after a timeout', hang, read, listed],
    [
      'a GraphQL query after 503',
      json(503, { errors: [{ message: 'away', path: ['a'] }] }, now.headers),
      () => client().graphql('{ a }'),
      json(200, { data: { a: 1 } }),
    ],
  ])('%s, with the same body', async (_, failure, send, success) => {
    server.replies = [failure, failure, success];
    await send();
    expect(server.received).toHaveLength(3);
    expect(new Set(server.received.map(({ method, path, body }) => `${method} ${path} ${body}`)).size).toBe(1);
  });

  test('three times by default, or as many times as the option sets, and then throws the error', async () => {
    server.replies = [unavailable];

    const error = await errorOf(ServiceError, write());
    expect([error.status, error.mayBeStored, server.received.length]).toEqual([503, false, 4]);
    await errorOf(ServiceError, write({ retries: 0 }));
    expect(server.received).toHaveLength(4 + 1);

    const before = delays.length;
    const serverURL = `http://127.0.0.1:${await freePort()}`;
    expect(await errorOf(ConnectionError, write({ serverURL, retries: 1 }))).toMatchObject({
      ...{ code: 'ECONNREFUSED', mayBeStored: false },
      message: 'no response from the service: ECONNREFUSED',
    });
    expect(delays).toHaveLength(before + 1);
  });

  test('not if Retry-After is more than a minute away', async () => {
    server.replies = [problem(429, 'too many requests', { headers: { 'retry-after': '3600' } })];
    expect((await errorOf(ServiceError, write())).retryAfter).toBe(3_600);
    expect(server.received).toHaveLength(1);
  });

  test('after a random time, which grows with the failures, and at least Retry-After', async () => {
    server.replies = [problem(503, 'away')];
    await errorOf(ServiceError, write({ retries: 6 }));
    const bounds = [500, 1_000, 2_000, 4_000, 8_000, 8_000];
    expect(bounds.map((bound, n) => Number(delays[n]) >= bound / 2 && Number(delays[n]) <= bound)).toEqual(
      bounds.map(() => true),
    );
    expect(delays[4]).not.toBe(delays[5]);
    server.replies = [problem(429, 'slowly', { headers: { 'retry-after': '7' } })];
    await errorOf(ServiceError, write({ retries: 1 }));
    expect(delays.at(-1)).toBeGreaterThanOrEqual(7_000);
  });
});

describe('a write that may be stored', () => {
  test.each<[string, Reply]>([
    ['a lost connection', hangUp],
    ['a connection that is lost within the response', cutOff],
    ['a timeout', hang],
    ['a 503 that says so', maybeStored],
    ['a 503 from a proxy', page(503, now.headers)],
  ])('is sent again with the same key after %s', async (_, failure) => {
    server.replies = [failure, failure, created];
    expect(await write()).toEqual([{ id: 'asset_1', name: 'Crane' }]);
    expect(keys()).toEqual(Array(3).fill(expect.stringMatching(/^[0-9a-f]{32}$/)));
    expect(new Set(server.received.map(({ body, headers }) => `${body} ${headers['idempotency-key']}`)).size).toBe(1);
  });

  test.each([change, mutate])('is a change or a mutation too: %s', async (send) => {
    server.replies = [hangUp];
    expect((await errorOf(ConnectionError, send(client({ retries: 0 })))).mayBeStored).toBe(true);
    Object.assign(server, { received: [], replies: [hangUp, json(200, { id: 'project_1', data: {} })] });
    await send(client());
    expect([server.received.length, new Set(keys()).size]).toEqual([2, 1]);
  });

  test.each<[string, Reply]>([
    ['500', problem(500, 'unexpected error, request 1')],
    ['502', page(502, now.headers)],
  ])('is not sent again after %s', async (_, failure) => {
    server.replies = [failure, created];
    expect(await write().catch((error) => error)).toMatchObject({ mayBeStored: true });
    expect(server.received).toHaveLength(1);
  });

  test.each<[string, Reply, object]>([
    ['hangs up, too', hangUp, { mayBeStored: true }],
    ['does not respond', hang, { mayBeStored: true, message: 'no response from the service within 1000 ms' }],
    ['refuses the key', problem(401, 'no'), { mayBeStored: true }],
    // It has looked for the key.
    ['rejects the request', problem(409, '[0].uid: taken'), { status: 409, mayBeStored: false }],
  ])('is said to be so, or not, after an attempt in which the service %s', async (_, last, expected) => {
    server.replies = [hangUp, last];
    expect(await write({ retries: 1, timeout: 1_000 }).catch((error) => error)).toMatchObject(expected);
    expect(AbortSignal.timeout).toHaveBeenLastCalledWith(1_000);
    expect(server.received).toHaveLength(2);
  });

  test('may be one of several mutations, of which the first is stored', async () => {
    server.replies = [json(503, { errors: [{ message: 'away', path: ['second'] }] }, now.headers)];
    const error = await errorOf(ServiceError, client({ retries: 0 }).graphql('mutation { first: a second: b }'));
    expect([error.status, error.mayBeStored]).toEqual([503, true]);
  });

  test.each([
    [{ code: 'SERVICE_UNAVAILABLE' }, false],
    [{ code: 'SERVICE_UNAVAILABLE', mayBeStored: true }, true],
    [{ code: 'INTERNAL_SERVER_ERROR' }, true],
  ])('may be the only mutation, of which the service says what is stored: %j', async (extensions, mayBeStored) => {
    server.replies = [json(503, { data: { a: null }, errors: [{ message: 'away', path: ['a'], extensions }] })];
    const error = await errorOf(ServiceError, client({ retries: 0 }).graphql('mutation { a }'));
    expect(error.mayBeStored).toBe(mayBeStored);
  });
});

test('a mutation that was executed, and whose response is too large, may be stored', async () => {
  const extensions = { code: 'BAD_USER_INPUT', mayBeStored: true };
  server.replies = [json(200, { errors: [{ message: 'the mutation was executed, but', extensions }] })];
  const error = await errorOf(ServiceError, client().graphql('mutation { a }'));
  expect([error.mayBeStored, server.received.length]).toEqual([true, 1]);
});

describe('the key', () => {
  test('is a new one for each write and each part of a batch, or one of the program with the position of the part', async () => {
    server.replies = [created];
    const { assets, projects, graphql } = client();
    const two = [{ name: 'Crane' }, { name: 'Pump' }];
    await assets.create([{ name: 'Crane' }]);
    await assets.create(two, { partSize: 1 });
    expect(new Set(keys()).size).toBe(3);

    server.received = [];
    await assets.create(two, { idempotencyKey: 'import 8', partSize: 1 });
    server.replies = [json(200, { id: 'project_1', data: {} })];
    await projects.update('project_1', {}, { idempotencyKey: 'import 9' });
    await graphql('mutation { a }', {}, { idempotencyKey: 'import 10' });
    expect(keys()).toEqual(['import 8-0', 'import 8-1', 'import 9', 'import 10']);
  });

  test('is not sent with what only reads, nor with idempotencyKeys: false, with which nothing is repeated', async () => {
    server.replies = [listed, json(200, { data: {} }), hangUp];
    await read();
    await client().graphql('{ a }');
    const error = await errorOf(ConnectionError, write({ idempotencyKeys: false }));
    expect([error.mayBeStored, keys()]).toEqual([true, [undefined, undefined, undefined]]);
  });
});

test.each([
  ['changeMessage', 'x-change-message', 'Nächtlicher Import – 起重机', 'corrected by hand'],
  ['importRun', 'x-import-run', 'of-the-client', 'of_the_write'],
] as const)('the %s of the client or of a write is sent in UTF-8, but not with what only reads', async (...row) => {
  const [option, header, ofClient, ofWrite] = row;
  server.replies = [created, created, created, listed];
  const { assets, assetCategories } = client({ [option]: ofClient });
  for (const own of [{}, { [option]: ofWrite }, { [option]: '' }]) await assets.create([{ name: 'Crane' }], own);
  await assetCategories.list();

  const utf8 = (text: unknown) => text && Buffer.from(String(text), 'latin1').toString();
  expect(sent(header).map(utf8)).toEqual([ofClient, ofWrite, undefined, undefined]);
});

const lists = (yardgraph: Yardgraph) => yardgraph.assetCategories.list();
const createdOne = ({ locations }: Yardgraph) => locations.create([{}]);
const queried = ({ graphql }: Yardgraph) => graphql('{ a }');

test.each<[string, Reply, (yardgraph: Yardgraph) => Promise<unknown>, string, boolean]>([
  ['a page', page(200), lists, '200 with text/html', false],
  ['JSON of another service', json(200, { hello: 'world' }), lists, '200 with application/json', false],
  ['404 from another server', page(404), lists, '404 with text/html', false],
  // Its target could look like what a write creates.
  ['a redirect', page(301, { location: '/asset-categories' }), createdOne, '301 with text/html', false],
  ['fewer records than were sent', json(201, []), createdOne, '201 with application/json', true],
  ['neither data nor errors', json(200, { data: null }), queried, '200 with application/json', false],
])(
  'what does not come from Yardgraph is an UnexpectedResponseError: %s',
  async (_, reply, send, received, mayBeStored) => {
    server.replies = [reply, json(200, [{ id: 'location_1' }])];
    const { message, ...error } = await errorOf(UnexpectedResponseError, send(client()));
    expect([message, error.mayBeStored]).toEqual([
      `expected a response from Yardgraph, received ${received}`,
      mayBeStored,
    ]);
    expect(server.received).toHaveLength(1);
  },
);

test('of a batch in parts, each is retried like a batch; none is sent after one that fails', async () => {
  server.replies = [unavailable, json(201, [{ id: 'a' }]), hangUp, json(201, [{ id: 'c' }])];
  const { locations } = client({ idempotencyKeys: false });

  const error = await errorOf(PartialBatchError, locations.create([{}, {}, {}], { partSize: 1 }));

  expect(error.created).toEqual([{ id: 'a' }]);
  expect(error.message).toMatch(/^1 of 3 records are done; the part after them failed: no response from the service/);
  expect([error.mayBeStored, error.cause]).toEqual([true, expect.any(ConnectionError)]);
  expect(server.received).toHaveLength(3);
});

test('items have their codes and the places of other items, in the whole batch if it is sent in parts', async () => {
  const item = { index: 1, field: 'uid', message: 'taken', code: 'taken' };
  server.replies = [
    json(201, [{ id: 'a' }, { id: 'b' }]),
    problem(409, 'taken', { errors: [{ ...item, other: '[0]' }] }),
  ];
  const part = await errorOf(PartialBatchError, client().assets.create([{}, {}, {}, {}] as never, { partSize: 2 }));

  const issue = { path: ['input', 'assets', 1, 'uid'], message: 'taken', code: 'taken', other: ['input', 'assets', 0] };
  server.replies = [json(200, { errors: [{ message: 'taken', extensions: { issues: [issue] } }], data: null })];
  const imported = await errorOf(ServiceError, client().importRecords({ assets: [] }));

  expect(part.items).toEqual([{ ...item, index: 3, other: '[2]' }]);
  expect(imported.items).toEqual([{ ...item, list: 'assets', other: 'assets[0]' }]);
});

test('a number that JSON would turn into null is not sent', async () => {
  const error = await errorOf(TypeError, client().locations.create([{ latitude: Number.NaN }]));
  expect(error.message).toBe('latitude: expected a finite number, received NaN');
  expect(server.received).toEqual([]);
});

test('the JSON of an error has everything but its cause', async () => {
  const errors = [{ index: 0, field: 'name', message: 'required' }];
  server.replies = [problem(400, 'invalid', { errors })];
  const error = await errorOf(ServiceError, write());
  const json = { name: 'ServiceError', message: 'invalid', status: 400, items: errors, mayBeStored: false };
  expect(JSON.parse(JSON.stringify(error))).toEqual(json);
});

const key = 'yg_secret-0123456789';

afterEach(() => vi.unstubAllEnvs());

describe('the API key', () => {
  test('may be a function, also an asynchronous one, which is called before every attempt', async () => {
    server.replies = [tooManyRequests, listed];
    let calls = 0;
    const apiKeyAuth = async () => {
      calls += 1;
      return `key-${calls}`;
    };

    await read({ apiKeyAuth });
    await read({ apiKeyAuth: () => 'plain' });

    expect(sent('authorization')).toEqual(['Bearer key-1', 'Bearer key-2', 'Bearer plain']);
  });

  test('comes from the environment unless it is set explicitly, and may end with the newline of its file', async () => {
    vi.stubEnv('YARDGRAPH_API_KEY', 'from-environment');
    server.replies = [listed];
    for (const options of [{}, { apiKeyAuth: undefined }, { apiKeyAuth: `${key}\n` }, { apiKeyAuth: '' }])
      await read(options);
    const fromEnvironment = Array(2).fill('Bearer from-environment');
    expect(sent('authorization')).toEqual([...fromEnvironment, `Bearer ${key}`, undefined]);
  });

  test.each([`${key}\r\nx-injected: 1`, `${key} two`, `${key}–`, `${key}\0`])(
    'with characters that headers cannot contain is rejected before anything is sent, and not in the error: %j',
    async (badKey) => {
      const error = new TypeError('Yardgraph: expected the API key to contain visible ASCII characters only');
      expect(() => client({ apiKeyAuth: badKey })).toThrow(error);
      await expect(read({ apiKeyAuth: () => badKey })).rejects.toThrow(error);
      expect(server.received).toEqual([]);
    },
  );

  test('does not appear in the text or JSON of an error or of the client', async () => {
    const yardgraph = client({ apiKeyAuth: key, retries: 0 });
    for (const reply of [page(500), hangUp, hang]) {
      server.replies = [reply];
      const error = await errorOf(YardgraphError, yardgraph.assetCategories.list());
      const texts = [error.message, error.stack, JSON.stringify(error), inspect(error, { depth: 9 })];
      for (const text of texts) expect(text).not.toContain('secret');
    }
    expect(JSON.stringify(yardgraph) + inspect(yardgraph, { depth: 9, showHidden: true })).not.toContain('secret');
  });
});

test.each(['', '/', '/yard', '/yard/'])('serverURL may end with the path of a proxy: %j', async (path) => {
  server.replies = [listed];
  await read({ serverURL: server.url + path });
  await read({ serverURL: new URL(server.url + path) });
  const expected = `${path.replace(/\/$/, '')}/asset-categories`;
  expect(server.received.map((request) => request.path)).toEqual([expected, expected]);
});

const aUrl = 'serverURL to be a URL that begins with http:// or https://, such as "http://127.0.0.1:4000"';
const bareUrl = 'serverURL to have no user, password, parameters or fragment';
const url = { serverURL: 'http://127.0.0.1' };

test.each<[unknown, string]>([
  ...['', 'yard', '/', '127.0.0.1:4000', 'ftp://127.0.0.1', 4000, undefined].map(
    (serverURL) => [{ serverURL }, aUrl] as [unknown, string],
  ),
  [{ serverURL: 'http://user:secret@127.0.0.1' }, bareUrl],
  [{ serverURL: 'http://127.0.0.1/?key=secret' }, bareUrl],
  [{ ...url, timeout: 0 }, 'timeout to be a whole number from 1 to 2147483647'],
  [{ ...url, retries: '3' }, 'retries to be a whole number from 0 to 100'],
])('the options %j are rejected with what is expected', (options, message) => {
  expect(() => new Yardgraph(options as never)).toThrow(new TypeError(`Yardgraph: expected ${message}`));
});

const aKey = 'Yardgraph: expected idempotencyKey to be 1 to 255 printable ASCII characters';
const unknown = { dryrun: true } as never;
// Creates have no dry runs: they would write.
const dry = { dryRun: true } as never;
const all = async (rows: AsyncIterable<unknown>) => {
  for await (const _ of rows);
};

test.each<[string, (yardgraph: Yardgraph) => unknown]>([
  ['create: unknown option dryRun', ({ assets }) => assets.create([{ name: 'Crane' }], dry)],
  ['Yardgraph: expected partSize to be', ({ assets }) => assets.create([], { partSize: 0 })],
  ['Yardgraph: expected importRun to be', ({ assets }) => assets.create([], { importRun: 'a b' })],
  ['Yardgraph: expected changeMessage to be', ({ assets }) => assets.create([], { changeMessage: 'a\nb' })],
  ['delete: unknown option dryrun', ({ assets }) => assets.delete([], unknown)],
  ['import: unknown option dryrun', (yardgraph) => all(yardgraph.import([], unknown))],
  ['revertChanges: unknown option dryrun', (it) => it.revertChanges({ after: '2', upTo: '3' }, unknown)],
  ['graphql: expected a document as a string or an AST', ({ graphql }) => graphql({})],
  ...['', ' a', 'ü', 'a\n', 'x'.repeat(256)].map(
    (idempotencyKey) =>
      [aKey, ({ assets }: Yardgraph) => assets.create([], { idempotencyKey })] as [string, (it: Yardgraph) => unknown],
  ),
])('an invalid argument is rejected before anything is sent: %s', async (message, call) => {
  const error = await errorOf(
    TypeError,
    Promise.resolve().then(() => call(client())),
  );
  expect(error.message.slice(0, message.length)).toBe(message);
  expect(server.received).toEqual([]);
});
