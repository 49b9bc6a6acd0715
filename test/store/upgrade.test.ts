/** A database of version 0.3, from a file with its rows, is brought up to date with all that is in it. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { connectDatabase } from '../../src/store/database.ts';
import { migrationSource } from '../../src/store/schema/migrations.ts';
import { createDatabase } from '../support/database.ts';
import { startService } from '../support/service.ts';

const yard = 'location_01m81vjr4hfnkb87p2xmbmsyxx';
const machines = 'category_01m81vjr4hfnkb87p2xmbmsyxa';
const excavators = 'category_01m81vjr4hfnkb87p2xmbmsyxb';
const excavator = 'asset_01m81vjr4hfnkb87p2xmbmsyxc';
const pump = 'asset_01m81vjr4hfnkb87p2xmbmsyxf';
const inspection = 'work_order_01m81vjr4hfnkb87p2xmbmsyxe';

test('a database of version 0.3 keeps its records and its history, and its records get the new links', async () => {
  const { url, remove } = await createDatabase({ empty: true });
  const released = await connectDatabase(url);
  await released.knex.migrate.up({
    migrationSource: { ...migrationSource, getMigrations: async () => ['0001_schema'] },
  });
  for (const statement of readFileSync('test/store/release-0.3.sql', 'utf8').split(';\n'))
    if (statement.trim() !== '') await released.knex.raw(statement.replaceAll('?', '\\?'));
  await released.close();

  const service = await startService({ DATABASE_URL: url });
  expect((await service.get('/asset-categories')).body).toMatchObject([
    { name: 'Machines' },
    { name: 'Excavators', parentId: machines },
  ]);
  const fields = 'id name currentLocation { name } trackUtilization acquiredAt externalIds categoryId parentId';
  const stored = {
    ...{ id: excavator, name: 'Excavator', currentLocation: { name: 'North yard' }, trackUtilization: true },
    ...{ acquiredAt: '2021-05-17T00:00:00.000Z', externalIds: { erp: '100231' }, categoryId: null, parentId: null },
  };
  expect((await service.data(`{ assets { nodes { ${fields} } } }`)).assets.nodes).toEqual([stored]);

  // Images of records in the log have no new fields.
  const { revertChanges } = await service.data('mutation { revertChanges(after: "6", upTo: "8") { reversed } }');
  expect(revertChanges).toEqual({ reversed: 2 });
  const restored = await service.data(`{ assets(orderBy: [{ name: ASC }]) { nodes { ${fields} } } }`);
  expect(restored.assets.nodes).toEqual([
    { ...stored, name: 'Digger', currentLocation: null },
    {
      ...{ id: pump, name: 'Pump', currentLocation: null, trackUtilization: null, acquiredAt: null },
      ...{ externalIds: null, categoryId: null, parentId: null },
    },
  ]);

  const linked = `mutation {
    updateAssets(input: [{ id: "${excavator}", categoryId: "${excavators}" }]) { category { name parent { name } } }
    updateWorkOrders(input: [{ id: "${inspection}", assetId: "${excavator}" }]) { asset { uid } }
    createLocations(input: [{ name: "Shed", parentId: "${yard}" }]) { parent { name children { totalCount } } }
    createAllocations(input: [{ assetId: "${excavator}", startDate: "2026-12-07" }]) { asset { uid } }
  }`;
  expect(await service.data(linked)).toEqual({
    updateAssets: [{ category: { name: 'Excavators', parent: { name: 'Machines' } } }],
    updateWorkOrders: [{ asset: { uid: 'EX-0101' } }],
    createLocations: [{ parent: { name: 'North yard', children: { totalCount: 1 } } }],
    createAllocations: [{ asset: { uid: 'EX-0101' } }],
  });
  const alike = '{ locations(where: { name: { startsAlike: "NORTH" } }) { nodes { name } } }';
  expect((await service.data(alike)).locations.nodes).toEqual([{ name: 'North yard' }]);
  await service.create('/locations', { name: 'Far', latitude: 10, longitude: 10 });
  const nearest = '{ locations(orderBy: [{ distance: { latitude: 53, longitude: 9 } }]) { nodes { name } } }';
  const byDistance = (await service.data(nearest)).locations.nodes.map(({ name }: { name: string }) => name);
  expect(byDistance).toEqual(['North yard', 'Far', 'Shed']);

  await service.stop();
  await remove();
});
