/** Files of labels have the columns that people write: the type and the ID of what they name. */
import { expect, test } from 'vitest';
import { useImports } from '../support/import.ts';

const imports = useImports();

type Row = Record<string, string>;

const labels = () => imports.records('labels', 'key name color');

test('what is wrong is a refused row with the reason', async () => {
  const { code, out } = await imports.import({
    'labels.csv':
      'type,id,name,color\nVENDOR,7,A,\nSTATUS,,B,\n,7,C,\nSTATUS:7,,D,\nSTATUS,7,D,green\nSTATUS,8,E,\nstatus,8,F,\n',
  });

  expect(code).toBe(2);
  const types =
    'expected one of ALLOCATION_ORDER, ASSET_TYPE, COMPANY, PURCHASE_ORDER, STATUS, USER, WORK_ORDER_TYPE, received';
  expect(out.slice(1, 7)).toEqual([
    `  labels.csv, line 2: type: ${types} "VENDOR"`,
    '  labels.csv, line 3: id: required: the ID that records have',
    `  labels.csv, line 4: type: ${types} ""`,
    `  labels.csv, line 5: type: ${types} "STATUS:7"`,
    '  labels.csv, line 6: color: expected a colour such as #2e7d32, received "green"',
    '  labels.csv, line 8: key: line 7 of labels.csv also has the key "STATUS:8"',
  ]);
  expect(imports.read('labels.refused.csv')).toContain('VENDOR,7,A,,');
});

test('a label without a type is refused, also where nothing is cleared', async () => {
  const { code, out } = await imports.import(
    { 'labels.csv': 'id,name,type\n7,A,\n8,B\n' },
    ...['--upsert-by', 'labels=create', '--blank', 'keep'],
  );

  expect(code).toBe(1);
  expect(out.join('\n')).toMatch(/line 2: type: expected one of .*\n.*line 3: type: expected one of /);
});

test('an export comes back, by the keys or by the IDs', async () => {
  await imports.import({ 'labels.ndjson': '{"type":"STATUS","id":"7","name":"In use","color":"#2e7d32"}\n' });
  const { out } = await imports.command('export', 'labels');
  expect(out[0]).toBe('id,name,key,color,createdAt,updatedAt');

  const file = `${out.join('\n')}\n`.replace('In use', 'Rented');
  expect((await imports.import({ 'labels.csv': file })).out).toContain('0 created, 1 updated, 0 unchanged, 0 refused');
  const rekeyed = file.replace('STATUS:7', 'STATUS:8');
  expect((await imports.import({ 'labels.csv': rekeyed }, '--upsert-by', 'id')).out).toContain(
    '0 created, 1 updated, 0 unchanged, 0 refused',
  );
  expect(await labels()).toEqual([{ key: 'STATUS:8', name: 'Rented', color: '#2e7d32' }]);
});

test('a name beside an ID may be that of a label of the same import', async () => {
  await imports.import({ 'labels.csv': 'type,id,name\nSTATUS,7,In use\n' });
  const { out } = await imports.import({
    'labels.csv': 'type,id,name\nSTATUS,9,Fresh\n',
    'assets.csv': 'uid,name,status.name,statusId\n3,A,Fresh,9\n',
  });
  expect(out).toContain('2 created, 0 updated, 0 unchanged, 0 refused');
  expect(await imports.records('assets', 'statusId')).toEqual([{ statusId: '9' }]);
});

test('a typing error in the name of a label gets the proposal of this label, if it is of the same type', async () => {
  await imports.import({ 'labels.csv': 'type,id,name\nSTATUS,7,Rented\nSTATUS,8,Bay 3\nASSET_TYPE,1,Lader\n' });
  const { out } = await imports.import({ 'assets.csv': 'name,status\nA,Rentet\nB,Bay 4\nC,Ladet\n' });
  const unknown = (text: string) => `statusId: no status has the name or ID "${text}"`;
  expect(out.join('\n')).toContain(`line 2: ${unknown('Rentet')} (did you mean "Rented"?): create`);
  for (const text of ['Bay 4', 'Ladet']) expect(out.join('\n')).toContain(`${unknown(text)}: create`);
});

test('--create-missing labels makes labels of unknown names, in rows that are stored', async () => {
  await imports.import({ 'labels.csv': 'type,id,name\nSTATUS,7,In use\n' });
  const create = ['--create-missing', 'labels'];
  const rows = 'name,Status,Asset type,acquiredAt\nA,Rented,V 45,\nB,Rented,,\nC,rented,,\nD,Lost,,soon\n';

  const { out } = await imports.import({ 'assets.csv': rows }, ...create);

  expect(out).toContain('To create for links to them: 1 label');
  const other = 'line 4: statusId: the import creates the status "Rented", which differs in case: write one of them';
  expect(out.join('\n')).toContain(other);
  expect(await labels()).toMatchObject([{ key: 'STATUS:7' }, { key: 'STATUS:Rented', name: 'Rented' }]);
  expect(await imports.records('assets', 'name statusId')).toEqual([
    { name: 'A', statusId: 'Rented' },
    { name: 'B', statusId: 'Rented' },
  ]);
  // In an export, too: a name beside an ID is edited, to one that is also the ID of another label.
  const exported = (await imports.command('export', 'assets', '--names')).out.join('\n');
  const edit = (name: string, ...options: readonly string[]) =>
    imports.import(
      { 'assets.csv': exported.replaceAll(',Rented,Rented,', `,Rented,${name},`) },
      '--upsert-by=id',
      ...options,
    );
  expect((await edit('Lost', '--create-missing', 'Company')).out.join('\n')).toContain(
    'no status has the name "Lost": create it with --create-missing',
  );
  expect((await edit('7', ...create)).out.join('\n')).toContain('no status has the name "7"');
  expect((await edit('Lost', '--create-missing', 'Status')).out).toContain(
    '0 created, 2 updated, 0 unchanged, 0 refused',
  );
  expect(await labels()).toMatchObject([{ name: 'In use' }, { name: 'Rented' }, { key: 'STATUS:Lost', name: 'Lost' }]);
});

test('two spellings of a new label are refused in the preview as they are when stored, in whichever batch they are', async () => {
  await imports.import({ 'labels.csv': 'type,id,name\nSTATUS,7,In use\n' });
  const rows = 'name,Status\nA,Rented\nB,rented\nC,Rented\n';
  const { out } = await imports.import({ 'assets.csv': rows }, '--create-missing', 'labels', '--batch', '1');

  expect(out[0]).toBe('3 rows: 2 to create, 0 to update, 0 unchanged, 1 refused');
  expect(out[1]).toContain('line 3: statusId: the import creates the status "Rented", which differs in case');
  expect(out).toContain('2 created, 0 updated, 0 unchanged, 1 refused');
  expect(imports.read('assets.refused.csv')).toContain('the import creates the status ""Rented""');
});

test('a column of a link takes the IDs and the names of labels, one named after the ID only IDs', async () => {
  const labels = 'STATUS,7,In use\nSTATUS,8,Idle\nSTATUS,Idle,Broken\nSTATUS,9,Sold\nSTATUS,10,Sold\nCOMPANY,4,Acme\n';
  await imports.import({ 'labels.csv': `type,id,name\n${labels}` });
  const rows = ['In use', '8', 'Idle', 'Rented', 'idle', 'Sold', 'in use', '', 'Acme'];
  const numbered = (column: string) => `uid,name,${column}\n${rows.map((text, at) => `${at},x,${text}\n`).join('')}`;
  const statuses = async () =>
    Object.fromEntries(
      (await imports.records('assets', 'uid statusId')).map((asset: Row) => [asset.uid, asset.statusId]),
    );

  const { out } = await imports.import({ 'assets.csv': numbered('Status') });

  expect(await statuses()).toEqual({ 0: '7', 1: '8', 2: 'Idle', 7: null });
  const refused = out.join('\n');
  expect(refused).toContain(
    'line 5: statusId: no status has the name or ID "Rented": create it with --create-missing labels',
  );
  expect(refused).toContain('line 6: statusId: there is the status "Idle", did you mean it? It differs in case');
  expect(refused).toContain(
    'line 7: statusId: more than one status has the name "Sold": write one of their IDs, such as "9", "10"',
  );
  expect(refused).toContain('line 8: statusId: there is the status "In use", did you mean it? It differs in case');
  await imports.import({ 'assets.csv': numbered('Status ID') }, '--upsert-by', 'uid');
  expect(Object.values(await statuses())).toEqual(rows.map((text) => text || null));
});
