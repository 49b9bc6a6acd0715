/** The input types of filters: one for each kind, and one for each type of value, which all kinds share. */
import type { Field } from '../../../model/fields.ts';
import { count } from '../../../model/issues.ts';
import { capitalized, withArticle } from '../../../model/labels.ts';
import type { RecordKind } from '../../../model/record-kind.ts';
import { recordKinds } from '../../../records/index.ts';
import {
  builder,
  describeReverseLink,
  type InputField,
  type InputFields,
  type InputRef,
  subjectOf,
} from '../builder.ts';
import {
  type ComparingFilter,
  comparingFilters,
  type Filter,
  type FilterField,
  filterFields,
  maxDistance,
  maxPatternLength,
  maxRelations,
  maxValues,
  operators,
} from './filter-condition.ts';

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

const valueFilterName = ({ type }: Field): Name => names[type];

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
const valueFilter = (name: Name): InputRef<Filter> => types[name];

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

type FilterRef = InputRef<Filter>;

const otherExample = '{ createdAt: { gte: "2026-03-01" } }';

/** `WorkOrderFilter`, and the like for every kind. */
const filters = new Map(recordKinds.map((kind) => [kind, builder.inputRef<Filter>(`${kind.name}Filter`)]));
// The casts are safe because the maps have the types of every kind.
export const filterOf = (kind: RecordKind) => filters.get(kind) as FilterRef;
const listFilters = new Map(referringKinds().map((kind) => [kind, createListFilter(kind, filterOf(kind))]));

function fieldOf(t: InputFields, kind: RecordKind, filterField: FilterField) {
  switch (filterField.type) {
    case 'value':
      return t.field({
        type: valueFilter(valueFilterName(filterField.field)),
        description: `${subjectOf(filterField.field)}: \`${exampleOf(kind, filterField.name, filterField.field)}\`.`,
      });
    case 'link':
      return t.field({
        type: filterOf(filterField.target),
        description: `${capitalized(filterField.refersTo)}, which must be stored here and match: \`${exampleFilter(filterField.target)}\`.`,
      });
    case 'reverse':
      return t.field({
        type: listFilters.get(filterField.link.kind) as FilterRef,
        description: `${describeReverseLink(filterField.link)}: \`{ some: ${exampleFilter(filterField.link.kind)} }\`.`,
      });
    case 'near':
      return t.field({
        type: valueFilter('NearFilter'),
        description:
          'Within a distance of a point, as the crow flies: `{ latitude: 53.08, longitude: 8.8, withinKm: 10 }`.',
      });
    case 'and':
      return t.field({
        type: [filterOf(kind)],
        description: `All of these match: \`{ and: [${exampleFilter(kind)}, { not: ${otherExample} }] }\`.`,
      });
    case 'or':
      return t.field({
        type: [filterOf(kind)],
        description: `At least one of these matches: \`{ or: [${exampleFilter(kind)}, ${otherExample}] }\`.`,
      });
    case 'not':
      return t.field({
        type: filterOf(kind),
        description: `This does not match: \`{ not: ${exampleFilter(kind)} }\`.`,
      });
  }
}

for (const [kind, filter] of filters) {
  filter.implement({
    description: `Conditions on ${withArticle(kind.label)}, all of which must hold: \`${exampleFilter(kind)}\`. At most ${count(maxValues)} values and conditions in all, and links nested at most ${maxRelations} deep.`,
    fields: (t) =>
      Object.fromEntries([...filterFields(kind)].map(([name, filterField]) => [name, fieldOf(t, kind, filterField)])),
  });
}

function referringKinds(): RecordKind[] {
  const fields = recordKinds.flatMap((kind) => [...filterFields(kind).values()]);
  return [...new Set(fields.flatMap((field) => (field.type === 'reverse' ? [field.link.kind] : [])))];
}

function createListFilter({ name, pluralLabel }: RecordKind, filter: FilterRef): FilterRef {
  return builder.inputRef<Filter>(`${name}ListFilter`).implement({
    description: `Conditions on ${pluralLabel} that are linked to a record, all of which must hold.`,
    fields: (t) => ({
      some: t.field({ type: filter, description: 'At least one of them matches; `{ some: {} }` if there are any.' }),
      none: t.field({ type: filter, description: 'None of them matches; `{ none: {} }` if there are none.' }),
      every: t.field({ type: filter, description: 'Every one of them matches; also true if there are none.' }),
    }),
  });
}

export function exampleFilter(kind: RecordKind): string {
  const [entry] = Object.entries(kind.example).filter(([name]) => kind.fields[name]?.type === 'text');
  return entry ? `{ ${entry[0]}: { eq: ${JSON.stringify(entry[1])} } }` : otherExample;
}

function exampleOf({ example, idPrefix }: RecordKind, name: string, field: Field): string {
  const value = (example as Filter)[name];
  switch (field.type) {
    case 'text':
      return field.example === undefined
        ? `{ startsWith: ${JSON.stringify(value)} }`
        : `{ eq: ${JSON.stringify(field.example)} }`;
    case 'number':
      return typeof value === 'number' ? `{ gte: ${value}, lt: ${Math.ceil(value)} }` : '{ gte: 0 }';
    case 'boolean':
      return '{ eq: true }';
    case 'dateTime':
      return '{ gte: "2026-03-01", lt: "2026-04-01" }';
    case 'externalIds':
      return '{ key: "erp", value: "4711" }';
    case 'id':
      return `{ eq: "${idPrefix}_01h455vb4pex5vsknk084sn02q" }`;
    default:
      return typeof value === 'string' ? `{ eq: ${JSON.stringify(value)} }` : '{ isNull: false }';
  }
}
