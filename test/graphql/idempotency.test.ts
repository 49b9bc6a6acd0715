/** Mutations with an Idempotency-Key: each field of a request is carried out once. */
import { describe, expect, test } from 'vitest';
import { useWorkspaces } from '../support/service.ts';

const service = useWorkspaces();
const marked = 'idempotency-replayed';

/** Sends an operation with a key. */
const run = (key: string, query: string, variables: object = {}, more: object = {}) =>
  service.post('/graphql', { query, variables, ...more }, { 'idempotency-key': key });

const lastChange = async () => Number((await service.data('{ changeCursor }')).changeCursor);

const update = (list: string, id: string, values: string) =>
  service.data(`mutation { update${list}(input: [{ id: "${id}", ${values} }]) { id } }`);

describe('A repeated mutation', () => {
  test('returns what its records link to as it is now', async () => {
    const [wall] = await service.create('/projects', { name: 'Harbour wall' });
    const query = `mutation { createWorkOrders(input: [{ projectId: "${wall.id}" }]) { projectId project { name } } }`;
    await run('a', query);
    await update('Projects', wall.id, 'name: "Quay"');

    const { data } = (await run('a', query)).body;

    expect(data.createWorkOrders).toEqual([{ projectId: wall.id, project: { name: 'Quay' } }]);
  });

  test('with other variables, another document or another operation name is an error of the field', async () => {
    const query = 'mutation A($name: String!) { createAssets(input: [{ name: $name }]) { name } }';
    await run('a', query, { name: 'Crane' });

    for (const other of [
      await run('a', query, { name: 'Pump' }),
      await run('a', `${query} `, { name: 'Crane' }),
      await run('a', query, { name: 'Crane' }, { operationName: 'A' }),
    ]) {
      expect(other.body).toMatchObject({
        data: { createAssets: null },
        errors: [
          {
            message: 'this Idempotency-Key was sent with another request: a new request needs a new key',
            path: ['createAssets'],
            extensions: { code: 'CONFLICT', type: 'urn:yardgraph:idempotency-key-reused' },
          },
        ],
      });
    }
    expect(await lastChange()).toBe(1);
  });
});

/** Creates, changes, upserts, imports and deletions of all kinds are repeated in test/services/write-model.test.ts. */
describe('Other writes', () => {
  /** What each is sent to: a crane and a pump at a yard, and a project, all with the ID that the ERP has for them. */
  const writes: Record<string, (ids: Record<'wall', string>) => string> = {
    'a change of one project': ({ wall }) => `updateProject(id: "${wall}", input: { name: "Quay" }) { name updatedAt }`,
    reversals: () => 'revertChanges(after: "2", upTo: "4") { reversed kept failed notReversed { message } }',
    'upserts that skip invalid items': () =>
      `upsertAssets(by: { externalId: "erp" }, onInvalid: SKIP, input: [
        { externalIds: { erp: "new", asset_01h455vb4pex5vsknk084sn02q: 7 }, name: "A path with a text that could be an ID" }
        { externalIds: { erp: "crane" }, name: "Tower crane" }
      ]) { outcome record { id name } issues { path message code other } }`,
    'imports that skip invalid items': () =>
      `importRecords(onInvalid: SKIP, input: { assets: [{ name: "Digger" }, { name: " " }, { name: "Truck" }] }) {
        assets { id name } rejected { list index issues { path message code other } } }`,
    'deletions by keys': () => 'deleteAssets(by: { externalId: "erp" }, keys: ["pump"]) { id name updatedAt }',
  };

  test.each(Object.entries(writes))('%s: a repeat gets the same response, and writes nothing', async (_, write) => {
    const [yard] = await service.create('/locations', { name: 'North yard' });
    const [crane] = await service.create(
      '/assets',
      { name: 'Crane', currentLocationId: yard.id, externalIds: { erp: 'crane' } },
      { name: 'Pump', externalIds: { erp: 'pump' } },
    );
    const [wall] = await service.create('/projects', { name: 'Harbour wall', externalIds: { erp: 'wall' } });
    const query = `mutation { ${write({ wall: wall.id })} }`;
    const first = await run('a', query);
    expect(first.body.errors).toBeUndefined();
    const immediately = await run('a', query);
    await service.data(`mutation { updateAssets(input: [{ id: "${crane.id}", name: "Scrap" }]) { id } }`);
    const before = await lastChange();

    const again = await run('a', query);

    expect([immediately.text, again.text]).toEqual([first.text, first.text]);
    expect([first, immediately, again].map(({ headers }) => headers[marked])).toEqual([undefined, 'true', 'true']);
    expect(await lastChange()).toBe(before);
  });
});

describe('Of several mutations in one request', () => {
  const two = (second: string) => `mutation {
    first: createAssets(input: [{ name: "Crane" }]) { id }
    second: createAssets(input: [{ name: "${second}", uid: "CR-1" }]) { id }
  }`;

  test('a repeat carries out those that were not, and only them', async () => {
    const [blocking] = await service.create('/assets', { name: 'Digger', uid: 'CR-1' });
    const first = await run('a', two('Pump'));
    expect(first.body.data).toEqual({ first: [{ id: expect.any(String) }], second: null });
    await update('Assets', blocking.id, 'uid: null');

    const again = await run('a', two('Pump'));

    expect(again.body.data).toEqual({ first: first.body.data.first, second: [{ id: expect.any(String) }] });
    expect(again.headers[marked]).toBe('true');
    expect((await service.data('{ assets { totalCount } }')).assets.totalCount).toBe(3);
  });
});

describe('The key', () => {
  test('is ignored by queries and dry runs, whatever it is', async () => {
    const query = await run('', '{ assets { totalCount } }');
    const dry = 'mutation { createAssets(dryRun: true, input: [{ name: "Crane" }]) { name } }';

    expect([query.body.data, query.headers[marked]]).toEqual([{ assets: { totalCount: 0 } }, undefined]);
    for (const _ of ['first', 'again']) expect((await run('b', dry)).headers[marked]).toBeUndefined();
    expect(await lastChange()).toBe(0);
  });
});
