/** `npm run build`: what is built already stays as it is, so that it can be run by those who cannot write to it. */
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, utimesSync } from 'node:fs';
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
