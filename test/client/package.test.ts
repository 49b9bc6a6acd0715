/** The client's package as it is packed and installed: it needs nothing beside it, and every way to import it finds its types. */
import { execFile } from 'node:child_process';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import * as client from '../../client/index.ts';
import type { Options } from '../../client/options.ts';
import { isThorough } from '../support/effort.ts';
import { useSharedProcesses } from '../support/process.ts';
import { listen, useSharedService } from '../support/service.ts';

const run = promisify(execFile);
const readme = readFileSync('client/README.md', 'utf8');
const [, example = '', output = ''] = /^```ts\n(.*?)^```$.*?^```\n(.*?)^```$/ms.exec(readme) ?? [];

const service = useSharedService({}, { closed: true });
const processes = useSharedProcesses();
let folder: string;
let here: string;
let pack: { filename: string; size: number; unpackedSize: number; files: { path: string }[] };
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  folder = processes.folder;
  // Without scripts, because the files are built already, and other tests read them.
  const options = ['--ignore-scripts', '--json', '--pack-destination', folder];
  const { stdout } = await run('npm', ['pack', './client', ...options]);
  [pack] = JSON.parse(stdout);
  write('package.json', '{}');
  await run('npm', ['install', '--offline', '--no-audit', `./${pack.filename}`], { cwd: folder });
  const url = await listen(service.app);
  here = example.replaceAll('http://127.0.0.1:4000', url);
  env = { ...process.env, YARDGRAPH_API_KEY: await service.key() };
});

const write = (name: string, text: string) => writeFileSync(join(folder, name), text);

/** Node's versions break lines at different places. */
const oneLine = (text: string) => text.replace(/\s+/g, ' ');

async function outputOf(name: string): Promise<string> {
  const { stdout, stderr } = await run(process.execPath, [name], { cwd: folder, env });
  return oneLine(stdout) + stderr;
}

/** The example for programs that cannot wait at the top level, which are those in CommonJS. */
const asCommonJs = (importing: string) =>
  `${importing}\nasync function main() {\n${here.replace(/^import .*\n/, '')}}\nvoid main();\n`;

test('the client is one package without dependencies: nothing of the service, and no scripts at installation', () => {
  const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'));
  const { name: _, ...installed } = packages['node_modules/@yardgraph/client'];
  const folders = new Set(pack.files.map(({ path }) => path.split('/').slice(0, 2).join('/')));

  expect(Object.keys(packages)).toEqual(['', 'node_modules/@yardgraph/client']);
  expect(Object.keys(installed).toSorted()).toEqual(['engines', 'integrity', 'license', 'resolved', 'version']);
  expect([...folders].toSorted()).toEqual(['LICENSE', 'README.md', 'dist/cjs', 'dist/esm', 'package.json']);
  expect(pack.files.length).toBeLessThan(80);
  expect(pack.size).toBeLessThan(48_000);
  expect(pack.unpackedSize).toBeLessThan(320_000);
});

test('the example of the README can be pasted into a module, and prints what the README says', async () => {
  write('example.mjs', here);
  expect(await outputOf('example.mjs')).toBe(oneLine(output));
});

const compilers = {
  7: resolve('node_modules/.bin/tsc'),
  // The last version with `moduleResolution: node10`; a package of the tests depends on it.
  5.9: join(
    dirname(createRequire(resolve('node_modules/oazapfts/package.json')).resolve('typescript/package.json')),
    'bin/tsc',
  ),
};
const importing = `import { ServiceError, Yardgraph } from '@yardgraph/client';`;
const requiring = `import client = require('@yardgraph/client');\nimport ServiceError = client.ServiceError; import Yardgraph = client.Yardgraph;`;

/** Of the two compilers, the newest and the oldest resolution: the examples by their extensions, with what CommonJS begins with. */
const compilations = [
  [7, 'nodenext', 'nodenext', { mts: undefined, cts: requiring }],
  [7, 'preserve', 'bundler', { ts: undefined }],
  [5.9, 'commonjs', 'node10', { cts: importing }],
] as const;

test.each(isThorough ? compilations : [compilations[0]])(
  'TypeScript %s compiles the example in strict mode with module %s and moduleResolution %s, and it runs',
  async (version, module, moduleResolution, examples) => {
    const files = Object.entries(examples).map(([extension, commonJs]) => {
      write(`strict-${module}.${extension}`, commonJs ? asCommonJs(commonJs) : here);
      return `strict-${module}.${extension}`;
    });
    const compilerOptions = {
      strict: true,
      noUncheckedIndexedAccess: true,
      exactOptionalPropertyTypes: true,
      module,
      moduleResolution,
      // The types of the package itself are checked once.
      skipLibCheck: module !== 'nodenext',
      target: 'es2022',
      lib: ['es2022', 'dom', 'dom.iterable'],
      typeRoots: [resolve('node_modules/@types')],
      types: ['node'],
    };
    write(`${module}.json`, JSON.stringify({ compilerOptions, files }));

    const compiled = await run(compilers[version], ['--project', `${module}.json`], { cwd: folder }).catch((it) => it);
    expect(compiled.stdout).toBe('');
    // What is meant for a bundler is a module, too.
    if ('ts' in examples) renameSync(join(folder, `strict-${module}.js`), join(folder, `strict-${module}.mjs`));

    for (const file of files)
      expect(await outputOf(file.replace(/c?m?ts$/, (it) => `${it[0] === 'c' ? 'c' : 'm'}js`))).toBe(oneLine(output));
  },
);

test('the README has every option and every error', () => {
  const rows = new Set([...readme.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name));
  const options = {
    serverURL: 0,
    apiKeyAuth: 0,
    timeout: 0,
    retries: 0,
    idempotencyKeys: 0,
    changeMessage: 0,
    importRun: 0,
  } satisfies Record<keyof Options, 0>;
  const errors = Object.keys(client).filter((name) => name.endsWith('Error') && name !== 'YardgraphError');

  expect(rows).toEqual(new Set([...Object.keys(options), ...errors]));
});

test('the README says how to install it: the name of the package that npm packs, and the versions of Node', () => {
  const { engines } = JSON.parse(readFileSync('client/package.json', 'utf8'));
  expect(readme).toContain(` ./${pack.filename}\n`);
  expect(engines).toEqual({ node: '>=20.19' });
});
