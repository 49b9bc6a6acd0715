/** A client made from /openapi.json by a third-party generator: it compiles in strict mode, has precise types, and works. */
import { execFile } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { useSharedProcesses } from '../support/process.ts';
import { listen, useSharedService } from '../support/service.ts';

const run = promisify(execFile);
const service = useSharedService();
const processes = useSharedProcesses();

beforeAll(async () => {
  const { folder } = processes;
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'openapi.json'), (await service.get('/openapi.json')).text);
  await run(resolve('node_modules/.bin/oazapfts'), ['openapi.json', 'generated.ts'], { cwd: folder });
});

const program = `
  import * as api from './generated.ts';
  declare const process: { argv: string[] };
  type IsSame<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

  export const types: true[] = [
    true satisfies IsSame<api.NewAsset['name'], string>,
    true satisfies IsSame<api.NewAsset['acquiredAt'], string | null | undefined>,
    true satisfies IsSame<api.NewAsset['externalIds'], { [key: string]: string } | null | undefined>,
    true satisfies IsSame<api.Asset['trackUtilization'], boolean | null>,
    true satisfies IsSame<api.Asset['externalIds'], { [key: string]: string } | null>,
    true satisfies IsSame<api.WorkOrder['projectId'], string | undefined>,
    true satisfies IsSame<api.ProjectChanges['name'], string | undefined>,
    true satisfies IsSame<api.ErrorResponse['code'], string>,
  ];

  api.defaults.baseUrl = process.argv[2] ?? '';
  const done: unknown[] = [];
  const created = await api.createProjects([{ name: 'Bridge', startDate: '2026-03-01', externalIds: { erp: '1' } }]);
  if (created.status !== 201) throw new Error(created.data.error);
  const id = created.data[0]?.id ?? '';
  done.push(created.data[0]?.startDate);
  const changed = await api.updateProject(id, { externalIds: null });
  done.push(changed.status, changed.status === 200 && changed.data.externalIds);
  const orders = await api.createWorkOrders([{ projectId: id }, {}]);
  done.push(orders.status === 201 && orders.data.map(({ projectId }) => projectId === id));
  await api.createAssets([{ name: 'Excavator', uid: 'EX-1' }]);
  const taken = await api.createAssets([{ name: 'Excavator', uid: 'EX-1' }]);
  done.push(taken.status === 409 && taken.data.error);
  await api.createLocations([{}]);
  await api.createTransportOrders([{}]);
  await api.createAssetCategories([{ name: 'Earthmoving' }]);
  const categories = await api.listAssetCategories();
  done.push(categories.status === 200 && categories.data.map(({ name }) => name));
  console.log(JSON.stringify(done));
`;

test('all eight operations return the types that the document describes', async () => {
  const { folder } = processes;
  writeFileSync(join(folder, 'program.ts'), program);
  const compilerOptions = {
    strict: true,
    rewriteRelativeImportExtensions: true,
    module: 'node20',
    target: 'es2022',
    lib: ['es2022', 'dom', 'dom.iterable'],
    types: [],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }));

  const { stdout } = await run(resolve('node_modules/.bin/tsc'), [], { cwd: folder }).catch((error) => error);
  expect(stdout).toBe('');
  const output = await run(process.execPath, ['program.js', await listen(service.app)], { cwd: folder });

  expect(JSON.parse(output.stdout)).toEqual([
    '2026-03-01T00:00:00.000Z',
    200,
    null,
    [true, false],
    '[0].uid: another asset has the uid "EX-1"',
    ['Earthmoving'],
  ]);
});
