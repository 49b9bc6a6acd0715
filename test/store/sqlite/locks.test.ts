/** Locks that others hold: reads do not wait for them, and a connection that is not idle after an error is replaced. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../../src/store/database.ts';
import { useSharedService } from '../../support/service.ts';

// Statements, and with them waits for a lock, end after 100 ms.
const service = useSharedService({ DATABASE_STATEMENT_TIMEOUT: '100' });
/** As another process has it. */
let other: Database;

beforeAll(async () => {
  other = await openDatabase(service.url);
});
afterAll(() => other.close());

test('reads and /readyz do not wait for a lock', async () => {
  const [{ id }] = await service.create('/projects', { name: 'Harbour wall' });
  await other.run('begin immediate');
  let refused = 0;
  const writes = Array.from({ length: 5 }, async () => {
    const response = await service.patch(`/projects/${id}`, { notes: 'refused' });
    refused += 1;
    return response;
  });

  const reads = await Promise.all([service.get('/asset-categories'), service.get('/readyz')]);
  // They wait for the lock one after the other.
  const early = refused;
  const statuses = (await Promise.all(writes)).map(({ status }) => status);
  await other.run('rollback');

  expect(reads.map(({ status }) => status)).toEqual([200, 200]);
  expect(early).toBeLessThan(5);
  expect(statuses).toEqual([503, 503, 503, 503, 503]);
});

test('a connection that is not idle after an error is closed at once, which releases its locks, and is replaced', async () => {
  const { database } = service;
  const stuck = database.run('begin immediate').then(() => database.run('select nothing'));

  await expect(stuck).rejects.toThrow('database error: SQLITE_ERROR');
  await other.run('begin immediate');
  await other.run('rollback');
  await service.create('/assets', { name: 'replaced' });

  expect(await other.read('select name from assets')).toEqual([{ name: 'replaced' }]);
});
