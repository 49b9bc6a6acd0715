/** `yardgraph import`: files as spreadsheets and other systems write them, into a running service. */
import { rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Yardgraph } from '../../client/index.ts';
import { type FileOptions, findFiles, type ImportFile, readRows } from '../../src/import/files.ts';
import { findRanges } from '../../src/import/made-changes.ts';
import { openRefused } from '../../src/import/refused.ts';
import type { RefusedRow, Row } from '../../src/import/rows.ts';
import { openState, type Progress } from '../../src/import/state.ts';
import { useShortDelays } from '../support/client.ts';
import { useImports } from '../support/import.ts';

const imports = useImports();
useShortDelays();

const bom = '\uFEFF';
const options: FileOptions = { columns: { map: new Map(), skip: new Set() }, form: { hasDecimalComma: false } };

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

test('reads what spreadsheets write: a byte order mark, semicolons, CRLF, quoted line breaks, names of columns in any form', async () => {
  const file = `${bom}Name;Manufactured at;Current location ID;External IDs.erp;\r\n"Crane ""big""\r\nor so";31.12.2019;ERP-1;4711;\r\n;;;;\r\n`;
  const { code, out } = await imports.import({ 'Assets 2026.csv': file }, '--dates', '31.12.2026');

  expect([code, ...out.slice(1, 3)]).toEqual([
    0,
    'Links to IDs of other systems, which lead to no record here: 1, the first is currentLocation "ERP-1" in Assets 2026.csv, line 2',
    '1 created, 0 updated, 0 unchanged, 0 refused',
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

test('reads other encodings: UTF-16 by its mark, and others by their name', async () => {
  const utf16 = Buffer.from(`${bom}name\tcity\nHafen\tKöln\n`, 'utf16le');
  const windows = Buffer.from('name,city\nYard,K\xf6ln\n', 'latin1');

  expect((await imports.import({ 'locations.csv': utf16 })).code).toBe(0);
  expect(await imports.import({ 'locations-2.csv': windows })).toMatchObject({
    code: 1,
    err: expect.stringContaining('locations-2.csv, after line 1: the text is not UTF-8'),
  });
  expect((await imports.import({ 'locations-2.csv': windows }, '--encoding', 'windows-1252')).code).toBe(0);
  expect(await imports.records('locations', 'city')).toEqual([{ city: 'Köln' }, { city: 'Köln' }]);
});

test('reads UTF-16 without a mark, other separators, and the line with which Excel names one', async () => {
  const text = 'name,city\nHafen,Köln\n';

  for (const file of [
    Buffer.from(text, 'utf16le'),
    Buffer.from(text, 'utf16le').swap16(),
    text.replaceAll(',', '|'),
    `sep=^\r\n${text.replaceAll(',', '^')}`,
  ]) {
    expect(await imports.import({ 'locations.csv': file })).toMatchObject({ code: 0 });
  }
  expect(await imports.records('locations', 'name city')).toEqual(Array(4).fill({ name: 'Hafen', city: 'Köln' }));
});

test('names the changes of links that were set later, also if no record was created or updated by a row', async () => {
  await imports.import({ 'asset-categories.csv': 'name\nA\nB\n' });

  const { out } = await imports.import(
    { 'asset-categories.csv': 'id,name,parentId\na,A,b\nb,B,\n' },
    ...['--upsert-by', 'name', '--batch', '1', '--no-preview'],
  );
  expect(out.slice(-2)).toEqual(['0 created, 0 updated, 2 unchanged, 0 refused', 'Its changes: 3.']);
});

test('does not count links of rows that would be refused as IDs of other systems', async () => {
  const { out } = await imports.import({ 'asset-categories.csv': 'name,parentId\nA,x\n' }, '--dry-run');

  expect(out).toHaveLength(2);
});

test('refuses a row with a value below an empty name, which would be lost', async () => {
  const { out } = await imports.import({ 'locations.csv': 'name,\nNorth,\nSouth,note\n' });

  expect(out.slice(0, 2)).toEqual([
    '2 rows: 1 to create, 0 to update, 0 unchanged, 1 refused',
    '  locations.csv, line 3: a column without a name has a value: name it',
  ]);
});

test('imports a file once that is named twice', async () => {
  imports.write({ 'locations.csv': 'name\nNorth\n' });
  const paths = [imports.path('locations.csv'), imports.path('./locations.csv')];

  expect((await imports.command('import', ...paths, '--yes')).out.at(1)).toMatch(/^1 created/);
});

test('an empty cell has no value, a quoted one an empty text, unless all cells are quoted', async () => {
  await imports.import({ 'locations.csv': 'name,city,state\nA,,""\n' });
  await imports.import({ 'locations-2.csv': '"name","city","state"\n"B","",""\n' });

  expect(await imports.records('locations', 'name city state')).toEqual([
    { name: 'A', city: null, state: '' },
    { name: 'B', city: null, state: null },
  ]);
});

test('lines are counted as editors count them: empty ones too, and those within cells', async () => {
  const file = 'name,uid,acquired at\r\n\r\nA,"",x\r\n"B\r\nb",,x\r\n\r\nC,,x\r\n';

  const { out } = await imports.import({ 'assets.csv': file }, '--dry-run');

  expect(out.slice(1, 4).map((line) => /line \d+/.exec(line)?.[0])).toEqual(['line 3', 'line 4', 'line 7']);
});

describe('an import that was stopped', () => {
  test('before it stored anything begins anew, also with other files', async () => {
    const { path } = imports;
    const state = await openState(path('locations.csv.import-state'));
    await state.expectRows({ ids: [{ kind: 'Location', id: 'old' }], outside: [] });
    await state.advance({ identity: 'of others' } as Progress);
    await state.close();

    const { code } = await imports.import({ 'locations.csv': 'id,name\nold,North\n' });
    expect(code).toBe(0);
  });

  test('after it stored something is refused with other files, and its state is kept', async () => {
    const state = await openState(imports.path('assets.csv.import-state'));
    await state.advance({ identity: 'of others', after: '0' } as Progress);
    await state.close();

    const { code, err } = await imports.import({ 'assets.csv': 'name\nCrane\n' });
    expect([code, err]).toEqual([1, expect.stringContaining('is the state of an import that was not finished')]);
    expect(imports.files()).toContain('assets.csv.import-state');
  });

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

  test('amid the links to later rows still says in the end which could not be set', async () => {
    const rows = ['a,A,b', 'c,C,d', 'e,E,f', 'b,,', 'd,D,', 'f,F,'];
    const files = { 'asset-categories.csv': `id,name,parentId\n${rows.map((row) => `${row}\n`).join('')}` };
    // `b` is refused for its text, which is too long.
    files['asset-categories.csv'] = files['asset-categories.csv'].replace('\nb,,', `\nb,${'x'.repeat(10_001)},`);
    once(/^update asset_categories/, () => {
      // As Ctrl-C would, but for the listeners of the tests themselves.
      process.listeners('SIGINT').at(-1)?.('SIGINT');
    });
    const options = ['--batch', '1', '--no-preview'];
    expect((await imports.import(files, ...options)).code).toBe(3);

    const { code, out } = await imports.import(files, ...options);

    expect([code, out.filter((line) => line.includes('was not set'))]).toEqual([
      2,
      [expect.stringMatching(/^ {2}category_\w+: parentId "b" was not set: the row with this ID was refused$/)],
    ]);
    const { assetCategories } = await imports.service.data('{ assetCategories { nodes { name parent { name } } } }');
    expect(assetCategories.nodes).toContainEqual({ name: 'E', parent: { name: 'F' } });
  });

  test('because a file was changed goes on when the file is as it was', async () => {
    const files = { 'assets.csv': 'name\nA\nB\nC\n' };
    once(/insert into assets/, () => imports.write({ 'assets.csv': 'name\nNew\nA\nB\nC\n' }));

    const { code, err } = await imports.import(files, '--batch', '1', '--no-preview');
    expect(code).toBe(3);
    expect(err.split('\n').at(-1)).toMatch(
      /^assets\.csv has changed since the import began\. Stored so far: [12] of 3 rows\. Restore the files if they have changed, and run the same command again to go on\.$/,
    );

    expect(await imports.import(files, '--batch', '1', '--no-preview')).toMatchObject({ code: 0 });
    expect(await imports.records('assets', 'name')).toEqual([{ name: 'A' }, { name: 'B' }, { name: 'C' }]);
  });

  test('goes on with the same files, whatever paths lead to them', async () => {
    const files = { 'assets.csv': 'name,uid\nA,\n,X\nB,\nC,\n' };
    once(/insert into assets/, () => process.listeners('SIGINT').at(-1)?.('SIGINT'));
    expect((await imports.import(files, '--batch', '1', '--no-preview')).code).toBe(3);

    const path = imports.path('assets.csv').replace('/assets.csv', '/./assets.csv');
    const { code, out } = await imports.command('import', path, '--batch', '1', '--no-preview');

    expect([code, out.includes('3 created, 0 updated, 0 unchanged, 1 refused')]).toEqual([2, true]);
    expect(await imports.records('assets', 'name')).toEqual([{ name: 'A' }, { name: 'B' }, { name: 'C' }]);
  });

  test('cannot be begun a second time while it runs', async () => {
    const state = await openState(imports.path('assets.csv.import-state'));

    const { code, err } = await imports.import({ 'assets.csv': 'name\nCrane\n' });
    await state.close();
    expect([code, err]).toEqual([1, expect.stringContaining('another import of these files is running')]);
  });
});

test('the file of refused rows may be moved away while an import is stopped: the rest begins a new one', async () => {
  imports.write({ 'assets.csv': 'name,acquired at\nA,x\nB,y\n' });
  const [file] = findFiles([imports.path('assets.csv')], options);
  const rows: Row[] = [];
  for await (const row of readRows(file as ImportFile, options)) rows.push(row);
  const [first, second] = rows.map((row) => ({ row, issues: [{ path: [], message: 'no' }] }));
  const name = 'assets.refused.csv';
  const bytes = (await openRefused(file as ImportFile, options, { name, bytes: 0 })).add([first as RefusedRow]);
  rmSync(imports.path('assets.refused.csv'));

  (await openRefused(file as ImportFile, options, { name, bytes })).add([second as RefusedRow]);

  expect(imports.read('assets.refused.csv')).toBe(`${bom}name,acquired at,refused because\nB,y,no\n`);
});

describe('refused rows', () => {
  const rows = 'name,uid,acquired at\nCrane,C-1,2020-02-17\nPump,C-1,2020-02-17\nDrill,C-3,soon\nRagged\n';

  test('are left out, and written to a file of the same form, with the reasons', async () => {
    const { code, out } = await imports.import({ 'assets.csv': rows });

    expect(code).toBe(2);
    expect(out).toEqual([
      '4 rows: 1 to create, 0 to update, 0 unchanged, 3 refused',
      '  assets.csv, line 3: uid: line 2 also has the uid "C-1"',
      '  assets.csv, line 4: acquiredAt: expected a date such as 2026-03-01 or 2026-03-01T07:30:00Z, received "soon"',
      '  assets.csv, line 5: expected 3 cells, as the header has, received 1',
      '1 created, 0 updated, 0 unchanged, 3 refused',
      'The refused rows are in assets.refused.csv, each with the reason: fix them, and import that file.',
      'Its changes: 1.',
    ]);
    expect(imports.read('assets.refused.csv').split('\n')).toEqual([
      `${bom}name,uid,acquired at,refused because`,
      'Pump,C-1,2020-02-17,"uid: line 2 also has the uid ""C-1"""',
      'Drill,C-3,soon,"acquiredAt: expected a date such as 2026-03-01 or 2026-03-01T07:30:00Z, received ""soon"""',
      'Ragged,,,"expected 3 cells, as the header has, received 1"',
      '',
    ]);
  });

  test('of an early part are named also if later parts have none', async () => {
    const { out } = await imports.import({ 'assets.csv': 'name,acquired at\nA,soon\nB,\nC,\n' }, '--batch', '1');

    expect(out).toContain(
      'The refused rows are in assets.refused.csv, each with the reason: fix them, and import that file.',
    );
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

  test('are imported once they are fixed, with their reasons left out', async () => {
    await imports.import({ 'assets.csv': rows });
    const fixed = imports.read('assets.refused.csv').replace('C-1', 'C-2').replace('soon', '2020-02-17');

    const { code, out } = await imports.import({ 'assets.refused.csv': fixed });

    expect([code, out.at(1)]).toEqual([0, '3 created, 0 updated, 0 unchanged, 0 refused']);
  });

  test('have the IDs of records in place of those of earlier rows, which no other import knows', async () => {
    await imports.import({
      'locations.csv': 'id,name\n1,North\n',
      'work-orders.csv': 'name,location ID,start date\nA,1,soon\n',
    });
    const [{ id }] = await imports.records('locations', 'id');

    expect(imports.read('work-orders.refused.csv')).toContain(`\nA,${id},soon,`);
  });
});

describe('links', () => {
  test('lead to rows of the same import by their IDs, whatever these are, and by external IDs', async () => {
    const { code, out } = await imports.import({
      'projects.csv': 'id,name,location,location.externalIds.erp\n7,Wall,1,\n8,Quay,,L2\n',
      'locations.csv': 'id,name,externalIds.erp\n1,North,L1\n2,South,L2\n',
    });

    expect([code, out[0]]).toEqual([0, '4 rows: 4 to create, 0 to update, 0 unchanged, 0 refused']);
    expect(await imports.records('projects', 'name location { name }')).toEqual([
      { name: 'Wall', location: { name: 'North' } },
      { name: 'Quay', location: { name: 'South' } },
    ]);
  });

  test('lead to later rows of their own kind, of the same part or of another', async () => {
    const file = 'id,name,parent id\nc,Mobile,b\nb,Tower,a\na,Cranes,\nd,Small,c\n';

    expect((await imports.import({ 'asset-categories.csv': file }, '--batch', '2')).code).toBe(0);
    const categories = await imports.records('assetCategories', 'name parent { name }');
    const byName = (name: string) => categories.find((category: { name: string }) => category.name === name);
    expect(['Mobile', 'Tower', 'Cranes', 'Small'].map(byName)).toEqual([
      { name: 'Mobile', parent: { name: 'Tower' } },
      { name: 'Tower', parent: { name: 'Cranes' } },
      { name: 'Cranes', parent: null },
      { name: 'Small', parent: { name: 'Mobile' } },
    ]);
  });

  test('that would make a circle of parts are named, and left out', async () => {
    const { code, out } = await imports.import(
      { 'asset-categories.csv': 'id,name,parent id\na,A,b\nb,B,a\n' },
      '--batch',
      '1',
    );

    expect(code).toBe(2);
    expect(out.join('\n')).toMatch(/category_\w+: parentId "b" was not set: /);
    expect(await imports.records('assetCategories', 'name parent { name }')).toEqual([
      { name: 'A', parent: null },
      { name: 'B', parent: { name: 'A' } },
    ]);
  });

  test('to refused rows, to rows that are not there and to nowhere are refused', async () => {
    const { out } = await imports.import({
      'locations.csv': 'id,name,latitude\n1,North,high\n',
      'projects.csv': 'name,location,location.externalIds.erp\nA,1,\nB,,L9\n',
    });

    expect(out).toContain('0 created, 0 updated, 0 unchanged, 3 refused');
    expect(imports.read('projects.refused.csv')).toContain('locationId: the row with the ID ""1"" was refused');
    expect(imports.read('projects.refused.csv')).toContain('no location with the external ID ""L9"" of ""erp""');
  });

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
      '  projects.csv, line 3: location.externalId: there is no location with the external ID "L1" of "erp" in this workspace',
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

  test('do not lead to a second row with the same ID, which is refused', async () => {
    const { out } = await imports.import({
      'locations.csv': 'id,name\n1,North\n1,South\n',
      'projects.csv': 'name,location\nWall,1\n',
    });

    expect(out.at(-3)).toBe('2 created, 0 updated, 0 unchanged, 1 refused');
    expect(await imports.records('projects', 'location { name }')).toEqual([{ location: { name: 'North' } }]);
  });
});

describe('upserts', () => {
  test('say what is created, updated and unchanged, and store it', async () => {
    await imports.import({ 'assets.csv': 'externalIds.erp,name,uid\n1,Crane,C-1\n2,Pump,C-2\n' });
    const file = 'externalIds.erp,name,uid\n1,Crane,C-1\n2,Pump,\n3,Drill,C-3\n';

    const { code, out } = await imports.import({ 'assets.csv': file }, '--upsert-by', 'externalIds.erp');

    expect(code).toBe(0);
    expect(out).toEqual([
      '3 rows: 1 to create, 1 to update, 1 unchanged, 0 refused',
      '1 created, 1 updated, 1 unchanged, 0 refused',
      'Its changes: 3 to 4.',
    ]);
    expect(await imports.records('assets', 'name uid')).toEqual([
      { name: 'Crane', uid: 'C-1' },
      { name: 'Pump', uid: null },
      { name: 'Drill', uid: 'C-3' },
    ]);
  });

  test('of several kinds have a key for each', async () => {
    const files = { 'assets.csv': 'uid,name\nC-1,Crane\n', 'asset-categories.csv': 'name\nCranes\n' };

    expect(await imports.import(files, '--upsert-by', 'uid')).toMatchObject({
      code: 1,
      err: '--upsert-by: asset categories cannot be found by "uid": expected --upsert-by assetCategories=name, or --upsert-by assetCategories=create',
    });
    for (const outcome of ['2 created, 0 updated, 0 unchanged', '0 created, 0 updated, 2 unchanged']) {
      const { out } = await imports.import(files, '--upsert-by', 'uid', '--upsert-by', 'asset categories=name');
      expect(out.at(1)).toContain(outcome);
    }
  });
});

describe('NDJSON', () => {
  test('has rows of any kinds, in any order', async () => {
    const rows = [
      { kind: 'PROJECT', name: 'Wall', locationId: 'l' },
      { kind: 'LOCATION', id: 'l', name: 'North', latitude: 53.08, externalIds: { erp: 'L1' } },
    ];
    const { code } = await imports.import({ 'all.ndjson': rows.map((row) => `${JSON.stringify(row)}\n`).join('') });

    expect(code).toBe(0);
    expect(await imports.records('projects', 'name location { latitude }')).toEqual([
      { name: 'Wall', location: { latitude: 53.08 } },
    ]);
  });

  test('has a value of another type refused alone, with what was expected', async () => {
    const rows = ['{"kind":"LOCATION","name":"North","latitude":"high"}', '{"kind":"LOCATION","name":5}'];
    const { out } = await imports.import({ 'all.ndjson': [...rows, '{"kind":"LOCATION","name":"South"}'].join('\n') });

    expect(out.slice(0, 4)).toEqual([
      '3 rows: 1 to create, 0 to update, 0 unchanged, 2 refused',
      '  all.ndjson, line 1: latitude: expected a number from -90 to 90, received "high"',
      '  all.ndjson, line 2: name: expected text, received 5',
      '1 created, 0 updated, 0 unchanged, 2 refused',
    ]);
  });

  test('may have numbers as the IDs of rows', async () => {
    const rows = ['{"kind":"LOCATION","id":1,"name":"L"}', '{"kind":"PROJECT","name":"P","locationId":1}'];
    await imports.import({ 'all.ndjson': rows.map((row) => `${row}\n`).join('') });

    expect(await imports.records('projects', 'location { name }')).toEqual([{ location: { name: 'L' } }]);
  });

  test('has the IDs of records in refused rows, whatever the name of the column', async () => {
    const location = { kind: 'LOCATION', id: 'l', name: 'North' };
    const project = { kind: 'PROJECT', location: 'l', startDate: 'soon', name: 'Wall' };
    await imports.import({ 'all.ndjson': `${JSON.stringify(location)}\n${JSON.stringify(project)}\n` });
    const fixed = imports.read('all.refused.ndjson').replace('soon', '2026-03-01');

    expect((await imports.import({ 'all.refused.ndjson': fixed })).code).toBe(0);
    expect(await imports.records('projects', 'location { name }')).toEqual([{ location: { name: 'North' } }]);
  });

  test('may have an empty object as a row, if the name of the file says its kind', async () => {
    expect((await imports.import({ 'assets.ndjson': '{}\n' })).code).toBe(1);
    expect(JSON.parse(imports.read('assets.refused.ndjson'))).toEqual({
      'refused because': 'name: required: the name of the asset',
    });
  });

  test('has its refused rows in NDJSON, with the reasons', async () => {
    await imports.import({ 'all.ndjson': '{"kind":"ASSET","uid":"C-1"}\n{"kind":"LOCATION"}\n' });

    expect(JSON.parse(imports.read('all.refused.ndjson'))).toEqual({
      kind: 'ASSET',
      uid: 'C-1',
      'refused because': 'name: required: the name of the asset',
    });
  });
});

describe('nothing is stored, and the command ends with 1,', () => {
  const asset = 'name\nCrane\n';
  test.each([
    ['assets.csv', 'nmae,uid\nCrane,\n', '', 'assets.csv: unknown column "nmae", did you mean "name"?: map it'],
    [
      ...['locations.csv', 'Colour,name,Size,Place\n,North,,\n', '--map Place=ctiy'],
      'locations.csv: unknown columns "Colour"; "Size"; "Place", mapped to "ctiy", did you mean "city"?: map it to a field with --map "Colour=…", or leave it out with --skip "Colour". The fields of locations are name, latitude,',
    ],
    ['assets.csv', 'name,Name\nA,B\n', '', 'columns "name" and "Name" are the same: leave one out with --skip "Name"'],
    ['assets.csv', 'name,name\nA,B\n', '', 'columns "name" and "name" are the same: rename one in the first line'],
    ['assets.csv', '', '', 'assets.csv is empty'],
    ['assets.csv', 'name\n"Crane\nPump\n', '', 'assets.csv, line 2: a quoted cell is not closed'],
    ['assets.xlsx', 'PK\x03\x04', '', 'is a workbook, which is not read. In the spreadsheet program, choose File'],
    ['assets.csv', 'PK\x03\x04', '', 'is a workbook'],
    ['things.csv', asset, '', 'things.csv: which kind of record does it have? Name it assets.csv'],
    ['things.csv', asset, '--kind thing', '--kind: expected a kind such as assets, received "thing"'],
    ['all.ndjson', '{"kind":"ASSET","name":"A"}\n{no\n', '', 'line 2: expected a JSON object, received "{no"'],
    ['all.ndjson', '{"name":"A"}\n', '', 'line 1: expected a kind such as "ASSET", received nothing'],
    ['assets.csv', asset, '--time-zone Mars', '--time-zone: expected a time zone such as Europe/Berlin'],
    ['assets.csv', asset, '--encoding ebcdic', '--encoding: expected one such as windows-1252'],
    ['assets.csv', asset, '--map Serial', '--map: expected a column and a field'],
    ['assets.csv', asset, '--batch 0', '--batch: expected a whole number from 1'],
    ['assets.csv', asset, '--url x', 'serverURL'],
    ['assets.csv', asset, '--message a\nb', 'changeMessage'],
    ['assets.csv', asset, '--url http://127.0.0.1:65534', 'the service: ECONNREFUSED (http://127.0.0.1:65534)'],
    ['assets.csv', asset, '--upsert-by name', '--upsert-by: assets cannot be found by "name"'],
  ] as const)('for %s with %j and the options "%s": %s', async (name, content, options, message) => {
    const { code, err } = await imports.import({ [name]: content }, ...options.split(' ').filter(Boolean));

    expect(err).toContain(message);
    expect(code).toBe(1);
    expect(imports.files()).toEqual([name]);
    expect(await imports.service.data('{ changeCursor }')).toEqual({ changeCursor: '0' });
  });

  test('if there is no file', async () => {
    const { code, err } = await imports.command('import', imports.path('none.csv'));
    expect([code, err]).toEqual([1, 'there is no file none.csv']);
  });
});

test('a row for which the service would reject all others is refused alone, and a part that is too large is sent in halves', async () => {
  const ids = JSON.stringify(Object.fromEntries(Array.from({ length: 1_001 }, (_, n) => [`k${n}`, 'v'])));
  const deep = `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`;
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
    '  all.ndjson, line 3: nested too deeply to be sent',
    expect.stringMatching(/^ {2}all\.ndjson, line 4: externalIds\.a: expected text/),
  ]);
});

test('columns have other names with --map, and are left out with --skip', async () => {
  const file = { 'machines.csv': 'Serial no.,Title,Colour\nC-1,Crane,red\n' };
  const options = ['--kind', 'assets', '--map', 'Serial no.=uid', '--map', 'Title=name', '--skip', 'Colour'];

  expect((await imports.import(file, ...options)).code).toBe(0);
  expect(await imports.records('assets', 'name uid')).toEqual([{ name: 'Crane', uid: 'C-1' }]);
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

test('the changes of others are not among those that the import names', async () => {
  const yardgraph = new Yardgraph({ serverURL: imports.url() });
  for (const changeMessage of ['import (1)', 'import (1)', 'other', 'import (1)']) {
    await yardgraph.locations.create([{ name: 'North' }], { changeMessage });
  }

  expect(await findRanges(yardgraph, { after: '0', message: 'import (1)', number: 3 })).toEqual([
    [1, 2],
    [4, 4],
  ]);
});
