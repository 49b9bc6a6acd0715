/** The fields of each kind's filter. The input types, the conditions and the costs of filters follow from them. */
import type { Field, NumberField } from '../../../model/fields.ts';
import { linkField } from '../../../model/labels.ts';
import type { RecordKind } from '../../../model/record-kind.ts';
import type { ReverseLink } from '../../../model/reverse-link.ts';
import { kindNamed } from '../../../records/index.ts';
import { reverseLinksOf } from '../../../records/reverse-links.ts';

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
