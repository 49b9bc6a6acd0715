/** The page on typed documents works when followed, with gql.tada; what does not fit the schema does not compile. */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { fillDemo } from '../../src/demo/fill.ts';
import { checkedBlock, pasteText } from '../support/docs.ts';
import { isThorough } from '../support/effort.ts';
import { useProcesses } from '../support/process.ts';
import { listen, useService } from '../support/service.ts';

const page = 'docs/typed-documents.md';
const service = useService();
const processes = useProcesses();

/** Version 5: gql.tada needs its programming interface, which the version that compiles the service does not have. */
const typescript = dirname(
  createRequire(resolve('node_modules/oazapfts/package.json')).resolve('typescript/package.json'),
);

/** A project with what the page says to install. gql.tada is copied because it looks for TypeScript beside itself. */
function install(folder: string): void {
  const modules = join(folder, 'node_modules');
  for (const name of ['gql.tada', '@gql.tada', '@0no-co']) {
    cpSync(join('node_modules', name), join(modules, name), { recursive: true });
  }
  for (const name of ['.bin', '@yardgraph']) mkdirSync(join(modules, name));
  const links = {
    graphql: resolve('node_modules/graphql'),
    typescript,
    '@yardgraph/client': resolve('client'),
    '.bin/gql.tada': join(modules, 'gql.tada/bin/cli.js'),
    '.bin/tsc': join(typescript, 'bin/tsc'),
  };
  for (const [name, target] of Object.entries(links)) symlinkSync(target, join(modules, name));
}

/** Three compilers take long: this is tested on CI and in the long form. */
test.runIf(isThorough)(
  'the program compiles, also with the newest TypeScript, and prints what the page shows; mistakes do not compile',
  async () => {
    const { folder } = processes;
    await fillDemo(service.database);
    const program = checkedBlock(page, 'main').replace('http://127.0.0.1:4000', await listen(service.app));
    const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
    install(folder);
    mkdirSync(join(folder, 'src'));
    cpSync('schema.graphql', join(folder, 'schema.graphql'));
    write('package.json', '{ "type": "module" }');
    write('tsconfig.json', checkedBlock(page, 'tsconfig'));
    write('src/graphql.ts', checkedBlock(page, 'graphql'));
    write('src/main.ts', program);

    const output = await pasteText(checkedBlock(page, 'build'), folder);
    expect(output).toContain(`\n${checkedBlock(page, 'printed')}`);

    const mistakes = [
      ['        name\n', '        nmae\n', "Property 'name' does not exist"],
      ["eq: 'Emden'", "like: 'Emden'", 'Object literal may only specify known properties'],
      ["'Emden'", '5', "Type 'number' is not assignable to type 'string'"],
    ] as const;
    for (const [index, [right, wrong]] of mistakes.entries())
      write(`src/wrong${index}.ts`, program.replace(right, wrong));
    const newest = promisify(execFile)(resolve('node_modules/.bin/tsc'), ['--noEmit'], { cwd: folder });
    const { stdout } = await newest.catch((error) => error);
    expect(stdout).not.toContain('src/main.ts');
    for (const [index, [, , message]] of mistakes.entries()) {
      expect(stdout).toMatch(new RegExp(`^src/wrong${index}\\.ts.*${message}`, 'm'));
    }
    await expect(pasteText('npx gql.tada check', folder)).rejects.toThrow(
      /src\/wrong0\.ts\n.*Cannot query field "nmae"/,
    );
  },
  180_000,
);
