/** The input types of filters on single values, which all kinds share. */
import type { Field } from '../../../model/fields.ts';
import { count } from '../../../model/issues.ts';
import type { Builder, InputField, InputFields, InputRef } from '../builder.ts';
import { maxValues } from './filter-condition.ts';
import type { Filter } from './filter-fields.ts';
import { maxDistance, maxPatternLength } from './value-condition.ts';

type Scalar = 'ID' | 'String' | 'Float' | 'Boolean' | 'DateTime';

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

/** Makes the types of one schema. */
export function createValueFilterTypes(builder: Builder): (name: Name) => InputRef<Filter> {
  const make = (name: Name, description: string, fields: (t: InputFields) => Record<string, InputField>) =>
    builder.inputRef<Filter>(name).implement({ description, fields });

  const types: Record<Name, InputRef<Filter>> = {
    IdFilter: make('IdFilter', `Conditions on an ID, all of which must hold. IDs are compared as text.`, (t) => ({
      ...equality(t, 'ID', '"location_01h455vb4pex5vsknk084sn02q"'),
      ...oneOf(t, 'ID', '"ERP-7", "ERP-8"'),
      ...isNull(t),
    })),
    TextFilter: make(
      'TextFilter',
      `Conditions on a text, all of which must hold. Upper and lower case differ unless \`ignoreCase\` is set. With it, and for \`contains\`, \`startsWith\` and \`endsWith\`, texts have at most ${count(maxPatternLength)} characters.`,
      (t) => ({
        ...equality(t, 'String', '"Crane"'),
        ...oneOf(t, 'String', '"Crane", "Pump"'),
        contains: t.string({ description: 'The text contains this one: `{ contains: "ran" }`.' }),
        startsWith: t.string({ description: 'The text starts with this one: `{ startsWith: "Cr" }`.' }),
        endsWith: t.string({ description: 'The text ends with this one: `{ endsWith: "ne" }`.' }),
        ignoreCase: t.boolean({
          description:
            'Whether upper and lower case letters count as equal in all conditions of this filter: `{ eq: "crane", ignoreCase: true }`.',
        }),
        ...isNull(t),
      }),
    ),
    NumberFilter: make('NumberFilter', `Conditions on a number, all of which must hold.`, (t) => ({
      ...equality(t, 'Float', '53.08'),
      ...oneOf(t, 'Float', '53.08, 53.09'),
      ...ranges(t, 'Float', '53.08'),
      ...isNull(t),
    })),
    DateTimeFilter: make(
      'DateTimeFilter',
      `Conditions on a time, all of which must hold. A date alone means midnight UTC.`,
      (t) => ({
        ...equality(t, 'DateTime', '"2026-03-01T07:30:00Z"'),
        ...oneOf(t, 'DateTime', '"2026-03-01", "2026-04-01"'),
        ...ranges(t, 'DateTime', '"2026-03-01"'),
        ...isNull(t),
      }),
    ),
    BooleanFilter: make(
      'BooleanFilter',
      `Conditions on a value that is true or false, all of which must hold.`,
      (t) => ({
        ...equality(t, 'Boolean', 'true'),
        ...isNull(t),
      }),
    ),
    ExternalIdFilter: make(
      'ExternalIdFilter',
      `Conditions on the IDs of a record in other systems, all of which must hold.`,
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
  return (name) => types[name];
}

const equality = (t: InputFields, type: Scalar, example: string) => ({
  eq: t.field({ type, description: `The value is this one: \`{ eq: ${example} }\`.` }),
  ne: t.field({ type, description: `The value is not this one, or there is no value: \`{ ne: ${example} }\`.` }),
});

const oneOf = (t: InputFields, type: Scalar, examples: string) => ({
  in: t.field({
    type: [type],
    description: `The value is one of these, at most ${count(maxValues)}: \`{ in: [${examples}] }\`.`,
  }),
});

const ranges = (t: InputFields, type: Scalar, example: string) => ({
  gt: t.field({ type, description: `The value is greater than this one: \`{ gt: ${example} }\`.` }),
  gte: t.field({ type, description: `The value is this one or greater: \`{ gte: ${example} }\`.` }),
  lt: t.field({ type, description: `The value is less than this one: \`{ lt: ${example} }\`.` }),
  lte: t.field({ type, description: `The value is this one or less: \`{ lte: ${example} }\`.` }),
});

const isNull = (t: InputFields) => ({
  isNull: t.boolean({ description: 'Whether there is no value: `{ isNull: true }`.' }),
});
