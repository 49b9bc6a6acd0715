import { externalIds, number, text } from '../model/fields.ts';
import { recordKind } from '../model/record-kind.ts';

/** Interface: "Location". */
export const location = recordKind({
  name: 'Location',
  plural: 'Locations',
  label: 'location',
  description: 'A place: a yard, a site, an address.',
  table: 'locations',
  idPrefix: 'location',
  fields: {
    name: text('name of the location'),
    latitude: number('latitude of the coordinates, in degrees', { min: -90, max: 90 }),
    longitude: number('longitude of the coordinates, in degrees', { min: -180, max: 180 }),
    address1: text('first address line'),
    address2: text('second address line'),
    city: text('city'),
    state: text('state'),
    postalCode: text('postal code'),
    country: text('country'),
    externalIds: externalIds(),
  },
  stamps: [],
  unset: 'omitted',
});
