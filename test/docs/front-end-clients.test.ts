/** The recipes for front-end clients, executed as the page shows them. */
import { execFile } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, expect, test } from 'vitest';
import { checkedBlock } from '../support/docs.ts';
import { useProcesses } from '../support/process.ts';
import { listen, useService } from '../support/service.ts';

const page = 'docs/front-end-clients.md';
const service = useService({}, { closed: true });
const processes = useProcesses();
let key: string;
let url: string;

beforeEach(async () => {
  key = await service.key();
  url = await listen(service.app);
  symlinkSync(resolve('node_modules'), join(processes.folder, 'node_modules'));
});

function write(name: string, text: string): void {
  writeFileSync(join(processes.folder, name), text.replaceAll('http://127.0.0.1:4000', url));
}

async function run(name: string): Promise<string> {
  const env = { PATH: process.env.PATH, YARDGRAPH_API_KEY: key };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [name], {
    cwd: processes.folder,
    env,
    timeout: 60_000,
  });
  return stdout + stderr;
}

test.each([
  ['apollo.mjs', checkedBlock(page, 'apollo.mjs')],
  ['urql.mjs', checkedBlock(page, 'urql.mjs')],
])('%s prints what the page shows', async (name, text) => {
  write(name, text);
  expect(await run(name)).toBe(checkedBlock(page, 'output'));
});

test('with the environment for Relay, a company and a status with the same id are two', async () => {
  await service.as(key).create('/assets', { name: 'Crane', ownerId: '7', statusId: '7' });
  write('environment.mjs', checkedBlock(page, 'environment.mjs'));
  write('program.mjs', program);
  expect(JSON.parse(await run('program.mjs'))).toEqual(
    expect.arrayContaining(['Company:7', 'Status:7', expect.stringMatching(/^asset_/)]),
  );
});

/** What Relay's compiler makes of a query, by hand. */
const program = `
import relay from 'relay-runtime';
import { newEnvironment } from './environment.mjs';

const scalar = (name) => ({ alias: null, args: null, kind: 'ScalarField', name, storageKey: null });
const linked = (name, concreteType, plural, selections) =>
  ({ alias: null, args: null, concreteType, kind: 'LinkedField', name, plural, selections, storageKey: null });
const other = (name, type) => linked(name, type, false, [scalar('id')]);
const text = 'query Q { assets { nodes { id name owner { id } status { id } } } }';
const selections = [
  linked('assets', 'AssetConnection', false, [
    linked('nodes', 'Asset', true, [scalar('id'), scalar('name'), other('owner', 'Company'), other('status', 'Status')]),
  ]),
];
const operation = { argumentDefinitions: [], name: 'Q', selections };
const request = {
  kind: 'Request',
  fragment: { ...operation, kind: 'Fragment', metadata: null, type: 'Query', abstractKey: null },
  operation: { ...operation, kind: 'Operation' },
  params: { cacheID: text, id: null, metadata: {}, name: 'Q', operationKind: 'query', text },
};
const environment = newEnvironment();
await relay.fetchQuery(environment, request, {}).toPromise();

console.log(JSON.stringify(environment.getStore().getSource().getRecordIDs()));
`;
