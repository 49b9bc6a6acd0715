/** The demo's work orders as of 20 November 2026: statuses are relative to that day. Times are UTC. */
import type { AssetUid } from './assets.ts';
import type { LocationKey } from './locations.ts';
import type { ProjectKey } from './projects.ts';

type Row = readonly [
  reference: string,
  task: string,
  /** Only a part of the name, unless the task names it: work orders do not refer to assets. */
  asset: AssetUid | null,
  project: ProjectKey,
  location: LocationKey,
  status: 'scheduled' | 'in-progress' | 'on-hold' | 'completed' | 'cancelled',
  start: string,
  /** Elapsed hours from start to end, nights and weekends included; null if the end is not known yet. */
  hours: number | null,
];

const setUps = [
  ['WO-26107', 'Handover with buckets', 'EX-0102', 'lindenschule', 'school', 'completed', '2026-02-17T07:00Z', 1.5],
  ['WO-26109', 'Set up and test insulation', 'GE-0101', 'quay', 'berth', 'completed', '2026-03-03T06:30Z', 4],
  ['WO-26113', 'Handover and operator briefing', 'EX-0204', 'quay', 'berth', 'completed', '2026-03-05T06:00Z', 3],
  ['WO-26122', 'Handover and operator briefing', 'TH-0104', 'ward-c', 'clinic', 'completed', '2026-04-15T06:00Z', 3],
  ['WO-26124', 'Set up the crane', null, 'harbour-wall', 'bremen', 'completed', '2026-04-20T06:00Z', 6],
  ['WO-26125', 'Fit 3D machine control', 'EX-0205', 'km-14', 'bypass', 'completed', '2026-04-22T06:00Z', 9],
  ['WO-26131', 'Handover with pallet forks', 'WL-0103', 'hall-60', 'logistics', 'completed', '2026-05-06T07:00Z', 1.5],
  ['WO-26136', 'Handover and charger check', 'BL-0102', 'lab', 'campus', 'completed', '2026-06-03T07:30Z', 2],
  ['WO-26158', 'Set up on pontoon and lash down', 'GE-0102', 'lock-gate', 'lock', 'completed', '2026-08-19T06:00Z', 6],
  ['WO-26163', 'Set up with winch and load-test', 'TH-0201', 'quay', 'berth', 'completed', '2026-09-02T06:30Z', 5],
  ['WO-26170', 'Set up and connect to cabins', 'GE-0201', 'laydown', 'wind', 'completed', '2026-09-15T06:30Z', 5],
  ['WO-26179', 'Position for night shifts', 'LT-0101', 'km-14', 'bypass', 'completed', '2026-10-05T13:00Z', 2.5],
  ['WO-26224', 'Set up and connect to cabins', 'GE-0203', 'trave', 'bridge', 'scheduled', '2027-01-12T07:00Z', 5],
  ['WO-26226', 'Handover with rail clamps', 'EX-0302', 'sidings', 'depot', 'scheduled', '2027-03-02T07:00Z', 3],
] as const satisfies readonly Row[];

const inspections = [
  ['WO-26104', 'Annual safety inspection', 'TH-0102', 'lindenschule', 'hamburg', 'completed', '2026-02-10T07:00Z', 2.5],
  ['WO-26116', 'Annual safety inspection', 'SL-0101', 'ward-c', 'bremen', 'completed', '2026-04-08T07:00Z', 2],
  ['WO-26118', 'Annual safety inspection', 'SL-0102', 'ward-c', 'bremen', 'completed', '2026-04-08T09:30Z', 2],
  ['WO-26154', 'Annual safety inspection', 'BL-0101', 'lock-gate', 'hamburg', 'completed', '2026-08-13T07:00Z', 3],
  ['WO-26161', 'Off-hire inspection', 'EX-0102', 'lindenschule', 'school', 'completed', '2026-08-27T12:00Z', 1],
  ['WO-26172', 'Exhaust emissions test', 'WL-0102', 'lab', 'campus', 'completed', '2026-09-22T08:00Z', 1],
  ['WO-26185', 'Off-hire inspection', 'WL-0103', 'hall-60', 'logistics', 'completed', '2026-10-22T12:30Z', 1],
  ['WO-26206', 'Annual safety inspection', 'BL-0103', 'lab', 'workshop', 'in-progress', '2026-11-20T07:00Z', 81],
  ['WO-26212', 'Annual safety inspection', 'TH-0201', 'quay', 'berth', 'scheduled', '2026-11-30T07:00Z', 3],
  ['WO-26217', 'Check anchorage before winter', 'TH-0105', 'laydown', 'wind', 'scheduled', '2026-12-02T08:00Z', 2],
  ['WO-26221', 'Annual safety inspection', 'TH-0106', 'trave', 'bremen', 'scheduled', '2027-01-06T07:00Z', 3],
] as const satisfies readonly Row[];

const repairs = [
  ['WO-26127', 'Replace boom cylinder seal', 'EX-0204', 'quay', 'berth', 'completed', '2026-04-28T06:00Z', 5.5],
  ['WO-26134', 'Replace windscreen', 'SD-0101', 'km-14', 'bypass', 'completed', '2026-05-19T07:00Z', 2],
  ['WO-26140', 'Trace loss of hydraulic pressure', 'EX-0201', 'km-14', 'bypass', 'completed', '2026-07-07T06:00Z', 7],
  ['WO-26143', 'Replace two battery packs', 'SL-0101', 'ward-c', 'clinic', 'completed', '2026-07-15T07:30Z', 3],
  ['WO-26149', 'Weld cracked bucket lip', 'WL-0103', 'hall-60', 'workshop', 'completed', '2026-08-04T06:00Z', 6],
  ['WO-26167', 'Replace fuel pump', 'PC-0201', 'km-14', 'bypass', 'cancelled', '2026-09-10T07:00Z', 2],
  ['WO-26181', 'Replace starter motor', 'TH-0103', 'lab', 'campus', 'completed', '2026-10-13T07:00Z', 4],
  ['WO-26188', 'Replace swivel bearing', 'SD-0103', 'km-14', 'workshop', 'on-hold', '2026-10-26T07:00Z', null],
  ['WO-26194', 'Replace exciter bearings', 'PC-0202', 'km-14', 'workshop', 'on-hold', '2026-11-09T07:00Z', null],
  ['WO-26199', 'Repair winch hoist brake', 'TH-0202', 'quay', 'workshop', 'in-progress', '2026-11-17T07:00Z', 225],
  ['WO-26203', 'Replace left rubber track', 'EX-0106', 'lab', 'workshop', 'in-progress', '2026-11-19T07:00Z', 105],
] as const satisfies readonly Row[];

const services = [
  ['WO-26145', '500 h service', 'EX-0204', 'quay', 'berth', 'completed', '2026-07-21T05:30Z', 4],
  ['WO-26152', '2,000 h service', 'EX-0201', 'km-14', 'bypass', 'completed', '2026-08-11T05:30Z', 8],
  ['WO-26176', '1,000 h service', 'TH-0104', 'ward-c', 'clinic', 'completed', '2026-09-29T06:00Z', 5],
  ['WO-26190', '500 h service', 'GE-0102', 'lock-gate', 'lock', 'completed', '2026-10-28T07:00Z', 3],
  ['WO-26197', 'Refuel and clean lamps', 'LT-0102', 'km-14', 'bypass', 'completed', '2026-11-12T13:00Z', 1.5],
  ['WO-26208', '1,000 h service', 'WL-0201', 'laydown', 'wind', 'scheduled', '2026-11-25T07:00Z', 5],
  ['WO-26215', 'Winter service', 'GE-0101', 'quay', 'berth', 'scheduled', '2026-12-01T07:00Z', 3],
] as const satisfies readonly Row[];

type WorkOrderReference = (typeof setUps | typeof inspections | typeof repairs | typeof services)[number][0];

const notes: { readonly [R in WorkOrderReference]?: string } = {
  'WO-26109': 'Insulation resistance 2.1 MΩ, earth spike 38 Ω. The site electrician has the log sheet.',
  'WO-26140': 'Pilot pressure 28 bar instead of 40: filter blocked, not the pump. Filter and oil changed.',
  'WO-26158': 'Ask the lock keeper for a crossing time, VHF channel 12.',
  'WO-26167': 'Only a dirty carburettor; cleaned by the customer.',
  'WO-26188': 'Bearing ordered on 27 October, lead time six weeks. SD-0102 covers the job.',
  'WO-26194': 'Supplier has no stock before December.',
  'WO-26197': 'Aim mast 3 away from the road: a driver complained.',
  'WO-26199': 'Load-test with 4 t after reassembly; send the certificate to the port authority.',
  'WO-26215': 'Check coolant to −30 °C and block heater; load-test both batteries.',
};

/** A row with one of the references above, by which its notes are found. */
type WorkOrderRow = Row & { readonly 0: WorkOrderReference };

export function workOrders(projectIdOf: (key: ProjectKey) => string, locationIdOf: (key: LocationKey) => string) {
  const ofType = (type: string, rows: readonly WorkOrderRow[]) =>
    rows.map(([reference, task, asset, project, location, status, start, hours]) => ({
      key: reference,
      value: {
        name: asset === null ? task : `${task}, ${asset}`,
        typeId: `work-order-type-${type}`,
        reference,
        projectId: projectIdOf(project),
        statusId: `status-${status}`,
        locationId: locationIdOf(location),
        startDate: new Date(start).toISOString(),
        endDate: hours === null ? null : new Date(Date.parse(start) + hours * 3_600_000).toISOString(),
        notes: notes[reference] ?? null,
        // The ERP system has the same numbers, with 40 in front.
        externalIds: { erp: reference.replace('WO-', '40') },
      },
    }));

  return [
    ...ofType('inspection', inspections),
    ...ofType('repair', repairs),
    ...ofType('service', services),
    ...ofType('set-up', setUps),
  ];
}
