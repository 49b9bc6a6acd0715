/** Batches sent in parts: only with `partSize`, one after the other. Errors include the records already stored. */
import { describe, expect, expectTypeOf, test } from 'vitest';
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

describe('updates, upserts and deletions in parts', () => {
  const service = useService({ MAX_BATCH: '10' });
  const keyed = (size: number) => named(size).map((item, index) => ({ ...item, uid: `U-${index}` }));

  test('return a result for each item, in the order sent, and say how far they are', async () => {
    const { assets } = await clientOf(service);
    const progress: string[] = [];
    const options = { partSize: 10, onProgress: (stored: number, size: number) => progress.push(`${stored}/${size}`) };

    const upserted = await assets.upsert({ field: 'UID' }, keyed(25), options);
    const updated = await assets.update(
      upserted.map(({ record }) => ({ id: record.id, name: 'renamed' })),
      options,
    );
    const deleted = await assets.delete({ by: { field: 'UID' }, keys: keyed(25).map(({ uid }) => uid) }, options);

    expect(upserted.map(({ record }) => record.name)).toEqual(named(25).map(({ name }) => name));
    expect(updated.map(({ id }) => id)).toEqual(upserted.map(({ record }) => record.id));
    expect(deleted).toEqual(updated);
    expect(progress).toEqual(['10/25', '20/25', '25/25', '10/25', '20/25', '25/25', '10/25', '20/25', '25/25']);
  });

  test('return only IDs and outcomes if they are asked to', async () => {
    const { assets } = await clientOf(service);
    const returning = 'outcome';

    const upserted = await assets.upsert({ field: 'UID' }, keyed(2), { returning });
    const record = upserted[1]?.record ?? { id: '' };
    const updated = await assets.update([{ id: record.id, name: 'renamed' }], { returning });
    const deleted = await assets.delete([record.id], { returning });

    const [first, second] = upserted.map((result) => result.record.id);
    expect(upserted).toEqual([
      { outcome: 'CREATED', record: { id: first } },
      { outcome: 'CREATED', record: { id: second } },
    ]);
    expect([updated, deleted]).toEqual([[{ id: second }], [{ id: second }]]);
    expectTypeOf(deleted).toEqualTypeOf<{ readonly id: string }[]>();
    // @ts-expect-error: it has only an ID
    expect(record.name).toBeUndefined();
  });

  test('skip invalid items if they are asked to, and return them in their places', async () => {
    const { assets } = await clientOf(service);
    const items = keyed(14).map((item, index) => (index === 12 ? { ...item, name: ' ' } : item));

    const results = await assets.upsert({ field: 'UID' }, items, { partSize: 10, onInvalid: 'SKIP' });

    expect(results.map(({ outcome }) => outcome)).toEqual(items.map((_, at) => (at === 12 ? 'REJECTED' : 'CREATED')));
    const twelfth = results[12];
    expect(twelfth?.outcome === 'REJECTED' && twelfth.issues).toMatchObject([{ path: ['name'] }]);
  });

  test('stop at a part that fails, and go on after it with the same key', async () => {
    const { assets, graphql } = await clientOf(service);
    const items = keyed(25);
    const broken = items.map((item, index) => (index === 17 ? { ...item, name: ' ' } : item));
    const options = { partSize: 10, idempotencyKey: 'nightly' };

    const error = await errorOf(PartialBatchError, assets.upsert({ field: 'UID' }, broken, options));

    expect(error.message).toMatch(
      /^upserted 10 of 25 records \(stored: \[0\] to \[9\]; not stored: \[10\] to \[24\]\)\. Part 2 /,
    );
    expect(error.created).toHaveLength(10);
    expect(error.items).toMatchObject([{ index: 17, field: 'name' }]);
    expect((await assets.upsert({ field: 'UID' }, items, options)).map(({ outcome }) => outcome)).toEqual(
      Array(25).fill('CREATED'),
    );
    expect(await graphql('{ assets { totalCount } }')).toEqual({ assets: { totalCount: 25 } });

    const ids = (await assets.upsert({ field: 'UID' }, items, { partSize: 10 })).map(({ record }) => record.id);
    const deletion = await errorOf(
      PartialBatchError,
      assets.delete([...ids.slice(0, 10), 'unknown'], { partSize: 10 }),
    );
    expect(deletion.message).toMatch(
      /^deleted 10 of 11 records \(deleted: \[0\] to \[9\]; not deleted: \[10\]\)\. Part 2 /,
    );
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
