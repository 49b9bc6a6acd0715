/** Results stored under the key of a request: what a repeat returns, when it does, and how long they are kept. */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { conflict, mayBeStored, ServiceError, unavailable } from '../../src/errors.ts';
import { newIds } from '../../src/model/ids.ts';
import type { RecordKind, RecordOf } from '../../src/model/record-kind.ts';
import { asset, location, project, recordKinds } from '../../src/records/index.ts';
import { withIdempotencyKey } from '../../src/services/idempotent-session.ts';
import { createSession } from '../../src/services/session.ts';
import { deleteSlice, startSweep } from '../../src/store/admin/sweep.ts';
import { createWorkspaces } from '../../src/store/admin/workspaces.ts';
import type { Run } from '../../src/store/connections/driver.ts';
import { type Database, openDatabase } from '../../src/store/database.ts';
import type { WorkspaceStore } from '../../src/store/workspace-store.ts';
import { type IdempotencyKey, idsToRecords, recordsToIds, writeOnce } from '../../src/store/writes/idempotency.ts';
import { createDatabase, isPostgres } from '../support/database.ts';
import { change, dry, inSteps, insert, type Steps, withKey } from '../support/insert.ts';
import { addWorkspace, storeOpener } from '../support/open-store.ts';

let database: Database;
let remove: () => Promise<void>;
let open: (workspaceId: string) => WorkspaceStore;
let store: WorkspaceStore;

beforeEach(async () => {
  const created = await createDatabase();
  remove = created.remove;
  database = await openDatabase(created.url);
  open = storeOpener(database);
  store = open('ours');
});

afterEach(async () => {
  vi.restoreAllMocks();
  await database.close();
  await remove();
});

const keyOf = (text: string): IdempotencyKey => ({ operation: 'test', key: text, requestHash: 'hash' });

/** The writer of a request with a key, and whether it was a repeat. */
function keyed(text: string, own = store) {
  const request = { isRepeat: false };
  const open = createSession(own, { userId: null, mayWrite: true });
  const session = withIdempotencyKey(open, keyOf(text), () => {
    request.isRepeat = true;
  });
  return Object.assign(request, { write: session.writer() });
}

const keys = async () => (await database.read('select key from idempotency_keys order by key')).map(({ key }) => key);
const stamps = { createdAt: '2026-03-01T00:00:00.000Z', updatedAt: '2026-03-01T00:00:00.000Z' };
const later = () => new Date().toISOString();

const update = async <K extends RecordKind>(steps: Steps, kind: K, id: string, changes: Partial<RecordOf<K>>) => {
  const [before] = await steps.findToUpdate(kind, [id]);
  if (!before) throw new Error(`there is no record ${id}`);
  const after = { ...before, ...changes, updatedAt: later() };
  await steps.update(kind, [{ before, after }]);
  return after;
};

describe('A result', () => {
  test('of any form is the same when its records were stored as IDs', () => {
    const [first = '', ...others] = newIds('asset', 50);
    const ids = [first, ...others];
    const record = fc.integer({ min: 0, max: 49 }).map((n) => ({ id: ids[n], name: `Crane ${n}` }));
    const run = fc
      .tuple(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 10 }))
      .map(([start, size]) => ids.slice(start, start + size).map((id, n) => ({ id, name: `Crane ${start + n}` })));
    const { result } = fc.letrec((tie) => ({
      result: fc.oneof(
        { maxDepth: 4 },
        record,
        run,
        fc.constantFrom(null, true, 7, 'CREATED', ''),
        fc.array(tie('result'), { maxLength: 4 }),
        fc.dictionary(fc.constantFrom('record', 'outcome', 'projects', 'x'), tie('result'), { noNullPrototype: true }),
      ),
    }));
    const find = (id: string) => ({ id, name: `Crane ${ids.indexOf(id)}` });

    fc.assert(
      fc.property(result, (value) => {
        expect(idsToRecords(JSON.parse(JSON.stringify(recordsToIds(value))), find)).toEqual(value);
      }),
    );
  });

  test('of 10,000 successive records is short', () => {
    const records = newIds('asset', 10_000).map((id) => ({ id }));

    expect(recordsToIds(records)).toEqual([`${records[0]?.id}+9999`]);
  });

  test('with records of several kinds, outcomes, and records that were changed, deleted and left alone is returned as it was', async () => {
    const [crane, pump] = await insert(store, asset, [{ name: 'Crane' }, { name: 'Pump' }]);
    const [wall, quay] = await insert(store, project, [{ name: 'Harbour wall' }, { name: 'Quay' }]);
    if (!crane || !pump || !wall || !quay) throw new Error('not created');
    const work = async (steps: Steps) => {
      const yards = await steps.add(location, [{ name: 'North yard' }, { name: 'South yard' }], stamps);
      const changed = await update(steps, asset, crane.id, { name: 'Tower crane', externalIds: { erp: '4711' } });
      const deleted = await steps.findToDelete(asset, [pump.id]);
      await steps.delete(asset, deleted, later());
      const [unchanged] = await steps.findToUpdate(project, [wall.id]);
      return {
        yards,
        assets: [{ record: changed, outcome: 'UPDATED' }],
        deleted,
        projects: [{ record: unchanged, outcome: 'UNCHANGED' }],
        count: 5,
        none: [],
      };
    };
    const first = await inSteps(keyed('a'), work);
    await change(store, asset, crane.id, { name: 'Old crane' });
    await change(store, project, wall.id, { name: 'Pier' });
    const lastChange = await store.lastChange();

    const again = keyed('a');

    expect(await inSteps(again, work)).toEqual(first);
    expect(again.isRepeat).toBe(true);
    expect(await store.lastChange()).toBe(lastChange);
  });

  test('of a transaction is returned without carrying out any of it again', async () => {
    const work = vi.fn(async (steps: Steps) => steps.add(asset, [{ name: 'Crane' }], stamps));
    const first = await inSteps(keyed('a'), work);

    expect(await inSteps(keyed('a'), work)).toEqual(first);
    expect(work).toHaveBeenCalledTimes(1);
    const other = { ...keyOf('a'), requestHash: 'other' };
    await expect(inSteps(withKey(store, other), work)).rejects.toMatchObject({ status: 409 });
    expect(work).toHaveBeenCalledTimes(1);
  });

  test('of a transaction that changed nothing is returned as it was', async () => {
    const [crane] = await insert(store, asset, [{ name: 'Crane' }]);
    const work = (steps: Steps) => steps.findToUpdate(asset, [crane?.id ?? '']);
    const first = await inSteps(keyed('a'), work);
    await change(store, asset, crane?.id ?? '', { name: 'Old crane' });

    expect(await inSteps(keyed('a'), work)).toEqual(first);
  });

  test('of more records than one statement inserts is stored with them, and returned', async () => {
    const inputs = Array.from({ length: 6_000 }, (_, n) => ({ name: `Crane ${n}` }));
    const first = await insert(keyed('a'), asset, inputs);

    expect(await insert(keyed('a'), asset, inputs)).toEqual(first);
    expect(await store.lastChange()).toBe(6_000);
  });

  test('whose workspace is deleted before its records are read is a 503, as is any write in that workspace', async () => {
    const write = () => insert(keyed('once'), asset, [{ name: 'Crane' }], stamps);
    await addWorkspace(database, 'ours');
    await write();
    const { versions } = store;
    vi.spyOn(store, 'versions').mockImplementationOnce(async (...records) => {
      await createWorkspaces(database, recordKinds).remove('ours');
      return versions(...records);
    });

    await expect(write()).rejects.toMatchObject({ status: 503, cause: 'WORKSPACE_DELETED' });
    await expect(write()).rejects.toMatchObject({ status: 503, cause: 'WORKSPACE_DELETED' });
  });

  test('is not that of another workspace', async () => {
    await insert(keyed('a'), asset, [{ name: 'Crane' }]);
    const theirs = keyed('a', open('theirs'));

    expect(await insert(theirs, asset, [{ name: 'Crane' }])).toMatchObject([{ workspaceId: 'theirs' }]);
    expect(theirs.isRepeat).toBe(false);
  });
});

describe('Nothing is stored under the key', () => {
  const refuse = async (steps: Steps) => {
    await steps.add(asset, [{ name: 'Crane' }], stamps);
    throw new ServiceError(400, 'refused');
  };

  test('of a transaction that fails, or of a creation that the database refuses', async () => {
    await expect(inSteps(keyed('a'), refuse)).rejects.toThrow('refused');
    const creation = insert(keyed('a'), asset, Array(2).fill({ name: 'Crane', uid: 'EX-1' }));
    await expect(creation).rejects.toThrow('database error');

    expect([await keys(), await store.lastChange()]).toEqual([[], 0]);
  });

  test('of a dry run', async () => {
    for (const _ of ['first', 'again']) {
      const request = keyed('a');
      const work = async (steps: Steps) => steps.add(asset, [{ name: 'Crane' }], stamps);
      expect(await inSteps(dry(request), work)).toMatchObject([{ name: 'Crane' }]);
      expect(request.isRepeat).toBe(false);
    }
    expect(await keys()).toEqual([]);
  });
});

describe('If the connection is lost during the commit', () => {
  /** The first commit, or statement that is a transaction by itself, reports an error: after it was carried out, or before. */
  function loseCommit(isStored: boolean): void {
    const { driver } = database;
    const query = driver.query.bind(driver);
    let isLost = false;
    vi.spyOn(driver, 'query').mockImplementation(async (connection, sql, values) => {
      const commits = sql === 'commit' || /^(?:insert into new_|with taken)/.test(sql);
      if (isLost || !commits) return query(connection, sql, values);
      isLost = true;
      if (isStored) await query(connection, sql, values);
      throw Object.assign(new Error('lost'), { code: isPostgres ? '08006' : 'SQLITE_IOERR' });
    });
  }

  test.each([
    ['a creation', (own: Pick<WorkspaceStore, 'write'>) => insert(own, asset, [{ name: 'Crane' }], stamps)],
    [
      'a transaction',
      (own: Pick<WorkspaceStore, 'write'>) =>
        inSteps(own, async (steps) => steps.add(asset, [{ name: 'Crane' }], stamps)),
    ],
  ])('the result of %s that was stored all the same is returned', async (_, write) => {
    loseCommit(true);

    expect(await write(keyed('a'))).toMatchObject([{ name: 'Crane' }]);
    expect(await store.lastChange()).toBe(1);
  });

  test('and nothing is found, the error says that it may be stored, and a repeat stores it', async () => {
    loseCommit(false);
    const write = () => insert(keyed('a'), asset, [{ name: 'Crane' }]);

    const what = isPostgres ? 'connection lost during commit' : 'the outcome of the commit is unknown';
    await expect(write()).rejects.toMatchObject({
      status: 503,
      type: 'urn:yardgraph:may-be-stored',
      message: `${what}: retry with the same Idempotency-Key, which stores the records once`,
    });
    expect(await write()).toMatchObject([{ name: 'Crane' }]);
    expect(await store.lastChange()).toBe(1);
  });
});

describe('A key', () => {
  const key = keyOf('a');
  const reading = () => {
    const run = vi.fn<Run>(async () => []);
    return { run, scope: { dialect: database.dialect, run, workspaceId: 1, workspaceName: 'ours' } };
  };

  test('is not looked up while the database is unavailable, which would take as long again', async () => {
    const { run, scope } = reading();
    const away = unavailable('the database is not available, try again', 'POOL');

    await expect(writeOnce(key, scope, () => Promise.reject(away))).rejects.toBe(away);
    expect(run).not.toHaveBeenCalled();
  });

  test.each([
    ['is rejected', () => conflict([{ path: [0, 'uid'], message: 'taken' }]), '[0].uid: taken'],
    [
      'may be stored',
      () => mayBeStored('connection lost', 'XX000'),
      'connection lost during commit: retry with the same Idempotency-Key, which stores the records once',
    ],
  ])('is looked up if the write %s', async (_, error, message) => {
    const { run, scope } = reading();

    await expect(writeOnce(key, scope, () => Promise.reject(error()))).rejects.toMatchObject({
      message,
      status: error().status,
      type: error().type,
    });
    expect(run).toHaveBeenCalledTimes(1);
  });

  test('is for one write: a second one in its session would be taken for a repeat of the first', async () => {
    const own = keyed('a');
    await insert(own, asset, [{ name: 'Crane' }]);

    await expect(insert(own, asset, [{ name: 'Pump' }])).rejects.toThrow('a session with a key writes once');
    expect(await store.lastChange()).toBe(1);
  });

  /** Stores rows of a time, beside what requests store. */
  const storeOld = (count: number, createdAt: string) =>
    database.transaction(async (run) => {
      const rows = Array.from(
        { length: count },
        (_, n) => `(2, '${createdAt} ${n}', 'test', '', '${createdAt}', '{}')`,
      );
      await run(
        `insert into idempotency_keys (workspace_id, key, operation, request_hash, created_at, result) values ${rows.join()}`,
      );
    });

  const countKeys = async () => (await keys()).length;

  test('is forgotten after 24 hours, slice by slice, and not before', async () => {
    await insert(keyed('a'), asset, [{ name: 'Crane' }]);
    const hours = (n: number) => new Date(Date.now() - n * 3_600_000).toISOString();
    for (const n of [25, 30, 48]) await storeOld(900, hours(n));
    await storeOld(10, hours(23));
    const slices: number[] = [];
    const { run } = database;
    const counting = {
      ...database,
      run: async (sql: string, values?: readonly unknown[]) => {
        const before = await countKeys();
        const rows = await run(sql, values);
        slices.push(before - (await countKeys()));
        return rows;
      },
    };

    const end = startSweep(counting, (error) => slices.push(Number.NaN, String(error).length));
    const total = () => slices.reduce((sum, size) => sum + size, 0);
    await vi.waitFor(() => expect(total()).toBe(2_700), { timeout: 10_000 });
    end();

    expect(await countKeys()).toBe(11);
    expect(Math.max(...slices)).toBeLessThanOrEqual(1_800);
    expect(await keys()).toContain('a');
    expect(await insert(keyed('a'), asset, [{ name: 'Crane' }])).toHaveLength(1);
    expect(await store.lastChange()).toBe(1);
  });

  test('that cannot be deleted is reported, and deleted later', async () => {
    await storeOld(1, '2026-01-01T00:00:00.000Z');
    const errors: unknown[] = [];
    const failing = { ...database, run: () => Promise.reject(new Error('away')) };
    const end = startSweep(failing, (error) => errors.push(error));
    await vi.waitFor(() => expect(errors).toEqual([new Error('away')]));
    end();

    expect(await deleteSlice(database, Date.now())).toBe(1);
    expect(await countKeys()).toBe(0);
  });
});
