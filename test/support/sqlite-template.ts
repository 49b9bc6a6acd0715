/** A database file with the schema of the service, to be copied for each test. */
import { existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { openDatabase } from '../../src/store/database.ts';

declare module 'vitest' {
  interface ProvidedContext {
    sqliteTemplate: string;
  }
}

/** Linux has a folder whose files are in memory: no test waits for the disk. In containers it may be too small. */
const memory = '/dev/shm';
const hasRoom = (): boolean => {
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize > 2 ** 30;
};

export const fastFolder = existsSync(memory) && hasRoom() ? memory : tmpdir();

export default async function setup(project: TestProject) {
  const folder = mkdtempSync(join(fastFolder, 'yardgraph-'));
  const path = join(folder, 'template.db');
  await (await openDatabase(`sqlite:${path}`)).close();
  project.provide('sqliteTemplate', path);
  return () => rmSync(folder, { recursive: true });
}
