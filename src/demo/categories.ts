/** The demo's tree of asset categories: families, groups and, as leaves, the types that customers order. */
import type { CreateOf } from '../model/record-kind.ts';
import type { assetCategory } from '../records/index.ts';

type Row = readonly [key: string, parent: string | null, name: string, description: string];

const familyRows = [
  ['earth', null, 'Earthmoving', 'Digging, loading and hauling'],
  ['access', null, 'Lifting and access', 'Raising loads and people'],
  ['compaction', null, 'Compaction', 'Soil, gravel and asphalt'],
  ['power', null, 'Power and light', 'Electricity and light where there is no grid yet'],
] as const satisfies readonly Row[];

const groupRows = [
  ['excavators', 'earth', 'Excavators', 'With quick coupler; buckets are booked separately'],
  ['loaders', 'earth', 'Loaders and dumpers', 'Moving spoil and bulk material on site'],
  ['telehandlers', 'access', 'Telehandlers', 'Operators need a telehandler licence'],
  ['platforms', 'access', 'Aerial platforms', 'Harness required on boom lifts; annual inspection'],
  ['cranes', 'access', 'Cranes', 'With operator; the ground must bear the outriggers'],
  ['rollers', 'compaction', 'Rollers', 'Ride-on, with water tank'],
  ['hand-guided', 'compaction', 'Hand-guided compaction', 'Trenches, paving and edges'],
  ['generators', 'power', 'Generators', 'Silenced, on skid or trailer, with drip tray'],
  ['lighting', 'power', 'Lighting', 'For night shifts and winter sites'],
] as const satisfies readonly Row[];

const typeRows = [
  ['mini-excavator', 'excavators', 'Mini excavators', 'Up to 6 t, rubber tracks'],
  ['crawler-excavator', 'excavators', 'Crawler excavators', '14 to 26 t, transported by low loader'],
  ['wheeled-excavator', 'excavators', 'Wheeled excavators', '15 to 18 t, road-legal'],
  ['wheel-loader', 'loaders', 'Wheel loaders', 'Bucket from 0.9 to 2.5 m³'],
  ['site-dumper', 'loaders', 'Site dumpers', 'Swivel skip, 3 to 9 t payload'],
  ['fixed-telehandler', 'telehandlers', 'Fixed telehandlers', '7 to 17 m lifting height'],
  ['rotating-telehandler', 'telehandlers', 'Rotating telehandlers', '21 to 25 m, with winch and platform'],
  ['scissor-lift', 'platforms', 'Scissor lifts', '8 to 15 m working height'],
  ['boom-lift', 'platforms', 'Boom lifts', '16 to 26 m working height, articulated'],
  ['mobile-crane', 'cranes', 'Mobile cranes', 'Up to 60 t, road-legal'],
  ['tandem-roller', 'rollers', 'Tandem rollers', '1.5 to 4 t, oscillation or vibration'],
  ['plate-compactor', 'hand-guided', 'Plate compactors', '90 to 500 kg; the larger ones are reversible'],
  ['small-generator', 'generators', 'Generators up to 60 kVA', 'Site cabins, pumps and small cranes'],
  ['large-generator', 'generators', 'Generators over 60 kVA', 'Tower cranes and whole sites; can run in parallel'],
  ['light-tower', 'lighting', 'Light towers', 'LED, 8 m mast, hybrid or diesel'],
] as const satisfies readonly Row[];

type FamilyKey = (typeof familyRows)[number][0];
type GroupKey = (typeof groupRows)[number][0];
export type TypeKey = (typeof typeRows)[number][0];

export const families = familyRows.map(([key, , name, description]) => keyed(key, { name, description }));

export const groups = (familyIdOf: (key: FamilyKey) => string) =>
  groupRows.map(([key, family, name, description]) => keyed(key, { name, description, parentId: familyIdOf(family) }));

export const types = (groupIdOf: (key: GroupKey) => string) =>
  typeRows.map(([key, group, name, description]) => keyed(key, { name, description, parentId: groupIdOf(group) }));

function keyed<K extends string>(key: K, value: CreateOf<typeof assetCategory>) {
  return { key, value };
}
