/** GraphQL extensions of fields and arguments. The plan of a document reads these declarations; it must not infer them from names. */
import type { GraphQLArgument, GraphQLField, GraphQLNamedType } from 'graphql';
import type { Limits } from '../../config.ts';

export interface FieldExtensions {
  /** The stored field that the field of a record, of a group of records or of a change is read from. */
  readonly storedField?: string;
  readonly cost?: FieldCost;
}

/** 1, or more for an object, plus this and what the arguments declare, plus `perRecord` and the selected fields for each record. */
export interface FieldCost {
  readonly base?: number;
  /** The largest number of records that the field returns or stores; 1 unless declared. */
  readonly listSize?: (args: SentArguments, limits: Limits) => number;
  readonly perRecord?: number;
  /** The sizes of lists in the object that the field returns, by name, if they are declared with `isSent`. */
  readonly listSizes?: (args: SentArguments, limits: Limits) => Readonly<Record<string, number>>;
  /** True if the list is as long as one sent to the field that returns its object, which declares `listSizes`. */
  readonly isSent?: boolean;
}

/** Arguments by name, before they are validated: as sent, whether in the document or in a variable, or undefined. */
export type SentArguments = Readonly<Record<string, unknown>>;

export interface ArgumentExtensions {
  /** Throws for a list that is too long: in a variable before its items are read; resolvers call it for lists in the document. */
  readonly requireLength?: (length: number, name: string, limits: Limits) => void;
  /** Throws a ServiceError for a value with too much in it. Called before variables are read; services check too. */
  readonly requireContent?: (value: unknown) => void;
  /** Returns the length for `requireLength` if the argument is not a list but contains lists. The value is as sent. */
  readonly lengthIn?: (value: unknown) => number;
  /** Returns what a value adds to the field's cost. Reads it within bounds: it is as sent, of any shape and size. */
  readonly cost?: (value: unknown, limits: Limits) => number;
}

/** The extensions of input types of items, in which a required field may be missing in a variable: see execution/execute.ts. */
export const item = { isItem: true } as const;

export const isItem = (type: GraphQLNamedType | undefined): boolean => type?.extensions.isItem === true;

// The casts are safe because this schema's fields and arguments have no other extensions.
export const fieldExtensions = (field: GraphQLField<unknown, unknown> | undefined): FieldExtensions =>
  (field?.extensions ?? {}) as FieldExtensions;

export const argumentExtensions = ({ extensions }: GraphQLArgument): ArgumentExtensions =>
  extensions as ArgumentExtensions;

export const lengthOf = (value: unknown): number => listOf(value).length;

/** Returns the value as a list: GraphQL accepts an item without its list as a list of one. */
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);
