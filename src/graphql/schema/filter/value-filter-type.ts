/** The input types of filters on single values, which all kinds share. */
import type { Field } from '../../../model/fields.ts';
import { count } from '../../../model/issues.ts';
import { builder, type InputField, type InputFields, type InputRef } from '../builder.ts';
import type { Filter } from './filter-fields.ts';
import { type ComparingFilter, comparingFilters, operators } from './operators.ts';
import { maxDistance, maxPatternLength } from './value-condition.ts';

const names = {
  id: 'IdFilter',
  reference: 'IdFilter',
  foreignReference: 'IdFilter',
  text: 'TextFilter',
  number: 'NumberFilter',
  boolean: 'BooleanFilter',
  dateTime: 'DateTimeFilter',
  externalIds: 'ExternalIdFilter',
} as const;

type Name = (typeof names)[Field['type']] | 'NearFilter';

export const valueFilterName = ({ type }: Field): Name => names[type];

const make = (name: Name, description: string, fields: (t: InputFields) => Record<string, InputField>) =>
  builder.inputRef<Filter>(name).implement({ description, fields });
const comparing = (
  name: ComparingFilter,
  conditionsOn: string,
  others?: (t: InputFields) => Record<string, InputField>,
) => make(name, `Conditions on ${conditionsOn}`, (t) => ({ ...operatorsOf(t, name), ...others?.(t), ...isNull(t) }));

const types: Record<Name, InputRef<Filter>> = {
  IdFilter: comparing('IdFilter', 'an ID, all of which must hold. IDs are compared as text.'),
  TextFilter: comparing(
    'TextFilter',
    `a text, all of which must hold. Comparisons are case-sensitive unless \`ignoreCase\` is true. The texts of \`contains\`, \`startsWith\` and \`endsWith\`, and all texts with \`ignoreCase\`, have at most ${count(maxPatternLength)} characters.`,
    (t) => ({
      ignoreCase: t.boolean({
        description:
          'Whether upper and lower case letters count as equal in all conditions of this filter: `{ eq: "crane", ignoreCase: true }`.',
      }),
    }),
  ),
  NumberFilter: comparing('NumberFilter', 'a number, all of which must hold.'),
  DateTimeFilter: comparing('DateTimeFilter', 'a time, all of which must hold. A date alone means midnight UTC.'),
  BooleanFilter: comparing('BooleanFilter', 'a value that is true or false, all of which must hold.'),
  ExternalIdFilter: make(
    'ExternalIdFilter',
    'Conditions on the IDs of a record in other systems, all of which must hold.',
    (t) => ({
      key: t.string({ description: 'The record has an ID in this system: `{ key: "erp" }`.' }),
      value: t.string({ description: 'Its ID in the system `key`: `{ key: "erp", value: "4711" }`.' }),
      ...isNull(t),
    }),
  ),
  NearFilter: make('NearFilter', 'A circle around a point on the Earth, taken as a sphere.', (t) => ({
    latitude: t.float({ required: true, description: 'The latitude of the point in degrees, -90 to 90: `53.08`.' }),
    longitude: t.float({ required: true, description: 'The longitude of the point in degrees, -180 to 180: `8.8`.' }),
    withinKm: t.float({
      required: true,
      description: `The greatest distance in kilometres, 0 to ${count(maxDistance)}: \`10\`.`,
    }),
  })),
};
export const valueFilter = (name: Name): InputRef<Filter> => types[name];

/** Returns the operators of a filter, each with an example. */
function operatorsOf(t: InputFields, filter: ComparingFilter): Record<string, InputField> {
  const { type, one, several, bound = one } = comparingFilters[filter];
  const ofFilter = Object.entries(operators).filter(([, { filters }]) => filters.includes(filter));
  return Object.fromEntries(
    ofFilter.map(([name, { description, takesList, isBound, example = isBound ? bound : one }]) => [
      name,
      takesList
        ? t.field({ type: [type], description: `${description}: \`{ ${name}: [${several}] }\`.` })
        : t.field({ type, description: `${description}: \`{ ${name}: ${example} }\`.` }),
    ]),
  );
}

const isNull = (t: InputFields) => ({
  isNull: t.boolean({ description: 'Whether there is no value: `{ isNull: true }`.' }),
});
