/** What keys change for the process, on any database: where it may be reached, and where a new key can be written to. */
import { closeSync, openSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runCommand } from '../support/command.ts';
import { createDatabase } from '../support/database.ts';
import { useProcesses } from '../support/process.ts';

const processes = useProcesses();
let database: Awaited<ReturnType<typeof createDatabase>>;

beforeEach(async () => {
  database = await createDatabase();
});

afterEach(() => database.remove());

const run = (...command: string[]) => runCommand({ DATABASE_URL: database.url }, ...command);
const create = () => run('keys', 'create', '--workspace', 'acme', '--user', 'erp-sync');

const statusWith = async (address: string, key: string) =>
  (await fetch(`${address}/asset-categories`, { headers: { authorization: `Bearer ${key}` } })).status;

test('create and rotate change nothing if the key cannot be written to standard output', async () => {
  const prefix = (await create()).out.slice(0, -44);
  const before = (await run('keys', 'list', '--json')).out;
  const full = openSync('/dev/full', 'w');

  for (const command of [
    ['create', '--workspace', 'acme', '--user', 'erp-sync'],
    ['rotate', prefix],
  ]) {
    const circumstances = { streams: [full, 'pipe'], command: ['keys', ...command] } as const;
    const { code, err } = await processes.startUnder(circumstances, { DATABASE_URL: database.url }).ended();
    expect([code, err.split('\n').at(-1)]).toEqual([
      1,
      'the key cannot be written to standard output: nothing was changed',
    ]);
  }

  closeSync(full);
  expect((await run('keys', 'list', '--json')).out).toBe(before);
});

describe('a start on an address that others reach', () => {
  const start = (settings: Record<string, string>) =>
    processes.start({ DATABASE_URL: database.url, HOST: '0.0.0.0', ...settings });

  test('is refused while there is no key', async () => {
    const { code, err } = await start({}).ended();

    expect([code, err]).toEqual([
      1,
      'without a key the service would be open to anyone who can reach 0.0.0.0: create one with ' +
        '"node dist/src/cli.js keys create", or change HOST or ALLOW_OPEN_ACCESS (see docs/settings.md)',
    ]);
  });

  test('is refused on loopback, too, where open access is forbidden', async () => {
    const forbidden = { HOST: '127.0.0.1', ALLOW_OPEN_ACCESS: 'no' };
    const { code, err } = await start(forbidden).ended();

    expect([code, err]).toEqual([
      1,
      expect.stringContaining('open to anyone who can reach 127.0.0.1: create one with'),
    ]);
    const key = (await create()).out;
    const address = await start(forbidden).ready();
    expect([await statusWith(address, 'wrong'), await statusWith(address, key)]).toEqual([401, 200]);
  });

  test('is made once there is one, and accepts no other key', async () => {
    const key = (await create()).out;
    const service = start({});
    const { port } = new URL(await service.ready());

    expect(JSON.parse(service.said.out)).toMatchObject({ level: 30, msg: 'started', isOpen: false });
    expect(await statusWith(`http://127.0.0.1:${port}`, 'wrong')).toBe(401);
    expect(await statusWith(`http://127.0.0.1:${port}`, key)).toBe(200);
  });

  test('is made without a key where the setting says so in plain words, and no other', async () => {
    expect((await start({ ALLOW_OPEN_ACCESS: 'yes' }).ended()).err).toBe(
      'ALLOW_OPEN_ACCESS: expected one of loopback, no, yes-anyone-who-can-reach-this-port',
    );

    const service = start({ ALLOW_OPEN_ACCESS: 'yes-anyone-who-can-reach-this-port' });
    const { port } = new URL(await service.ready());
    expect(service.said.out).toContain('OPEN TO ANYONE WHO CAN REACH THIS PORT');
    expect(
      (await fetch(`http://127.0.0.1:${port}/asset-categories`, { headers: { host: 'yard.example.com' } })).status,
    ).toBe(200);
  });
});
