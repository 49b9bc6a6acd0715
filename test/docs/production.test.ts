/** The page for operators: its commands can be pasted, and its unit starts the service as `npm start` does. */
import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { checkedBlock, pasteText } from '../support/docs.ts';
import { useProcesses } from '../support/process.ts';
import { useSharedService } from '../support/service.ts';

const page = 'docs/production.md';
const processes = useProcesses();

test('a user who cannot write to the checkout creates a key, runs the service, backs it up twice and restores it, as the page says', async () => {
  const machine = useMachine(processes.folder, checkedBlock(page, 'shell'));
  const settings = machine.settings(checkedBlock(page, 'settings'));
  const { checkout, user } = machine;
  const { mode, gid } = statSync(machine.settingsFile);
  expect([(mode & 0o777).toString(8), gid]).toEqual(['640', user.gid]);
  const umask = /^UMask=(\d+)$/m.exec(checkedBlock(page, 'systemd'))?.[1];
  const start = () => processes.startUnder({ checkout, user, cwd: checkout, umask }, settings);

  expect((await start().ended()).err).toContain('create one with "node dist/src/cli.js keys create"');
  const before = contentOf(checkout);
  expect(await machine.paste(checkedBlock(page, 'key'))).toContain('The key is in erp.key.');
  const service = start();
  const address = await service.ready();
  expect(await machine.paste(checkedBlock(page, 'access').replaceAll('http://127.0.0.1:4000', address))).toBe(
    '200\n401\n',
  );

  const authorization = `Bearer ${readFileSync(`${machine.home}/erp.key`, 'utf8').trim()}`;
  const send = async (url: string, body: unknown) => {
    const headers = { authorization, 'content-type': 'application/json' };
    return (await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })).json();
  };
  const create = (name: string) => send(`${address}/locations`, [{ name }]);
  const backups = () => readdirSync(`${machine.home}/backups`).toSorted();

  mkdirSync(`${machine.home}/backups`);
  for (let day = 10; day < 24; day += 1)
    writeFileSync(`${machine.home}/backups/yardgraph-2025-01-${day}T03-00-00.000Z.db`, '');
  machine.own(`${machine.home}/backups`);
  await create('North yard');
  await machine.paste(checkedBlock(page, 'backup'));
  await create('South yard');
  await machine.paste(checkedBlock(page, 'backup'));
  await create('West yard');
  expect(await machine.paste(checkedBlock(page, 'check'))).toBe('no problems\n');
  expect(backups()).toHaveLength(14);
  expect(backups()[0]).toBe('yardgraph-2025-01-12T03-00-00.000Z.db');
  for (const name of ['yardgraph.db', 'yardgraph.db-wal', 'erp.key', `backups/${backups().at(-1)}`]) {
    expect([name, (statSync(`${machine.home}/${name}`).mode & 0o777).toString(8)]).toEqual([name, '600']);
  }

  service.child.kill('SIGTERM');
  await once(service.child, 'close');
  for (const _ of ['once', 'again']) await machine.paste(checkedBlock(page, 'restore'));
  const restored = await send(`${await start().ready()}/graphql`, { query: '{ locations { nodes { name } } }' });
  expect(restored.data.locations.nodes).toEqual([{ name: 'North yard' }, { name: 'South yard' }]);
  expect(contentOf(checkout)).toEqual(before);
});

test('the systemd unit starts the service as npm start does, and waits longer than the service takes to end', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
  const unit = new Map(
    checkedBlock(page, 'systemd')
      .split('\n')
      .map((line) => [line.split('=')[0], line.slice(line.indexOf('=') + 1)]),
  );

  expect(unit.get('ExecStart')).toBe(`/usr/bin/${scripts.start}`);
  expect(Number(unit.get('TimeoutStopSec'))).toBeGreaterThan(30);
});

test("the command that copies to Postgres has the right options, and asks for the reader's own values", async () => {
  const pasted = pasteText(checkedBlock(page, 'postgres'), processes.folder, { DATABASE_URL: 'sqlite:yardgraph.db' });
  await expect(pasted).rejects.toThrow(
    /--to: not a valid URL: expected postgres:\/\/USER:PASSWORD@HOST:PORT\/DATABASE/,
  );
});

test('the settings of the page exist', () => {
  const named = [...readFileSync(page, 'utf8').matchAll(/`([A-Z]+_[A-Z_]+)(?:=[^`]*)?`/g)].map(([, name]) => name);
  const settings = readFileSync('docs/settings.md', 'utf8');
  expect(named.length).toBeGreaterThan(5);
  for (const name of named) expect(settings).toContain(`| \`${name}\` |`);
});

const service = useSharedService();

test('a log line has the fields that the page shows, in this order', async () => {
  await service.post('/assets', [{}]);
  const line = service.logs.find((text) => text.includes('"route":"/assets"')) ?? '';
  expect(Object.keys(JSON.parse(line))).toEqual(Object.keys(JSON.parse(checkedBlock(page, 'log'))));
});

/** The ID of nobody, which has no files and no rights. */
const nobody = 65_534;

/**
 * A folder that stands for the machine of the page: its paths are replaced by those in the folder, and its commands run as another user if the
 * tests run as root, in a checkout that this user cannot change.
 */
function useMachine(folder: string, shellCommand: string) {
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
      .replaceAll('/opt/yardgraph/lib/node_modules/yardgraph', checkout)
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
const contentOf = (checkout: string) => [
  readdirSync(checkout).map((name) => readlinkSync(join(checkout, name))),
  lstatSync('dist').ino,
];
