/** Writes with an Idempotency-Key: the client sends them again although they may be stored, because the service stores them once. */
import { describe, expect, test } from 'vitest';
import { ConnectionError, type Options, ServiceError, type WriteOptions, Yardgraph } from '../../client/index.ts';
import { errorOf, useShortDelays } from '../support/client.ts';
import { hang, hangUp, json, page, problem, useScriptedServer } from '../support/scripted-server.ts';

const server = useScriptedServer();
useShortDelays();

const client = (options: Partial<Options> = {}) => new Yardgraph({ serverURL: server.url, ...options });
const write = (options: Partial<Options> = {}, own: WriteOptions = {}) =>
  client(options).assets.create([{ name: 'Crane' }], own);
const sent = (name: string) => server.received.map(({ headers }) => headers[name]);
const keys = () => sent('idempotency-key');

const knowsKeys = json(200, { status: 'ok', idempotencyKeys: true });
const now = { headers: { 'retry-after': '0' } };
const created = json(201, [{ id: 'asset_1', name: 'Crane' }]);
const random = expect.stringMatching(/^[0-9a-f]{32}$/);

describe('a write that may be stored is sent again with the same key and the same body', () => {
  test.each([
    ['a lost connection', hangUp],
    ['a timeout', hang],
    ['a 503 that says so', problem(503, 'lost', { ...now, type: 'urn:yardgraph:may-be-stored' })],
    ['a 503 from a proxy', page(503)],
  ])('after %s', async (_, failure) => {
    Object.assign(server, { health: knowsKeys, replies: [failure, failure, created] });

    expect(await write({ timeout: 500 })).toEqual([{ id: 'asset_1', name: 'Crane' }]);

    expect(keys()).toEqual(Array(3).fill(random));
    expect(new Set(keys()).size).toBe(1);
    expect(new Set(server.received.map(({ body }) => body)).size).toBe(1);
  });

  test('if it is a change, or a mutation', async () => {
    Object.assign(server, { health: knowsKeys, replies: [hangUp, json(200, { id: 'project_1' })] });
    await client().projects.update('project_1', { name: 'Quay' });
    server.received = [];
    server.replies = [hangUp, json(200, { data: { createAssets: [] } })];
    await client().graphql('mutation { createAssets(input: []) { id } }');

    expect(server.received.map(({ path }) => path)).toEqual(['/graphql', '/graphql']);
    expect(new Set(keys()).size).toBe(1);
  });

  test('but not after a 500 or a 502', async () => {
    for (const failure of [problem(500, 'unexpected error'), page(502)]) {
      Object.assign(server, { health: knowsKeys, replies: [failure, created], received: [] });

      expect(await write().catch((error) => error)).toMatchObject({ mayBeStored: true });
      expect(server.received).toHaveLength(1);
    }
  });
});

describe('that the service knows keys', () => {
  test('is asked before the first repeat, and not again', async () => {
    Object.assign(server, { health: knowsKeys, replies: [hangUp, created] });
    const { assets } = client();
    await assets.create([{ name: 'Crane' }]);
    expect(server.probes).toBe(1);

    Object.assign(server, { received: [], replies: [hangUp, created] });
    await assets.create([{ name: 'Crane' }]);
    expect(server.probes).toBe(1);
  });

  test('is asked again if the response is that it is temporarily unavailable', async () => {
    const health = (...response: Parameters<typeof knowsKeys>) =>
      (server.probes === 1 ? problem(503, 'starting', now) : knowsKeys)(...response);
    Object.assign(server, { health, replies: [hangUp, created] });

    await write();

    expect([server.received.length, server.probes]).toEqual([2, 2]);
  });

  test.each([
    ['it does not say so', json(200, { status: 'ok' })],
    ['it says something else', json(200, { status: 'ok', idempotencyKeys: 'yes' })],
    ['it says nothing', json(200, null)],
    ['a proxy does not let it through', page(404)],
  ])('is not so if %s: nothing is repeated', async (_, health) => {
    Object.assign(server, { health, replies: [hangUp, created] });

    const error = await errorOf(ConnectionError, write());

    expect([error.mayBeStored, server.received.length, server.probes]).toEqual([true, 1, 1]);
  });
});

describe('mayBeStored', () => {
  test('stays true if no later attempt shows what became of an earlier one', async () => {
    for (const last of [
      hangUp,
      problem(503, 'the database is not available', now),
      problem(429, 'wait', now),
      problem(401, 'no'),
    ]) {
      Object.assign(server, { health: knowsKeys, replies: [hangUp, last], received: [] });

      expect(await write({ retries: 1 }).catch((error) => error)).toMatchObject({ mayBeStored: true });
      expect(server.received).toHaveLength(2);
    }
  });

  test('is false if the service then rejects the request: it has looked for the key', async () => {
    Object.assign(server, { health: knowsKeys, replies: [hangUp, problem(409, '[0].uid: taken')] });

    const error = await errorOf(ServiceError, write());

    expect([error.status, error.mayBeStored]).toEqual([409, false]);
  });
});

describe('the key', () => {
  test('is a new one for each write, and for each part of a batch', async () => {
    server.replies = [created];
    const { assets } = client();
    await assets.create([{ name: 'Crane' }]);
    await assets.create([{ name: 'Crane' }]);
    await assets.create([{ name: 'Crane' }, { name: 'Pump' }], { partSize: 1 });

    expect(new Set(keys()).size).toBe(4);
  });

  test('may be one of the program, with the position of the part if there are several', async () => {
    server.replies = [created];
    const { assets, projects, graphql } = client();
    await assets.create([{ name: 'Crane' }], { idempotencyKey: 'import 7' });
    await assets.create([{ name: 'Crane' }, { name: 'Pump' }], { idempotencyKey: 'import 8', partSize: 1 });
    server.replies = [json(200, { id: 'project_1', data: {} })];
    await projects.update('project_1', {}, { idempotencyKey: 'import 9' });
    await graphql('mutation { a }', {}, { idempotencyKey: 'import 10' });

    expect(keys()).toEqual(['import 7', 'import 8-0', 'import 8-1', 'import 9', 'import 10']);
  });

  test('is not sent with what only reads', async () => {
    server.replies = [json(200, [])];
    await client().assetCategories.list();
    server.replies = [json(200, { data: {} })];
    await client().graphql('{ a }');

    expect(keys()).toEqual([undefined, undefined]);
  });

  test('is not sent with the option idempotencyKeys: false, and then nothing is repeated', async () => {
    Object.assign(server, { health: knowsKeys, replies: [hangUp, created] });

    const error = await errorOf(ConnectionError, write({ idempotencyKeys: false }));

    expect([error.mayBeStored, keys()]).toEqual([true, [undefined]]);
  });

  test.each(['', ' a', 'ü', 'a\n', 'x'.repeat(256), 7 as unknown as string])(
    'is not valid: %j',
    async (idempotencyKey) => {
      await expect(write({}, { idempotencyKey })).rejects.toThrow(
        /^Yardgraph: expected idempotencyKey to be 1 to 255 printable ASCII characters/,
      );
      expect(server.received).toEqual([]);
    },
  );
});

describe('the change message', () => {
  const utf8 = (text: unknown) => Buffer.from(String(text), 'latin1').toString();

  test('is sent in UTF-8 with every write, and not with what only reads', async () => {
    server.replies = [created, json(200, [])];
    const { assets, assetCategories } = client({ changeMessage: 'Nächtlicher Import – 起重机' });
    await assets.create([{ name: 'Crane' }]);
    await assetCategories.list();

    const [message, none] = sent('x-change-message');
    expect([utf8(message), none]).toEqual(['Nächtlicher Import – 起重机', undefined]);
  });

  test('may be another one for a single write', async () => {
    server.replies = [created];
    await write({ changeMessage: 'nightly import' }, { changeMessage: 'corrected by hand' });

    expect(sent('x-change-message')).toEqual(['corrected by hand']);
  });

  test('must be text without line breaks', async () => {
    const expected = 'Yardgraph: expected changeMessage to be text without line breaks';
    expect(() => client({ changeMessage: 'a\nb' })).toThrow(new TypeError(expected));
    await expect(write({}, { changeMessage: 7 as unknown as string })).rejects.toThrow(
      new TypeError(`${expected}, received a number`),
    );
  });
});

test('idempotencyKeys must be true or false', () => {
  expect(() => client({ idempotencyKeys: 'yes' as unknown as boolean })).toThrow(
    new TypeError('Yardgraph: expected idempotencyKeys to be true or false, received a string'),
  );
});
