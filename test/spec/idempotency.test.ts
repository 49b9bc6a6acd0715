/** Interface: "Retries". A request with an Idempotency-Key is carried out once, and a repeat gets the first response again. */
import { describe, expect, test } from 'vitest';
import { asset, location } from '../../src/records/index.ts';
import { deleteDocument, updateDocument } from '../support/mutations.ts';
import { fullRecord, kinds } from '../support/records.ts';
import { useWorkspaces } from '../support/service.ts';

const service = useWorkspaces();
const key = (text: string) => ({ 'idempotency-key': text });
const asProblem = { accept: 'application/problem+json' };

let lastKey = 0;
const newKey = () => {
  lastKey += 1;
  return `key ${lastKey}`;
};

const changes = async () => Number((await service.data('{ changeCursor }')).changeCursor);

const marked = 'idempotency-replayed';

describe('A repeated create', () => {
  test.each(kinds)(
    'at $path gets the same response, byte for byte, and creates nothing',
    async ({ kind, path, smallest }) => {
      const sent = JSON.stringify([fullRecord(kind), smallest]).replace(
        '"erp"',
        '"__proto__":"\\"","10":"a","9":"b","erp"',
      );
      const headers = key(newKey());

      const first = await service.post(path, sent, headers);
      const again = await service.post(path, sent, headers);

      expect([first.status, again.status]).toEqual([201, 201]);
      expect(again.text).toBe(first.text);
      expect(first.headers[marked]).toBeUndefined();
      expect(again.headers[marked]).toBe('true');
      expect(again.headers['content-type']).toBe(first.headers['content-type']);
      expect(await changes()).toBe(2);
    },
  );

  test('returns the records as they were, although one was changed and another, and what it referred to, deleted', async () => {
    const [yard] = await service.create('/locations', { name: 'North yard' });
    const headers = key(newKey());
    const sent = [
      { name: 'Crane', acquiredAt: '2026-03-01', uid: 'CR-1' },
      { name: 'Pump', currentLocationId: yard.id },
    ];
    const first = await service.post('/assets', sent, headers);
    const [crane, pump] = first.body;
    await service.data(updateDocument(asset), { input: [{ id: crane.id, name: 'Old crane' }] });
    await service.data(deleteDocument(asset), { ids: [pump.id] });
    await service.data(deleteDocument(location), { ids: [yard.id] });

    const again = await service.post('/assets', sent, headers);

    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.text).toBe(first.text);
  });

  test('with Prefer: handling=lenient has Preference-Applied again', async () => {
    const headers = { ...key(newKey()), prefer: 'handling=lenient' };
    const first = await service.post('/assets', [{ name: 'Crane', colour: 'red' }], headers);
    const again = await service.post('/assets', [{ name: 'Crane', colour: 'red' }], headers);

    expect([again.text, again.headers['preference-applied']]).toEqual([first.text, 'handling=lenient']);
  });
});

describe('A repeated change', () => {
  test('gets the same response, and changes nothing, also after other changes', async () => {
    const [wall] = await service.create('/projects', { name: 'Harbour wall', externalIds: { erp: '4711' } });
    const headers = key(newKey());
    const first = await service.patch(`/projects/${wall.id}`, { name: 'Harbour wall, phase 2' }, headers);
    const immediately = await service.patch(`/projects/${wall.id}`, { name: 'Harbour wall, phase 2' }, headers);
    await service.patch(`/projects/${wall.id}`, { name: 'Quay' });

    const again = await service.patch(`/projects/${wall.id}`, { name: 'Harbour wall, phase 2' }, headers);

    expect([first.status, again.status]).toEqual([200, 200]);
    expect([immediately.text, again.text]).toEqual([first.text, first.text]);
    expect(again.headers[marked]).toBe('true');
    expect((await service.patch(`/projects/${wall.id}`, {})).body.name).toBe('Quay');
    expect(await changes()).toBe(3);
  });
});

describe('The same key', () => {
  test('with another body, path, content type or Prefer gets a 409', async () => {
    const [wall, quay] = await service.create('/projects', { name: 'Harbour wall' }, { name: 'Quay' });
    const headers = key(newKey());
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
    expect(await changes()).toBe(3);
  });

  test('stands for another request in another operation', async () => {
    const headers = key(newKey());
    const first = await service.post('/assets', [{ name: 'Crane' }], headers);

    const location = await service.post('/locations', [{ name: 'Crane' }], headers);

    for (const { status, headers } of [first, location]) expect([status, headers[marked]]).toEqual([201, undefined]);
    expect(await changes()).toBe(2);
  });

  test('sent twenty times at once creates one batch, and all get its response, among requests with other keys', async () => {
    const headers = key(newKey());

    const responses = await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        service.post(
          '/assets',
          [{ name: 'Crane', uid: n % 2 === 0 ? 'CR-1' : `CR ${n}` }],
          n % 2 === 0 ? headers : key(newKey()),
        ),
      ),
    );

    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 201));
    const twins = responses.filter((_, n) => n % 2 === 0);
    expect(new Set(twins.map(({ text }) => text)).size).toBe(1);
    expect(twins.filter(({ headers }) => headers[marked] === undefined)).toHaveLength(1);
    expect(await changes()).toBe(21);
  });
});

describe('A request that fails', () => {
  test('stores nothing under its key: the corrected one may have it', async () => {
    const headers = key(newKey());
    await service.post('/assets', [{ name: 'Crane', uid: 'CR-1' }]);

    const statuses = [];
    for (const body of [
      [{ nmae: 'Crane' }],
      [{ name: 'Crane', uid: 'CR-1' }],
      'not JSON',
      [{ name: 'Crane', uid: 'CR-2' }],
    ]) {
      statuses.push((await service.post('/assets', body, headers)).status);
    }

    expect(statuses).toEqual([400, 409, 400, 201]);
  });

  test('because its key is read-only does not get the response of another key', async () => {
    const reader = await service.key({ readOnly: true });
    const headers = key(newKey());
    await service.post('/assets', [{ name: 'Crane' }], headers);

    expect((await service.as(reader).post('/assets', [{ name: 'Crane' }], headers)).status).toBe(403);
  });
});

describe('The header', () => {
  test.each([
    ['is empty', '', ''],
    ['has 256 characters', 'x'.repeat(256), `${'x'.repeat(100)}`],
    ['is not ASCII', 'schlüssel', 'schl'],
    ['has a tab', 'a\tb', 'a\\tb'],
  ])('that %s gets a 400', async (_, text, quoted) => {
    const { status, body } = await service.post('/assets', [{ name: 'Crane' }], key(text));

    expect(status).toBe(400);
    expect(body.error).toMatch(
      /^Idempotency-Key: expected 1 to 255 printable ASCII characters, such as a UUID, received "/,
    );
    expect(body.error).toContain(quoted);
    expect(body.error.length).toBeLessThan(200);
  });

  test('means nothing in a request that only reads, whatever it is', async () => {
    const { status, headers } = await service.get('/asset-categories', key(''));

    expect([status, headers[marked]]).toEqual([200, undefined]);
  });
});
