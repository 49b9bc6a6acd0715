/** Statements on a connection, with a driver that a test controls. */
import { expect, test } from 'vitest';
import { createConnections } from '../../src/store/connections.ts';
import type { Driver } from '../../src/store/driver.ts';

test('statements that are sent at once on a connection run one after the other, also after one that fails', async () => {
  const started: string[] = [];
  let running = 0;
  let peak = 0;
  const driver: Partial<Driver> = {
    async query(_connection, sql) {
      started.push(sql);
      running += 1;
      peak = Math.max(peak, running);
      await new Promise(setImmediate);
      running -= 1;
      if (sql === 'b') throw new Error('failed');
      return [];
    },
  };
  // Only what sending uses.
  const { send } = createConnections(driver as Driver, { connectionTimeout: 10_000, statementTimeout: 10_000 });
  const connection = {};

  const outcomes = await Promise.allSettled(['a', 'b', 'c', 'd'].map((sql) => send(connection, sql)));

  expect([started, peak]).toEqual([['a', 'b', 'c', 'd'], 1]);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
});
