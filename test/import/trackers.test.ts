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

/** What is stored, as text: a record in a line. */
const trackers: Record<string, [file: string, content: string, options: string, list: string, stored: string[]]> = {
  shelf: [
    'shelf.csv',
    shelf,
    '--map=cf: Serial number,type:text=externalIds.serial',
    'assets name assetTypeId currentLocation { name } category { name }',
    ['Rotary hammer, RH 7, Depot Weser, Power tools', 'Barrier tape, null, Depot Weser, Supplies'],
  ],
  'snipe-it': [
    'locations.csv',
    snipe,
    '',
    'locations name address2 postalCode',
    ['Depot Weser, null, 04103', 'Gate 2, Hall B, rear, 28T', 'Gate 2, null, null'],
  ],
  atlas: [
    'work-orders.csv',
    atlas,
    '--dates=31/12/2026 --create-missing=locations --create-missing=assets',
    'workOrders name endDate location { name } asset { name } externalIds',
    [
      'Replace conveyor belt, null, Hall 1, Conveyor-Line 2-Hall 1, 2538',
      'Grease bearings, 2025-08-08T00:00:00.000Z, Hall 1, Fan-2, null',
    ],
  ],
  homebox: [
    'homebox.csv',
    homebox,
    '--kind=assets',
    'assets name uid currentLocation { name }',
    ['Ladder, 000-001, Garage', 'Generator, 000-002, Garage'],
  ],
};

test.each(Object.entries(trackers))('%s', async (profile, [file, content, options, list, stored]) => {
  const given = options.split(/ (?=--)/).filter(Boolean);
  const { code, out, err } = await imports.import({ [file]: content }, '--profile', profile, ...given);
  expect([code, out, err]).toEqual([0, expect.anything(), expect.anything()]);
  const [name = '', ...fields] = list.split(' ');
  const records: object[] = await imports.records(name, fields.join(' '));
  const shown = (value: unknown): unknown =>
    value ? (typeof value === 'object' ? Object.values(value) : value) : 'null';
  expect(records.map((record) => Object.values(record).map(shown).join(', '))).toEqual(stored);
});
