/** The demo's fleet as of 20 November 2026. Makers and models are invented. */
import type { TypeKey } from './categories.ts';
import type { LocationKey } from './locations.ts';

type Model = readonly [name: string, maker: string, type: TypeKey];

const models = {
  tx18: ['Tessmer TX 18 mini excavator', 'tessmer', 'mini-excavator'],
  tx55: ['Tessmer TX 55 mini excavator', 'tessmer', 'mini-excavator'],
  tx160: ['Tessmer TX 160 LC crawler excavator', 'tessmer', 'crawler-excavator'],
  tx245: ['Tessmer TX 245 NLC crawler excavator', 'tessmer', 'crawler-excavator'],
  br150w: ['Brakvik 150 W wheeled excavator', 'brakvik', 'wheeled-excavator'],
  l90: ['Brakvik L 90 wheel loader', 'brakvik', 'wheel-loader'],
  l220: ['Brakvik L 220 wheel loader', 'brakvik', 'wheel-loader'],
  d6: ['Brakvik D 6 swivel dumper', 'brakvik', 'site-dumper'],
  ls735: ['Lodestad 7-35 telehandler', 'lodestad', 'fixed-telehandler'],
  ls1740: ['Lodestad 17-40 telehandler', 'lodestad', 'fixed-telehandler'],
  ls25r: ['Lodestad R 25 rotating telehandler', 'lodestad', 'rotating-telehandler'],
  s10: ['Hoistra S 10 E scissor lift', 'hoistra', 'scissor-lift'],
  b20: ['Hoistra B 20 H boom lift', 'hoistra', 'boom-lift'],
  crane: ['Crane', 'hoistra', 'mobile-crane'],
  rt26: ['Rammund RT 26 tandem roller', 'rammund', 'tandem-roller'],
  rp90: ['Rammund RP 90 plate compactor', 'rammund', 'plate-compactor'],
  rp500: ['Rammund RP 500 plate compactor', 'rammund', 'plate-compactor'],
  v45: ['Voltmar V 45 generator, 45 kVA', 'voltmar', 'small-generator'],
  v150: ['Voltmar V 150 generator, 150 kVA', 'voltmar', 'large-generator'],
  fy8: ['Fyrlys FY 8 hybrid light tower', 'fyrlys', 'light-tower'],
} as const satisfies Record<string, Model>;

type Row = readonly [
  uid: string,
  model: keyof typeof models,
  location: LocationKey,
  /** A year and month. */
  manufactured: string,
  /** A date. */
  acquired: string,
  owner: 'kiebitz-rental' | 'deich-leasing',
  /** Null for leased machines, which were not bought. */
  purchaseOrder: string | null,
  erp: string,
  /** The ID of the telematics unit, which small compactors do not have. */
  telematics: string | null,
];

const rows = [
  ['EX-0101', 'tx18', 'hamburg', '2021-03', '2021-05-17', 'kiebitz-rental', '2114', '100231', 'KT-40817'],
  ['EX-0102', 'tx18', 'berth', '2021-03', '2021-05-17', 'kiebitz-rental', '2114', '100232', 'KT-40818'],
  ['EX-0103', 'tx18', 'clinic', '2023-11', '2024-02-05', 'kiebitz-rental', '2402', '100387', 'KT-51290'],
  ['EX-0104', 'tx55', 'bypass', '2022-06', '2022-08-22', 'kiebitz-rental', '2231', '100298', 'KT-44102'],
  ['EX-0105', 'tx55', 'campus', '2022-06', '2022-08-22', 'kiebitz-rental', '2231', '100299', 'KT-44103'],
  ['EX-0106', 'tx55', 'workshop', '2024-01', '2024-03-18', 'deich-leasing', null, '100402', 'KT-52011'],
  ['EX-0107', 'tx55', 'bremen', '2025-09', '2025-11-03', 'kiebitz-rental', '2537', '100511', 'KT-60347'],
  ['EX-0201', 'tx160', 'bypass', '2020-02', '2020-04-06', 'kiebitz-rental', '2009', '100174', 'KT-31556'],
  ['EX-0202', 'tx160', 'lock', '2022-10', '2023-01-16', 'kiebitz-rental', '2301', '100320', 'KT-46620'],
  ['EX-0203', 'tx160', 'bremen', '2024-04', '2024-06-10', 'kiebitz-rental', '2418', '100419', 'KT-53178'],
  ['EX-0204', 'tx245', 'berth', '2023-05', '2023-07-24', 'deich-leasing', null, '100361', 'KT-48893'],
  ['EX-0205', 'tx245', 'bypass', '2025-02', '2025-04-14', 'kiebitz-rental', '2511', '100476', 'KT-57730'],
  ['EX-0301', 'br150w', 'clinic', '2021-08', '2021-10-11', 'kiebitz-rental', '2128', '100256', 'KT-42019'],
  ['EX-0302', 'br150w', 'hamburg', '2023-03', '2023-05-02', 'kiebitz-rental', '2314', '100344', 'KT-48105'],
  ['EX-0303', 'br150w', 'lock', '2025-06', '2025-08-25', 'deich-leasing', null, '100498', 'KT-59214'],
  ['WL-0101', 'l90', 'hamburg', '2020-09', '2020-11-30', 'kiebitz-rental', '2032', '100203', 'KT-33871'],
  ['WL-0102', 'l90', 'campus', '2022-01', '2022-03-14', 'kiebitz-rental', '2208', '100281', 'KT-43340'],
  ['WL-0103', 'l90', 'bremen', '2024-08', '2024-10-07', 'kiebitz-rental', '2429', '100441', 'KT-55016'],
  ['WL-0201', 'l220', 'wind', '2021-11', '2022-02-07', 'kiebitz-rental', '2203', '100277', 'KT-42958'],
  ['WL-0202', 'l220', 'tanks', '2023-09', '2023-11-20', 'deich-leasing', null, '100379', 'KT-50446'],
  ['SD-0101', 'd6', 'bypass', '2022-04', '2022-06-13', 'kiebitz-rental', '2222', '100290', 'KT-43987'],
  ['SD-0102', 'd6', 'bypass', '2022-04', '2022-06-13', 'kiebitz-rental', '2222', '100291', 'KT-43988'],
  ['SD-0103', 'd6', 'workshop', '2023-02', '2023-04-03', 'kiebitz-rental', '2309', '100337', 'KT-47752'],
  ['TH-0101', 'ls735', 'lock', '2021-04', '2021-06-21', 'kiebitz-rental', '2117', '100238', 'KT-41033'],
  ['TH-0102', 'ls735', 'hamburg', '2021-04', '2021-06-21', 'kiebitz-rental', '2117', '100239', 'KT-41034'],
  ['TH-0103', 'ls735', 'campus', '2024-05', '2024-07-15', 'kiebitz-rental', '2421', '100425', 'KT-53602'],
  ['TH-0104', 'ls1740', 'clinic', '2022-11', '2023-02-13', 'kiebitz-rental', '2303', '100325', 'KT-46991'],
  ['TH-0105', 'ls1740', 'wind', '2025-03', '2025-05-12', 'deich-leasing', null, '100484', 'KT-58109'],
  ['TH-0106', 'ls1740', 'bremen', '2025-03', '2025-05-12', 'deich-leasing', null, '100485', 'KT-58110'],
  ['TH-0201', 'ls25r', 'berth', '2023-06', '2023-08-28', 'deich-leasing', null, '100366', 'KT-49277'],
  ['TH-0202', 'ls25r', 'workshop', '2020-05', '2020-07-06', 'kiebitz-rental', '2018', '100187', 'KT-32240'],
  ['SL-0101', 's10', 'clinic', '2022-02', '2022-04-04', 'kiebitz-rental', '2212', '100284', 'KT-43511'],
  ['SL-0102', 's10', 'clinic', '2022-02', '2022-04-04', 'kiebitz-rental', '2212', '100285', 'KT-43512'],
  ['SL-0103', 's10', 'hamburg', '2024-09', '2024-11-11', 'kiebitz-rental', '2433', '100447', 'KT-55384'],
  ['SL-0104', 's10', 'bremen', '2024-09', '2024-11-11', 'kiebitz-rental', '2433', '100448', 'KT-55385'],
  ['BL-0101', 'b20', 'lock', '2021-10', '2022-01-10', 'kiebitz-rental', '2201', '100272', 'KT-42677'],
  ['BL-0102', 'b20', 'campus', '2024-03', '2024-05-06', 'kiebitz-rental', '2413', '100411', 'KT-52740'],
  ['BL-0103', 'b20', 'workshop', '2024-03', '2024-05-06', 'kiebitz-rental', '2413', '100412', 'KT-52741'],
  ['CR-0101', 'crane', 'bremen', '2019-05', '2019-07-08', 'kiebitz-rental', '1917', '100143', 'KT-28650'],
  ['RO-0101', 'rt26', 'bypass', '2021-01', '2021-03-22', 'kiebitz-rental', '2106', '100222', 'KT-40115'],
  ['RO-0102', 'rt26', 'wind', '2023-04', '2023-06-05', 'kiebitz-rental', '2318', '100352', 'KT-48420'],
  ['RO-0103', 'rt26', 'hamburg', '2025-04', '2025-06-16', 'kiebitz-rental', '2519', '100490', 'KT-58672'],
  ['PC-0101', 'rp90', 'clinic', '2023-01', '2023-03-06', 'kiebitz-rental', '2306', '100331', null],
  ['PC-0102', 'rp90', 'hamburg', '2023-01', '2023-03-06', 'kiebitz-rental', '2306', '100332', null],
  ['PC-0103', 'rp90', 'bremen', '2025-01', '2025-03-10', 'kiebitz-rental', '2507', '100467', null],
  ['PC-0201', 'rp500', 'bypass', '2022-07', '2022-09-19', 'kiebitz-rental', '2235', '100303', null],
  ['PC-0202', 'rp500', 'workshop', '2022-07', '2022-09-19', 'kiebitz-rental', '2235', '100304', null],
  ['GE-0101', 'v45', 'berth', '2021-06', '2021-08-30', 'kiebitz-rental', '2123', '100247', 'KT-41620'],
  ['GE-0102', 'v45', 'lock', '2021-06', '2021-08-30', 'kiebitz-rental', '2123', '100248', 'KT-41621'],
  ['GE-0103', 'v45', 'hamburg', '2023-08', '2023-10-16', 'kiebitz-rental', '2331', '100373', 'KT-49965'],
  ['GE-0201', 'v150', 'wind', '2022-12', '2023-02-27', 'deich-leasing', null, '100328', 'KT-47203'],
  ['GE-0202', 'v150', 'tanks', '2022-12', '2023-02-27', 'deich-leasing', null, '100329', 'KT-47204'],
  ['GE-0203', 'v150', 'bremen', '2025-10', '2025-12-08', 'kiebitz-rental', '2541', '100517', 'KT-60881'],
  ['LT-0101', 'fy8', 'bypass', '2024-07', '2024-09-09', 'kiebitz-rental', '2426', '100433', 'KT-54478'],
  ['LT-0102', 'fy8', 'bypass', '2024-07', '2024-09-09', 'kiebitz-rental', '2426', '100434', 'KT-54479'],
  ['LT-0103', 'fy8', 'berth', '2024-07', '2024-09-09', 'kiebitz-rental', '2426', '100435', 'KT-54480'],
  ['LT-0104', 'fy8', 'hamburg', '2025-07', '2025-09-22', 'kiebitz-rental', '2528', '100503', 'KT-59840'],
] as const satisfies readonly Row[];

export type AssetUid = (typeof rows)[number][0];

export const assets = (locationIdOf: (key: LocationKey) => string) =>
  rows.map(([uid, model, location, manufactured, acquired, owner, purchaseOrder, erp, telematics]) => {
    const [name, maker, type] = models[model];
    return {
      key: uid,
      value: {
        name,
        uid,
        statusId: `status-${statusAt(location)}`,
        assetTypeId: `type-${type}`,
        currentLocationId: locationIdOf(location),
        // The telematics unit measures it.
        trackUtilization: telematics !== null,
        manufacturedAt: new Date(manufactured).toISOString(),
        acquiredAt: new Date(acquired).toISOString(),
        ownerId: `company-${owner}`,
        manufacturerId: `company-${maker}`,
        purchaseOrderId: purchaseOrder && `purchase-order-${purchaseOrder}`,
        externalIds: telematics === null ? { erp } : { erp, telematics },
      },
    };
  });

/** Assets at a yard are available; assets at a customer's site are rented. */
function statusAt(location: LocationKey): 'available' | 'rented' | 'workshop' {
  if (location === 'workshop') return 'workshop';
  return location === 'hamburg' || location === 'bremen' ? 'available' : 'rented';
}
