/** `npm run build`: what is built already stays as it is, so that it can be run by those who cannot write to it. */
import { execFile, execFileSync } from 'node:child_process';
import { readdirSync, statSync, symlinkSync, utimesSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { useProcesses } from '../support/process.ts';

const copied = [
  'dist',
  'src',
  'client',
  'schema.graphql',
  'migrations',
  'knexfile.ts',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
];
const processes = useProcesses();

test('the build is replaced only if a source file is newer', async () => {
  const { folder: checkout } = processes;
  execFileSync('cp', ['-a', ...copied, checkout]);
  symlinkSync(resolve('node_modules'), join(checkout, 'node_modules'));
  /** The folder that the build replaces. */
  const built = () => statSync(join(checkout, 'dist')).ino;
  const build = () => promisify(execFile)('npm', ['run', '--silent', 'build'], { cwd: checkout });
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
