/** New records that wait for SQLite's only writer. */
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { RecordKind } from '../../../src/model/record-kind.ts';
import { asset, location } from '../../../src/records/index.ts';
import { createGroupCommit } from '../../../src/store/writes/group-commit.ts';

test('wait no longer than for a connection, of whatever kind those before them are', async () => {
  let release = () => {};
  const locked = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { add } = createGroupCommit({
    dialect: { withChanges: () => ({ sql: '', values: [] }) },
    driver: { hasGroupsByWorkspace: false },
    options: { connectionTimeout: 20 },
    runAlone: () => locked,
    forWorkspace: () => {
      throw new Error('SQLite has one queue');
    },
  });
  const addOne = (kind: RecordKind) =>
    add({
      kind,
      values: [{}],
      references: new Map(),
      make: () => ({ changes: [], returned: kind.name }),
      workspaceId: 1,
      author: { userId: null, requestId: null, message: null },
      usage: { statements: 0 },
    });
  const first = addOne(asset);
  const second = addOne(location).catch(({ message }: Error) => message);
  await pause(40);
  release();

  expect((await first)?.returned).toBe('Asset');
  expect(await second).toBe('the database is not available, try again');
});
