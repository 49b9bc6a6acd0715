/** New records that wait for SQLite's only writer. */
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { RecordKind } from '../../../src/model/record-kind.ts';
import { asset, location } from '../../../src/records/index.ts';
import type { Insert } from '../../../src/store/query/dialect.ts';
import { createQueue } from '../../../src/store/writes/queue.ts';

test('wait no longer than for a connection, of whatever kind those before them are', async () => {
  let release = () => {};
  const locked = new Promise<[]>((resolve) => {
    release = () => resolve([]);
  });
  const transaction = createQueue(
    { useToWrite: (_, work) => work({ send: () => locked, state: 'sound' }) },
    { hasGroupsByWorkspace: false },
    { begin: 'begin', insertWithLog: () => ({ sql: '', values: [] }) },
    { connectionTimeout: 20 },
  );
  const change = { userId: null, requestId: null, message: null, workspaceId: 1, kind: '', at: '', before: null };
  const insert: Insert = {
    records: [],
    references: new Map(),
    change: { ...change, action: 'created' },
    keyed: undefined,
  };
  const addOne = (kind: RecordKind) =>
    transaction(async () => 'refused', {
      creation: { kind, size: 0.1, make: async () => ({ insert, returned: kind.name }) },
    });
  const first = addOne(asset);
  const second = addOne(location).catch(({ message }: Error) => message);
  await pause(40);

  expect(await second).toBe('the database is not available, try again');
  release();
  expect(await first).toBe('Asset');
});
