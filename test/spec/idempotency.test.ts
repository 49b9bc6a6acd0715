/** Interface: "Retries". A request with an Idempotency-Key is carried out once, and a repeat gets the first response again. */
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { asset, location, project } from '../../src/records/index.ts';
import { change, inSteps } from '../support/insert.ts';
import { storeOpener } from '../support/open-store.ts';
import { fullRecord, kinds } from '../support/records.ts';
import { useSharedService } from '../support/service.ts';

const service = useSharedService({}, { closed: true });
const key = (text: string) => ({ 'idempotency-key': text });
const asProblem = { accept: 'application/problem+json' };

let lastKey = 0;
const newKey = () => {
  lastKey += 1;
  return `key ${lastKey}`;
};

/** A client of a workspace of its own, and the workspace's store. */
async function newWorkspace() {
  const workspace = `workspace-${newKey().replace(' ', '-')}`;
  const client = service.as(await service.key({ workspace }));
  return { workspace, ...client, store: storeOpener(service.database)(workspace) };
}

const marked = 'idempotency-replayed';

describe('A repeated create', () => {
  test.each(kinds)(
    'at $path gets the same response, byte for byte, and creates nothing',
    async ({ kind, path, smallest }) => {
      const { post, store } = await newWorkspace();
      const sent = JSON.stringify([fullRecord(kind), smallest]).replace(
        '"erp"',
        '"__proto__":"\\"","10":"a","9":"b","erp"',
      );
      const headers = key(newKey());

      const first = await post(path, sent, headers);
      const again = await post(path, sent, headers);

      expect([first.status, again.status]).toEqual([201, 201]);
      expect(again.text).toBe(first.text);
      expect(first.headers[marked]).toBeUndefined();
      expect(again.headers[marked]).toBe('true');
      expect(again.headers['content-type']).toBe(first.headers['content-type']);
      expect(await store.lastChange()).toBe(2);
    },
  );

  test('returns the records as they were when they were created, although one was changed and one deleted', async () => {
    const { post, store } = await newWorkspace();
    const headers = key(newKey());
    const sent = [{ name: 'Crane', acquiredAt: '2026-03-01' }, { name: 'Pump' }, { name: 'Digger' }];
    const first = await post('/assets', sent, headers);
    const [crane, pump] = first.body;
    await change(store, asset, crane.id, { name: 'Old crane' });
    await inSteps(store, async (steps) => {
      const found = await steps.findToDelete(asset, [pump.id]);
      await steps.delete(asset, found, new Date().toISOString());
    });

    const again = await post('/assets', sent, headers);

    expect(again.text).toBe(first.text);
  });

  test('gets the first response even if what it refers to is gone, or its unique value is taken', async () => {
    const { post, create, store } = await newWorkspace();
    const [yard] = await create('/locations', { name: 'North yard' });
    const headers = key(newKey());
    const sent = [{ name: 'Crane', currentLocationId: yard.id, uid: 'CR-1' }];
    const first = await post('/assets', sent, headers);
    await inSteps(store, async (steps) => {
      await steps.delete(location, await steps.findToDelete(location, [yard.id]), new Date().toISOString());
    });

    const again = await post('/assets', sent, headers);

    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.text).toBe(first.text);
  });

  test('is the same request if it is compressed', async () => {
    const { post, store } = await newWorkspace();
    const headers = key(newKey());
    const sent = [{ name: 'Crane' }];
    const first = await post('/assets', sent, headers);
    const payload = gzipSync(JSON.stringify(sent));
    const again = await service.inject({
      method: 'POST',
      url: '/assets',
      payload,
      headers: {
        ...headers,
        authorization: `Bearer ${await service.key({ workspace: String(first.body[0].workspaceId) })}`,
        'content-type': 'application/json',
        'content-encoding': 'gzip',
      },
    });

    expect(again.text).toBe(first.text);
    expect(await store.lastChange()).toBe(1);
  });

  test('of 1,000 records takes as many statements as of one', async () => {
    const { post } = await newWorkspace();
    const counts = [];
    for (const size of [1, 1_000]) {
      const sent = Array.from({ length: size }, (_, n) => ({ name: `Crane ${n}` }));
      const headers = key(newKey());
      const first = await post('/assets', sent, headers);
      let again = first;
      counts.push(
        (
          await service.statements(async () => {
            again = await post('/assets', sent, headers);
          })
        ).length,
      );
      expect(again.text).toBe(first.text);
    }

    expect(counts[1]).toBe(counts[0]);
  });

  test('with Prefer: handling=lenient has Preference-Applied again', async () => {
    const { post } = await newWorkspace();
    const headers = { ...key(newKey()), prefer: 'handling=lenient' };
    const first = await post('/assets', [{ name: 'Crane', colour: 'red' }], headers);
    const again = await post('/assets', [{ name: 'Crane', colour: 'red' }], headers);

    expect([again.text, again.headers['preference-applied']]).toEqual([first.text, 'handling=lenient']);
  });
});

describe('A repeated change', () => {
  test('gets the same response, and changes nothing, also after other changes', async () => {
    const { create, patch, store } = await newWorkspace();
    const [wall] = await create('/projects', { name: 'Harbour wall', externalIds: { erp: '4711' } });
    const headers = key(newKey());
    const first = await patch(`/projects/${wall.id}`, { name: 'Harbour wall, phase 2' }, headers);
    const immediately = await patch(`/projects/${wall.id}`, { name: 'Harbour wall, phase 2' }, headers);
    await patch(`/projects/${wall.id}`, { name: 'Quay' });

    const again = await patch(`/projects/${wall.id}`, { name: 'Harbour wall, phase 2' }, headers);

    expect([first.status, again.status]).toEqual([200, 200]);
    expect([immediately.text, again.text]).toEqual([first.text, first.text]);
    expect(again.headers[marked]).toBe('true');
    const [stored] = await store.find(project, [wall.id]);
    expect(stored?.name).toBe('Quay');
    expect(await store.lastChange()).toBe(3);
  });

  test('that changed nothing gets the same response too', async () => {
    const { create, patch } = await newWorkspace();
    const [wall] = await create('/projects', { name: 'Harbour wall' });
    const headers = key(newKey());
    const first = await patch(`/projects/${wall.id}`, {}, headers);
    await patch(`/projects/${wall.id}`, { name: 'Quay' });

    const again = await patch(`/projects/${wall.id}`, {}, headers);

    expect([again.text, again.headers[marked]]).toEqual([first.text, 'true']);
  });

  test('of another project is another request', async () => {
    const { create, patch } = await newWorkspace();
    const [wall, quay] = await create('/projects', { name: 'Harbour wall' }, { name: 'Quay' });
    const headers = key(newKey());
    await patch(`/projects/${wall.id}`, { name: 'Pier' }, headers);

    const other = await patch(`/projects/${quay.id}`, { name: 'Pier' }, headers);

    expect(other.status).toBe(409);
  });
});

describe('The same key', () => {
  test('with another body gets a 409', async () => {
    const { post, store } = await newWorkspace();
    const headers = key(newKey());
    await post('/assets', [{ name: 'Crane' }], headers);

    const other = await post('/assets', [{ name: 'Pump' }], headers);
    const problem = await post('/assets', [{ name: 'Pump' }], { ...headers, ...asProblem });
    const invalid = await post('/assets', [{ nmae: 'Pump' }], headers);

    const error = 'this Idempotency-Key was sent with another request: a new request needs a new key';
    expect(other).toMatchObject({ status: 409, body: { error, code: '409' } });
    expect(problem.body).toEqual({
      type: 'urn:yardgraph:idempotency-key-reused',
      title: 'Conflict',
      status: 409,
      detail: error,
    });
    expect(invalid.status).toBe(409);
    expect(other.headers[marked]).toBeUndefined();
    expect(await store.lastChange()).toBe(1);
  });

  test('with another preference for unknown fields gets a 409', async () => {
    const { post } = await newWorkspace();
    const headers = key(newKey());
    await post('/assets', [{ name: 'Crane' }], headers);

    const other = await post('/assets', [{ name: 'Crane' }], { ...headers, prefer: 'handling=lenient' });

    expect(other.status).toBe(409);
  });

  test('stands for another request in another operation, and in another workspace', async () => {
    const [ours, theirs] = [await newWorkspace(), await newWorkspace()];
    const headers = key(newKey());
    const first = await ours.post('/assets', [{ name: 'Crane' }], headers);

    const location = await ours.post('/locations', [{ name: 'Crane' }], headers);
    const foreign = await theirs.post('/assets', [{ name: 'Crane' }], headers);

    for (const { status, headers } of [first, location, foreign])
      expect([status, headers[marked]]).toEqual([201, undefined]);
    expect(foreign.body[0].workspaceId).toBe(theirs.workspace);
    expect([await ours.store.lastChange(), await theirs.store.lastChange()]).toEqual([2, 1]);
  });

  test('finds nothing of another workspace when the request fails', async () => {
    const [ours, theirs] = [await newWorkspace(), await newWorkspace()];
    const headers = key(newKey());
    const sent = [{ name: 'Crane', uid: 'CR-1' }];
    await ours.post('/assets', sent, headers);
    await theirs.post('/assets', sent);

    const { status, body } = await theirs.post('/assets', sent, headers);

    expect([status, body.error]).toEqual([409, '[0].uid: another asset has the uid "CR-1"']);
  });

  test('sent twenty times at once creates one batch, and all get its response, among requests with other keys', async () => {
    const { post, store } = await newWorkspace();
    const headers = key(newKey());

    const responses = await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        post(
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
    expect(await store.lastChange()).toBe(21);
  });

  test('sent ten times at once changes a project once', async () => {
    const { create, patch, store } = await newWorkspace();
    const [wall] = await create('/projects', { name: 'Harbour wall' });
    const headers = key(newKey());

    const responses = await Promise.all(
      Array.from({ length: 10 }, () => patch(`/projects/${wall.id}`, { name: 'Quay' }, headers)),
    );

    expect(new Set(responses.map(({ text }) => text)).size).toBe(1);
    expect(await store.lastChange()).toBe(2);
  });
});

describe('A request that fails', () => {
  test('stores nothing under its key: the corrected one may have it', async () => {
    const { post } = await newWorkspace();
    const headers = key(newKey());
    await post('/assets', [{ name: 'Crane', uid: 'CR-1' }]);

    const statuses = [];
    for (const body of [
      [{ nmae: 'Crane' }],
      [{ name: 'Crane', uid: 'CR-1' }],
      'not JSON',
      [{ name: 'Crane', uid: 'CR-2' }],
    ]) {
      statuses.push((await post('/assets', body, headers)).status);
    }

    expect(statuses).toEqual([400, 409, 400, 201]);
  });

  test('because its key is read-only does not get the response of another key', async () => {
    const workspace = 'read-only';
    const [writer, reader] = [await service.key({ workspace }), await service.key({ workspace, readOnly: true })];
    const headers = key(newKey());
    await service.as(writer).post('/assets', [{ name: 'Crane' }], headers);

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
    const { post } = await newWorkspace();
    const { status, body } = await post('/assets', [{ name: 'Crane' }], key(text));

    expect(status).toBe(400);
    expect(body.error).toMatch(
      /^Idempotency-Key: expected 1 to 255 printable ASCII characters, such as a UUID, received "/,
    );
    expect(body.error).toContain(quoted);
    expect(body.error.length).toBeLessThan(200);
  });

  test('may have 255 characters', async () => {
    const { post } = await newWorkspace();
    expect((await post('/assets', [{ name: 'Crane' }], key('~'.repeat(255)))).status).toBe(201);
  });

  test('means nothing in a request that only reads, whatever it is', async () => {
    const { get } = await newWorkspace();
    const { status, headers } = await get('/asset-categories', key(''));

    expect([status, headers[marked]]).toEqual([200, undefined]);
  });

  test('costs a create no statement, and a change two: one looks it up, and one stores it', async () => {
    const { create, post, patch } = await newWorkspace();
    const [wall] = await create('/projects', { name: 'Harbour wall' });
    const count = async (work: () => Promise<unknown>) => (await service.statements(work)).length;
    const batch = Array.from({ length: 1_000 }, (_, n) => ({ name: `Crane ${n}` }));

    const without = await count(() => post('/assets', batch));
    expect(await count(() => post('/assets', batch, key(newKey())))).toBe(without);
    expect(await count(() => post('/assets', [{ name: 'Crane' }], key(newKey())))).toBe(without);
    const change = await count(() => patch(`/projects/${wall.id}`, { name: 'Quay' }));
    expect(await count(() => patch(`/projects/${wall.id}`, { name: 'Pier' }, key(newKey())))).toBe(change + 2);
  });
});
