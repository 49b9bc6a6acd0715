/** Files that people and other programs write: what each becomes, after public reports of what such files did elsewhere. */
import { mkdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { useImports } from '../support/import.ts';

const imports = useImports();

interface Case {
  readonly what: string;
  readonly files: Readonly<Record<string, string>>;
  readonly options?: string;
  readonly code?: number;
  /** Parts of lines that are printed. */
  readonly out?: readonly string[];
  readonly stored?: readonly [list: string, fields: string, ...records: readonly object[]];
}

const lines = (...texts: readonly string[]) => texts.map((text) => `${text}\n`).join('');
const located = (name: string) => ({ location: { name } });

test.each<Case>([
  {
    what: 'quotes that do not add up refuse their lines, and swallow none',
    files: { 'assets.csv': lines('name,uid', '"24 in. pipe wrench,W-1', '19" hose reel,W-2', 'Drill,W-3') },
    code: 2,
    out: ['assets.csv, line 2: the quote before', 'assets.csv, line 3: its quotes and those of line 2'],
    stored: ['assets', 'name uid', { name: 'Drill', uid: 'W-3' }],
  },
  {
    what: 'numbers as IDs keep their digits; an object, and a number beyond all, is a refused row',
    files: {
      'locations.ndjson': lines(
        '{"name":"A","externalIds.erp":12345678901234567890}',
        '{"name":"B","externalIds.erp":{"a":1}}',
        '{"name":"C","externalIds.erp":1.10}',
        '{"name":"D","externalIds.__proto__":"x"}',
        '{"name":"E","latitude":1e400}',
      ),
    },
    code: 2,
    out: [
      'line 2: externalIds.erp: expected text',
      'line 5: latitude: expected a number that is kept with all its digits',
    ],
    stored: [
      ...(['locations', 'externalIds'] as const),
      ...['{"erp":"12345678901234567890"}', '{"erp":"1.10"}', '{"__proto__":"x"}'].map((ids) => ({
        externalIds: JSON.parse(ids),
      })),
    ],
  },
  {
    what: 'an empty uid is no uid',
    files: { 'assets.csv': lines('name,uid', 'a,""', 'b,""', 'c,') },
    stored: ['assets', 'uid', { uid: null }, { uid: null }, { uid: null }],
  },
  {
    what: 'a line that is no JSON is refused, whatever its kind would be',
    files: { 'all.ndjson': lines('{no', '{"kind":"PROJECT","name":"A"}', '{"kind":"PROJECT",', '{"name":"B"}') },
    options: '--upsert-by projects=create',
    code: 2,
    out: ['all.ndjson, line 1: ', 'line 3: ', 'line 4: kind: ', '1 created, 0 updated, 0 unchanged, 3 refused'],
  },
  {
    what: 'a file without a header has the columns that are named',
    files: { 'assets.txt': lines('Crane;C-1', 'Pump;\\N') },
    options: '--columns name,uid --null \\N',
    stored: ['assets', 'name uid', { name: 'Crane', uid: 'C-1' }, { name: 'Pump', uid: null }],
  },
  {
    what: 'a refusal names the option that helps',
    files: { 'locations.csv': 'name;latitude\nA;53,08\n', 'projects.csv': 'name,start date\nB,31.12.2026\n' },
    code: 1,
    out: [
      'or 53,08 with --decimal-comma, received "53,08"',
      'its order with --dates, such as 31.12.2026 or 12/31/2026, received "31.12.2026"',
    ],
  },
  {
    what: 'times are read by the options; one that does not exist is refused',
    files: { 'projects.csv': lines('name,start date', 'A,03/01/2026 7:30 AM', 'D,2026-03-29 02:30') },
    options: '--dates 12/31/2026 --time-zone Europe/Berlin',
    code: 2,
    out: ['line 3: startDate: expected a time that clocks in Europe/Berlin show'],
    stored: ['projects', 'startDate', { startDate: '2026-03-01T06:30:00.000Z' }],
  },
  {
    what: 'more than ten refusals are summed up by their reasons',
    files: { 'locations.csv': `name,latitude\n${'L,high\n'.repeat(1_204)}A,1\nB,91\n` },
    code: 2,
    out: [
      '  1,204 rows: latitude: expected a number such as 53.08, first in locations.csv, line 2',
      '  1 row: latitude: expected a number from -90 to 90, first in locations.csv, line 1207',
    ],
  },
  {
    what: 'what is probably wrong is said, with the line',
    files: { 'assets.csv': lines('name,uid,acquiredAt', 'A,4.71E+11,0202-01-01', 'B,c-7,', 'C,C-7,') },
    out: [
      'a spreadsheet has probably rounded this ID: line 2, column "uid", "4.71E+11"',
      'the date is before 1900 or after 2100: line 2',
      'values differ only in case, white space or the form of letters: line 4, column "uid", "C-7" and "c-7" in line 3',
    ],
  },
  {
    what: 'links lead to rows of the same import by their IDs, whatever these are, and by external IDs',
    files: {
      'projects.csv': lines('id,name,location,location.externalIds.erp', '7,Wall,1,', '8,Quay,,L2'),
      'locations.csv': lines('id,name,externalIds.erp', '1,North,L1', '2,South,L2'),
    },
    stored: ['projects', 'location { name }', located('North'), located('South')],
  },
  {
    what: 'of two rows with the same ID, the second is refused',
    files: { 'locations.csv': lines('id,name', '1,North', '1,South'), 'projects.csv': 'name,location\nWall,1\n' },
    code: 2,
    out: ['2 created, 0 updated, 0 unchanged, 1 refused'],
    stored: ['projects', 'location { name }', located('North')],
  },
  {
    what: 'rows of JSON have any kinds, in any order, and numbers as their IDs',
    files: {
      'all.ndjson': lines(
        '{"kind":"PROJECT","name":"Wall","locationId":1}',
        '{"kind":"LOCATION","id":1,"name":"North"}',
      ),
    },
    stored: ['projects', 'location { name }', located('North')],
  },
])('$what', async ({ files, options = '', code = 0, out = [], stored }) => {
  const ended = await imports.import(files, ...options.split(' ').filter(Boolean));

  expect([ended.code, ended.out, ended.err]).toEqual([code, expect.anything(), expect.anything()]);
  for (const part of out) expect(ended.out.join('\n')).toContain(part);
  if (stored) expect(await imports.records(stored[0], stored[1])).toEqual(stored.slice(2));
});

test('every file of a folder is imported, or named', async () => {
  mkdirSync(imports.path('folder'));
  imports.write({
    'folder/assets.csv': 'name\nCrane\n',
    'folder/locations.tsv': 'name\tcity\nNorth\tBremen\n',
    'folder/projects.jsonl': '{"name":"Wall"}\n',
  });
  expect(await imports.command('import', imports.path('folder'), '--yes')).toMatchObject({
    code: 0,
    out: expect.arrayContaining(['3 created, 0 updated, 0 unchanged, 0 refused']),
  });
  imports.write({ 'folder/plan.pdf': '%PDF' });

  const { code, out } = await imports.command('import', imports.path('folder'), '--yes');

  expect([code, out[0]]).toEqual([2, 'Left out, because it is no file to import: folder/plan.pdf']);
});

test('--refused names the file of refused rows, which is overwritten, and removed if there are none', async () => {
  const nightly = (rows: string, ...options: readonly string[]) =>
    imports.import({ 'assets.csv': `name,acquiredAt\n${rows}` }, '--refused', imports.path('bad.csv'), ...options);

  expect((await nightly('A,soon\nB,\n')).out).toContain(
    'The refused rows are in bad.csv, each with the reason: fix them, and import that file.',
  );
  expect((await nightly('C,later\nD,\n')).code).toBe(2);
  expect(imports.read('bad.csv')).toMatch(/^\uFEFFname,acquiredAt,refused because\nC,later,.*\n$/);
  expect((await nightly('E,\n')).code).toBe(0);
  expect(imports.files()).toEqual(['assets.csv']);
});
