/** An import is killed in the middle, again and again, and finished: every row is stored once, with its links. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { clientOf } from '../support/client.ts';
import { byEffort } from '../support/effort.ts';
import { useProcesses } from '../support/process.ts';
import { createRandom } from '../support/random.ts';
import { listen, useSharedService } from '../support/service.ts';

const service = useSharedService();
const processes = useProcesses();

const kills = byEffort({ small: 2, long: 60 });
const size = byEffort({ small: { categories: 40, assets: 300 }, long: { categories: 200, assets: 1_000 } });
/** Every twentieth asset is refused. */
const isRefused = (n: number): boolean => n % 20 === 7;

test('an import that is killed at any place goes on, without a row that is lost or stored twice', async () => {
  const { integer } = createRandom(7);
  const yardgraph = await clientOf(service);
  const url = await listen(service.app);
  const folder = join(processes.folder, 'files');
  mkdirSync(folder);
  const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);
  // Each category is below the next one, which mostly comes in a later part.
  const categories = numbers(size.categories).map((n) => `${n},${n},${n + 1 < size.categories ? n + 1 : ''}\n`);
  const assets = numbers(size.assets).map((n) => `${n},${isRefused(n) ? 'soon' : '2020-02-17'}\n`);
  writeFileSync(join(folder, 'asset-categories.csv'), `id,name,parentId\n${categories.join('')}`);
  writeFileSync(join(folder, 'assets.csv'), `name,acquiredAt\n${assets.join('')}`);
  const start = () => processes.start({}, 'import', folder, '--yes', '--no-preview', '--batch', '20', '--url', url);

  for (let kill = 0; kill < kills; kill += 1) {
    const { child, exited } = start();
    const cursor = Number(await yardgraph.changeCursor()) + integer(size.assets / 4);
    while (Number(await yardgraph.changeCursor()) < cursor && child.exitCode === null) await pause(2);
    child.kill('SIGKILL');
    await exited;
  }
  const { code, out } = await start().ended();

  const refusals = size.assets / 20;
  const created = (size.categories + size.assets - refusals).toLocaleString('en');
  expect(out).toContain(`${created} created, 0 updated, 0 unchanged, ${refusals} refused`);
  expect(code).toBe(2);
  const { assets: stored, assetCategories: tree } = await service.data(
    '{ assets(first: 1000) { nodes { name } } assetCategories(first: 1000) { nodes { name parent { name } } } }',
  );
  const accepted = numbers(size.assets).filter((n) => !isRefused(n));
  expect(stored.nodes).toEqual(accepted.map((n) => ({ name: String(n) })));
  const parents: [string, string | undefined][] = tree.nodes.map(({ name, parent }: Category) => [name, parent?.name]);
  expect(parents.toSorted(([a], [b]) => Number(a) - Number(b))).toEqual(
    numbers(size.categories).map((n) => [`${n}`, n + 1 < size.categories ? `${n + 1}` : undefined]),
  );
  const refused = readFileSync(join(folder, 'assets.refused.csv'), 'utf8').trimEnd().split('\n').slice(1);
  expect(refused.map((line) => line.split(',')[0])).toEqual(numbers(size.assets).filter(isRefused).map(String));
  expect(readdirSync(folder).toSorted()).toEqual(['asset-categories.csv', 'assets.csv', 'assets.refused.csv']);
  expect(readdirSync(processes.folder)).toEqual(['files']);
});

interface Category {
  readonly name: string;
  readonly parent: { readonly name: string } | null;
}
