/** The demo's transport orders as of 20 November 2026, to sites and back. The hauliers and all numbers are invented. */
import type { ProjectKey } from './projects.ts';

type Row = readonly [
  number: string,
  name: string,
  project: ProjectKey,
  status: 'planned' | 'on-the-road' | 'delivered' | 'cancelled',
  allocationOrder: string,
  purchaseOrder: string,
  /** The haulier's reference. */
  reference: string | null,
];

const rows = [
  ['TO-26031', 'EX-0102 and two buckets to the school', 'lindenschule', 'delivered', '3107', '8104', 'HTL 55120'],
  ['TO-26036', 'GE-0101 and cable drums to berth 4', 'quay', 'delivered', '3112', '8109', 'HTL 55187'],
  ['TO-26037', 'EX-0204 to berth 4 on low loader', 'quay', 'delivered', '3112', '8110', 'SL-26-0418'],
  ['TO-26049', 'Bring the crane to the harbour wall', 'harbour-wall', 'delivered', '3118', '8127', 'SL-26-0526'],
  ['TO-26052', 'TH-0104, SL-0101 and SL-0102 to the clinic', 'ward-c', 'delivered', '3121', '8133', 'HTL 55602'],
  ['TO-26053', 'EX-0103, EX-0301 and PC-0101 to the clinic', 'ward-c', 'delivered', '3121', '8133', 'HTL 55603'],
  ['TO-26055', 'EX-0201 to km 14 on low loader', 'km-14', 'delivered', '3124', '8137', 'SL-26-0593'],
  ['TO-26056', 'EX-0205 to km 14 on low loader', 'km-14', 'delivered', '3124', '8137', 'SL-26-0594'],
  ['TO-26057', 'SD-0101, SD-0102 and RO-0101 to km 14', 'km-14', 'delivered', '3124', '8138', 'HTL 55671'],
  ['TO-26063', 'WL-0103 to hall 60', 'hall-60', 'delivered', '3130', '8146', 'HTL 55790'],
  ['TO-26071', 'BL-0102, TH-0103 and WL-0102 to the campus', 'lab', 'delivered', '3136', '8159', 'NVO 2026/771'],
  ['TO-26074', 'EX-0105 to the campus', 'lab', 'delivered', '3136', '8160', 'NVO 2026/802'],
  ['TO-26092', 'GE-0102 and BL-0101 to the lock', 'lock-gate', 'delivered', '3149', '8188', 'HTL 56344'],
  ['TO-26093', 'EX-0202, EX-0303 and TH-0101 to the lock', 'lock-gate', 'delivered', '3149', '8188', 'SL-26-1102'],
  ['TO-26096', 'EX-0102 back to Hamburg yard', 'lindenschule', 'delivered', '3107', '8193', 'HTL 56410'],
  ['TO-26097', 'TH-0201 to berth 4', 'quay', 'delivered', '3153', '8196', 'SL-26-1140'],
  ['TO-26101', 'GE-0201, WL-0201 and RO-0102 to the terminal', 'laydown', 'delivered', '3158', '8204', 'HTL 56588'],
  ['TO-26114', 'LT-0101 and LT-0102 to km 14', 'km-14', 'delivered', '3166', '8221', 'HTL 56803'],
  ['TO-26119', 'WL-0103 back to North yard', 'hall-60', 'delivered', '3130', '8230', 'HTL 56951'],
  ['TO-26125', 'EX-0106 to the workshop for a new track', 'lab', 'delivered', '3136', '8242', 'NVO 2026/1518'],
  ['TO-26127', 'PC-0201 back to North yard', 'km-14', 'cancelled', '3124', '8245', null],
  ['TO-26131', '950 l fuel tank to berth 4', 'quay', 'on-the-road', '3153', '8251', 'HTL 57120'],
  ['TO-27002', 'GE-0203 and TH-0106 to the bridge, east bank', 'trave', 'planned', '3181', '8260', null],
  ['TO-27009', 'EX-0302 and rail clamps to the depot', 'sidings', 'planned', '3190', '8274', null],
] as const satisfies readonly Row[];

type OrderNumber = (typeof rows)[number][0];

const notes: { readonly [N in OrderNumber]?: string } = {
  'TO-26037': 'Permit for 3.1 m width, nights only. Report to gate 3 an hour in advance.',
  'TO-26071': 'No trucks from 08:00 to 09:30, when the students cycle in.',
  'TO-26093': 'Three loads. The ferry takes no more than 32 t.',
  'TO-26127': 'The customer repaired it and is keeping it until spring.',
  'TO-26131': 'Tank travels empty and cleaned; filled on site by the harbour bunker boat.',
  'TO-27002': 'West bank is closed to heavy traffic. Snow date: 14 January.',
};

export const transportOrders = (projectIdOf: (key: ProjectKey) => string) =>
  rows.map(([number, name, project, status, allocationOrder, purchaseOrder, reference]) => ({
    key: number,
    value: {
      name,
      reference,
      number,
      notes: notes[number] ?? null,
      statusId: `status-${status}`,
      projectId: projectIdOf(project),
      purchaseOrderId: `purchase-order-${purchaseOrder}`,
      allocationOrderId: `allocation-order-${allocationOrder}`,
    },
  }));
