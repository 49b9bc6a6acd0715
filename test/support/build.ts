/** Compiles the service before the tests, for those that start it as a process, unless nothing has changed since the last time. */
import { execFileSync } from 'node:child_process';

export default function build(): void {
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: ['ignore', 'inherit', 'inherit'] });
}
