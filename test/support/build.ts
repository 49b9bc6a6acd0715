/** Compiles the service before the tests, for those that start it as a process, unless nothing has changed since the last time. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';

const output = 'dist/src/cli.js';
const clientOutput = 'src/client/dist/cjs/package.json';
const sources = ['src', 'migrations', 'knexfile.ts', 'package.json', 'tsconfig.json'];

export default function build(): void {
  const newest = Math.max(...sources.map(lastChange));
  if (existsSync(output) && existsSync(clientOutput) && statSync(output).mtimeMs > newest) return;
  const start = new Date();
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: ['ignore', 'inherit', 'inherit'] });
  // What changes while it runs is compiled the next time.
  utimesSync(output, start, start);
}

/** Of a file or anything in a folder but the client's output, in milliseconds; a file that is deleted changes its folder. */
function lastChange(path: string): number {
  const { mtimeMs } = statSync(path);
  if (!statSync(path).isDirectory()) return mtimeMs;
  return Math.max(
    mtimeMs,
    ...readdirSync(path)
      .filter((name) => name !== 'dist')
      .map((name) => lastChange(join(path, name))),
  );
}
