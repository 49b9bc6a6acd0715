/** The client's options: the API key, the server URL and the limits. Interface: "Authentication". */
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Options, PartialBatchError, ServiceError, Yardgraph, YardgraphError } from '../../client/index.ts';
import { clientOf, errorOf } from '../support/client.ts';
import { hang, hangUp, json, page, problem, useScriptedServer } from '../support/scripted-server.ts';
import { useSharedService } from '../support/service.ts';

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

  test('that is not text is rejected, without being in the error', async () => {
    expect(() => client({ apiKeyAuth: 4711 as never })).toThrow(
      new TypeError('Yardgraph: expected apiKeyAuth to be a string, received a number'),
    );
    await expect(list({ apiKeyAuth: (() => undefined) as never })).rejects.toThrow(
      new TypeError('Yardgraph: expected the key that apiKeyAuth returns to be a string, received undefined'),
    );
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
});

describe('on a service that requires a key, a client without one gets an error that says how to set it', () => {
  const service = useSharedService({}, { closed: true });
  const message = 'an API key is required: set the option apiKeyAuth or the environment variable YARDGRAPH_API_KEY';

  test.each<[string, (yardgraph: Yardgraph) => Promise<unknown>]>([
    ['REST', ({ assets }) => assets.create([{ name: 'Crane' }])],
    ['GraphQL', ({ graphql }) => graphql('{ assets { totalCount } }')],
  ])('for %s', async (_, call) => {
    vi.stubEnv('YARDGRAPH_API_KEY', undefined);

    const error = await errorOf(ServiceError, call(await clientOf(service)));

    expect([error.status, error.message]).toEqual([401, message]);
  });
});

describe('serverURL', () => {
  test.each(['', '/', '/yard', '/yard/'])('may end with the path of a proxy: %j', async (path) => {
    await list({ serverURL: server.url + path });
    await list({ serverURL: new URL(server.url + path) });

    const expected = `${path.replace(/\/$/, '')}/asset-categories`;
    expect(server.received.map((request) => request.path)).toEqual([expected, expected]);
  });

  const expectation =
    'Yardgraph: expected serverURL to be a URL that begins with http:// or https://, such as "http://127.0.0.1:4000"';

  test.each(['', 'yard', '/', '127.0.0.1:4000', 'localhost:4000', 'ftp://127.0.0.1', 'javascript:alert(1)'])(
    'cannot be %j',
    (serverURL) => {
      expect(() => client({ serverURL })).toThrow(new TypeError(expectation));
    },
  );

  test.each([
    [undefined, 'undefined'],
    [null, 'null'],
    [4000, 'a number'],
    [['http://127.0.0.1'], 'an array'],
    [{ url: 'http://127.0.0.1' }, 'an object'],
  ])('that is not text is rejected: %j', (serverURL, received) => {
    expect(() => client({ serverURL: serverURL as never })).toThrow(
      new TypeError(`${expectation}, received ${received}`),
    );
  });

  test.each(['http://user:secret@127.0.0.1', 'http://127.0.0.1/?key=secret', 'http://127.0.0.1/#secret'])(
    'must not have a user, parameters or a fragment: %s',
    (serverURL) => {
      expect(() => client({ serverURL })).toThrow(
        new TypeError('Yardgraph: expected serverURL to have no user, password, parameters or fragment'),
      );
    },
  );
});

test.each([
  [undefined, 'undefined'],
  [null, 'null'],
  ['http://127.0.0.1:4000', 'a string'],
  [[], 'an array'],
])('options that are no object are rejected with an example: %j', (options, received) => {
  expect(() => new Yardgraph(options as never)).toThrow(
    new TypeError(
      `Yardgraph: expected options with serverURL, such as { serverURL: "http://127.0.0.1:4000" }, received ${received}`,
    ),
  );
});

test('an unknown option is rejected, with the names of all options', () => {
  const options = { serverURL: server.url, [`apiKey${'y'.repeat(200)}`]: key };

  expect(() => new Yardgraph(options)).toThrow(
    new TypeError(
      `Yardgraph: unknown option apiKey${'y'.repeat(94)}, expected one of serverURL, apiKeyAuth, timeout, retries, idempotencyKeys, changeMessage`,
    ),
  );
});

test.each([
  [{ timeout: 0 }, 'timeout to be a whole number from 1 to 2147483647, received 0'],
  [{ timeout: -1 }, 'timeout to be a whole number from 1 to 2147483647, received -1'],
  [{ timeout: 2 ** 31 }, 'timeout to be a whole number from 1 to 2147483647, received 2147483648'],
  [{ timeout: Number.POSITIVE_INFINITY }, 'timeout to be a whole number from 1 to 2147483647, received Infinity'],
  [{ timeout: '1000' as never }, 'timeout to be a whole number from 1 to 2147483647, received a string'],
  [{ retries: -1 }, 'retries to be a whole number from 0 to 100, received -1'],
  [{ retries: 0.5 }, 'retries to be a whole number from 0 to 100, received 0.5'],
  [{ retries: 1_000 }, 'retries to be a whole number from 0 to 100, received 1000'],
])('%j is rejected', (options, expected) => {
  expect(() => client(options)).toThrow(new TypeError(`Yardgraph: expected ${expected}`));
});
