/** The fields of each kind's filter, and the operators on single values. The input types, the conditions and the costs of filters follow from them. */
import type { Field, NumberField } from '../../../model/fields.ts';
import { count } from '../../../model/issues.ts';
import { linkField } from '../../../model/labels.ts';
import type { RecordKind } from '../../../model/record-kind.ts';
import type { ReverseLink } from '../../../model/reverse-link.ts';
import { kindNamed } from '../../../records/index.ts';
import { reverseLinksOf } from '../../../records/reverse-links.ts';
import type { Condition, Value } from '../../../store/query/condition.ts';

/** A filter as sent, validated by GraphQL: see filter-condition.ts. */
export type Filter = Readonly<Record<string, unknown>>;

export type FilterField =
  | { readonly type: 'value'; readonly name: string; readonly field: Field }
  /** A link to stored records, by the name of its stored field. */
  | { readonly type: 'link'; readonly name: string; readonly target: RecordKind; readonly refersTo: string }
  | { readonly type: 'reverse'; readonly link: ReverseLink }
  | { readonly type: 'near'; readonly latitude: NumberField; readonly longitude: NumberField }
  | { readonly type: 'and' | 'or' | 'not' };

/** Returns the fields to filter and order by: all but the workspace, which is the same, and external IDs. */
export const comparedFields = ({
  storedFields,
}: RecordKind): (readonly [string, Exclude<Field, { type: 'externalIds' }>])[] =>
  Object.entries(storedFields).flatMap(([name, field]) =>
    name === 'workspaceId' || field.type === 'externalIds' ? [] : [[name, field] as const],
  );

const fieldsByKind = new WeakMap<RecordKind, ReadonlyMap<string, FilterField>>();

/** Returns the fields of the kind's filter, by their names in GraphQL. */
export function filterFields(kind: RecordKind): ReadonlyMap<string, FilterField> {
  const cached = fieldsByKind.get(kind);
  if (cached) return cached;
  const fields = new Map([
    ...Object.entries(kind.storedFields).flatMap(([name, field]) =>
      name === 'workspaceId' ? [] : valueAndLink(name, field),
    ),
    ...reverseLinksOf(kind.name).map((link) => [link.name, { type: 'reverse', link }] as const),
    ...near(kind),
    ...(['and', 'or', 'not'] as const).map((type) => [type, { type }] as const),
  ] as (readonly [string, FilterField])[]);
  fieldsByKind.set(kind, fields);
  return fields;
}

function valueAndLink(name: string, field: Field): (readonly [string, FilterField])[] {
  const value = [name, { type: 'value', name, field }] as const;
  if (field.type !== 'reference') return [value];
  const { refersTo, target } = field;
  return [value, [linkField(name), { type: 'link', name, target: kindNamed(target), refersTo }]];
}

function near({ storedFields: { latitude, longitude } }: RecordKind): (readonly [string, FilterField])[] {
  if (latitude?.type !== 'number' || longitude?.type !== 'number') return [];
  return [['near', { type: 'near', latitude, longitude }]];
}

/** Values and conditions in a filter: databases limit the parameters of a statement and the size of its expressions. */
export const maxValues = 1_000;

export type ComparingFilter = 'IdFilter' | 'TextFilter' | 'NumberFilter' | 'DateTimeFilter' | 'BooleanFilter';

interface Comparing {
  readonly type: 'ID' | 'String' | 'Float' | 'DateTime' | 'Boolean';
  /** Examples: one value, several, and one for comparing sizes, if it differs. */
  readonly one: string;
  readonly several: string;
  readonly bound?: string;
}

/** The filters whose operators compare the value of a field, each with the type of that value and examples of it. */
export const comparingFilters: Readonly<Record<ComparingFilter, Comparing>> = {
  IdFilter: { type: 'ID', one: '"location_01h455vb4pex5vsknk084sn02q"', several: '"ERP-7", "ERP-8"' },
  TextFilter: { type: 'String', one: '"Crane"', several: '"Crane", "Pump"' },
  NumberFilter: { type: 'Float', one: '53.08', several: '53.08, 53.09' },
  DateTimeFilter: {
    type: 'DateTime',
    one: '"2026-03-01T07:30:00Z"',
    several: '"2026-03-01", "2026-04-01"',
    bound: '"2026-03-01"',
  },
  BooleanFilter: { type: 'Boolean', one: 'true', several: 'true, false' },
};

interface Operator {
  readonly filters: readonly ComparingFilter[];
  readonly description: string;
  /** The example in the description; that of the filter unless set. */
  readonly example?: string;
  /** True if it compares sizes. */
  readonly isBound?: boolean;
  readonly takesList?: boolean;
  /** True if its text becomes a pattern, whose length is limited. */
  readonly isPattern?: boolean;
  /** Returns the condition for the values of the list, or for the single value that was sent. */
  condition(field: string, values: readonly Value[], letterCase: { readonly ignoreCase?: boolean }): Condition;
}

const all = Object.keys(comparingFilters) as ComparingFilter[];

const comparison = (compare: 'gt' | 'gte' | 'lt' | 'lte', description: string): Operator => ({
  filters: ['NumberFilter', 'DateTimeFilter'],
  description,
  isBound: true,
  condition: (field, [value = '']) => ({ field, compare, value }),
});

const pattern = (text: 'contains' | 'startsWith' | 'endsWith', description: string, example: string): Operator => ({
  filters: ['TextFilter'],
  description,
  example,
  isPattern: true,
  condition: (field, [value], letterCase) => ({ field, text, value: String(value), ...letterCase }),
});

/**
 * The operators by their names in GraphQL, in the order of the schema. `isNull` and `ignoreCase` compare nothing: see
 * filter-types.ts.
 */
export const operators: Readonly<Record<string, Operator>> = {
  eq: {
    filters: all,
    description: 'The value is this one',
    condition: (field, values, letterCase) => ({ field, in: values, ...letterCase }),
  },
  ne: {
    filters: all,
    description: 'The value is not this one, or there is no value',
    condition: (field, values, letterCase) => ({ not: { field, in: values, ...letterCase } }),
  },
  in: {
    filters: all.filter((name) => name !== 'BooleanFilter'),
    description: `The value is one of these, at most ${count(maxValues)}`,
    takesList: true,
    condition: (field, values, letterCase) => ({ field, in: values, ...letterCase }),
  },
  gt: comparison('gt', 'The value is greater than this one'),
  gte: comparison('gte', 'The value is this one or greater'),
  lt: comparison('lt', 'The value is less than this one'),
  lte: comparison('lte', 'The value is this one or less'),
  contains: pattern('contains', 'The text contains this one', '"ran"'),
  startsWith: pattern('startsWith', 'The text starts with this one', '"Cr"'),
  endsWith: pattern('endsWith', 'The text ends with this one', '"ne"'),
};
