/** Files of four asset trackers, imported with their profiles, links included. */
import { expect, test } from 'vitest';
import { useImports } from '../support/import.ts';

const imports = useImports();

const lines = (...texts: readonly string[]) => texts.map((text) => `${text}\n`).join('');

const shelf = lines(
  'title,description,kit,category,tags,location,valuation,custodian,bookable,assetModel,type,quantity,minQuantity,unitOfMeasure,consumptionType,"cf: Serial number,type:text","cf:brand, type:option"',
  'Rotary hammer,"Drill, from site 4",Site box,Power tools,"heavy, loan",Depot Weser,100,Jana,yes,RH 7,INDIVIDUAL,,,,,0WQX239123,voltmar',
  '"Barrier tape","Red and white, 500 m",,Supplies,small,Depot Weser,2,,yes,,QUANTITY_TRACKED,500,50,rolls,ONE_WAY,,',
);
const snipe = lines(
  'name,address,address2,city,state,country,zip,manager,manager username,currency',
  'Depot Weser,8 Am Deich,,Bremen,HB,DE,04103,Dana Meier,dmeier0,EUR',
  'Gate 2,14 Werftstraße,"Hall B, rear",Bahía Honda,HB,DE,28T,,,',
  'Gate 2,3 Feldweg,,Reims,NI,DE,,,,',
);
const atlas = lines(
  'ID,Title,Status,Priority,Description,Due Date,Estimated Hours,Requires Signature,Category,Location Name,Team Name,Primary User,Assigned To,Asset Name,Completed By,Completed On,Archived,Feedback,Contractors,Date created',
  '2538,Replace conveyor belt,Complete,High,"Belt stuck, line stopped",,0,No,Emergency,Hall 1,,tech1@example.com,,Conveyor-Line 2-Hall 1,boss@example.com,2024-03-02 01:33:49.802,No,Signed in the office,,',
  ',Grease bearings,On Hold,Low,Quarterly,08/08/2025,4,Yes,Routine,Hall 1,Team 2,Kim Ro,,Fan-2,Kim Ro,01/08/2025 05:00,No,,,01/08/2025 00:00',
);
const homebox = lines(
  'HB.import_ref,HB.location,HB.labels,HB.asset_id,HB.archived,HB.url,HB.name,HB.quantity,HB.description,HB.insured,HB.notes,HB.purchase_price,HB.purchase_from,HB.purchase_time,HB.manufacturer,HB.model_number,HB.serial_number,HB.lifetime_warranty,HB.warranty_expires,HB.warranty_details,HB.sold_to,HB.sold_price,HB.sold_time,HB.sold_notes',
  'a1,Garage,tools,000-001,false,,Ladder,1,,false,,0,,2024-05-01,Zarges,,S-1,false,,,,0,,',
  'a2,Garage,,000-002,false,,Generator,1,,false,,0,,,,,,false,,,,0,,',
);

interface Tracker {
  readonly file: string;
  readonly content: string;
  readonly options: readonly string[];
  readonly list: string;
  readonly fields: string;
  readonly stored: readonly object[];
}

test.each<[string, Tracker]>([
  [
    'Shelf',
    {
      ...{
        file: 'shelf.csv',
        content: shelf,
        list: 'assets',
        fields: 'name assetTypeId currentLocation { name } category { name }',
      },
      options: ['--profile', 'shelf', '--map', 'cf: Serial number,type:text=externalIds.serial'],
      stored: [
        {
          name: 'Rotary hammer',
          assetTypeId: 'RH 7',
          currentLocation: { name: 'Depot Weser' },
          category: { name: 'Power tools' },
        },
        {
          name: 'Barrier tape',
          assetTypeId: null,
          currentLocation: { name: 'Depot Weser' },
          category: { name: 'Supplies' },
        },
      ],
    },
  ],
  [
    'Snipe-IT',
    {
      ...{
        file: 'locations.csv',
        content: snipe,
        list: 'locations',
        fields: 'name address2 postalCode parent { name }',
      },
      options: ['--profile', 'snipe-it'],
      stored: [
        { name: 'Depot Weser', address2: null, postalCode: '04103', parent: null },
        { name: 'Gate 2', address2: 'Hall B, rear', postalCode: '28T', parent: null },
        { name: 'Gate 2', address2: null, postalCode: null, parent: null },
      ],
    },
  ],
  [
    'Atlas CMMS',
    {
      ...{
        file: 'work-orders.csv',
        content: atlas,
        list: 'workOrders',
        fields: 'name endDate location { name } asset { name } externalIds',
      },
      options: [
        '--profile',
        'atlas',
        '--dates',
        '31/12/2026',
        '--create-missing',
        'locations',
        '--create-missing',
        'assets',
      ],
      stored: [
        {
          name: 'Replace conveyor belt',
          endDate: null,
          location: { name: 'Hall 1' },
          asset: { name: 'Conveyor-Line 2-Hall 1' },
          externalIds: { atlas: '2538' },
        },
        {
          name: 'Grease bearings',
          endDate: '2025-08-08T00:00:00.000Z',
          location: { name: 'Hall 1' },
          asset: { name: 'Fan-2' },
          externalIds: null,
        },
      ],
    },
  ],
  [
    'Homebox',
    {
      ...{ file: 'homebox.csv', content: homebox, list: 'assets', fields: 'name uid currentLocation { name }' },
      options: ['--profile', 'homebox', '--kind', 'assets'],
      stored: [
        { name: 'Ladder', uid: '000-001', currentLocation: { name: 'Garage' } },
        { name: 'Generator', uid: '000-002', currentLocation: { name: 'Garage' } },
      ],
    },
  ],
])('%s', async (_, { file, content, options, list, fields, stored }) => {
  const { code, out, err } = await imports.import({ [file]: content }, ...options);
  expect([code, out, err]).toEqual([0, expect.anything(), expect.anything()]);
  expect(await imports.records(list, fields)).toEqual(stored);
});
