/** The README is correct: its tour runs as pasted, its settings and its tree match the code. */
import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import * as client from '../../src/client/index.ts';
import { readOptions } from '../../src/client/options.ts';
import { name, version } from '../../src/client/package.json';
import { loadConfig, settingNames } from '../../src/config.ts';
import { useService } from '../support/service.ts';

const readme = readFileSync('README.md', 'utf8');
const service = useService();

/** The code blocks with this information string. */
const blocks = (information: string) =>
  [...readme.matchAll(/^```(.*?)\n(.*?)^```$/gms)].flatMap(([, opening, block = '']) =>
    opening === information ? [block] : [],
  );

test('the tour can be pasted: it links three records, reads them at once, changes one and fails clearly', async () => {
  await service.app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = service.app.server.address() as AddressInfo;
  const script = blocks('sh tour').join('echo\n').replaceAll('127.0.0.1:4000', `127.0.0.1:${port}`);

  const { stdout } = await promisify(execFile)('bash', ['-eu', '-c', script]);

  const [order, linked, project, error] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(order).toMatchObject([{ name: 'Set up the crane' }]);
  expect(linked.data.workOrders.nodes).toEqual([
    {
      name: 'Set up the crane',
      project: { name: 'Harbour wall', location: { name: 'North yard', city: 'Bremen' } },
      location: { latitude: 53.08 },
    },
  ]);
  expect(project).toMatchObject({ id: order[0].projectId, name: 'Harbour wall, phase 2' });
  expect(project).not.toHaveProperty('startDate');
  expect(error).toEqual({
    error:
      '[1].name: required; [1].nmae: unknown field, did you mean "name"?; [2].acquiredAt: not a date, received "soon"',
    code: '400',
  });
});

test('the program of the client can be pasted: it creates, changes, reads, and lists invalid fields', async () => {
  await service.app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = service.app.server.address() as AddressInfo;
  const folder = mkdtempSync(join(tmpdir(), 'yardgraph-'));
  mkdirSync(join(folder, 'node_modules/@yardgraph'), { recursive: true });
  symlinkSync(resolve('src/client'), join(folder, 'node_modules/@yardgraph/client'));
  const program = blocks('js client').join('').replaceAll('127.0.0.1:4000', `127.0.0.1:${port}`);
  writeFileSync(join(folder, 'example.mjs'), program);

  const { stdout } = await promisify(execFile)(process.execPath, ['example.mjs'], { cwd: folder });
  rmSync(folder, { recursive: true });

  expect(stdout.replace(/\s+/g, ' ')).toBe(
    "[ { name: 'Harbour wall', notes: 'ask for the key of the gate', location: { city: 'Bremen' } } ] " +
      "400 [ { index: 1, field: 'name', message: 'required' }, " +
      "{ index: 1, field: 'nmae', message: 'unknown field, did you mean \"name\"?' } ] ",
  );
});

test('the client is packed under the name that the README installs', () => {
  expect(name).toBe('@yardgraph/client');
  expect(readme).toContain(`/yardgraph-client-${version}.tgz\n`);
});

test('every option and every error of the client is in its table', () => {
  const rows = new Set([...readme.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name));

  expect(Object.keys(readOptions({ serverURL: 'http://127.0.0.1' }))).toHaveLength(4);
  for (const option of ['serverURL', 'apiKeyAuth', 'timeout', 'retries']) expect(rows).toContain(option);
  for (const exported of Object.keys(client).filter((it) => it.endsWith('Error') && it !== 'YardgraphError'))
    expect(rows).toContain(exported);
});

test('every setting is in the table, in order, with its real default', () => {
  const rows = [...readme.matchAll(/^\| `([A-Z_]+)` \| (?:`([^`]+)`)? ?\|/gm)].map(([, name = '', value = '']) => [
    name,
    value,
  ]);

  expect(rows.map(([name]) => name)).toEqual(settingNames);
  expect(loadConfig(Object.fromEntries(rows))).toEqual(loadConfig({}));
});

test('the tree names every folder and file at the top of src, and nothing else', () => {
  const [tree = ''] = blocks('').filter((block) => block.startsWith('knexfile.ts'));
  const named = [...tree.matchAll(/[\w-]+(?:\.ts|\/)/g)].map(([name]) => name.replace('/', ''));

  for (const entry of readdirSync('src')) expect(named).toContain(entry);
  for (const name of named.filter((it) => !['spec', 'sqlite', 'postgres'].includes(it))) {
    expect(existsSync(name) || existsSync(`src/${name}`), name).toBe(true);
  }
});

test('every file it links to exists', () => {
  const links = [...readme.matchAll(/\]\((?!http)([^)]+)\)/g)].map(([, path = '']) => path);

  expect(links.length).toBeGreaterThan(1);
  for (const path of links) expect(existsSync(path), path).toBe(true);
});
