/** The demo's projects as of 20 November 2026: what its customers build. */
import type { LocationKey } from './locations.ts';

type Row = readonly [
  key: string,
  name: string,
  reference: string,
  status: 'planned' | 'active' | 'completed',
  company: string,
  location: LocationKey,
  startDate: string,
  endDate: string,
];

const rows = [
  ['lindenschule', 'School yard and canteen', 'P-2603', 'completed', 'heidebau', 'school', '2026-02-16', '2026-08-28'],
  ['quay', 'Quay wall renewal, berth 4', 'P-2604', 'active', 'hafenbau-koch', 'berth', '2026-03-02', '2027-04-30'],
  ['harbour-wall', 'Harbour wall', 'P-2605', 'active', 'hafenbau-koch', 'bremen', '2026-03-01', '2026-12-18'],
  ['ward-c', 'Clinic extension, block C', 'P-2607', 'active', 'ems-hochbau', 'clinic', '2026-04-13', '2027-06-18'],
  ['km-14', 'Syke bypass, section 2', 'P-2608', 'active', 'wegener-tiefbau', 'bypass', '2026-04-20', '2027-09-30'],
  ['hall-60', 'Logistics hall 60', 'P-2611', 'completed', 'stader-hallenbau', 'logistics', '2026-05-04', '2026-10-23'],
  ['lab', 'Campus laboratory', 'P-2614', 'active', 'bouwgroep-noorder', 'campus', '2026-06-01', '2027-03-26'],
  ['lock-gate', 'Lock gate replacement', 'P-2617', 'active', 'foerde-wasserbau', 'lock', '2026-08-17', '2027-02-26'],
  ['laydown', 'Laydown area for towers', 'P-2621', 'active', 'deichwerk', 'wind', '2026-09-14', '2027-01-29'],
  ['trave', 'Trave bridge, new deck', 'P-2701', 'planned', 'hansebruecken', 'bridge', '2027-01-11', '2027-11-12'],
  ['sidings', 'Tram depot sidings', 'P-2704', 'planned', 'warnow-gleisbau', 'depot', '2027-03-01', '2027-08-20'],
  ['berth-5', 'Crane rails, berth 5', 'P-2706', 'planned', 'hafenbau-koch', 'berth', '2027-05-03', '2027-12-17'],
] as const satisfies readonly Row[];

export type ProjectKey = (typeof rows)[number][0];

const notes: { readonly [K in ProjectKey]?: string } = {
  quay: 'Deliveries through gate 3 only, 06:00 to 18:00. Everyone on site needs a port safety card.',
  'ward-c': 'Quiet hours from 13:00 to 15:00: no compaction, no hammer work.',
  'km-14': 'Night shifts from October on: light towers with 80 h of fuel.',
  'hall-60': 'Closed. Final invoice sent on 2 November 2026.',
  lab: 'Zero-emission zone: electric or hybrid machines preferred.',
  trave: 'Low loaders over 40 t must come from the east bank.',
};

export const projects = (locationIdOf: (key: LocationKey) => string) =>
  rows.map(([key, name, reference, status, company, location, startDate, endDate]) => ({
    key,
    value: {
      name,
      reference,
      startDate: new Date(startDate).toISOString(),
      endDate: new Date(endDate).toISOString(),
      notes: notes[key] ?? null,
      statusId: `status-${status}`,
      companyId: `company-${company}`,
      locationId: locationIdOf(location),
      externalIds: { erp: `${reference}-00` },
    },
  }));
