/** The GraphQL guide can be pasted, and shows the demo's data. */
import { execFileSync } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { fillDemo } from '../../src/demo/fill.ts';
import { foreignTypes } from '../../src/model/fields.ts';
import { recordKinds, reverseLinksOf } from '../../src/records/index.ts';
import { checkedBlock, pastePage, readPage } from '../support/docs.ts';
import { companiesSdl, startGateway } from '../support/gateway.ts';
import { useProcesses } from '../support/process.ts';
import { listen, startService, useSharedService } from '../support/service.ts';

const page = 'docs/graphql.md';
const service = useSharedService();
const processes = useProcesses();

test('the examples of the GraphQL guide return what the page shows', async () => {
  await fillDemo(service.database);
  const address = await listen(service.app);

  await pastePage(page, processes.folder, address);
});

test('the table of reverse links has every one', () => {
  const listed = [...readPage(page).matchAll(/^\| `([A-Z][a-z]\w+)` \| (.*) \|$/gm)].flatMap(([, from, to = '']) =>
    [...to.matchAll(/`(\w+)`/g)].map(([, name]) => `${from}.${name}`),
  );
  const types = [...recordKinds.map(({ name }) => name), ...Object.keys(foreignTypes)];
  const links = types.flatMap((type) => reverseLinksOf(type).map(({ name }) => `${type}.${name}`));

  expect(listed.toSorted()).toEqual(links.toSorted());
});

test('a gateway composes the schemas with the program of the page, and returns what its query asks for', async () => {
  const federated = await startService({ FEDERATION: 'on' });
  const [project] = await federated.create('/projects', { name: 'Harbour wall', companyId: 'ERP-COMPANY-5' });
  await federated.create('/work-orders', { name: 'Set up the crane', projectId: project.id });
  const { sdl } = (await federated.data('{ _service { sdl } }'))._service;
  const gateway = await startGateway(federated, sdl);

  const { data, errors } = await gateway.send(checkedBlock(page, 'gateway'));

  await gateway.stop();
  await federated.stop();
  expect(errors).toBeUndefined();
  const company = { name: 'The company ERP-COMPANY-5' };
  expect(data).toEqual({
    workOrders: { nodes: [{ name: 'Set up the crane', project: { name: 'Harbour wall', company } }] },
    company: { ...company, projects: { nodes: [{ name: 'Harbour wall' }] } },
  });
  expect(composedBy(checkedBlock(page, 'compose.mjs'), { yardgraph: sdl, companies: companiesSdl })).toContain(
    'http://127.0.0.1:4001/graphql',
  );
});

/** Runs a program that composes schemas in files into supergraph.graphql. */
function composedBy(program: string, schemas: Readonly<Record<string, string>>): string {
  const { folder } = processes;
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'compose.mjs'), program);
  for (const [name, sdl] of Object.entries(schemas)) writeFileSync(join(folder, `${name}.graphql`), sdl);
  execFileSync('node', ['compose.mjs'], { cwd: folder });
  return readFileSync(join(folder, 'supergraph.graphql'), 'utf8');
}
