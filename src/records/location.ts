import { externalIds, indexed, mustExist, number, reference, text } from '../model/fields.ts';
import { recordKind } from '../model/record-kind.ts';

export const location = recordKind({
  name: 'Location',
  plural: 'Locations',
  label: 'location',
  pluralLabel: 'locations',
  description: 'A place: a yard, a site, an address.',
  table: 'locations',
  idPrefix: 'location',
  fields: {
    name: indexed(text('The name of the location.')),
    latitude: number('The latitude in degrees; north of the equator is positive.', { min: -90, max: 90 }),
    longitude: number('The longitude in degrees; east of Greenwich is positive.', { min: -180, max: 180 }),
    address1: text('The first line of the address, such as the street and number.'),
    address2: text('The second line of the address.'),
    city: text('The city.'),
    state: text('The state or province.'),
    postalCode: text('The postal code.'),
    country: text('The country.'),
    externalIds: externalIds(),
    parentId: mustExist(reference('Location', 'the location that the location is in', { reverse: 'children' })),
  },
  example: {
    name: 'North yard',
    latitude: 53.08,
    longitude: 8.8,
    address1: 'Hafenstraße 12',
    address2: 'Gate 3',
    city: 'Bremen',
    state: 'Bremen',
    postalCode: '28217',
    country: 'DE',
    externalIds: { erp: '4711' },
  },
  stamps: [],
  unset: 'omitted',
});
