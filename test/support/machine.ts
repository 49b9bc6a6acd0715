/**
 * A folder that stands for the machine of docs/production.md: its paths are replaced by those in the folder, and its commands run as
 * another user if the tests run as root, in a checkout that this user cannot change.
 */
import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** The ID of nobody, which has no files and no rights. */
const nobody = 65_534;

export function useMachine(folder: string, shellCommand: string) {
  const isRoot = process.getuid?.() === 0;
  const user = isRoot ? { uid: nobody, gid: nobody } : { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const [checkout, home] = [join(folder, 'checkout'), join(folder, 'home')];
  const settingsFile = join(folder, 'yardgraph.env');
  const own = (path: string) => {
    if (isRoot) execFileSync('chown', ['-R', `${user.uid}:${user.gid}`, path]);
  };
  chmodSync(folder, 0o755);
  mkdirSync(home, { mode: 0o700 });
  own(home);
  mkdirSync(checkout);
  for (const name of readdirSync('.')) if (name !== 'data') symlinkSync(resolve(name), join(checkout, name));
  chmodSync(checkout, 0o555);

  const here = (text: string) =>
    text
      .replaceAll('/opt/yardgraph', checkout)
      .replaceAll('/var/lib/yardgraph', home)
      .replaceAll('/etc/yardgraph.env', settingsFile)
      .replaceAll('--group=yardgraph', `--group=${user.gid}`);

  /** Pastes commands into the page's shell, and returns what they print on standard output. */
  function paste(commands: string): Promise<string> {
    // The shell is started by the user already.
    const shell = `sudo() { shift 3; "$@"; }\n${here(shellCommand)}`;
    const options = { cwd: '/', ...user, env: { PATH: process.env.PATH, HOME: home } };
    return new Promise((done, failed) => {
      const child = execFile('bash', ['-eu', '-c', shell], options, (error, stdout, stderr) =>
        error ? failed(new Error(`a command failed after printing\n${stdout}${stderr}`)) : done(stdout),
      );
      child.stdin?.end(`set -eu\n${here(commands)}`);
    });
  }

  /** Writes the settings with commands of the page, and returns them. */
  function settings(commands: string): Record<string, string> {
    execFileSync('bash', ['-eu', '-c', `sudo() { "$@"; }\n${here(commands)}`]);
    return Object.fromEntries(
      readFileSync(settingsFile, 'utf8')
        .trim()
        .split('\n')
        .map((line) => line.replaceAll("'", '').split('=') as [string, string]),
    );
  }
  return { user, checkout, home, settingsFile, own, paste, settings };
}

/** The entries of a checkout, and the build they lead to. */
export const contentOf = (checkout: string) => [
  readdirSync(checkout).map((name) => readlinkSync(join(checkout, name))),
  lstatSync('dist').ino,
];
