/** `yardgraph import`: files as spreadsheets and other systems write them, into a running service. */
import { mkdirSync, readlinkSync, symlinkSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { useImports } from '../support/import.ts';

const imports = useImports();

const bom = '\uFEFF';

test('stores the rows of a CSV file, and says which changes it has made', async () => {
  const { code, out } = await imports.import({ 'assets.csv': 'name,uid\nCrane,C-1\nPump,\n' });

  expect(out).toEqual([
    '2 rows: 2 to create, 0 to update, 0 unchanged, 0 refused',
    '2 created, 0 updated, 0 unchanged, 0 refused',
    'Its changes: 1 to 2.',
  ]);
  expect(code).toBe(0);
  expect(await imports.records('assets', 'name uid')).toEqual([
    { name: 'Crane', uid: 'C-1' },
    { name: 'Pump', uid: null },
  ]);
  expect(imports.files()).toEqual(['assets.csv']);
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

test('reads what spreadsheets write: a byte order mark, semicolons, CRLF, quoted line breaks, names of columns in any form', async () => {
  const file = `${bom}Name;Manufactured at;Current location ID;External IDs.erp;\r\n"Crane ""big""\r\nor so";31.12.2019;ERP-1;4711;\r\n;;;;\r\n`;
  const { code, out } = await imports.import({ 'Assets 2026.csv': file }, '--dates', '31.12.2026');

  expect([code, ...out.slice(1, 3)]).toEqual([
    0,
    'Allowed, and probably wrong:',
    '  Assets 2026.csv: no location here has such an ID: it is kept as one of another system: line 2, column "Current location ID"',
  ]);
  expect(
    await imports.service.data('{ assets { nodes { name manufacturedAt currentLocationId externalIds } } }'),
  ).toEqual({
    assets: {
      nodes: [
        {
          name: 'Crane "big"\r\nor so',
          manufacturedAt: '2019-12-31T00:00:00.000Z',
          currentLocationId: 'ERP-1',
          externalIds: { erp: '4711' },
        },
      ],
    },
  });
});

describe('refused rows', () => {
  const rows = 'name,uid,acquired at\nCrane,C-1,2020-02-17\nPump,C-1,2020-02-17\nDrill,C-3,soon\nRagged\n';

  test('are left out, and written to a file of the same form, with the reasons', async () => {
    const { code, out } = await imports.import({ 'assets.csv': rows });

    expect(code).toBe(2);
    expect(out).toEqual([
      '4 rows: 2 to create, 0 to update, 0 unchanged, 2 refused',
      '  assets.csv, line 3: uid: line 2 also has the uid "C-1"',
      '  assets.csv, line 4: acquiredAt: expected a date such as 2026-03-01 or 2026-03-01T07:30:00Z, received "soon"',
      'Allowed, and probably wrong:',
      '  assets.csv: the row has fewer cells than the header: line 5',
      '2 created, 0 updated, 0 unchanged, 2 refused',
      'The refused rows are in assets.refused.csv, each with the reason: fix them, and import that file.',
      'Its changes: 1 to 2.',
    ]);
    expect(imports.read('assets.refused.csv').split('\n')).toEqual([
      `${bom}name,uid,acquired at,refused because`,
      'Pump,C-1,2020-02-17,"refused: uid: line 2 also has the uid ""C-1"""',
      'Drill,C-3,soon,"refused: acquiredAt: expected a date such as 2026-03-01 or 2026-03-01T07:30:00Z, received ""soon"""',
      '',
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

  test('of several files go to several files, and never over one to import', async () => {
    imports.write({ 'assets.csv': 'name,uid\n,1\n', 'assets.refused.csv': 'uid,name\nX,\nY,Pump\n' });
    const paths = ['assets.csv', 'assets.refused.csv'].map(imports.path);
    const folder = imports.path('.');

    const { out } = await imports.command('import', ...paths, '--yes', '--refused', folder);

    expect(imports.read('assets.refused.csv')).toBe('uid,name\nX,\nY,Pump\n');
    expect(out.filter((line) => line.startsWith('  ') && line.endsWith('.csv'))).toHaveLength(2);
    expect(imports.read('assets.refused-2.csv')).toContain('name,uid,refused because');
    expect(imports.read('assets.refused.refused.csv')).toContain('uid,name,refused because');
  });

  test('of files in one folder, which is named in two ways, go to two files; a link that leads nowhere stays', async () => {
    mkdirSync(imports.path('a'));
    imports.write({ 'a/assets.csv': 'name,uid\n,1\n', 'a/assets.csv.gz': gzipSync('uid,name\nX,\n') });
    symlinkSync('a', imports.path('b'));
    symlinkSync('nowhere', imports.path('a/assets.refused.csv'));

    await imports.command('import', imports.path('a/assets.csv'), imports.path('b/assets.csv.gz'), '--yes');

    expect(imports.read('a/assets.refused-2.csv')).toContain('name,uid,refused because\n');
    expect(imports.read('a/assets.refused-3.csv')).toContain('uid,name,refused because\n');
    expect(readlinkSync(imports.path('a/assets.refused.csv'))).toBe('nowhere');
  });

  test.each([
    ['notes.txt', 'notes.txt has something else than refused rows: name another file'],
    ['none/x.csv', 'there is no folder '],
    ['assets.csv.import-run', 'has something else than refused rows'],
  ])('do not go to %s', async (name, problem) => {
    const notes = 'Rows that were refused because of me, and others\nx,refused because\n{"note":"refused because"}\n';
    imports.write({ 'assets.csv': 'name\n\u0020\n', 'notes.txt': notes });

    const { code, err } = await imports.command('import', imports.path('assets.csv'), '--refused', imports.path(name));

    expect([code, err]).toEqual([1, expect.stringContaining(problem)]);
    expect(imports.read('notes.txt')).toBe(notes);
  });

  test.each(['', '\uFEFFname,refused because\nA,x\n', '{"name":"A","refused because":"x"}\n'])(
    'replace earlier ones such as %j',
    async (earlier) => {
      imports.write({ 'assets.csv': 'name,uid\n,1\n', 'bad.txt': earlier });

      await imports.command('import', imports.path('assets.csv'), '--yes', '--refused', imports.path('bad.txt'));

      expect(imports.read('bad.txt')).toMatch(/^\uFEFFname,uid,refused because\n,1,/);
    },
  );
});

describe('links', () => {
  test('to rows that would be refused are refused by the preview, too; refused rows of several files are fixed together', async () => {
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

test('upserts of several kinds have a key for each', async () => {
  const files = { 'assets.csv': 'uid,name\nC-1,Crane\n', 'asset-categories.csv': 'name\nCranes\n' };

  expect(await imports.import(files, '--upsert-by', 'uid')).toMatchObject({
    code: 1,
    err: '--upsert-by: asset categories cannot be found by "uid": expected --upsert-by assetCategories=name, or --upsert-by assetCategories=id, or --upsert-by assetCategories=create',
  });
  for (const outcome of ['2 created, 0 updated, 0 unchanged', '0 created, 0 updated, 2 unchanged']) {
    const { out } = await imports.import(files, '--upsert-by', 'uid', '--upsert-by', 'asset categories=name');
    expect(out.at(1)).toContain(outcome);
  }
});

describe('nothing is stored, and the command ends with 1,', () => {
  const asset = 'name\nCrane\n';
  test.each([
    ['assets.csv', 'nmae,uid\nCrane,\n', '', 'assets.csv: unknown column "nmae", did you mean "name"?: map it'],
    [
      ...['locations.csv', 'Colour,name,Size,Place\n,North,,\n', '--map Place=ctiy'],
      'locations.csv: unknown columns "Colour"; "Size"; "Place", mapped to "ctiy", did you mean "city"?: map it to a field with --map "Colour=…", leave it out with --skip "Colour", or leave out all unknown columns with --skip-others. The fields of locations are name, latitude,',
    ],
    ['assets.csv', 'name,Name\nA,B\n', '', 'columns "name" and "Name" say the same: leave one out with --skip "Name"'],
    ['assets.csv', '', '', 'assets.csv: it is empty'],
    [
      'assets.csv',
      'INSERT INTO assets VALUES (1);\n',
      '',
      'assets.csv: unknown column "INSERT INTO assets VALUES (1)"',
    ],
    ['assets.xlsx', 'PK\x03\x04', '', 'is a workbook, which is not read. In the spreadsheet program, choose File'],
    [
      ...(['assets.json', '{\n  "name": "Crane"\n}\n', ''] as const),
      'assets.json: line 1: an object goes on in the next lines: make a line of each, such as by jq -c . assets.json',
    ],
    ['things.csv', asset, '', 'things.csv: which kind of record does it have? Name it assets.csv'],
    ['assets.csv', asset, '--time-zone Mars', '--time-zone: expected a time zone such as Europe/Berlin'],
    ['assets.csv', asset, '--batch 0', '--batch: expected a whole number from 1 to 999,999'],
    ['assets.csv', asset, '--batch 1000000', '--batch: expected a whole number from 1 to 999,999'],
    ['assets.csv', asset, '--url http://127.0.0.1:65534', 'the service: ECONNREFUSED (http://127.0.0.1:65534)'],
    ['assets.csv', asset, '--upsert-by name', '--upsert-by: assets cannot be found by "name"'],
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

  test('if there is no file', async () => {
    const { code, err } = await imports.command('import', imports.path('none.csv'));
    expect([code, err]).toEqual([1, 'there is no file none.csv']);
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
