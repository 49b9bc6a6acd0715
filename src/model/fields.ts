/**
 * The kinds of field a record can have, and the words to declare them with.
 * A declaration holds facts only; what follows from it (schemas, columns, GraphQL types) is derived elsewhere.
 */

/** Identifiers in outside systems: text by text, in the order and with the keys they came with. */
export type ExternalIds = Readonly<Record<string, string>>;

interface Described {
  readonly description: string;
  /** Must be sent on create, and can never be null. */
  readonly required?: boolean;
  /** No two records of a workspace may share a value. */
  readonly unique?: boolean;
}

/** What the service identifies a record by; never sent by a client. */
interface IdField extends Described {
  readonly type: 'id';
}

interface TextField extends Described {
  readonly type: 'text';
}

interface NumberField extends Described {
  readonly type: 'number';
  readonly min: number;
  readonly max: number;
}

interface BooleanField extends Described {
  readonly type: 'boolean';
}

/** A moment, held everywhere as text in UTC with milliseconds: `2026-03-01T07:30:00.000Z`. */
interface DateTimeField extends Described {
  readonly type: 'dateTime';
}

interface ExternalIdsField extends Described {
  readonly type: 'externalIds';
}

/** The identifier of a record of a kind that is stored here, or a foreign identifier, kept as given. */
export interface ReferenceField extends Described {
  readonly type: 'reference';
  /** The name of the kind referred to: by name, so that kinds may refer to each other in any order. */
  readonly target: string;
  /** Foreign identifiers are refused: the record referred to must be stored here. */
  readonly mustExist?: boolean;
}

/** The identifier of something kept elsewhere: stored as given, never looked up. */
export interface ForeignReferenceField extends Described {
  readonly type: 'foreignReference';
  readonly target: ForeignType;
}

export type Field =
  | IdField
  | TextField
  | NumberField
  | BooleanField
  | DateTimeField
  | ExternalIdsField
  | ReferenceField
  | ForeignReferenceField;

/** What records refer to but this service does not keep: nothing beyond the identifier is known. */
export const foreignTypes = {
  AllocationOrder: 'An allocation order, kept in another system.',
  AssetType: 'A type of asset, kept in another system.',
  Company: 'A company that owns, makes or orders things, kept in another system.',
  PurchaseOrder: 'A purchase order, kept in another system.',
  Status: 'A status of an asset, project or order, kept in another system.',
  User: 'A user of the workspace, kept in another system.',
  WorkOrderType: 'A type of work order, kept in another system.',
  Workspace: 'The workspace that a record belongs to.',
} as const;

type ForeignType = keyof typeof foreignTypes;

/** Characters of a text, or of external ids with their keys; none in any other value. */
export function textLength(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  let length = 0;
  for (const [key, text] of Object.entries(value)) length += key.length + String(text).length;
  return length;
}

export const text = (description: string) => ({ type: 'text', description }) as const;

/** A finite number from `min` to `max`, both included. */
export const number = (description: string, { min, max }: { min: number; max: number }) =>
  ({ type: 'number', description, min, max }) as const;

export const boolean = (description: string) => ({ type: 'boolean', description }) as const;

export const dateTime = (description: string) => ({ type: 'dateTime', description }) as const;

export const externalIds = (description = 'identifiers in outside systems') =>
  ({ type: 'externalIds', description }) as const;

export const reference = (target: string, description: string) => ({ type: 'reference', target, description }) as const;

export const foreignReference = (target: ForeignType, description: string) =>
  ({ type: 'foreignReference', target, description }) as const;

export const required = <F extends Field>(field: F) => ({ ...field, required: true }) as const;

export const unique = <F extends Field>(field: F) => ({ ...field, unique: true }) as const;

export const mustExist = <F extends ReferenceField>(field: F) => ({ ...field, mustExist: true }) as const;
