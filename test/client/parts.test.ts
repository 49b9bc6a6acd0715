/** Batches sent in parts: only with `partSize`, one after the other. Errors include the records already stored. */
import { describe, expect, test } from 'vitest';
import { ConnectionError, PartialBatchError, ServiceError, Yardgraph } from '../../client/index.ts';
import { clientOf, errorOf } from '../support/client.ts';
import { hangUp, json, problem, useScriptedServer } from '../support/scripted-server.ts';
import { useService } from '../support/service.ts';

const named = (size: number) => Array.from({ length: size }, (_, index) => ({ name: `asset ${index}` }));

describe('on the service', () => {
  const service = useService({ MAX_BATCH: '10' });

  test('a batch over the limit is rejected as a whole without partSize', async () => {
    const { assets, graphql } = await clientOf(service);

    const error = await errorOf(ServiceError, assets.create(named(25)));

    expect(error.status).toBe(413);
    expect(await graphql('{ assets { totalCount } }')).toEqual({ assets: { totalCount: 0 } });
  });

  test.each([1, 7, 10, 25, 1_000])(
    'a batch in parts of %i returns all records in the order sent, if no part is over the limit',
    async (partSize) => {
      const { assets } = await clientOf(service);
      const batch = named(partSize > 10 ? 9 : 25);

      const created = await assets.create(batch, { partSize });

      expect(created.map(({ name }) => name)).toEqual(batch.map(({ name }) => name));
      expect(created.map(({ id }) => id).toSorted()).toEqual(created.map(({ id }) => id));
    },
  );

  test('if a later part fails, the error has the stored records, and indexes in the whole batch', async () => {
    const { assets, graphql } = await clientOf(service);
    const batch = [...named(23), { name: ' ' }, { name: 'last' }];

    const error = await errorOf(PartialBatchError, assets.create(batch, { partSize: 10 }));

    expect(error.created).toHaveLength(20);
    expect(error.items).toMatchObject([{ index: 23, field: 'name' }]);
    expect(error.message).toBe(
      'created 20 of 25 records (stored: [0] to [19]; not stored: [20] to [24]). Part 3 failed: ' +
        '[23].name: expected text with at least one character that is not white space, received " "',
    );
    expect(error.cause).toBeInstanceOf(ServiceError);
    expect(error.mayBeStored).toBe(false);
    expect(await graphql('{ assets { totalCount } }')).toEqual({ assets: { totalCount: 20 } });

    const rest = await assets.create([...batch.slice(error.created.length, 23), { name: 'last' }], { partSize: 10 });
    expect(rest).toHaveLength(4);
  });

  test('if the first part fails, nothing is stored, and the error is the same as without parts', async () => {
    const { assets } = await clientOf(service);

    const error = await errorOf(ServiceError, assets.create([{ name: ' ' }, ...named(20)], { partSize: 10 }));

    expect(error.items).toMatchObject([{ index: 0 }]);
  });
});

describe('on a server that fails', () => {
  const server = useScriptedServer();

  test('parts are sent one after the other, and none after a failed part', async () => {
    server.replies = [json(201, [{ id: 'a' }, { id: 'b' }]), hangUp, json(201, [{ id: 'e' }])];
    const { assets } = new Yardgraph({ serverURL: server.url });

    const error = await errorOf(PartialBatchError, assets.create(named(5), { partSize: 2 }));

    expect(error.created).toEqual([{ id: 'a' }, { id: 'b' }]);
    expect(error.message).toMatch(
      /^created 2 of 5 records \(stored: \[0\] to \[1\]; may be stored: \[2\] to \[3\]; not stored: \[4\]\)\. Part 2 failed: no response from the service: \w+$/,
    );
    expect([error.mayBeStored, error.cause]).toEqual([true, expect.any(ConnectionError)]);
    expect(server.received.map(({ body }) => JSON.parse(body).length)).toEqual([2, 2]);
  });

  test('a part is retried like a batch', async () => {
    const unavailable = problem(503, 'away', { headers: { 'retry-after': '0' } });
    server.replies = [json(201, [{ id: 'a' }]), unavailable, json(201, [{ id: 'b' }])];
    const { assets } = new Yardgraph({ serverURL: server.url });

    expect(await assets.create(named(2), { partSize: 1 })).toEqual([{ id: 'a' }, { id: 'b' }]);
  });

  test('an error before sending a later part has the stored records too', async () => {
    server.replies = [json(201, [{ id: 'a' }])];
    const { locations } = new Yardgraph({ serverURL: server.url });

    const call = locations.create([{}, { latitude: Number.NaN }], { partSize: 1 });

    const { created, mayBeStored, cause, message } = await errorOf(PartialBatchError, call);
    expect(message).toBe(
      'created 1 of 2 records (stored: [0]; not stored: [1]). Part 2 failed: ' +
        'latitude: expected a finite number, received NaN',
    );
    expect([created, mayBeStored, cause]).toEqual([[{ id: 'a' }], false, expect.any(TypeError)]);
  });

  test('the error for a part with many invalid fields lists ten of them in its message, with indexes in the batch', async () => {
    const errors = Array.from({ length: 12 }, (_, index) => ({ index, field: 'name', message: 'required' }));
    server.replies = [
      json(201, [{ id: 'a' }]),
      problem(400, 'many', { errors: [{ message: 'all of them' }, ...errors] }),
    ];
    const { locations } = new Yardgraph({ serverURL: server.url });

    const error = await errorOf(PartialBatchError, locations.create([{}, {}], { partSize: 1 }));

    expect(error.message).toMatch(
      / Part 2 failed: all of them; \[1\]\.name: required; .*; \[9\]\.name: required; and 3 more$/,
    );
    expect(error.items).toHaveLength(13);
  });

  test.each([0, -1, 1.5, Number.NaN])('a partSize of %d is rejected, and nothing is sent', async (partSize) => {
    const { assets } = new Yardgraph({ serverURL: server.url });

    await expect(assets.create(named(2), { partSize })).rejects.toThrow(
      `create: expected partSize to be a whole number from 1 to 9007199254740991, received ${partSize}`,
    );
    expect(server.received).toEqual([]);
  });
});
