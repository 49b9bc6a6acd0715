/**
 * Compiles the service before the tests, for those that start it as a process, unless nothing has changed since the last
 * time. `npm run schema` and `npm run sql`, which update printed files, start no process.
 */
import { execFileSync } from 'node:child_process';
import type { TestProject } from 'vitest/node';

export default function build({ config }: TestProject): void {
  if (config.snapshotOptions.updateSnapshot === 'all') return;
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: ['ignore', 'inherit', 'inherit'] });
}
