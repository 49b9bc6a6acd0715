/** The Pothos builder, with the scalars that all types share. The settings are in the context, so that one schema serves all of them. */
import SchemaBuilder, { type InputFieldRef } from '@pothos/core';
import ValidationPlugin from '@pothos/plugin-validation';
import type { ExternalIds } from '../../model/fields.ts';
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
export type Interface<T> = PothosSchemaTypes.InterfaceRef<Schema, T>;
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
