/** Knows no database, REST or GraphQL. */
import { type ExternalIds, type Field, foreignReference, type StoredField } from './fields.ts';

type Fields = Readonly<Record<string, Field>>;

export type Values = Readonly<Record<string, unknown>>;

export type RecordKey = { readonly field: string } | { readonly externalId: string };

/** Null matches records without a text, or with a blank one. */
export interface Criterion {
  readonly by: RecordKey;
  readonly text: string | null;
}

/** Fields in which the service stores the user; only some kinds have them. */
type Stamp = 'createdBy' | 'updatedBy';

interface Declaration<F extends Fields, S extends Stamp> {
  readonly name: string;
  readonly plural: string;
  readonly label: string;
  readonly pluralLabel: string;
  readonly description: string;
  readonly table: string;
  readonly idPrefix: string;
  /** The reference to the record occupied from `startDate` to `endDate`: the kind needs both fields. */
  readonly occupies?: string;
  /** The fields that clients may send, in the interface's order. */
  readonly fields: F;
  /** For the documentation. Valid in any workspace, repeatedly: no unique value, no ID of a record. */
  readonly example: { readonly [N in keyof NoInfer<F>]?: FieldValue<F[N]> };
  readonly stamps: readonly S[];
  /** How REST responses show a field without a value. */
  readonly unset: 'null' | 'omitted';
}

export interface Table {
  readonly table: string;
  readonly label: string;
  readonly storedFields: Readonly<Record<string, StoredField>>;
  readonly key?: readonly string[];
}

export interface RecordKind<F extends Fields = Fields, S extends Stamp = Stamp> extends Declaration<F, S>, Table {
  /** The ID, the client's fields, the service's others: the order of responses. */
  readonly storedFields: Fields & { readonly id: Field };
  /** Fields that REST responses omit while unset. */
  readonly omittedFields: readonly string[];
}

type FieldValue<F extends Field> = F extends { type: 'number' }
  ? number
  : F extends { type: 'boolean' }
    ? boolean
    : F extends { type: 'externalIds' }
      ? ExternalIds
      : string;

type NullableValue<F extends Field> = F extends { required: true } ? FieldValue<F> : FieldValue<F> | null;

export type FieldValues<F extends Fields> = { readonly [N in keyof F]: NullableValue<F[N]> };

type RequiredNames<F extends Fields> = { [N in keyof F]: F[N] extends { required: true } ? N : never }[keyof F];

/** A type, not an interface: only a type is assignable to `Values`. */
type RecordBase = {
  readonly id: string;
  readonly workspaceId: string;
  readonly createdAt: string;
  readonly updatedAt: string;
};

export type AnyRecord = RecordBase & Values;

/** Every field is present, or null. */
export type RecordOf<K extends RecordKind> = RecordKind extends K
  ? AnyRecord
  : K extends RecordKind<infer F, infer S>
    ? RecordBase & FieldValues<F> & { readonly [N in S]: string | null }
    : never;

/** Null and absent both mean not set. */
export type CreateOf<K extends RecordKind> =
  K extends RecordKind<infer F>
    ? { readonly [N in RequiredNames<F>]: FieldValue<F[N]> } & {
        readonly [N in Exclude<keyof F, RequiredNames<F>>]?: FieldValue<F[N]> | null;
      }
    : never;

/** Absent fields stay, null clears a field. */
export type UpdateOf<K extends RecordKind> =
  K extends RecordKind<infer F> ? { readonly [N in keyof F]?: NullableValue<F[N]> } : never;

export const matchableFields = ({ fields }: RecordKind): readonly string[] =>
  Object.entries(fields).flatMap(([name, field]) => (field.type === 'text' && field.matchable ? [name] : []));

/** The table has one column per stored field (docs/contributing.md). */
export function recordKind<const F extends Fields, const S extends Stamp = never>(
  declaration: Declaration<F, S> & { readonly occupies?: keyof NoInfer<F> & string },
): RecordKind<F, S> {
  const { label, plural } = declaration;
  const stamps: Record<Stamp, Field> = {
    createdBy: user(`the user who created the ${label}`, `created${plural}`),
    updatedBy: user(`the user who last changed the ${label}`, `updated${plural}`),
  };
  const storedFields: RecordKind['storedFields'] = {
    id: { type: 'id', required: true, description: `The ID of the ${label}, given by the service.` },
    ...declaration.fields,
    workspaceId: {
      type: 'foreignReference',
      target: 'Workspace',
      refersTo: `the workspace that the ${label} belongs to`,
      required: true,
      description: `The ID of the workspace that the ${label} belongs to.`,
    },
    createdAt: { type: 'dateTime', required: true, description: `When the ${label} was created.` },
    updatedAt: { type: 'dateTime', required: true, description: `When the ${label} was last changed.` },
    ...Object.fromEntries(declaration.stamps.map((stamp) => [stamp, stamps[stamp]])),
  };
  const omittedFields = Object.entries(storedFields).flatMap(([name, field]) =>
    declaration.unset === 'omitted' || field.unset === 'omitted' ? [name] : [],
  );
  return { ...declaration, storedFields, omittedFields };
}

const user = (refersTo: string, reverse: string): Field => ({
  ...foreignReference('User', refersTo, { reverse }),
  description: `The ID of ${refersTo}, as named by the API key.`,
});
