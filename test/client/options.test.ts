/** The client's options: the API key, the server URL and the limits. Interface: "Authentication". */
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Options, PartialBatchError, ServiceError, Yardgraph, YardgraphError } from '../../src/client/index.ts';
import { errorOf } from '../support/client.ts';
import { hang, hangUp, json, page, problem, useScriptedServer } from '../support/scripted-server.ts';

const server = useScriptedServer();
const key = 'yg_secret-0123456789';

const client = (options: Partial<Options> = {}) => new Yardgraph({ serverURL: server.url, retries: 0, ...options });
const list = (options: Partial<Options> = {}) => client(options).assetCategories.list();
const sent = () => server.received.map(({ headers }) => headers.authorization);

beforeEach(() => {
  server.replies = [json(200, [])];
});

afterEach(() => vi.unstubAllEnvs());

describe('the key', () => {
  test('is sent as a bearer token with every request', async () => {
    await list({ apiKeyAuth: key });
    server.replies = [json(200, { data: {} })];
    await client({ apiKeyAuth: key }).graphql('{ __typename }');

    expect(sent()).toEqual([`Bearer ${key}`, `Bearer ${key}`]);
  });

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

  test('comes from the environment unless it is set explicitly', async () => {
    vi.stubEnv('YARDGRAPH_API_KEY', 'from-environment');

    await list();
    await list({ apiKeyAuth: undefined });
    await list({ apiKeyAuth: key });
    await list({ apiKeyAuth: '' });

    expect(sent()).toEqual(['Bearer from-environment', 'Bearer from-environment', `Bearer ${key}`, undefined]);
  });

  test('is not sent if there is none', async () => {
    vi.stubEnv('YARDGRAPH_API_KEY', undefined);

    await list();

    expect(sent()).toEqual([undefined]);
  });

  test('may end with the newline of the file it was read from', async () => {
    await list({ apiKeyAuth: `${key}\n` });

    expect(sent()).toEqual([`Bearer ${key}`]);
  });

  test.each([`${key}\r\nx-injected: 1`, `${key} two`, `${key}–`, `${key}\0`])(
    'with characters that headers cannot contain is rejected before anything is sent, and not in the error: %j',
    async (apiKeyAuth) => {
      await expect(list({ apiKeyAuth })).rejects.toThrow(
        new TypeError('apiKeyAuth: expected visible ASCII characters only'),
      );
      expect(server.received).toEqual([]);
    },
  );

  test('that is not text is rejected', async () => {
    await expect(list({ apiKeyAuth: (() => undefined) as never })).rejects.toThrow(TypeError);
    await expect(list({ apiKeyAuth: 5 as never })).rejects.toThrow(TypeError);
  });

  test('whose function fails causes that function’s error', async () => {
    const apiKeyAuth = () => Promise.reject(new Error('the vault is closed'));

    await expect(list({ apiKeyAuth })).rejects.toThrow('the vault is closed');
  });

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

  test('that is invalid throws a 401 error', async () => {
    server.replies = [problem(401, 'there is no such key')];

    expect((await errorOf(ServiceError, list({ apiKeyAuth: key }))).status).toBe(401);
  });
});

describe('serverURL', () => {
  test.each(['', '/', '/yard', '/yard/'])('may end with the path of a proxy: %j', async (path) => {
    await list({ serverURL: server.url + path });
    await list({ serverURL: new URL(server.url + path) });

    const expected = `${path.replace(/\/$/, '')}/asset-categories`;
    expect(server.received.map((request) => request.path)).toEqual([expected, expected]);
  });

  test.each([undefined, '', 'yard', '/', 'ftp://127.0.0.1', 'javascript:alert(1)'])('cannot be %j', (serverURL) => {
    expect(() => client({ serverURL: serverURL as string })).toThrow(
      new TypeError('serverURL: expected a URL such as http://127.0.0.1:4000'),
    );
  });

  test.each(['http://user:secret@127.0.0.1', 'http://127.0.0.1/?key=secret', 'http://127.0.0.1/#secret'])(
    'must not have a user, parameters or a fragment: %s',
    (serverURL) => {
      expect(() => client({ serverURL })).toThrow(
        new TypeError('serverURL: expected a URL without user, password, parameters and fragment'),
      );
    },
  );
});

test.each([
  { timeout: 0 },
  { timeout: -1 },
  { timeout: 2 ** 31 },
  { timeout: Number.POSITIVE_INFINITY },
  { retries: -1 },
  { retries: 0.5 },
  { retries: 1_000 },
])('%j is rejected', (options) => {
  expect(() => client(options)).toThrow(TypeError);
});
