/** `npm run build`: what is built already stays as it is, so that it can be run by those who cannot write to it. */
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';

const copied = [
  'dist',
  'src',
  'client',
  'migrations',
  'knexfile.ts',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
];
let checkout = '';

beforeEach(() => {
  checkout = mkdtempSync(join(tmpdir(), 'yardgraph-'));
  execFileSync('cp', ['-a', ...copied, checkout]);
  symlinkSync(resolve('node_modules'), join(checkout, 'node_modules'));
});
afterEach(() => rmSync(checkout, { recursive: true }));

/** The folder that the build replaces. */
const built = () => statSync(join(checkout, 'dist')).ino;
const build = () => promisify(execFile)('npm', ['run', '--silent', 'build'], { cwd: checkout });

test('the build is replaced only if a source file is newer', async () => {
  const first = built();
  await build();
  expect(built()).toBe(first);

  const now = new Date();
  utimesSync(join(checkout, 'src/cli.ts'), now, now);
  await build();
  const second = built();
  expect(second).not.toBe(first);
  expect(readdirSync(checkout).toSorted()).toEqual([...copied, 'node_modules'].toSorted());

  await build();
  expect(built()).toBe(second);
});

test('finding out that there is nothing to build takes less than 0.3 s, and npm start does no more', () => {
  const { prestart, predemo } = JSON.parse(readFileSync('package.json', 'utf8')).scripts;
  expect([prestart, predemo]).toEqual(['node src/build.mjs', 'node src/build.mjs']);

  const milliseconds = Array.from({ length: 5 }, () => {
    const start = performance.now();
    // Without npm's PATH there is no compiler: it would fail.
    const { status } = spawnSync(process.execPath, ['src/build.mjs'], { cwd: checkout, env: {} });
    expect(status).toBe(0);
    return performance.now() - start;
  });

  // The fastest: other programs may take the processor for a while.
  expect(Math.min(...milliseconds)).toBeLessThan(300);
});
