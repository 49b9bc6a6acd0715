/** SQLite's log of writes stays small, however many exports follow each other. */
import { statSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { assetCategory } from '../../../src/records/index.ts';
import { insert } from '../../support/insert.ts';
import { storeOpener } from '../../support/open-store.ts';
import { openOwnDatabase } from '../../support/own-database.ts';

test('while exports of two workspaces overlap with writes, the log begins again before it has twice its usual size', async () => {
  const { database, url, close } = await openOwnDatabase();
  onTestFinished(close);
  const open = storeOpener(database);
  const logSize = () => statSync(`${url.replace('sqlite:', '')}-wal`).size;
  const records = Array.from({ length: 1_000 }, () => ({ name: 'long', description: 'x'.repeat(7_000) }));
  const sizes: number[] = [];

  const exportOften = async (workspace: string) => {
    for (let time = 0; time < 10; time += 1) {
      await open(workspace).longSnapshot(async (snapshot) => {
        await snapshot.count(assetCategory);
        await insert(open(workspace), assetCategory, records);
        sizes.push(logSize());
      });
    }
  };
  await Promise.all([exportOften('ours'), exportOften('theirs')]);

  // All writes together have 140 MB.
  expect(Math.max(...sizes)).toBeLessThan(100_000_000);
});
