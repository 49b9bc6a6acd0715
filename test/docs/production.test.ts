/** The page for operators: its commands can be pasted, and its unit starts the service as `npm start` does. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { get } from 'node:http';
import { expect, test } from 'vitest';
import { recordKinds } from '../../src/records/index.ts';
import { blocksOf, checkedBlock, pastePage, pasteText } from '../support/docs.ts';
import { post, useProcesses } from '../support/process.ts';

const page = 'docs/production.md';
const processes = useProcesses();

test('the first key is created, and a backup made while the service runs can be restored, as the page says', async () => {
  const env = { DATABASE_URL: `sqlite:${processes.folder}/yardgraph.db` };
  const service = processes.start(env);
  const address = await service.ready();
  await post(`${address}/locations`, [{ name: 'North yard' }]);

  await pastePage(page, processes.folder, address, env);
  service.child.kill('SIGTERM');
  await once(service.child, 'close');
  await pasteText('npx yardgraph workspaces delete default --yes', processes.folder, env);
  await pasteText(checkedBlock(page, 'restore'), processes.folder, env);

  const authorization = `Bearer ${readFileSync(`${processes.folder}/erp.key`, 'utf8').trim()}`;
  const restored = await processes.start(env).ready();
  expect((await fetch(`${restored}/asset-categories`, { headers: { authorization } })).status).toBe(200);
  expect(await pasteText('npx yardgraph workspaces list', processes.folder, env)).toMatch(/^default +1 /m);
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

  await expect(pasted).rejects.toThrow(/--to: replace USER, PASSWORD, HOST, PORT and DATABASE with your own values/);
});

test('every table is distributed on Citus', () => {
  const sql = blocksOf(page).find(({ language }) => language === 'sql')?.text ?? '';

  const others = ['changes', 'change_numbers', 'idempotency_keys', 'locks', 'api_keys'].map((table) => ({ table }));
  for (const { table } of [...recordKinds, ...others]) {
    expect(sql).toContain(`create_distributed_table('${table}', 'workspace_id'`);
  }
  for (const { table, storedFields } of recordKinds) {
    const alteration = `alter index ${table}_external_ids set (fastupdate = off)`;
    expect(sql.includes(alteration), table).toBe('externalIds' in storedFields);
  }
});

test('the settings of the page exist', () => {
  const named = [...readFileSync(page, 'utf8').matchAll(/`([A-Z]+_[A-Z_]+)(?:=[^`]*)?`/g)].map(([, name]) => name);
  const settings = readFileSync('docs/settings.md', 'utf8');

  expect(named.length).toBeGreaterThan(5);
  for (const name of named) expect(settings).toContain(`| \`${name}\` |`);
});

test('a log line has the fields that the page shows, in this order', async () => {
  const service = processes.start({ LOG_LEVEL: 'info' });
  await post(`${await service.ready()}/assets`, [{}]);
  service.child.kill('SIGTERM');
  await once(service.child, 'close');

  const line = service.said.err.split('\n').find((text) => text.includes('"route":"/assets"')) ?? '';
  expect(Object.keys(JSON.parse(line))).toEqual(Object.keys(JSON.parse(checkedBlock(page, 'log'))));
});

test('behind the proxy of the page, a service without keys serves nobody', async () => {
  const headers = [...checkedBlock(page, 'proxy').matchAll(/proxy_set_header (\S+) (\S+);/g)].map(([, name, value]) => [
    name,
    value,
  ]);
  expect(headers).toContainEqual(['Host', '$host']);
  expect(headers).toContainEqual(['X-Forwarded-For', '$remote_addr']);
  const address = await processes.start().ready();

  for (const [name, value] of [
    ['X-Forwarded-For', '203.0.113.7'],
    ['Host', 'yardgraph.example.com'],
  ]) {
    const { status } = await new Promise<{ status: number | undefined }>((resolve, reject) => {
      const asked = get(`${address}/asset-categories`, { headers: { [String(name)]: value } }, (response) => {
        response.resume();
        resolve({ status: response.statusCode });
      });
      asked.once('error', reject);
    });
    expect([name, status]).toEqual([name, name === 'Host' ? 400 : 403]);
  }
});
