/** The Pothos builder, with the scalars that all types share. The settings are in the context, so that one schema serves all of them. */
import SchemaBuilder, { type InputFieldRef } from '@pothos/core';
import ValidationPlugin from '@pothos/plugin-validation';
import { type ExternalIds, type Field, foreignTypes } from '../../model/fields.ts';
import { linkField } from '../../model/labels.ts';
import type { RecordKind, RecordOf } from '../../model/record-kind.ts';
import type { ReverseLink } from '../../model/reverse-link.ts';
import { kindOfId, recordKinds } from '../../records/index.ts';
import type { Context } from '../execution/context.ts';

interface Types {
  Context: Context;
  DefaultFieldNullability: false;
  Scalars: {
    ID: { Input: string; Output: string };
    // The kind's schema validates the input and reports all issues together, as over REST.
    DateTime: { Input: unknown; Output: string };
    ExternalIds: { Input: unknown; Output: ExternalIds };
    FieldValue: { Input: never; Output: unknown };
  };
}

export type { InputRef } from '@pothos/core';

// biome-ignore lint/suspicious/noExplicitAny: fields are derived, and only the kind's own types say what each holds.
export type Values = Readonly<Record<string, any>>;

type Schema = (typeof builder)['$inferSchemaTypes'];

export type ObjectRef<T> = PothosSchemaTypes.ObjectRef<Schema, T>;
export type InputFields = PothosSchemaTypes.InputFieldBuilder<Schema, 'InputObject'>;
export type Argument<T> = PothosSchemaTypes.ArgumentRef<Schema, T>;
export type InputField = InputFieldRef<Schema, NonNullable<unknown> | null | undefined>;
export type QueryFields = PothosSchemaTypes.QueryFieldBuilder<Schema, Schema['Root']>;
export type MutationFields = PothosSchemaTypes.MutationFieldBuilder<Schema, Schema['Root']>;
export type ObjectFields<T> = PothosSchemaTypes.ObjectFieldBuilder<Schema, T>;

export const builder = new SchemaBuilder<Types>({ plugins: [ValidationPlugin], defaultFieldNullability: false });
builder.scalarType('DateTime', {
  description:
    'A time in UTC with milliseconds, as text: `2026-03-01T07:30:00.000Z`. Input may have any time zone, or be a date, which means midnight UTC.',
  serialize: (value) => value,
});
builder.scalarType('ExternalIds', {
  description: 'Identifiers in other systems, as an object with text values: `{ "erp": "4711" }`.',
  serialize: (value) => value,
});
builder.scalarType('FieldValue', {
  description: 'The value of a field of a record: JSON of the type that this field has.',
  serialize: (value) => value,
});

type Foreign = { readonly id: string };

export type ForeignTypeName = keyof typeof foreignTypes;

export const node = builder.interfaceRef<Values>('Node').implement({
  description: 'A record of any kind that this service stores.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The ID of the record; its prefix shows the kind.' }),
  }),
  resolveType: ({ id }) => kindOfId(id)?.name,
});

const stored = new Map(recordKinds.map(({ name }) => [name, builder.objectRef<Values>(name)]));

const foreign = new Map(Object.keys(foreignTypes).map((name) => [name, builder.objectRef<Foreign>(name)]));

/** Returns the type of a kind's records. The cast is safe because the type has exactly their fields. */
export const typeOf = <K extends RecordKind>(kind: K) => stored.get(kind.name) as object as ObjectRef<RecordOf<K>>;

export const foreignType = (name: ForeignTypeName) => foreign.get(name) as ObjectRef<Foreign>;

export function scalarOf(field: Field) {
  switch (field.type) {
    case 'id':
      return 'ID';
    case 'text':
      return 'String';
    case 'number':
      return 'Float';
    case 'boolean':
      return 'Boolean';
    case 'dateTime':
      return 'DateTime';
    case 'externalIds':
      return 'ExternalIds';
    case 'reference':
    case 'foreignReference':
      return 'ID';
  }
}

/** Returns the name of a type in running text: `work order type` */
export const typeLabel = (name: string): string => name.replace(/(?<=.)[A-Z]/g, ' $&').toLowerCase();

/** Describes the content of a field, without how it is stored: `The name of the asset` */
export function subjectOf(field: Field): string {
  if (field.type === 'externalIds') return 'An ID in another system';
  if (field.type === 'reference' || field.type === 'foreignReference') return `The ID of ${field.refersTo}`;
  return field.description.split(/[,;:.]/, 1)[0] ?? '';
}

/** Returns `The assets whose currentLocation is this location` */
export function describeReverseLink({ kind, field, target, direction }: ReverseLink): string {
  const isThis = `this ${typeLabel(target)}`;
  if (direction === 'ancestors') return `The ${kind.pluralLabel} above ${isThis}, from its parent up to the root`;
  return `The ${kind.pluralLabel} whose \`${linkField(field)}\` is ${isThis}`;
}
