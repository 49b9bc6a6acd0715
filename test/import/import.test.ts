/** `yardgraph import`: files as spreadsheets and other systems write them, into a running service. */
import { mkdirSync, readlinkSync, symlinkSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { useShortDelays } from '../support/client.ts';
import { useImports } from '../support/import.ts';

const imports = useImports();
useShortDelays();

const bom = '\uFEFF';

test('stores the rows of files without a header, by the options, and says which changes it has made and what is probably wrong', async () => {
  const { code, out } = await imports.import(
    { 'assets.txt': 'Crane;31.12.2026 7:30;ERP-1\nPump;\\N;\\N\n' },
    ...['--columns', 'name,acquired at,Current location ID', '--null', '\\N'],
    ...['--dates', '31.12.2026', '--time-zone', 'Europe/Berlin'],
  );

  expect([code, ...out]).toEqual([
    0,
    '2 rows: 2 to create, 0 to update, 0 unchanged, 0 refused',
    'Allowed, and probably wrong:',
    '  assets.txt: no location here has this ID: it is stored as an ID of another system: line 1, column "Current location ID"',
    '2 created, 0 updated, 0 unchanged, 0 refused',
    'Its changes: 1 to 2.',
  ]);
  expect(await imports.records('assets', 'name acquiredAt currentLocationId')).toEqual([
    { name: 'Crane', acquiredAt: '2026-12-31T06:30:00.000Z', currentLocationId: 'ERP-1' },
    { name: 'Pump', acquiredAt: null, currentLocationId: null },
  ]);
  expect(imports.files()).toEqual(['assets.txt']);
});

test('every file of a folder is imported, or named; rows of JSON have any kinds, in any order, and numbers as their IDs', async () => {
  mkdirSync(imports.path('folder'));
  imports.write({
    'folder/assets.csv': 'name\nCrane\n',
    'folder/all.jsonl': '{"kind":"PROJECT","name":"Wall","locationId":1}\n{"kind":"LOCATION","id":1,"name":"North"}\n',
    'folder/plan.pdf': '%PDF',
  });

  const { code, out } = await imports.command('import', imports.path('folder'), '--yes');

  expect([code, out[0]]).toEqual([2, 'Left out, because it cannot be imported: folder/plan.pdf']);
  expect(out).toContain('3 created, 0 updated, 0 unchanged, 0 refused');
  expect(await imports.records('projects', 'location { name }')).toEqual([{ location: { name: 'North' } }]);
});

test('a row with too many cells comes back with all of them, as often as it is imported, and none is taken for a reason', async () => {
  await imports.import({ 'assets.csv': 'name,uid\nCrane, small,C-1,red\n' }, '--no-preview');
  const first = imports.read('assets.refused.csv');
  expect(first).toMatch(/^\uFEFFname,uid,refused because\nCrane," small",C-1,red,"refused: expected 2 cells/);

  await imports.import({ 'assets-2.csv': first }, '--no-preview');
  expect(imports.read('assets-2.refused.csv')).toMatch(/\nCrane," small",C-1,red,"refused: expected 3 cells[^\n]*\n$/);

  const cleared = await imports.import(
    { 'assets-3.csv': 'name,uid,refused because\nCrane," small",C-1,\n' },
    '--no-preview',
  );
  expect(cleared.out[0]).toBe('0 created, 0 updated, 0 unchanged, 1 refused');
  expect(imports.read('assets-3.refused.csv')).toContain(
    '\nCrane," small",C-1,,"refused: the column ""refused because"" has ""C-1""',
  );
});

describe('refused rows', () => {
  test('are summed up by their reasons if they are more than ten', async () => {
    const { out } = await imports.import({ 'locations.csv': `name,latitude\n${'L,high\n'.repeat(11)}A,1\nB,91\n` });

    expect(out.slice(1, 3)).toEqual([
      expect.stringMatching(
        /^ {2}11 rows: latitude: expected a number such as 53\.08.*, first in locations\.csv, line 2$/,
      ),
      '  1 row: latitude: expected a number from -90 to 90, first in locations.csv, line 14',
    ]);
  });

  test('of an earlier import, which somebody may be fixing, stay as they are, and are no input that is overwritten', async () => {
    await imports.import({ 'locations.csv': 'name,latitude\nA,900\n' });
    const earlier = imports.read('locations.refused.csv');

    const { code, out } = await imports.import({
      'locations.csv': 'name,latitude\nB,1\nC,901\n',
      'locations.refused.csv': earlier,
    });

    expect(code).toBe(2);
    expect(out.slice(2)).toContain('  locations.refused-2.csv');
    expect(imports.read('locations.refused.csv')).toBe(earlier);
    expect(imports.read('locations.refused-2.csv')).toContain('C,901,');
    expect(imports.files()).toEqual([
      'locations.csv',
      'locations.refused-2.csv',
      'locations.refused.csv',
      'locations.refused.refused.csv',
    ]);
  });

  test('of several files go to several files: never over one to import, through a link, or over those of the same folder', async () => {
    mkdirSync(imports.path('a'));
    imports.write({ 'a/assets.csv': 'name,uid\n,1\n', 'a/assets.csv.gz': gzipSync('uid,name\nX,\n') });
    imports.write({ 'a/assets.refused.csv': 'uid,name\nX,\nY,Pump\n' });
    symlinkSync('a', imports.path('b'));
    symlinkSync('nowhere', imports.path('a/assets.refused-2.csv'));
    const paths = ['a/assets.csv', 'b/assets.csv.gz', 'a/assets.refused.csv'].map(imports.path);

    const { out } = await imports.command('import', ...paths, '--yes', '--refused', imports.path('a'));

    const names = ['a/assets.refused-3.csv', 'a/assets.refused-4.csv', 'a/assets.refused.refused.csv'];
    expect(out.filter((line) => line.startsWith('  ') && line.endsWith('.csv'))).toEqual(
      names.map((name) => `  ${name}`),
    );
    expect(names.map((name) => imports.read(name).split('\n')[0]?.slice(1))).toEqual([
      'name,uid,refused because',
      ...Array(2).fill('uid,name,refused because'),
    ]);
    expect(imports.read('a/assets.refused.csv')).toBe('uid,name\nX,\nY,Pump\n');
    expect(readlinkSync(imports.path('a/assets.refused-2.csv'))).toBe('nowhere');
  });

  test.each([
    ['notes.txt', 'notes.txt has something other than refused rows: name another file'],
    ['none/x.csv', 'there is no folder '],
    ['assets.csv.import-run', 'has something other than refused rows'],
  ])('do not go to %s', async (name, problem) => {
    const notes = 'Rows that were refused because of me, and others\nx,refused because\n{"note":"refused because"}\n';
    imports.write({ 'assets.csv': 'name\n\u0020\n', 'notes.txt': notes });

    const { code, err } = await imports.command('import', imports.path('assets.csv'), '--refused', imports.path(name));

    expect([code, err]).toEqual([1, expect.stringContaining(problem)]);
    expect(imports.read('notes.txt')).toBe(notes);
  });

  test('replace those of the file that --refused names, which is removed if there are none', async () => {
    const nightly = (rows: string) =>
      imports.import({ 'assets.csv': `name,acquiredAt\n${rows}` }, '--refused', imports.path('bad.csv'));

    for (const earlier of ['', `${bom}name,refused because\nA,x\n`, '{"name":"A","refused because":"x"}\n']) {
      imports.write({ 'bad.csv': earlier });
      expect((await nightly('C,later\nD,\n')).out).toContain(
        'The refused rows are in bad.csv, each with the reason: fix them, and import that file.',
      );
      expect(imports.read('bad.csv')).toMatch(/^\uFEFFname,acquiredAt,refused because\nC,later,.*\n$/);
    }
    expect((await nightly('E,\n')).code).toBe(0);
    expect(imports.files()).toEqual(['assets.csv']);
  });

  test('refuse those that link to them, in the preview, too; those of several files are fixed together', async () => {
    const { code, out } = await imports.import({
      'locations.csv': 'id,externalIds.erp,name,latitude\n1,L1,North,high\n2,L2,South,\n',
      'projects.csv': 'name,location,location.externalIds.erp\nA,1,\nB,,L1\nC,2,\nD,,L2\n',
    });

    expect([code, ...out.slice(0, -1)]).toEqual([
      2,
      '6 rows: 3 to create, 0 to update, 0 unchanged, 3 refused',
      expect.stringContaining('locations.csv, line 2: latitude: expected a number'),
      '  projects.csv, line 2: locationId: the row with the ID "1" was refused',
      '  projects.csv, line 3: location.externalIds.erp: there is no location with the external ID "L1" of "erp" in this workspace',
      '3 created, 0 updated, 0 unchanged, 3 refused',
      'The refused rows are in these files, each with the reason: fix them, and import the files together.',
      '  locations.refused.csv',
      '  projects.refused.csv',
    ]);
    for (const name of ['locations', 'projects']) {
      const refused = imports.read(`${name}.refused.csv`).replace('high', '53');
      imports.write({ [`${name}.refused.csv`]: refused });
    }
    const paths = ['locations', 'projects'].map((name) => imports.path(`${name}.refused.csv`));
    expect(await imports.command('import', ...paths, '--yes')).toMatchObject({ code: 0 });
    expect(await imports.records('projects', 'name location { name }')).toEqual([
      { name: 'C', location: { name: 'South' } },
      { name: 'D', location: { name: 'South' } },
      { name: 'A', location: { name: 'North' } },
      { name: 'B', location: { name: 'North' } },
    ]);
  });
});

describe('nothing is stored, and the command ends with 1,', () => {
  const asset = 'name\nCrane\n';
  test.each([
    ['assets.csv', '', '', 'assets.csv: it is empty'],
    [
      ...(['assets.json', '{\n  "name": "Crane"\n}\n', ''] as const),
      'assets.json: line 1: an object goes on in the next lines: make a line of each, such as by jq -c . assets.json',
    ],
    ['assets.csv', asset, '--time-zone Mars', '--time-zone: expected a time zone such as Europe/Berlin'],
    ['assets.csv', asset, '--delete-missing 5', '--delete-missing: name the key of records with --upsert-by'],
    ['assets.csv', asset, '--batch 0', '--batch: expected a whole number from 1 to 999,999'],
    ['assets.csv', asset, '--url http://127.0.0.1:65534', 'the service: ECONNREFUSED (http://127.0.0.1:65534)'],
  ] as const)('for %s with %j and the options "%s": %s', async (name, content, options, message) => {
    const { code, err } = await imports.import({ [name]: content }, ...options.split(' ').filter(Boolean));

    expect(err).toContain(message);
    expect(code).toBe(1);
    expect(imports.files()).toEqual([name]);
    expect(await imports.service.data('{ changeCursor }')).toEqual({ changeCursor: '0' });
  });

  test('and all that is wrong is told at once: the kind of a file, the encoding of another, all columns, and an option', async () => {
    const { code, err } = await imports.import(
      {
        'things.csv': 'name\nCrane\n',
        'assets.csv': 'nmae,uid,UID,Name,name\nCrane,,,,\n',
        'locations.csv': Buffer.from('name;city\nYard;K\xf6ln\n', 'latin1'),
        'projects.ndjson': '{"name":"A","Size":1}\n{"name":"B","Weight":2}\n',
      },
      ...['--upsert-by', 'uid'],
    );

    expect([code, ...err.split('\n')]).toEqual([
      1,
      expect.stringContaining('things.csv: which kind of record does it have'),
      expect.stringMatching(
        /^assets.csv: the columns "uid" and "UID" .*; the columns "Name" and "name" .*; unknown column "nmae"/,
      ),
      expect.stringContaining('locations.csv, line 2: the text is not UTF-8.'),
      expect.stringContaining('projects.ndjson: unknown column "Size": map i'),
      expect.stringContaining('projects.ndjson: unknown column "Weight": map'),
      expect.stringContaining('--upsert-by: projects cannot be found by "uid"'),
    ]);
  });
});

test('a row for which the service would reject all others is refused alone, and a part that is too large is sent in halves', async () => {
  const ids = JSON.stringify(Object.fromEntries(Array.from({ length: 1_001 }, (_, n) => [`k${n}`, 'v'])));
  const deep = `${'{"a":'.repeat(1_000)}1${'}'.repeat(1_000)}`;
  const row = (name: string, externalIds: string) => `{"kind":"ASSET","name":"${name}","externalIds":${externalIds}}\n`;
  const some = JSON.stringify(Object.fromEntries(Array.from({ length: 90 }, (_, n) => [`k${n}`, 'v'])));
  // The 400 rows have 36,000 external IDs, which is more than a batch may have.
  const many = Array.from({ length: 400 }, (_, n) => row(`Asset ${n}`, some)).join('');

  const { code, out } = await imports.import({
    'all.ndjson': row('A', ids) + row('B', '{}') + row('C', deep) + row('D', '{"a":{"b":{}}}') + many,
  });

  expect(code).toBe(2);
  expect(out).toContain('401 created, 0 updated, 0 unchanged, 3 refused');
  expect(out.slice(1, 4)).toEqual([
    '  all.ndjson, line 1: expected JSON objects of at most 1,000 keys',
    '  all.ndjson, line 3: externalIds: expected an object with text as "a", received an object',
    '  all.ndjson, line 4: externalIds: expected an object with text as "a", received an object',
  ]);
});

test('a row of JSON that is refused again says its last reason only, and the ID of its record', async () => {
  const rows = [
    '{"kind":"LOCATION","id":"1","latitude":53}',
    '{"kind":"PROJECT","name":"A","startDate":"soon","locationId":"1"}',
    '{"kind":"PROJECT","name":"B","name":"C"}',
    '{"kind":"PROJECT","name":"D',
  ];
  await imports.import({ 'all.ndjson': `${rows.join('\n')}\n` });
  const first = imports.read('all.refused.ndjson');
  expect(first.split('\n')).toEqual([
    expect.stringMatching(/^\{"refused line":".*B.*C.*","refused because":"it has the name \\"name\\" twice"\}$/),
    expect.stringMatching(
      /^\{"refused line":"\{\\"kind\\":\\"PROJECT\\",\\"name\\":\\"D","refused because":"it is not JSON: .*"\}$/,
    ),
    expect.stringMatching(
      /^\{"kind":"PROJECT","name":"A","startDate":"soon","locationId":"location_\w+","refused because":"startDate: .*"\}$/,
    ),
    '',
  ]);

  await imports.import({ 'again.ndjson': first });

  expect(imports.read('again.refused.ndjson').split('\n').toSorted()).toEqual(first.split('\n').toSorted());

  await imports.import({ 'fixed.ndjson': first.split('\n')[1]?.replace('"D"', '"D\\"}"') ?? '' });
  expect(await imports.records('projects', 'name')).toEqual([{ name: 'D' }]);
});

test('a dry run stores nothing, and leaves no file', async () => {
  const { code, out } = await imports.import({ 'assets.csv': 'name,uid\nCrane,\n,C-1\n' }, '--dry-run');

  expect([code, out[0]]).toEqual([2, '2 rows: 1 to create, 0 to update, 0 unchanged, 1 refused']);
  expect(imports.files()).toEqual(['assets.csv']);
  expect(await imports.records('assets', 'name')).toEqual([]);
});

test('a script confirms with --yes, or checks nothing first', async () => {
  imports.write({ 'assets.csv': 'name\nCrane\n' });

  expect(await imports.command('import', imports.path('assets.csv'))).toMatchObject({
    code: 1,
    err: expect.stringContaining('confirm with --yes'),
  });
  expect(await imports.command('import', imports.path('assets.csv'), '--no-preview')).toMatchObject({ code: 0 });
});

/** A service that accepts less at a time than the command sends. */
const small = useImports({ MAX_BATCH: '3' });

test('rows of a part that is halved link to each other, parents first', async () => {
  const rows = Array.from({ length: 9 }, (_, n) => `${n},C${n},${n < 8 ? n + 1 : ''}\n`);

  const { code, out } = await small.import({ 'asset-categories.csv': `id,name,parentId\n${rows.join('')}` });

  expect([code, out.slice(0, 2)]).toEqual([
    0,
    [
      '9 rows: 9 to create, 0 to update, 0 unchanged, 0 refused',
      'Not checked: links of 3 rows to rows of earlier batches, first in asset-categories.csv, line 7',
    ],
  ]);
  const tree = await small.records('assetCategories', 'name parent { name }');
  const parents = tree.map(({ name, parent }: { name: string; parent: { name: string } | null }) => [
    name,
    parent?.name,
  ]);
  expect(Object.fromEntries(parents)).toStrictEqual(
    Object.fromEntries(rows.map((_, n) => [`C${n}`, n < 8 ? `C${n + 1}` : undefined])),
  );
});

test('rows that are created beside more changed ones than the service takes are created once', async () => {
  const ids: string[] = [];
  for (const name of ['A', 'B', 'C', 'D', 'E']) ids.push((await small.service.create('/locations', { name }))[0].id);
  const rows = [',New\n', ...ids.map((id) => `${id},Changed\n`), ',Newer\n'];

  const { code, out } = await small.import({ 'locations.csv': `id,name\n${rows.join('')}` }, '--upsert-by', 'id');

  expect([code, out.at(-2)]).toEqual([0, '2 created, 5 updated, 0 unchanged, 0 refused']);
  expect(await small.records('locations', 'name')).toHaveLength(7);
});
