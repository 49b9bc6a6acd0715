/** The page for contributors: its tree is the real one, and its recipe for a record kind works when followed. */
import { execFile } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { blocksOf, checkedBlock, isPath } from '../support/docs.ts';
import { byEffort, isThorough } from '../support/effort.ts';
import { ask, post, useProcesses } from '../support/process.ts';

const page = 'docs/contributing.md';
const processes = useProcesses();

test('the tree names every folder and file at the top of src, and nothing else', () => {
  const named = [...checkedBlock(page, 'tree').matchAll(/[\w-]+(?:\.m?[jt]s|\/)/g)].map(([name]) =>
    name.replace('/', ''),
  );

  for (const entry of readdirSync('src')) expect(named).toContain(entry);
  for (const name of named.filter((it) => !['spec', 'sqlite', 'postgres'].includes(it))) {
    expect(existsSync(name) || existsSync(`src/${name}`), name).toBe(true);
  }
});

/** What the recipe says about imports, in words. */
const imports: Readonly<Record<string, readonly [before: string, added: string]>> = {
  'src/graphql/schema/query.ts': ['assetCategory,', 'crate,'],
  'src/graphql/schema/mutation.ts': ['assetCategory,', 'crate,'],
};

/** Tests of every kind, beside those that print files; the long form runs all, but for this one. */
const ofEveryKind = ['test/spec/resources', 'test/structure/columns'];

test.runIf(isThorough)(
  'the recipe for a record kind, followed to the letter, gives its operations, and the tests pass',
  async () => {
    const { folder } = processes;
    const run = (command = '', ...args: string[]) =>
      promisify(execFile)(command, args, {
        cwd: folder,
        maxBuffer: 1e8,
        env: { ...process.env, NO_COLOR: '1', VITEST: '', TEST_EFFORT: 'small' },
      });
    for (const entry of readdirSync('.')) {
      if (entry === 'node_modules') symlinkSync(resolve(entry), join(folder, entry));
      else if (!['dist', '.git', 'bench', 'data'].includes(entry))
        cpSync(entry, join(folder, entry), { recursive: true });
    }
    // This test, one that does not expect the packages of a checkout in another place, and the one that looks for both.
    for (const name of ['contributing', 'production', 'pages']) rmSync(join(folder, `test/docs/${name}.test.ts`));
    const changes = blocksOf(page).flatMap(({ language, use, text }) => {
      const [, path] = use.split(' ');
      return path && isPath(path) ? [{ language, path, text }] : [];
    });
    for (const { language, path, text } of changes) {
      const file = join(folder, path);
      writeFileSync(file, language === 'diff' ? applied(text, readFileSync(file, 'utf8')) : text);
    }
    for (const [path, [before, added]] of Object.entries(imports)) {
      const file = join(folder, path);
      writeFileSync(file, readFileSync(file, 'utf8').replace(before, `${before} ${added}`));
    }
    // In one worker, which imports the service once.
    await run('npm', 'run', 'schema', '--', '--maxWorkers', '1', ...byEffort({ small: ofEveryKind, long: [] }));
    await run('npm', 'run', 'fix');
    await run(
      ...byEffort({
        small: ['npm', 'run', 'build'],
        long: ['npx', 'vitest', 'run', '--maxWorkers', '1', '--project', 'sqlite', '--project', 'postgres'],
      }),
    );

    const address = await processes.startUnder({ checkout: folder }).ready();

    const [{ id }] = await (await post(`${address}/locations`, [{ name: 'North yard' }])).json();
    const { Yardgraph } = await import(join(folder, 'client/dist/esm/index.js'));
    await new Yardgraph({ serverURL: address }).crates.create([{ name: 'Shackles', locationId: id }]);
    expect(await ask(address, '{ crates { nodes { name location { name } } } }')).toEqual({
      crates: { nodes: [{ name: 'Shackles', location: { name: 'North yard' } }] },
    });
    const byErp = (erp: string) =>
      ask(
        address,
        `mutation { upsertCrates(by: { externalId: "erp" }, input: [{ name: "Ropes", externalIds: { erp: "${erp}" } }]) { outcome } }`,
      );
    expect([await byErp('C-1'), await byErp('C-1'), await byErp('C-2')]).toEqual(
      ['CREATED', 'UNCHANGED', 'CREATED'].map((outcome) => ({ upsertCrates: [{ outcome }] })),
    );
    expect(await ask(address, '{ crateByExternalId(key: "erp", value: "C-1") { name } }')).toEqual({
      crateByExternalId: { name: 'Ropes' },
    });
  },
  3_600_000,
);

/** The source after a change in the form of a diff without line numbers. */
function applied(change: string, source: string): string {
  const lines = change.trimEnd().split('\n');
  const having = (signs: string) => lines.filter((line) => signs.includes(line[0] ?? '')).map((line) => line.slice(1));
  const [before, after] = [having(' -'), having(' +')].map((some) => `\n${some.join('\n')}\n`) as [string, string];
  // Whole lines, in one place: as somebody finds them who follows the page.
  expect(`\n${source}`.split(before), before).toHaveLength(2);
  return `\n${source}`.replace(before, () => after).slice(1);
}
