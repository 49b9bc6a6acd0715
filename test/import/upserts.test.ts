/** Files of records that are stored: changed by a key or by their IDs, and deleted when they are in no file. */
import { describe, expect, test } from 'vitest';
import { useImports } from '../support/import.ts';

const imports = useImports();

const assets = (fields: string) => imports.records('assets', fields);

test('a column of one external ID sets or clears it, and leaves the others', async () => {
  await imports.import({
    'assets.ndjson':
      '{"name":"A","uid":"A","externalIds":{"erp":"1","crm":"2","telematics":"3"}}\n{"name":"B","uid":"B","externalIds":{"erp":"4"}}\n',
  });
  const file = 'uid,externalIds.crm,externalIds.erp\nA,,5\nB,,\nC,6,\n';
  const { code, out, table } = await imports.import(
    { 'assets.csv': `name,${file.replace(/^([ABC]),/gm, '$1,$1,')}` },
    '--upsert-by',
    'uid',
  );

  expect([code, out[0]]).toEqual([0, '3 rows: 1 to create, 2 to update, 0 unchanged, 0 refused']);
  expect(table).toEqual([
    'created changed cleared unchanged refused',
    'assets 1 2 2 0 0',
    'name 1 0 0 2 0',
    'uid 1 0 0 2 0',
    'externalIds.crm 1 0 1 1 0',
    'externalIds.erp 0 1 1 0 0',
  ]);
  expect(await assets('externalIds')).toEqual([
    { externalIds: { erp: '5', telematics: '3' } },
    { externalIds: null },
    { externalIds: { crm: '6' } },
  ]);
});

describe('--upsert-by id', () => {
  test('changes records by their IDs, creates those without one, and refuses unknown ones', async () => {
    await imports.import({ 'locations.csv': 'name,city\nA,Bremen\nB,Köln\nC,Ulm\n' });
    const [a, b] = (await imports.records('locations', 'id')).map(({ id }: { id: string }) => id);
    const file = `id,name,latitude\n${a},A,\n${b},Beta,50.9\n,New,1\n${a?.slice(0, -4)}zzzz,X,\n7,Y,\n${b},Twice,\n`;

    const { code, out, table } = await imports.import({ 'locations.csv': file }, '--upsert-by', 'id');

    expect([code, ...out]).toEqual([
      2,
      '6 rows: 1 to create, 1 to update, 1 unchanged, 3 refused',
      expect.stringMatching(/line 5: id: there is no location with the ID "location_\w+zzzz" in this workspace$/),
      '  locations.csv, line 6: id: there is no location with the ID "7": IDs of this service start with location_',
      expect.stringContaining('  locations.csv, line 7: id: line 3 of locations.csv also has the id '),
      '1 created, 1 updated, 1 unchanged, 3 refused',
      'The refused rows are in locations.refused.csv, each with the reason: fix them, and import that file.',
      'Its changes: 4 to 5.',
    ]);
    expect(table).toContain('locations 1 1 0 1 3');
  });

  test('names the lines of rows that take a value from each other, whatever stands between them', async () => {
    await imports.import({ 'assets.csv': 'name,uid\nA,1\nB,2\nC,3\n' });
    const [a, b, c] = (await imports.records('assets', 'id')).map(({ id }: { id: string }) => id);
    const file = `id,name,uid\n${a?.slice(0, -4)}zzzz,X,\n${a},A,9\n${b},B,\n${c},C,9\n`;

    expect((await imports.import({ 'assets.csv': file }, '--upsert-by', 'id')).out).toContain(
      '  assets.csv, line 5: uid: line 3 of assets.csv also has the uid "9"',
    );
  });
});

test('a row whose key finds no record, and that has no name for a new one, says so', async () => {
  const { out } = await imports.import({ 'assets.csv': 'uid,statusId\nXX-1,7\n' }, '--upsert-by', 'uid');
  expect(out[1]).toBe('  assets.csv, line 2: name: no asset has the uid "XX-1", and a new one needs a name');
});

test('a row with the key of an earlier one is refused, in whichever batch and file it is, in the preview and when stored', async () => {
  const files = {
    'assets.ndjson': `[${['U1', 'U2', 'U1'].map((uid, at) => JSON.stringify({ uid, name: `A${at}` })).join()}]`,
    'assets-2.csv': 'uid,name\nU3,B\nU2,C\n',
    'projects.csv': 'externalIds.sap.de,name,startDate\nP-1,Wall,soon\nP-2,Quay,\nP-1,Lock,\n',
  };
  const options = ['--upsert-by', 'assets=uid', '--upsert-by', 'projects=externalIds.sap.de', '--batch', '1'];

  const { code, out, table } = await imports.import(files, ...options);

  expect([code, ...out.slice(0, 6)]).toEqual([
    2,
    '8 rows: 4 to create, 0 to update, 0 unchanged, 4 refused',
    '  assets.ndjson, line 1: uid: line 1 of assets.ndjson also has the uid "U1"',
    '  assets-2.csv, line 3: uid: line 1 of assets.ndjson also has the uid "U2"',
    expect.stringContaining('  projects.csv, line 2: startDate: '),
    '  projects.csv, line 4: externalIds["sap.de"]: line 2 of projects.csv also has the externalIds.sap.de "P-1"',
    '4 created, 0 updated, 0 unchanged, 4 refused',
  ]);
  expect(table).toContain('externalIds.sap.de 1 0 0 0 1');
  expect(await assets('name')).toEqual(['A0', 'A1', 'B'].map((name) => ({ name })));
});

describe('--delete-missing', () => {
  const nightly = (rows: string, most: string, ...more: readonly string[]) =>
    imports.import(
      { 'assets.csv': `externalIds.erp,name\n${rows}` },
      '--upsert-by',
      'externalIds.erp',
      '--delete-missing',
      most,
      ...more,
    );

  test('deletes records whose key is in no file, but for those without the key', async () => {
    await imports.import({ 'assets.csv': 'name,externalIds.erp\nA,1\nB,2\nC,3\nOwn,\n' });

    const { code, out } = await nightly('1,A\n4,D\n', '5');

    expect([code, ...out]).toEqual([
      0,
      '2 rows: 1 to create, 0 to update, 1 unchanged, 0 refused',
      'To delete, because they are not in the files: 2 assets',
      '1 created, 0 updated, 1 unchanged, 0 refused',
      'Deleted, because they are not in the files: 2 assets',
      'Its changes: 5 to 7.',
    ]);
    expect((await assets('name')).map(({ name }: { name: string }) => name)).toEqual(['A', 'Own', 'D']);
  });

  test('deletes nothing beyond its limit, if rows are refused, or if there are none', async () => {
    await imports.import({ 'assets.csv': 'name,externalIds.erp\nA,1\nB,2\nC,3\n' });

    const many = await nightly('1,A\n', '1');
    expect([many.code, many.out.at(-2)]).toEqual([
      2,
      'Nothing is deleted: 2 records are not in the files, and --delete-missing allows 1.',
    ]);
    const refused = await nightly('1,A\n2,\n', '5');
    expect([refused.code, refused.out]).toEqual([
      2,
      expect.arrayContaining(['No record is deleted, because not all rows are stored.']),
    ]);
    // As of a nightly export that has failed.
    expect((await nightly('', '5')).code).toBe(0);
    expect(await assets('name')).toHaveLength(3);
  });

  test('keeps what others refer to, and names it', async () => {
    await imports.import({
      'locations.csv': 'name,externalIds.erp\nNorth,1\nSouth,2\n',
      'projects.csv': 'name,location.externalIds.erp\nWall,2\n',
    });

    const options = ['--upsert-by', 'externalIds.erp', '--delete-missing', '9'];
    const { code, out } = await imports.import({ 'locations.csv': 'name,externalIds.erp\nWest,3\n' }, ...options);

    expect([code, ...out.slice(3, 5)]).toEqual([
      2,
      'Deleted, because they are not in the files: 1 location',
      expect.stringMatching(/^ {2}location_\w+ was not deleted: .*referenced by 1 project/),
    ]);
    expect((await imports.records('locations', 'name')).map(({ name }: { name: string }) => name)).toEqual([
      'South',
      'West',
    ]);
  });
});
