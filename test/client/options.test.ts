/** The client's options: the API key, the server URL and the limits. Interface: "Authentication". */
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Options, Yardgraph, YardgraphError } from '../../client/index.ts';
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
      const error = new TypeError('Yardgraph: expected the API key to contain visible ASCII characters only');

      expect(() => client({ apiKeyAuth: badKey })).toThrow(error);
      await expect(list({ apiKeyAuth: () => badKey })).rejects.toThrow(error);
      expect(server.received).toEqual([]);
    },
  );

  test('does not appear in the text or JSON of an error or of the client', async () => {
    const yardgraph = client({ apiKeyAuth: key, timeout: 300 });
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
  await list({ serverURL: server.url + path });
  await list({ serverURL: new URL(server.url + path) });

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
