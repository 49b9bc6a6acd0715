/** The client's options: the API key, the server URL and the limits. Interface: "Authentication". */
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Options, PartialBatchError, ServiceError, Yardgraph, YardgraphError } from '../../client/index.ts';
import { clientOf, errorOf } from '../support/client.ts';
import { hang, hangUp, json, page, problem, useScriptedServer } from '../support/scripted-server.ts';
import { useSharedService } from '../support/service.ts';

const server = useScriptedServer();
const service = useSharedService({}, { closed: true });
const key = 'yg_secret-0123456789';

const client = (options: Partial<Options> = {}) => new Yardgraph({ serverURL: server.url, retries: 0, ...options });
const list = (options: Partial<Options> = {}) => client(options).assetCategories.list();
const sent = () => server.received.map(({ headers }) => headers.authorization);

beforeEach(() => {
  server.replies = [json(200, [])];
});

afterEach(() => vi.unstubAllEnvs());

describe('the key', () => {
  test('may be a function, also an asynchronous one, which is called before every attempt', async () => {
    server.replies = [problem(429, 'wait', { headers: { 'retry-after': '0' } }), json(200, [])];
    let calls = 0;
    const apiKeyAuth = async () => {
      calls += 1;
      await new Promise((resolve) => setTimeout(resolve, 5));
      return `key-${calls}`;
    };

    await list({ apiKeyAuth, retries: 1 });
    await list({ apiKeyAuth: () => 'plain' });

    expect(sent()).toEqual(['Bearer key-1', 'Bearer key-2', 'Bearer plain']);
  });

  test('comes from the environment unless it is set explicitly, and may end with the newline of its file', async () => {
    vi.stubEnv('YARDGRAPH_API_KEY', 'from-environment');

    await list();
    await list({ apiKeyAuth: undefined });
    await list({ apiKeyAuth: `${key}\n` });
    await list({ apiKeyAuth: '' });

    expect(sent()).toEqual(['Bearer from-environment', 'Bearer from-environment', `Bearer ${key}`, undefined]);
  });

  test.each([`${key}\r\nx-injected: 1`, `${key} two`, `${key}–`, `${key}\0`])(
    'with characters that headers cannot contain is rejected before anything is sent, and not in the error: %j',
    async (badKey) => {
      const expected = (source: string) =>
        new TypeError(`Yardgraph: expected ${source} to contain visible ASCII characters only`);

      expect(() => client({ apiKeyAuth: badKey })).toThrow(expected('apiKeyAuth'));
      await expect(list({ apiKeyAuth: () => badKey })).rejects.toThrow(expected('the key that apiKeyAuth returns'));
      vi.stubEnv('YARDGRAPH_API_KEY', badKey.replace('\0', ' \n -'));
      expect(() => client()).toThrow(expected('the environment variable YARDGRAPH_API_KEY'));
      expect(server.received).toEqual([]);
    },
  );

  test('does not appear in the text or JSON of an error or of the client, whatever the response', async () => {
    const echo = `Authorization: Bearer ${key}`;
    const replies = [
      problem(401, echo, { errors: [{ message: echo }] }),
      json(400, { error: echo, code: '400' }),
      json(200, { data: null, errors: [{ message: echo, extensions: { echo } }] }),
      page(500),
      hangUp,
      hang,
    ];
    const yardgraph = client({ apiKeyAuth: key, timeout: 300 });

    for (const reply of replies) {
      server.replies = [json(201, [{ id: 'a' }]), reply, reply, reply];
      server.received.length = 0;
      const errors = [
        await errorOf(PartialBatchError, yardgraph.assets.create([{ name: 'a' }, { name: 'b' }], { partSize: 1 })),
        await errorOf(YardgraphError, yardgraph.assetCategories.list()),
        await errorOf(YardgraphError, yardgraph.graphql('{ __typename }')),
      ];
      expect(sent()).toEqual(Array(4).fill(`Bearer ${key}`));
      for (const error of errors) {
        const texts = [error.message, String(error), error.stack, JSON.stringify(error), inspect(error, { depth: 9 })];
        for (const text of texts) expect(text).not.toContain('secret');
      }
    }
    expect(JSON.stringify(yardgraph) + inspect(yardgraph, { depth: 9, showHidden: true })).not.toContain('secret');
  });

  test('that is also a word in responses does not change how they are read', async () => {
    server.replies = [problem(400, 'the status is wrong', { errors: [{ field: 'status', message: 'wrong' }] })];

    const error = await errorOf(ServiceError, list({ apiKeyAuth: 'status' }));

    expect([error.status, error.message]).toEqual([400, 'the [key] is wrong']);
  });
});

test('on a service that requires a key, a client without one gets an error that says how to set it', async () => {
  vi.stubEnv('YARDGRAPH_API_KEY', undefined);
  const { assets, graphql } = await clientOf(service);
  const message = 'an API key is required: set the option apiKeyAuth or the environment variable YARDGRAPH_API_KEY';

  for (const call of [assets.create([{ name: 'Crane' }]), graphql('{ assets { totalCount } }')]) {
    expect(await errorOf(ServiceError, call)).toMatchObject({ status: 401, message });
  }
});

test.each(['', '/', '/yard', '/yard/'])('serverURL may end with the path of a proxy: %j', async (path) => {
  await list({ serverURL: server.url + path });
  await list({ serverURL: new URL(server.url + path) });

  const expected = `${path.replace(/\/$/, '')}/asset-categories`;
  expect(server.received.map((request) => request.path)).toEqual([expected, expected]);
});

const aUrl = 'expected serverURL to be a URL that begins with http:// or https://, such as "http://127.0.0.1:4000"';
const bareUrl = 'expected serverURL to have no user, password, parameters or fragment';
const anObject = 'expected options with serverURL, such as { serverURL: "http://127.0.0.1:4000" }, received';
const milliseconds = 'expected timeout to be a whole number from 1 to 2147483647, received';
const times = 'expected retries to be a whole number from 0 to 100, received';
const url = { serverURL: 'http://127.0.0.1' };

test.each<[unknown, string]>([
  ...['', 'yard', '/', '127.0.0.1:4000', 'ftp://127.0.0.1'].map(
    (serverURL) => [{ serverURL }, aUrl] as [unknown, string],
  ),
  [{}, `${aUrl}, received undefined`],
  [{ serverURL: 4000 }, `${aUrl}, received a number`],
  [{ serverURL: 'http://user:secret@127.0.0.1' }, bareUrl],
  [{ serverURL: 'http://127.0.0.1/?key=secret' }, bareUrl],
  [undefined, `${anObject} undefined`],
  ['http://127.0.0.1:4000', `${anObject} a string`],
  [
    { ...url, [`apiKey${'y'.repeat(200)}`]: key },
    `unknown option apiKey${'y'.repeat(94)}, expected one of serverURL, apiKeyAuth, timeout, retries, idempotencyKeys, changeMessage`,
  ],
  [{ ...url, timeout: 0 }, `${milliseconds} 0`],
  [{ ...url, timeout: '1000' }, `${milliseconds} a string`],
  [{ ...url, retries: -1 }, `${times} -1`],
  [{ ...url, idempotencyKeys: 'yes' }, 'expected idempotencyKeys to be true or false, received a string'],
  [{ ...url, changeMessage: 'a\nb' }, 'expected changeMessage to be text without line breaks'],
  [{ ...url, apiKeyAuth: 4711 }, 'expected apiKeyAuth to be a string, received a number'],
])('the options %j are rejected with what is expected', (options, message) => {
  expect(() => new Yardgraph(options as never)).toThrow(new TypeError(`Yardgraph: ${message}`));
});

const aKey = 'Yardgraph: expected idempotencyKey to be 1 to 255 printable ASCII characters';
const unknown = { dryrun: true } as never;
// REST and GraphQL have no dry runs that are options of the client: they would write.
const dry = { dryRun: true } as never;
const all = async (rows: AsyncIterable<unknown>) => {
  for await (const _ of rows);
};

test.each<[string, (yardgraph: Yardgraph) => unknown]>([
  ['create: expected an array of records, received an object', ({ assets }) => assets.create({} as never)],
  ['create: unknown option dryRun', ({ assets }) => assets.create([{ name: 'Crane' }], dry)],
  ['create: expected partSize to be a whole number from 1', ({ assets }) => assets.create([], { partSize: 0 })],
  ['update: expected an array of items, received a string', ({ assets }) => assets.update('asset_1' as never)],
  ['update: expected the ID as a string, received an object', ({ projects }) => projects.update({} as never)],
  ['upsert: ', ({ assets }) => assets.upsert({ field: 'UID' }, {} as never)],
  ['delete: unknown option dryrun', ({ assets }) => assets.delete([], unknown)],
  ['history: ', ({ assets }) => assets.history(7 as never)],
  ['importRecords: ', ({ importRecords }) => importRecords([] as never)],
  ['import: unknown option dryrun', (yardgraph) => all(yardgraph.import([], unknown))],
  ['changes: ', ({ changes }) => changes({ interval: 0 })],
  ['revertChanges: unknown option dryrun', (it) => it.revertChanges({ after: '2', upTo: '3' }, unknown)],
  ['graphql: expected a document as a string or an AST, received an object', ({ graphql }) => graphql({})],
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
