/** Links of imported rows: by name, by external IDs, by IDs that say the same or something else, and to records that are created for them. */
import { describe, expect, test } from 'vitest';
import { useImports } from '../support/import.ts';

const imports = useImports();

test('all that is wrong in a row is said at once, and nothing that would be right without it', async () => {
  const { out } = await imports.import(
    {
      'locations.csv': 'id,name,externalIds.erp,latitude\nl,Yard,L-1,\nm,Hall,L-2,100\n',
      'assets.csv':
        'name,acquiredAt,location,category\nA,soon,Yard,Cranes\nB,soon,l,\nC,soon,Nowhere,Cranes\nD,soon,m,\n',
      'projects.csv': `name,startDate,location.externalIds.erp,notes\nP,soon,L-1,${'x'.repeat(10_001)}\n`,
    },
    ...['--create-missing', 'assetCategories', '--no-preview'],
  );

  expect(out[0]).toBe('1 created, 0 updated, 0 unchanged, 6 refused');
  const reasonsIn = (name: string) =>
    [...imports.read(`${name}.refused.csv`).matchAll(/refused: (.*)"$/gm)].map(([, text = '']) =>
      text.split('; ').map((reason) => reason.replace(/, received .*|: create .*/, '')),
    );
  const date = 'expected a date such as 2026-03-01 or 2026-03-01T07:30:00Z';
  expect(reasonsIn('assets')).toEqual([
    [`acquiredAt: ${date}`],
    [`acquiredAt: ${date}`],
    [`acquiredAt: ${date}`, 'currentLocation.name: there is no location with the name ""Nowhere"" in this workspace'],
    [`acquiredAt: ${date}`, 'currentLocationId: the row with the ID ""m"" was refused'],
  ]);
  expect(reasonsIn('projects')).toEqual([[`startDate: ${date}`, 'notes: expected at most 10,000 characters']]);

  // It takes requests: the first thousand refused rows show what is wrong in a file.
  const rows = 'B,soon,Nowhere\n'.repeat(1_001);
  await imports.import({ 'assets.csv': `name,acquiredAt,location\n${rows}` }, '--no-preview', '--batch', '500');
  expect(imports.read('assets.refused-2.csv').match(/Nowhere""/g)).toHaveLength(1_000);
});

type Row = Record<string, string>;

const refusalsIn = (out: readonly string[]) => out.filter((line) => /^ {2}\S+, line \d+: /.test(line));

test('a name that is edited beside an ID is stored, also where the import goes on; an ID that is edited alone is refused', async () => {
  await imports.import({ 'labels.csv': 'type,id,name\nSTATUS,7,In use\nSTATUS,8,Idle\nSTATUS,Idle,Broken\n' });
  await imports.import({
    'locations.csv': 'name\nNorth\nSouth\nEast\n',
    'assets.csv': 'name,status,current location\nA,In use,North\nB,,\n',
  });
  const [north, south] = (await imports.records('locations', 'id')).map(({ id }: Row) => id);
  const ids = (await imports.records('assets', 'id')).map(({ id }: Row) => id);
  const placed = async () =>
    (await imports.records('assets', 'statusId currentLocation { name }')).map(
      (asset: Row & { currentLocation: Row }) => [asset.statusId, asset.currentLocation?.name ?? null],
    );
  const edit = (heads: string, ...rows: readonly string[]) =>
    imports.import({ 'assets.csv': `id,name,${heads}\n${rows.join('\n')}\n` }, '--upsert-by', 'id', '--no-preview');
  const exported = 'statusId,status.name,currentLocationId,currentLocation.name';

  const edited = [`${ids[0]},A,7,Idle,${north},South`, `${ids[1]},B,,In use,,North`, ',C,,Idle,,South'];
  expect((await edit(exported, ...edited)).out).toContain('1 created, 2 updated, 0 unchanged, 0 refused');
  const stored = [
    ['8', 'South'],
    ['7', 'North'],
    ['8', 'South'],
  ];
  expect(await placed()).toEqual(stored);

  // People import a file, edit it further, and import it again.
  const [again] = edited;
  const checked = await imports.import({ 'assets.csv': `id,name,${exported}\n${again}\n` }, '--upsert-by', 'id');
  expect(checked.out.filter((line) => /counts|unchanged,/.test(line))).toEqual([
    '1 row: 0 to create, 0 to update, 1 unchanged, 0 refused',
    '  assets.csv: the ID beside it is of another status: the name counts: line 2, column "status.name"',
    '  assets.csv: the ID beside it is of another location: the name counts: line 2, column "currentLocation.name"',
    '0 created, 0 updated, 1 unchanged, 0 refused',
  ]);

  // The record has its name since the file was written.
  const since = await edit(`${exported},updatedAt`, `${again},2020-01-01`);
  expect(since.out).toEqual(['0 created, 0 updated, 1 unchanged, 0 refused', 'It made no changes.']);

  // Each ID was edited, or one cannot tell; a name may be none of a label or a location.
  const refused = [
    `${ids[0]},A,7,Broken,${south},South`,
    `${ids[0]},A,8,Idle,${north},East`,
    `${ids[0]},A,8,Sold,${south},Sued`,
  ];
  for (const row of refused)
    expect([row, (await edit(exported, row)).out[0]]).toEqual([row, '0 created, 0 updated, 0 unchanged, 1 refused']);
  const message =
    'status: expected one label, received id "7" and name "Broken": make them agree, or leave a column out with --skip';
  expect(
    (await imports.import({ 'assets.csv': `id,name,${exported}\n${refused[0]}\n` }, '--upsert-by', 'id')).out,
  ).toContain(`  assets.csv, line 2: ${message}`);
  expect(await placed()).toEqual(stored);

  // Headings as people read them. A name is cleared, and one of a label that is not stored is not left out.
  for (const counts of ['1 updated, 0 unchanged', '0 updated, 1 unchanged']) {
    const cleared = await edit('Status ID,Status,Current location ID,Current location', `${ids[0]},A,8,,${south},`);
    expect(cleared.out).toContain(`0 created, ${counts}, 0 refused`);
  }
  expect((await placed())[0]).toEqual([null, null]);
  const beside = await imports.import({ 'assets.ndjson': '{"name":"D","statusId":"9","status.name":"Sold"}\n' });
  expect(beside.out[1]).toContain('line 1: status: expected one label, received id "9" and name "Sold"');
  await imports.import({ 'assets.csv': 'name,status.name\nE,Idle\n' });
  expect((await placed()).slice(3)).toEqual([['Idle', null]]);

  // The import has made a location, whose name was entered, and renamed another, whose name was not edited.
  const swapped = {
    'locations.csv': `id,name\n${north},South\n${south},North\n,West\n`,
    'assets.csv': `id,currentLocationId,currentLocation.name\n${ids[0]},,West\n${ids[1]},${north},North\n`,
  };
  const { out } = await imports.import(swapped, '--upsert-by', 'id', '--no-preview', '--batch', '1');
  expect(out).toContain('1 created, 3 updated, 0 unchanged, 1 refused');
  expect((await placed()).slice(0, 2)).toEqual([
    [null, 'West'],
    ['7', 'South'],
  ]);
});

describe('links by name', () => {
  test('that no record has, or several, are refused with what to do', async () => {
    await imports.import({ 'locations.csv': 'name\nNorth\nGate\nGate\n' });
    const files = {
      'locations.csv': 'name\nSouth\nNew\nNew\n',
      'projects.csv': 'name,location\nA,North\nB,South\nC,Gate\nD,Nowhere\nE,New\nF,\n',
    };

    const { code, out } = await imports.import(files, '--link-by', 'location=name');

    expect([code, ...refusalsIn(out)]).toEqual([
      2,
      expect.stringMatching(
        /^ {2}projects\.csv, line 4: location\.name: 2 locations have the name "Gate": location_\w+, location_\w+$/,
      ),
      '  projects.csv, line 5: location.name: there is no location with the name "Nowhere" in this workspace: create it with --create-missing locations',
      '  projects.csv, line 6: location.name: several locations have it, one of them in line 3 of locations.csv',
    ]);
  });

  test.each([
    ['north  yard', 'North yard', 'white space and case'],
    ['Ko\u0308ln depot', 'Köln depot', 'the form of letters'],
    ['south YARD', 'South yard', 'case'],
  ])('to %j are refused beside %j, also with --create-missing', async (name, alike, difference) => {
    await imports.import({ 'locations.csv': 'name\nNorth yard\nKöln depot\n' });
    const files = {
      'locations.csv': 'name\nSouth yard\n',
      'projects.csv': `name,location\nA,${name}\nB,Quay\nC,QUAY\n`,
    };

    const refused = [
      [2, name, alike, difference],
      [4, 'QUAY', 'Quay', 'case'],
    ].map(
      ([line, sent, found, differs]) =>
        `  projects.csv, line ${line}: location.name: there is no location with the name "${sent}" in this workspace: there is "${found}", did you mean it? It differs in ${differs}`,
    );
    for (const more of [['--batch', '1', '--dry-run'], []]) {
      const options = ['--link-by', 'location=name', '--create-missing', 'locations', ...more];
      const { code, out } = await imports.import(files, ...options);
      expect([code, ...refusalsIn(out)]).toEqual([2, ...refused]);
    }
    const stored = await imports.records('locations', 'name');
    expect(stored.map(({ name: storedName }: { name: string }) => storedName).toSorted()).toEqual([
      'Köln depot',
      'North yard',
      'Quay',
      'South yard',
    ]);
  });

  test('beside an ID lead to what the ID says, though others have the name', async () => {
    await imports.import({
      'locations.csv': 'name\nHall\nHall\n',
      'asset-categories.csv': 'name\nPart\nPart\nSmall\n',
    });
    const [, hall] = await imports.records('locations', 'id');
    const [, parts, small] = await imports.records('assetCategories', 'id');
    await imports.import({ 'assets.csv': `name,currentLocationId\nCrane,${hall.id}\n` });
    await imports.import(
      { 'asset-categories.csv': `id,name,parentId\n${small.id},Small,${parts.id}\n` },
      '--upsert-by',
      'id',
    );
    const files: Record<string, string> = {};
    for (const kind of ['locations', 'asset-categories', 'assets']) {
      files[`${kind}.csv`] = `${(await imports.command('export', kind, '--names')).out.join('\n')}\n`;
    }

    const again = await imports.import(files, '--upsert-by', 'id');
    expect([again.code, again.out[0]]).toEqual([0, '6 rows: 0 to create, 0 to update, 6 unchanged, 0 refused']);
    expect(again.out.at(-1)).toBe('It made no changes.');
    const asNew = await imports.import(files, '--dry-run');
    expect([asNew.code, asNew.out[0]]).toEqual([0, '6 rows: 6 to create, 0 to update, 0 unchanged, 0 refused']);
  });

  test('say a parent that its row says, too', async () => {
    const { code } = await imports.import({ 'asset-categories.csv': 'id,name,parentId,parent.name\na,A,,\nb,B,a,A\n' });
    expect(code).toBe(0);
    expect((await imports.records('assetCategories', 'parent { name }')).at(-1)).toEqual({ parent: { name: 'A' } });
  });

  test('lead nowhere from cells of white space, for which nothing is created either', async () => {
    const file = 'name,currentLocation.name\nA,  \nB,\t\n';
    const { code } = await imports.import({ 'assets.csv': file }, '--create-missing', 'locations');
    const byExternalId = await imports.import({ 'projects.csv': 'name,location.externalIds.erp\nWall,  \n' });

    expect([code, byExternalId.code, await imports.records('locations', 'name')]).toEqual([0, 0, []]);
    expect(await imports.records('assets', 'currentLocationId')).toEqual(Array(2).fill({ currentLocationId: null }));
  });
});

test('of a link that a row says in several ways, all must lead to the same record; an empty cell is one of an export only', async () => {
  await imports.import({
    'locations.csv': 'id,name,externalIds.erp\n1,North,L-1\n2,South,L-2\n3,Depot,\n4," ",L-4\n',
    'projects.csv': 'name,reference,location\nWall,P-1,1\n',
  });
  const locations: { name: string; id: string }[] = await imports.records('locations', 'name id');
  const ids = Object.fromEntries(locations.map(({ name, id }) => [name, id]));
  const [{ id }] = await imports.records('projects', 'id');
  const located = async () =>
    (await imports.records('projects', 'location { name }'))[0].location?.name as string | undefined;
  const edit = (cells: string, ...options: readonly string[]) => {
    const header = 'id,reference,name,locationId,location.externalIds.erp,location.name';
    return imports.import({ 'projects.csv': `${header}\n${id},P-1,Wall,${cells}\n` }, '--upsert-by', ...options);
  };
  const [{ North, South, Depot }, other] = [ids, 'location_01k00000000000000000000000'];

  const byReference = ['reference', '--skip', 'id'];
  for (const [cells, options, location] of [
    [`${North},L-1,North`, ['id'], 'North'],
    [`${South},L-2,South`, ['id'], 'South'],
    // The texts were edited, and then the ID alone.
    [`${South},L-1,North`, ['id'], 'North'],
    [`${North},L-1,Depot`, ['id'], 'Depot'],
    [`${South},L-1,North`, ['id'], undefined],
    // As after a location was renamed: nothing is created for its old name.
    [`${North},L-1,Old`, ['id', '--create-missing', 'locations'], undefined],
    [`${North},L-2,`, byReference, undefined],
    [`${other},L-2,`, byReference, undefined],
    [`${North},Nowhere,`, byReference, undefined],
    [`${North},L-1,`, byReference, 'North'],
    [',,South', byReference, 'South'],
    // In an export, what the target does not have is empty.
    [`${Depot},,Depot`, ['id'], 'Depot'],
    [`${ids[' ']},L-4," "`, ['id'], ' '],
    [`${North},L-1,`, ['id'], undefined],
    [',L-1,North', ['id'], undefined],
    [`${North},L-1,`, ['id', '--blank', 'keep'], 'North'],
    ['ERP-7,,', ['id'], undefined],
    [',,', ['id'], null],
  ] as const) {
    const before = await located();
    const { code, out } = await edit(cells, ...options);

    const isRefused = location === undefined && !cells.startsWith('ERP');
    expect([cells, code, isRefused ? out.find((line) => / line 2: location\S*: /.test(line)) : undefined]).toEqual([
      cells,
      isRefused ? 1 : 0,
      isRefused
        ? expect.stringMatching(/expected one location, .*: make them agree, or leave a column out with --skip$/)
        : undefined,
    ]);
    expect([cells, await located()]).toEqual([cells, isRefused ? before : (location ?? undefined)]);
  }
  expect(await imports.records('locations', 'name')).toHaveLength(4);
});

test('a column called as the link refuses a text that no record has, or that has two meanings, however many records have it', async () => {
  await imports.import({ 'locations.csv': `name\n${'7\n'.repeat(60)}8\n` });

  const { code, out } = await imports.import({
    'locations.csv': 'id,name\n1,South\n7,West\n8,East\n2,1\n',
    'assets.csv': 'name,Current location\nA,North yard\nB,1\nC,7\nD,8\nE,2\n',
  });

  const both = (text: string) =>
    `a row has "${text}" as its ID, and another location as its name: say which by --link-by currentLocation=id or --link-by currentLocation=name`;
  expect([code, ...refusalsIn(out)]).toEqual([
    2,
    '  assets.csv, line 2: currentLocation.name: there is no location with the name "North yard" in this workspace: create it with --create-missing locations, or use --map "Current location=currentLocationId" for IDs of another system',
    `  assets.csv, line 3: currentLocation: ${both('1')}`,
    `  assets.csv, line 4: currentLocation: ${both('7')}`,
    `  assets.csv, line 5: currentLocation: ${both('8')}`,
  ]);
  expect(await imports.records('assets', 'name currentLocation { name }')).toEqual([
    { name: 'E', currentLocation: { name: '1' } },
  ]);
});
