/** An import that is stopped at any moment goes on when it is started again: nothing is stored twice, and nothing is lost. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { useShortDelays } from '../support/client.ts';
import { byEffort } from '../support/effort.ts';
import { useImports } from '../support/import.ts';
import { useProcesses } from '../support/process.ts';
import { createRandom } from '../support/random.ts';

const imports = useImports();
useShortDelays();
test('a signal that comes when it has ended does not make it look interrupted', async () => {
  const before = new Set(process.listeners('SIGINT'));
  expect((await imports.import({ 'assets.csv': 'name\nCrane\n' })).code).toBe(0);
  expect(process.listeners('SIGINT').filter((listener) => !before.has(listener))).toHaveLength(1);
});

describe('an import', () => {
  /** Runs the work once, when the service is about to run such a statement. */
  const once = (statement: RegExp, work: () => void) => {
    const { knex } = imports.service.database;
    const listen = ({ sql }: { sql: string }) => {
      if (!statement.test(sql)) return;
      knex.removeListener('query', listen);
      work();
    };
    knex.on('query', listen);
  };

  /** Begins to import in batches of one row, and stops as by Ctrl-C while the first is stored. Returns the options. */
  const stopped = async (files: Readonly<Record<string, string>>, ...more: readonly string[]) => {
    once(/(insert into|update) "?(new_)?(assets|locations)/, () => void process.listeners('SIGINT').at(-1)?.('SIGINT'));
    const options = ['--batch', '1', '--no-preview', ...more];
    expect((await imports.import(files, ...options)).code).toBe(3);
    return options;
  };

  test('does not go on if its rows are linked by paths, which may lead elsewhere now', async () => {
    await imports.import({ 'locations.csv': 'id,name,parent\n1,Yard,\n2,Shed,1\n' });
    const files = { 'assets.csv': 'name,location\nA,Yard / Shed\nB,Yard / Shed\n' };
    const options = await stopped(files);

    const { code, err } = await imports.import(files, ...options);
    expect([code, err]).toEqual([
      expect.any(Number),
      expect.stringMatching(/paths such as "Yard \/ Shed".* Undo its changes, and /),
    ]);
    expect(code).not.toBe(0);
    expect(await imports.records('assets', 'name')).toEqual([{ name: 'A' }]);
  });

  test('goes on with names that were edited beside IDs, which it has stored', async () => {
    await imports.import({ 'labels.csv': 'type,id,name\nSTATUS,7,In use\nSTATUS,8,Idle\n' });
    await imports.import({ 'assets.csv': 'name,status\nA,In use\nB,In use\n' });
    const rows = (await imports.records('assets', 'id name')).map(
      ({ id, name }: { id: string; name: string }) => `${id},${name},7,Idle\n`,
    );
    const files = { 'assets.csv': `id,name,statusId,status.name\n${rows.join('')}` };
    const options = await stopped(files, '--upsert-by', 'id');

    expect((await imports.import(files, ...options)).out).toContain('0 created, 2 updated, 0 unchanged, 0 refused');
    expect(await imports.records('assets', 'statusId')).toEqual([{ statusId: '8' }, { statusId: '8' }]);
  });

  test('because a file was changed, or by Ctrl-C, goes on when the files are as they were, whatever path leads to them', async () => {
    const files = { 'assets.csv': 'name,acquired at\nA,soon\nB,\nC,\nD,\nE,soon\nF,\n' };
    const options = ['--batch', '1', '--no-preview'];
    once(/insert into (new_)?assets/, () => imports.write({ 'assets.csv': 'name\nNew\nA\nB\nC\n' }));
    const { code, err } = await imports.import(files, ...options);
    expect([code, err.split('\n').at(-1)?.replace(/\d of/, 'some of')]).toEqual([
      3,
      'assets.csv has changed since the import began. Stored or refused so far: some of 6 rows. Restore the files if they have changed, and run the same command again to continue: nothing is stored twice.',
    ]);
    await stopped(files);

    // The file of refused rows may be moved away meanwhile: it is written anew, and whole.
    expect(imports.read('assets.refused.csv')).toContain('\nA,soon,');
    imports.write({ 'assets.refused.csv': 'precious,work\n' });
    const { err: taken } = await imports.import(files, ...options);
    expect(taken).toMatch(
      /assets\.refused\.csv has something other than refused rows: move it to continue the import$/,
    );
    expect(imports.read('assets.refused.csv')).toBe('precious,work\n');
    rmSync(imports.path('assets.refused.csv'));
    const path = imports.path('assets.csv').replace('/assets.csv', '/./assets.csv');
    const { out } = await imports.command('import', path, ...options);
    expect(out).toContain('4 created, 0 updated, 0 unchanged, 2 refused');
    expect(imports.read('assets.refused.csv')).toMatch(
      /^\uFEFFname,acquired at,refused because\nA,soon,.*\nE,soon,.*\n$/,
    );
    const names = (await imports.records('assets', 'name')).map(({ name }: { name: string }) => name);
    expect(names).toEqual(['B', 'C', 'D', 'F']);
  });

  test('of other files, or with other options, is not taken for one that was stopped', async () => {
    const files = { 'assets.csv': 'name\nCrane\nPump\n' };
    await stopped(files);

    const others = [
      ['name\nDrill\n'],
      [files['assets.csv'], '--kind', 'locations'],
      [files['assets.csv'], '--upsert-by', 'uid', '--delete-missing', '9'],
      [files['assets.csv'], '--delete-missing', '9'],
    ];
    for (const [content, ...more] of others) {
      const { code, err } = await imports.import({ 'assets.csv': content ?? '' }, ...more);
      expect([code, err]).toEqual([1, expect.stringContaining('is from an unfinished import')]);
    }
    expect(imports.files()).toEqual(['assets.csv', 'assets.csv.import-run']);
    const line = imports.read('assets.csv.import-run');
    imports.write({ 'assets.csv.import-run': JSON.stringify({ ...JSON.parse(line), pid: process.ppid }) });
    expect((await imports.import(files)).err).toContain('another import of these files is running');
    imports.write({ 'assets.csv.import-run': line });
    const otherKey = await imports.service.key({ workspace: 'other' });
    const elsewhere = await imports.commandWith(otherKey, 'import', imports.path('assets.csv'), '--yes');
    expect([elsewhere.code, elsewhere.err]).toEqual([
      1,
      expect.stringMatching(/the stopped import belongs to the workspace \S+: use its key, or delete /),
    ]);
    const dryRun = await imports.import(files, '--dry-run');
    expect([dryRun.code, dryRun.err]).toEqual([1, 'an import of these files was stopped: finish it before a dry run']);
    expect((await imports.import(files)).out).toContain('2 created, 0 updated, 0 unchanged, 0 refused');
  });

  test.each([[], ['--upsert-by', 'id']])(
    'of which a part was undone does not go on, because the service would not store it again: %s %s',
    async (...by) => {
      const files = { 'assets.csv': 'name\nA\nB\nC\n' };
      const options = await stopped(files, ...by);
      await imports.command('undo', '--from', '1', '--to', '1', '--yes');

      const { code, err } = await imports.import(files, ...options);

      expect([code, err]).toEqual([
        1,
        expect.stringMatching(
          /the import cannot continue: records that it has stored are gone, as after an undo, and would not be stored again \(1 asset\)\. Undo the rest of its changes, and delete assets\.csv\.import-run to start over$/,
        ),
      ]);
      rmSync(imports.path('assets.csv.import-run'));
      expect((await imports.import(files, ...options)).out).toContain('3 created, 0 updated, 0 unchanged, 0 refused');
    },
  );

  test('of records that are found by a key stores again what was undone meanwhile', async () => {
    const files = { 'locations.csv': 'name,externalIds.erp\nA,1\nB,2\nC,3\n' };
    const options = await stopped(files, '--upsert-by', 'externalIds.erp');
    await imports.command('undo', '--from', '1', '--to', '1', '--yes');

    expect((await imports.import(files, ...options)).code).toBe(0);

    expect(await imports.records('locations', 'name')).toEqual(
      expect.arrayContaining(['A', 'B', 'C'].map((name) => ({ name }))),
    );
  });

  test('that finds all its rows unchanged when it goes on says which changes it made before', async () => {
    await imports.import({ 'locations.csv': 'name,externalIds.erp\nA,1\n' });
    const files = { 'locations.csv': 'name,externalIds.erp\nB,2\nA,1\n' };
    const options = await stopped(files, '--upsert-by', 'externalIds.erp');

    const { out } = await imports.import(files, ...options);

    expect(out.slice(-2)).toEqual(['0 created, 0 updated, 2 unchanged, 0 refused', 'Its changes: 2.']);
  });

  test('that creates records does not go on after a day, when the service has forgotten its keys', async () => {
    const files = { 'assets.csv': 'name,uid\nCrane,C-1\nPump,C-2\n' };
    await stopped(files);
    const line = JSON.parse(imports.read('assets.csv.import-run'));
    imports.write({ 'assets.csv.import-run': JSON.stringify({ ...line, startedAt: Date.now() - 24 * 3_600_000 }) });

    const { code, err } = await imports.import(files);

    expect([code, err]).toEqual([1, expect.stringContaining('the import began more than 23 hours ago')]);
  });
});

const processes = useProcesses();

const kills = byEffort({ small: 2, long: 60 });
const size = byEffort({ small: { categories: 40, assets: 300 }, long: { categories: 200, assets: 1_000 } });
/** Every twentieth asset is refused. */
const isRefused = (n: number): boolean => n % 20 === 7;

test('an import that is killed at any place goes on, without a row that is lost or stored twice', async () => {
  const { integer } = createRandom(7);
  const yardgraph = imports.client();
  const folder = join(processes.folder, 'files');
  mkdirSync(folder);
  const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);
  // Each category is below the next one, which mostly comes in a later part.
  const categories = numbers(size.categories).map((n) => `${n},${n},${n + 1 < size.categories ? n + 1 : ''}\n`);
  const assets = numbers(size.assets).map((n) => `${n},${isRefused(n) ? 'soon' : '2020-02-17'}\n`);
  writeFileSync(join(folder, 'asset-categories.csv'), `id,name,parentId\n${categories.join('')}`);
  writeFileSync(join(folder, 'assets.csv'), `name,acquiredAt\n${assets.join('')}`);
  const start = () =>
    processes.start(
      { YARDGRAPH_API_KEY: imports.key() },
      ...['import', folder, '--yes', '--no-preview', '--batch', '20', '--url', imports.url()],
    );

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
  const tree: { name: string; parent: { name: string } | null }[] = await imports.records(
    'assetCategories',
    'name parent { name }',
  );
  const accepted = numbers(size.assets).filter((n) => !isRefused(n));
  expect(await imports.records('assets', 'name')).toEqual(accepted.map((n) => ({ name: String(n) })));
  expect(new Map(tree.map(({ name, parent }) => [Number(name), parent?.name]))).toEqual(
    new Map(numbers(size.categories).map((n) => [n, n + 1 < size.categories ? `${n + 1}` : undefined])),
  );
  const refused = readFileSync(join(folder, 'assets.refused.csv'), 'utf8').trimEnd().split('\n').slice(1);
  expect(refused.map((line) => line.split(',')[0])).toEqual(numbers(size.assets).filter(isRefused).map(String));
  expect(readdirSync(folder).toSorted()).toEqual(['asset-categories.csv', 'assets.csv', 'assets.refused.csv']);
  expect(readdirSync(processes.folder)).toEqual(['files']);
});
