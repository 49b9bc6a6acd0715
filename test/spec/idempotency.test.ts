/** Interface: "Retries". A request with an Idempotency-Key is carried out once, and a repeat gets the first response again. */
import { describe, expect, test } from 'vitest';
import { deleteDocument } from '../support/mutations.ts';
import { fullRecord, restKinds } from '../support/records.ts';
import { useWorkspaces } from '../support/service.ts';

const service = useWorkspaces();
const key = (text: string) => ({ 'idempotency-key': text });
const asProblem = { accept: 'application/problem+json' };

const changes = async () => Number((await service.data('{ changeCursor }')).changeCursor);

const marked = 'idempotency-replayed';

test.each(restKinds)(
  'a repeated create at $path gets the same response, byte for byte, and creates nothing, although the records were deleted',
  async ({ kind, path, smallest }) => {
    const sent = JSON.stringify([fullRecord(kind), smallest]).replace(
      '"erp"',
      '"__proto__":"\\"","10":"a","9":"b","erp"',
    );
    const headers = { ...key('a'), prefer: 'handling=lenient' };
    const first = await service.post(path, sent, headers);
    await service.data(deleteDocument(kind), { ids: first.body.map(({ id }: { id: string }) => id) });

    const again = await service.post(path, sent, headers);

    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.text).toBe(first.text);
    expect([first, again].map(({ headers }) => headers[marked])).toEqual([undefined, 'true']);
    for (const name of ['content-type', 'preference-applied']) expect(again.headers[name]).toBe(first.headers[name]);
    expect(await changes()).toBe(4);
  },
);

test('the same key with another body, path, content type or Prefer gets a 409', async () => {
  const [wall, quay] = await service.create('/projects', { name: 'Harbour wall' }, { name: 'Quay' });
  const headers = key('a');
  const patch = (id: string, body: object, more: Record<string, string> = {}) =>
    service.patch(`/projects/${id}`, body, { ...headers, ...more });
  await patch(wall.id, { name: 'Pier' });

  const error = 'this Idempotency-Key was sent with another request: a new request needs a new key';
  for (const other of [
    await patch(wall.id, { name: 'Dock' }),
    await patch(wall.id, { nmae: 'Dock' }),
    await patch(quay.id, { name: 'Pier' }),
    await patch(wall.id, { name: 'Pier' }, { 'content-type': 'application/merge-patch+json' }),
    await patch(wall.id, { name: 'Pier' }, { prefer: 'handling=lenient' }),
  ]) {
    expect(other).toMatchObject({ status: 409, body: { error, code: '409' } });
    expect(other.headers[marked]).toBeUndefined();
  }
  expect((await patch(quay.id, { name: 'Pier' }, asProblem)).body).toEqual({
    type: 'urn:yardgraph:idempotency-key-reused',
    title: 'Conflict',
    status: 409,
    detail: error,
  });
  // In another operation it is another key.
  expect((await service.post('/locations', [{ name: 'Pier' }], headers)).status).toBe(201);
  expect(await changes()).toBe(4);
});

test('a request that fails stores nothing under its key: the corrected one may have it', async () => {
  const headers = key('a');
  await service.post('/assets', [{ name: 'Crane', uid: 'CR-1' }]);

  const send = async (body: unknown) => (await service.post('/assets', body, headers)).status;
  expect(await send([{ nmae: 'Crane' }])).toBe(400);
  expect(await send([{ name: 'Crane', uid: 'CR-1' }])).toBe(409);
  expect(await send('not JSON')).toBe(400);
  expect(await send([{ name: 'Crane', uid: 'CR-2' }])).toBe(201);
});

test.each(['', 'x'.repeat(256), 'schlüssel', 'a\tb'])('a key that is no key gets a 400: %j', async (text) => {
  const { status, body } = await service.post('/assets', [{ name: 'Crane' }], key(text));
  const expected = 'Idempotency-Key: expected 1 to 255 printable ASCII characters, such as a UUID, received "';
  expect([status, body.error.slice(0, expected.length)]).toEqual([400, expected]);
  expect(body.error.length).toBeLessThan(200);
});

const run = (query: string, variables: object = {}, more: object = {}) =>
  service.post('/graphql', { query, variables, ...more }, key('a'));

const updateOne = (list: string, id: string, values: string) =>
  service.data(`mutation { update${list}(input: [{ id: "${id}", ${values} }]) { id } }`);

describe('A repeated mutation of GraphQL', () => {
  test('returns what its records link to as it is now', async () => {
    const [wall] = await service.create('/projects', { name: 'Harbour wall' });
    const query = `mutation { createWorkOrders(input: [{ projectId: "${wall.id}" }]) { projectId project { name } } }`;
    await run(query);
    await updateOne('Projects', wall.id, 'name: "Quay"');
    const { data } = (await run(query)).body;
    expect(data.createWorkOrders).toEqual([{ projectId: wall.id, project: { name: 'Quay' } }]);
  });

  test('with other variables, another document or another operation name is an error of the field', async () => {
    const query = 'mutation A($name: String!) { createAssets(input: [{ name: $name }]) { name } }';
    await run(query, { name: 'Crane' });

    for (const other of [
      await run(query, { name: 'Pump' }),
      await run(`${query} `, { name: 'Crane' }),
      await run(query, { name: 'Crane' }, { operationName: 'A' }),
    ]) {
      const message = 'this Idempotency-Key was sent with another request: a new request needs a new key';
      const extensions = { code: 'CONFLICT', type: 'urn:yardgraph:idempotency-key-reused' };
      const errors = [{ message, path: ['createAssets'], extensions }];
      expect(other.body).toMatchObject({ data: { createAssets: null }, errors });
    }
    expect(await changes()).toBe(1);
  });
});

const two = `mutation {
  first: createAssets(input: [{ name: "Crane" }]) { id }
  second: createAssets(input: [{ name: "Pump", uid: "CR-1" }]) { id }
}`;

test('of several mutations in one request, a repeat carries out those that were not, and only them', async () => {
  const [blocking] = await service.create('/assets', { name: 'Digger', uid: 'CR-1' });
  const first = await run(two);
  expect(first.body.data).toEqual({ first: [{ id: expect.any(String) }], second: null });
  await updateOne('Assets', blocking.id, 'uid: null');

  const again = await run(two);

  expect(again.body.data).toEqual({ first: first.body.data.first, second: [{ id: expect.any(String) }] });
  expect(again.headers[marked]).toBe('true');
  expect((await service.data('{ assets { totalCount } }')).assets.totalCount).toBe(3);
});

test('the key is ignored by queries and dry runs, whatever it is', async () => {
  const query = await service.post('/graphql', { query: '{ assets { totalCount } }' }, key(''));
  const dry = 'mutation { createAssets(dryRun: true, input: [{ name: "Crane" }]) { name } }';
  expect([query.body.data, query.headers[marked]]).toEqual([{ assets: { totalCount: 0 } }, undefined]);
  for (const _ of ['first', 'again']) expect((await run(dry)).headers[marked]).toBeUndefined();
  expect(await changes()).toBe(0);
});
