/**
 * Compiles the service and the client into their `dist` folders, unless these are newer than their sources: a user who
 * may not write to a checkout can run it once it is built. Replaces `dist` only after everything has compiled.
 */
import { execSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { join } from 'node:path';
import { bundle } from './explorer/build.mjs';

const output = 'dist/src/cli.js';
const clientOutput = 'client/dist/cjs/package.json';
const sources = [
  'src',
  'client',
  'schema.graphql',
  'migrations',
  'knexfile.ts',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
];

/**
 * In milliseconds, of a file or of anything in a folder but build output. Deleting a file changes its folder.
 * @param {string} path
 * @returns {number}
 */
function lastChange(path) {
  const stats = statSync(path);
  if (!stats.isDirectory()) return stats.mtimeMs;
  const entries = readdirSync(path).filter((name) => name !== 'dist');
  return Math.max(stats.mtimeMs, ...entries.map((name) => lastChange(join(path, name))));
}

function isCurrent() {
  if (!existsSync(output) || !existsSync(clientOutput)) return false;
  return statSync(output).mtimeMs > Math.max(...sources.map(lastChange));
}

async function build() {
  // Creating them later would change their parent folders, which are sources.
  for (const folder of ['client/dist', 'src/explorer/dist']) mkdirSync(folder, { recursive: true });
  for (const folder of ['dist.new', 'dist.old']) rmSync(folder, { recursive: true, force: true });
  const start = new Date();
  execSync('tsc --outDir dist.new', { stdio: 'inherit' });
  // Files of an earlier version would be packed with the client.
  for (const folder of ['esm', 'cjs']) rmSync(join('client/dist', folder), { recursive: true, force: true });
  execSync('npm run --silent build --prefix client', { stdio: 'inherit' });
  // Files that are read at run time.
  const isData = (path) => !/\.ts$|tsconfig\.json$/.test(path);
  await bundle();
  for (const folder of ['src/pages/browser', 'src/pages/tabs', 'src/demo', 'src/explorer/dist'])
    cpSync(folder, join('dist.new', folder), { recursive: true, filter: isData });
  // Declares the client's files as ES modules.
  cpSync('client/package.json', 'dist.new/client/package.json');
  const program = join('dist.new', 'src/cli.js');
  chmodSync(program, 0o755);
  // Sources that change during the compilation are compiled the next time.
  utimesSync(program, start, start);
  mkdirSync('dist', { recursive: true });
  renameSync('dist', 'dist.old');
  renameSync('dist.new', 'dist');
  rmSync('dist.old', { recursive: true });
}

if (!isCurrent()) await build();
