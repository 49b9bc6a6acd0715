/**
 * What a record kind is: its declaration, and the types that follow from it. Pure; what a kind
 * looks like in a database, over REST or in GraphQL is derived in those folders.
 */
import type { ExternalIds, Field } from './fields.ts';

type Fields = Readonly<Record<string, Field>>;

/** Users the service notes on a record; the interface gives them to some kinds only. */
type Stamp = 'createdBy' | 'updatedBy';

interface Declaration<F extends Fields, S extends Stamp> {
  /** `WorkOrder` */
  readonly name: string;
  /** `WorkOrders` */
  readonly plural: string;
  /** In running text: `work order` */
  readonly label: string;
  readonly description: string;
  readonly table: string;
  readonly idPrefix: string;
  /** What a client may send, in the interface's order. */
  readonly fields: F;
  readonly stamps: readonly S[];
  /** How a field without a value is answered over REST: as null, or not at all. */
  readonly unset: 'null' | 'omitted';
}

/** What is stored in a table; its rows are found by workspaceId and id. */
export interface Table {
  readonly table: string;
  /** In running text: `work order` */
  readonly label: string;
  readonly storedFields: Fields;
}

export interface RecordKind<F extends Fields = Fields, S extends Stamp = Stamp> extends Declaration<F, S>, Table {
  /** Every field of a stored record, in the order of answers: the client's between the service's own. */
  readonly storedFields: Fields;
}

type Value<F extends Field> = F extends { type: 'number' }
  ? number
  : F extends { type: 'boolean' }
    ? boolean
    : F extends { type: 'externalIds' }
      ? ExternalIds
      : string;

type NullableValue<F extends Field> = F extends { required: true } ? Value<F> : Value<F> | null;

type RequiredNames<F extends Fields> = { [N in keyof F]: F[N] extends { required: true } ? N : never }[keyof F];

/** What the service knows of every record by itself. */
interface RecordBase {
  readonly id: string;
  readonly workspaceId: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** A stored record: every field present, null where it is not set. */
export type RecordOf<K extends RecordKind> =
  K extends RecordKind<infer F, infer S>
    ? RecordBase & { readonly [N in keyof F]: NullableValue<F[N]> } & { readonly [N in S]: string | null }
    : never;

/** What creates a record: null and absent both mean "not set". */
export type CreateOf<K extends RecordKind> =
  K extends RecordKind<infer F>
    ? { readonly [N in RequiredNames<F>]: Value<F[N]> } & {
        readonly [N in Exclude<keyof F, RequiredNames<F>>]?: Value<F[N]> | null;
      }
    : never;

/** What changes a record: absent means "unchanged", null means "cleared". */
export type UpdateOf<K extends RecordKind> =
  K extends RecordKind<infer F> ? { readonly [N in keyof F]?: NullableValue<F[N]> } : never;

/** Declares a record kind. Its table must have one column a stored field: see "How to add a record kind" in the README. */
export function recordKind<const F extends Fields, const S extends Stamp = never>(
  declaration: Declaration<F, S>,
): RecordKind<F, S> {
  const stamps: Record<Stamp, Field> = {
    createdBy: { type: 'foreignReference', target: 'User', description: 'ID of the user who created it' },
    updatedBy: { type: 'foreignReference', target: 'User', description: 'ID of the user who last updated it' },
  };
  const storedFields: Fields = {
    id: { type: 'id', required: true, description: `ID of the ${declaration.label}` },
    ...declaration.fields,
    workspaceId: {
      type: 'foreignReference',
      target: 'Workspace',
      required: true,
      description: `ID of the workspace the ${declaration.label} belongs to`,
    },
    createdAt: { type: 'dateTime', required: true, description: 'creation time' },
    updatedAt: { type: 'dateTime', required: true, description: 'time of the last change' },
    ...Object.fromEntries(declaration.stamps.map((stamp) => [stamp, stamps[stamp]])),
  };
  return { ...declaration, storedFields };
}
