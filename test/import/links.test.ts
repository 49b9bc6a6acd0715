/** Links of imported rows: by name, by external IDs, by IDs that say the same or something else, and to records that are created for them. */
import { describe, expect, test } from 'vitest';
import { useImports } from '../support/import.ts';

const imports = useImports();

const refusalsIn = (out: readonly string[]) => out.filter((line) => /^ {2}\S+, line \d+: /.test(line));

test('the names of labels, which an export has beside their IDs, are left out; alone, they are no column', async () => {
  const columns = 'name,statusId,status.name,ownerId,owner.name';
  const rows = '{"name":"Pump","statusId":"status-8","status.name":"Busy"}\n';

  const { code, out } = await imports.import({ 'assets.csv': `${columns}\nCrane,status-7,Idle,,\n` });
  expect(code).toBe(0);
  expect(out.join('\n')).toContain(
    'columns without a field here are left out: line 2, column "status.name, owner.name"',
  );
  expect((await imports.import({ 'assets.ndjson': rows })).code).toBe(0);
  expect(await imports.records('assets', 'name statusId')).toEqual([
    { name: 'Crane', statusId: 'status-7' },
    { name: 'Pump', statusId: 'status-8' },
  ]);
  const alone = await imports.import({ 'assets.csv': 'name,status.name\nCrane,Idle\n' });
  expect(alone.err).toContain('unknown column "status.name"');
});

describe('links by name', () => {
  test('lead to the one record with it, stored or of the import; none and several are refused, in the preview, too', async () => {
    await imports.import({ 'locations.csv': 'name\nNorth\nGate\nGate\n' });
    const files = {
      'locations.csv': 'name\nSouth\nNew\nNew\n',
      'projects.csv': 'name,location\nA,North\nB,South\nC,Gate\nD,Nowhere\nE,New\nF,\n',
    };

    const { code, out } = await imports.import(files, '--link-by', 'location=name');

    expect([code, ...refusalsIn(out)]).toEqual([
      2,
      '  projects.csv, line 4: location: several locations have the name "Gate": say which by an ID',
      '  projects.csv, line 5: location: no location has the name "Nowhere": create it with --create-missing locations',
      '  projects.csv, line 6: location: several locations have the name "New": say which by an ID',
    ]);
    expect(out).toContain('9 rows: 6 to create, 0 to update, 0 unchanged, 3 refused');
    expect(out).toContain('6 created, 0 updated, 0 unchanged, 3 refused');
    expect(await imports.records('projects', 'name location { name }')).toEqual([
      { name: 'A', location: { name: 'North' } },
      { name: 'B', location: { name: 'South' } },
      { name: 'F', location: null },
    ]);
  });

  test('and by reference lead to rows of their own kind that come later, in other parts', async () => {
    const categories = 'name,parent.name\nMobile,Cranes\nSmall,Mobile\nCranes,\n';
    const files = {
      'asset-categories.csv': categories,
      'projects.csv': 'name,reference\nWall,P-1\n',
      'work-orders.csv': 'name,project\nDig,P-1\n',
    };

    const { code } = await imports.import(files, '--link-by', 'project=reference', '--batch', '1');

    expect(code).toBe(0);
    expect(await imports.records('assetCategories', 'name parent { name }')).toEqual(
      expect.arrayContaining([
        { name: 'Mobile', parent: { name: 'Cranes' } },
        { name: 'Small', parent: { name: 'Mobile' } },
      ]),
    );
    expect(await imports.records('workOrders', 'project { name }')).toEqual([{ project: { name: 'Wall' } }]);
  });

  test('lead to a parent in the same file that is stored already, and a parent said by its row and its name is one', async () => {
    const { code } = await imports.import({ 'asset-categories.csv': 'id,name,parentId,parent.name\na,A,,\nb,B,a,A\n' });
    const again = await imports.import(
      { 'asset-categories.csv': 'name,parent.name\nA,\nB,A\nC,A\n' },
      '--upsert-by',
      'name',
    );

    expect([code, again.code, again.out[0]]).toEqual([
      0,
      0,
      '3 rows: 1 to create, 0 to update, 2 unchanged, 0 refused',
    ]);
    const categories = await imports.records('assetCategories', 'name parent { name }');
    expect(categories).toEqual(expect.arrayContaining(['B', 'C'].map((name) => ({ name, parent: { name: 'A' } }))));
  });

  test('lead to a row of their own kind that changes a stored record, and to the first of two with one key', async () => {
    const file = { 'asset-categories.csv': 'name,parent.name\nB,A\nC,B\nA,\nA,\n' };
    for (const counts of ['3 to create, 0 to update, 0 unchanged', '0 to create, 0 to update, 3 unchanged']) {
      const { code, out, table } = await imports.import(file, '--upsert-by', 'name');
      expect([code, out[0]]).toEqual([2, `4 rows: ${counts}, 1 refused`]);
      expect(table.at(-1)).toMatch(/^parentId [20] 0 0 [03] 0$/);
    }
    expect(await imports.records('assetCategories', 'name parent { name }')).toEqual(
      expect.arrayContaining([
        { name: 'B', parent: { name: 'A' } },
        { name: 'C', parent: { name: 'B' } },
      ]),
    );
  });

  test('create what is missing with --create-missing, once', async () => {
    const files = { 'assets.csv': 'name,currentLocation.name\nA,Depot\nB,Depot\nC,Gate\n' };

    const { code, out } = await imports.import(files, '--create-missing', 'locations', '--batch', '2');

    expect([code, ...out]).toEqual([
      0,
      '3 rows: 3 to create, 0 to update, 0 unchanged, 0 refused',
      'To create for links to them: 2 locations',
      '3 created, 0 updated, 0 unchanged, 0 refused',
      'Created for links to them: 2 locations',
      'Its changes: 1 to 5.',
    ]);
    expect(await imports.records('locations', 'name assets { totalCount }')).toEqual([
      { name: 'Depot', assets: { totalCount: 2 } },
      { name: 'Gate', assets: { totalCount: 1 } },
    ]);
  });

  test('create nothing for rows that are refused, and warn of names that differ from stored ones in case or white space', async () => {
    await imports.import({ 'locations.csv': 'name\nNorth yard\nMünchen\n' });
    const file =
      'name,startDate,project.reference,location.name\nA,soon,,Depot\nB,,P-9,Gate\nC,,,north  yard\nD,,,MÜNCHEN\nE,,,Hall\n';

    const { code, out } = await imports.import({ 'work-orders.csv': file }, '--create-missing', 'locations');

    expect([code, ...out.slice(1, 6)]).toEqual([
      2,
      expect.stringContaining('  work-orders.csv, line 2: startDate: '),
      '  work-orders.csv, line 3: project: no project has the reference "P-9"',
      'Allowed, and probably wrong:',
      '  work-orders.csv: a location is created whose name differs from a stored one only in case or white space: 2 times, first in line 4, column "location.name", "north  yard" and "North yard"',
      'To create for links to them: 3 locations',
    ]);
    expect((await imports.records('locations', 'name')).map(({ name }: { name: string }) => name)).toEqual([
      ...['North yard', 'München', 'north  yard', 'MÜNCHEN', 'Hall'],
    ]);
  });

  test('create nothing for a name whose row is refused: fixed and imported, it would be there twice', async () => {
    const files = { 'locations.csv': 'name,latitude\nBad,999\n', 'projects.csv': 'name,location.name\nWall,Bad\n' };

    const { code, out } = await imports.import(files, '--create-missing', 'locations');

    expect([code, out.find((line) => line.includes('projects.csv, line 2'))]).toEqual([
      1,
      '  projects.csv, line 2: location: the row with the name "Bad" was refused',
    ]);
    expect(await imports.records('locations', 'name')).toEqual([]);
  });

  test('lead nowhere from cells of white space, for which nothing is created either', async () => {
    await imports.import({ 'locations.csv': 'name,externalIds.erp\nNorth,1\n' });
    const file = 'name,currentLocation.name\nA,  \nB,\t\nC,North\n';
    const options = ['--create-missing', 'locations'];

    const { code, out } = await imports.import({ 'assets.csv': file }, ...options);
    const byExternalId = await imports.import({ 'projects.csv': 'name,location.externalIds.erp\nWall,  \n' });

    expect([code, out[0], byExternalId.code]).toEqual([
      0,
      '3 rows: 3 to create, 0 to update, 0 unchanged, 0 refused',
      0,
    ]);
    expect(await imports.records('locations', 'name')).toEqual([{ name: 'North' }]);
    expect(await imports.records('assets', 'name currentLocation { name }')).toEqual([
      { name: 'A', currentLocation: null },
      { name: 'B', currentLocation: null },
      { name: 'C', currentLocation: { name: 'North' } },
    ]);
    expect(await imports.records('projects', 'location { name }')).toEqual([{ location: null }]);
  });
});

describe('of a link that a row says in two ways,', () => {
  async function setUp() {
    await imports.import({
      'locations.csv': 'id,name,externalIds.erp\n1,North,L-1\n2,South,L-2\n3,West,L-3\n',
      'projects.csv': 'name,reference,location\nWall,P-1,1\n',
    });
    const locations: { name: string; id: string }[] = await imports.records('locations', 'name id');
    return Object.fromEntries(locations.map(({ name, id }) => [name, id]));
  }
  const located = async (reference: string) =>
    (
      await imports.service.data(
        `{ projects(where: { reference: { eq: "${reference}" } }) { nodes { location { name } } } }`,
      )
    ).projects.nodes[0]?.location?.name;

  test('the one counts that differs from what is stored', async () => {
    const { North, South, West } = await setUp();
    const header = 'reference,name,locationId,location.externalIds.erp,location.name\n';
    const rows: [string, string, number][] = [
      [`P-1,Wall,${North},L-1,North`, 'North', 0],
      [`P-1,Wall,${South},L-1,North`, 'South', 0],
      [`P-1,Wall,${South},L-3,South`, 'West', 0],
      [`P-1,Wall,${West},L-3,North`, 'North', 0],
      [`P-1,Wall,${South},L-2,South`, 'South', 0],
      [`P-1,Wall,,L-3,`, 'West', 0],
      [`P-1,Wall,${South},L-1,West`, 'West', 2],
    ];
    for (const [row, location, exitCode] of rows) {
      const { code, out } = await imports.import({ 'projects.csv': header + row }, '--upsert-by', 'reference');
      expect([row, code === 1 ? 2 : code, await located('P-1'), ...refusalsIn(out)]).toEqual([
        ...[row, exitCode, location],
        ...(exitCode === 0 ? [] : [expect.stringContaining('line 2: locationId: expected one location, received ')]),
      ]);
    }
  });

  test('an emptied one clears it with --upsert-by id, or is refused beside one that leads elsewhere', async () => {
    await setUp();
    await imports.import({ 'locations.csv': 'name,city\nDepot,\n" ",Ulm\n' });
    const locations: { name: string; id: string }[] = await imports.records('locations', 'name id');
    const idOf = Object.fromEntries(locations.map(({ name, id }) => [name, id]));
    const [{ id }] = await imports.records('projects', 'id');
    const { North, West, Depot } = idOf;
    const header = 'id,name,locationId,location.externalIds.erp,location.name\n';
    const edit = (row: string, ...options: readonly string[]) =>
      imports.import({ 'projects.csv': `${header}${id},Wall,${row}\n` }, '--upsert-by', 'id', ...options);
    const cleared = '1 row: 0 to create, 1 to update, 0 unchanged, 0 refused';
    const rows: [string, string | undefined, string][] = [
      [`${North},L-1,`, undefined, cleared],
      [`,L-1,North`, undefined, cleared],
      [`${North},,North`, undefined, cleared],
      [`,,North`, undefined, cleared],
      [`,,`, undefined, cleared],
      [`${West},,West`, 'North', 'locationId: expected one location, received '],
      [`,L-3,West`, 'North', 'locationId: expected one location, received '],
      [`${Depot},,Depot`, 'Depot', '1 row: 0 to create, 1 to update'],
      [`${North},L-1`, 'North', '1 unchanged'],
    ];
    for (const [row, location, said] of rows) {
      expect((await edit(`${North},L-1,North`)).code).toBe(0);
      const { out } = await edit(row);
      expect([row, await located('P-1'), out.join('\n')]).toEqual([row, location, expect.stringContaining(said)]);
    }
    await edit(`${North},L-1,North`);
    expect((await edit(`${North},L-1,`, '--blank', 'keep')).out[0]).toContain('1 unchanged');
    // What the target does not have is empty in an export.
    for (const name of ['Depot', ' ']) {
      await edit(`${idOf[name]},,"${name}"`);
      expect((await edit(`${idOf[name]},,"${name}"`)).out[0]).toContain('1 unchanged');
      expect(await located('P-1')).toBe(name);
    }
  });

  test('all must lead to the same record if the row is new; an ID of another workspace leads nowhere', async () => {
    const { North, South } = await setUp();
    const file = `name,reference,locationId,location.externalIds.erp\nA,A,${North},L-1\nB,B,${South},L-1\nC,C,location_01k00000000000000000000000,L-2\n`;

    const { out } = await imports.import({ 'projects.csv': file });

    expect(refusalsIn(out)).toEqual([expect.stringContaining('line 3: locationId: expected one location, received ')]);
    expect([await located('A'), await located('B'), await located('C')]).toEqual(['North', undefined, 'South']);
  });

  test('a second start decides as the first one did', async () => {
    const { South } = await setUp();
    const files = {
      'projects.csv': `reference,name,locationId,location.externalIds.erp\nP-1,Wall,${South},L-1\nP-2,Quay,,\n`,
    };
    const { knex } = imports.service.database;
    const listen = ({ sql }: { sql: string }) => {
      if (!/^update projects/.test(sql)) return;
      knex.removeListener('query', listen);
      process.listeners('SIGINT').at(-1)?.('SIGINT');
    };
    knex.on('query', listen);
    const options = ['--upsert-by', 'reference', '--batch', '1', '--no-preview'];
    expect((await imports.import(files, ...options)).code).toBe(3);
    expect(await located('P-1')).toBe('South');

    const { out } = await imports.import(files, ...options);

    expect(out).toContain('1 created, 1 updated, 0 unchanged, 0 refused');
    expect(await located('P-1')).toBe('South');
  });
});
