/**
 * What fields and arguments of the schema declare about themselves, as GraphQL extensions: where a value is stored, what a
 * field costs, how long a list may be. The document plan reads these declarations; it must not infer them from names.
 */
import type { GraphQLArgument, GraphQLField } from 'graphql';

export interface FieldExtensions {
  readonly source?: FieldSource;
  readonly cost?: FieldCost;
  /** The field returns its parent's record, as the node of an edge does: links selected on one are links of the other. */
  readonly isSameRecord?: boolean;
}

/** The stored field that a field of a record is read from. */
interface FieldSource {
  readonly storedField: string;
  /** For a link to stored records: the name of their kind. */
  readonly target?: string;
}

/** A field costs 1, or more if it returns an object, plus for each record: `perRecord` and the fields selected on it. */
export interface FieldCost {
  /** The largest number of records that the field returns or stores; 1 unless declared. */
  readonly listSize?: (args: SentArguments) => number;
  readonly perRecord?: number;
}

/** Arguments by name, before they are validated: a number or an array as sent, anything for a variable, else undefined. */
type SentArguments = Readonly<Record<string, unknown>>;

export interface ArgumentExtensions {
  /**
   * Throws a ServiceError for a list that is too long. Called with the length of a variable before its items are read; the
   * resolver calls it for lists written in the document. `name` is the variable's or the argument's.
   */
  readonly requireLength?: (length: number, name: string) => void;
}

// The casts are safe because this schema's fields and arguments have no other extensions.
export const fieldExtensions = (field: GraphQLField<unknown, unknown> | undefined): FieldExtensions =>
  (field?.extensions ?? {}) as FieldExtensions;

export const argumentExtensions = ({ extensions }: GraphQLArgument): ArgumentExtensions =>
  extensions as ArgumentExtensions;

/** The length of a list argument; an item sent without its list is a list of one. */
export const lengthOf = (value: unknown): number => (Array.isArray(value) ? value.length : 1);
