/** The package as it is packed: its client is found by `import`, by `require` and by TypeScript, and needs nothing beside it. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { useSharedService } from '../support/service.ts';

const run = promisify(execFile);
const service = useSharedService();
let folder: string;
let packed: string[];

/** Unpacked and not installed, so that none of the service's packages is there. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'yardgraph-'));
  const { stdout } = await run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', folder]);
  const [{ filename, files }] = JSON.parse(stdout);
  packed = files.map(({ path }: { path: string }) => path);
  mkdirSync(join(folder, 'node_modules/yardgraph'), { recursive: true });
  await run('tar', [
    '-xzf',
    join(folder, filename),
    '--strip-components=1',
    '-C',
    join(folder, 'node_modules/yardgraph'),
  ]);
  await service.app.listen({ port: 0, host: '127.0.0.1' });
});

afterAll(() => rmSync(folder, { recursive: true }));

const use = `
  const serverURL = process.argv[2] ?? '';
  const yardgraph = new Yardgraph({ serverURL, apiKeyAuth: process.env["YARDGRAPH_API_KEY"] });
  yardgraph.assets.create([{ name: 'Excavator' }])
    .then(async ([asset]) => {
      const error: unknown = await yardgraph.projects.update('x', {}).catch((error: unknown) => error);
      console.log(asset?.name, error instanceof ServiceError && error.status);
    });
`;

/** The same without its types. */
const useAsJavaScript = use.replaceAll(': unknown', '');

const program = (name: string, text: string) => {
  writeFileSync(join(folder, name), text);
  return name;
};

const serverUrl = () => `http://127.0.0.1:${(service.app.server.address() as AddressInfo).port}`;

test.each([
  ['import', 'program.mjs', `import { ServiceError, Yardgraph } from 'yardgraph/client';${useAsJavaScript}`],
  ['require', 'program.cjs', `const { ServiceError, Yardgraph } = require('yardgraph/client');${useAsJavaScript}`],
])('%s finds the client, without a warning', async (_, name, text) => {
  const { stdout, stderr } = await run(process.execPath, [program(name, text), serverUrl()], { cwd: folder });

  expect([stdout, stderr]).toEqual(['Excavator 404\n', '']);
});

test.each([
  ['modules of Node', 'node20', 'program.mts', 'import'],
  ['CommonJS of Node', 'node20', 'program.cts', 'require'],
  ['a bundler', 'preserve', 'program.ts', 'import'],
])('TypeScript finds its types, for %s', async (_, module, name, way) => {
  const names = '{ type NewAsset, ServiceError, Yardgraph }';
  const opening =
    way === 'import'
      ? `import ${names} from 'yardgraph/client';`
      : `import client = require('yardgraph/client');
       import ServiceError = client.ServiceError; import Yardgraph = client.Yardgraph; type NewAsset = client.NewAsset;`;
  program(
    name,
    `${opening}
     declare const process: { argv: string[]; env: Record<string, string | undefined> };
     ${use}
     // @ts-expect-error: the types are those of the records, not any
     const asset: NewAsset = { name: 5 };
     export { asset };`,
  );
  const config = {
    compilerOptions: {
      strict: true,
      exactOptionalPropertyTypes: true,
      noEmit: true,
      module,
      target: 'es2022',
      lib: ['es2022', 'dom'],
      types: [],
    },
    files: [name],
  };
  writeFileSync(join(folder, `${name}.json`), JSON.stringify(config));

  const { stdout } = await run(resolve('node_modules/.bin/tsc'), ['--project', `${name}.json`], { cwd: folder }).catch(
    (error) => error,
  );

  expect(stdout).toBe('');
});

test('what is packed is what runs, and no more', () => {
  const folders = new Set(packed.map((path) => path.split('/').slice(0, 2).join('/')));

  expect([...folders].toSorted()).toEqual([
    'LICENSE',
    'README.md',
    'dist/client',
    'dist/client-cjs',
    'dist/knexfile.js',
    'dist/migrations',
    'dist/package.json',
    'dist/src',
    'package.json',
  ]);
  expect(packed).toContain('dist/src/cli.js');
});
