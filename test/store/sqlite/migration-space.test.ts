/** A migration of a file begins only if there is room for a copy of it. */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { afterEach, expect, test, vi } from 'vitest';
import { connectDatabase, openDatabase } from '../../../src/store/database.ts';
import { createFile } from '../../support/database.ts';

/** What the disk says is free, in bytes. */
function setFree(bytes: number): void {
  vi.spyOn(fs, 'statfsSync').mockReturnValue({ bavail: bytes, bsize: 1 } as fs.StatsFs & fs.BigIntStatsFs);
  // The named exports, too.
  syncBuiltinESMExports();
}

afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

test('a database is not migrated while its disk is nearly full', async () => {
  const { url, remove } = await createFile();
  const before = await openDatabase(url);
  await before.knex.migrate.down();
  await before.close();

  setFree(4_096);
  const full = await connectDatabase(url);
  await expect(full.migrate()).rejects.toThrow(
    /^migrating .* needs up to \d+ MB of free space beside it, and 1 MB are free/,
  );
  expect(await full.pendingMigrations()).toHaveLength(1);
  await full.close();

  setFree(1_000_000_000);
  const after = await openDatabase(url);
  expect(await after.pendingMigrations()).toEqual([]);
  await after.close();
  await remove();
});

test('a database that is up to date needs no room', async () => {
  const { url, remove } = await createFile();
  const created = await openDatabase(url);
  await created.close();
  setFree(0);
  const opened = await openDatabase(url);
  await opened.close();
  await remove();
});
