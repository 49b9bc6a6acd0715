/** `yardgraph export`. */
import { execFileSync } from 'node:child_process';
import { lstatSync, symlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { useImports } from '../support/import.ts';

const imports = useImports();

test('writes what a spreadsheet of another country opens, with readable headings', async () => {
  await imports.service.create('/locations', { name: 'North', latitude: 53.08 });
  const { out } = await imports.command('export', 'locations', '--language', 'de-DE');
  expect(out[0]).toMatch(/^\uFEFFName;Latitude;.*;ID;Parent ID$/);
  const form = ['--delimiter', ';', '--decimal-comma', '--dates', '31.12.2026', '--time-zone', 'Europe/Berlin'];
  expect((await imports.command('export', 'locations', ...form)).out[1]).toContain(';North;53,08;');
});

test('writes to what a link leads to, and to a pipe, and replaces neither by a file', async () => {
  await imports.service.create('/locations', { name: 'North' });
  imports.write({ 'target.csv': '' });
  symlinkSync(imports.path('target.csv'), imports.path('link.csv'));
  execFileSync('mkfifo', [imports.path('pipe.csv')]);

  await imports.command('export', 'locations', '--output', imports.path('link.csv'));
  const piped = readFile(imports.path('pipe.csv'), 'utf8');
  await imports.command('export', 'locations', '--output', imports.path('pipe.csv'));

  expect(lstatSync(imports.path('link.csv')).isSymbolicLink()).toBe(true);
  expect(imports.read('target.csv')).toContain('North');
  expect(await piped).toContain('North');
  expect(lstatSync(imports.path('pipe.csv')).isFIFO()).toBe(true);
});

describe('writes nothing, and ends with 1,', () => {
  test.each([
    [
      'things',
      [],
      '<kind>: expected one of assets, workOrders, projects, locations, transportOrders, assetCategories, allocations, labels, all, received "things"',
    ],
    ['assets', ['--format', 'xlsx'], '--format: expected csv or ndjson, received "xlsx"'],
    ['all', ['--format', 'csv'], '--format: all kinds together are exported as ndjson only'],
    ['assets', ['--where', '{'], '--where: expected a filter as JSON'],
    ['assets', ['--external-ids', 'a,,b'], 'externalIds: expected names of systems such as erp,crm, received "a,,b"'],
  ] as const)('for %s with %j', async (kind, options, message) => {
    const { code, out, err } = await imports.command('export', kind, ...options);
    expect([code, out]).toEqual([1, ['']]);
    expect(err.slice(0, message.length)).toBe(message);
  });

  test('if the file cannot be written', async () => {
    const { code, err } = await imports.command('export', 'assets', '--output', imports.path('none/assets.csv'));
    expect([code, err.split('\n').at(-1)]).toEqual([
      1,
      expect.stringMatching(/^cannot write none\/assets\.csv: ENOENT/),
    ]);
  });
});
