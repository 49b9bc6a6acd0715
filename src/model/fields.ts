/**
 * The types of field a record can have, and the functions that declare them.
 * A declaration only describes a field; schemas, columns and GraphQL types are derived from it elsewhere.
 */

/** Identifiers in external systems, by system, with keys and order exactly as received. */
export type ExternalIds = Readonly<Record<string, string>>;

/** What is to become of some of them (RFC 7396): a text sets one, null removes it, and all others stay. */
export type ExternalIdsPatch = Readonly<Record<string, string | null>>;

interface Described {
  /** Whole sentences, for people who read the schemas of GraphQL and REST. */
  readonly description: string;
  /** Must be sent on create; never null. */
  readonly required?: boolean;
  readonly unique?: boolean;
  readonly indexed?: boolean;
}

/** A field without further rules. A point in time is always text in UTC with milliseconds: `2026-03-01T07:30:00.000Z`. */
interface PlainField<Type extends string> extends Described {
  readonly type: Type;
}

export interface TextField extends PlainField<'text'> {
  readonly matchable?: boolean;
  readonly form?: TextForm;
  /** An example for filters on unique fields, which the kind's example cannot have. */
  readonly example?: string;
}

/** What a text must look like, and how messages say so. */
interface TextForm {
  readonly pattern: RegExp;
  /** `a colour`, before `such as` the example. */
  readonly called: string;
  readonly example: string;
}

interface NumberField extends PlainField<'number'> {
  readonly min: number;
  readonly max: number;
}

interface RefersTo {
  /** In running text: `the location where the asset is` */
  readonly refersTo: string;
  /** The reverse link of the target, if it is not the name of the kind's list: see records/index.ts. */
  readonly reverse?: string;
}

/** The identifier of a record stored in this service, or a foreign identifier, stored as sent. */
export interface ReferenceField extends PlainField<'reference'>, RefersTo {
  /** The name of the target kind, not the kind itself, so that kinds can refer to each other in any order. */
  readonly target: string;
  /** The target record must be stored in this service: foreign identifiers are rejected. */
  readonly mustExist?: boolean;
}

/** The identifier of something kept in another system: stored as sent, never looked up. */
export interface ForeignReferenceField extends PlainField<'foreignReference'>, RefersTo {
  readonly target: ForeignType;
}

export type Field =
  | PlainField<'id'>
  | TextField
  | NumberField
  | PlainField<'boolean'>
  | PlainField<'dateTime'>
  | PlainField<'externalIds'>
  | ReferenceField
  | ForeignReferenceField;

/** The content of a column of any table. Only the service reads and writes `json`, in tables that hold no records. */
export type StoredField = Field | PlainField<'json'>;

/** Types that records refer to but this service does not store: only their identifiers are available. */
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

/** Returns the length of a text, or of all texts and names in an object, in UTF-16 code units; otherwise 0. */
export function textLength(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  let length = 0;
  for (const [name, inner] of Object.entries(value)) length += name.length + textLength(inner);
  return length;
}

export const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text);

/** True if two values of a field are equal. The order of external IDs does not matter. */
export function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || !a || !b) return false;
  const others = new Map(Object.entries(b));
  const entries = Object.entries(a);
  return entries.length === others.size && entries.every(([key, text]) => others.get(key) === text);
}

/** What is left without any is null, like a field that was cleared. */
export function mergedExternalIds(stored: ExternalIds | null, patch: ExternalIdsPatch): ExternalIds | null {
  const merged = Object.entries({ ...stored, ...patch }).filter(
    (entry): entry is [string, string] => entry[1] !== null,
  );
  if (merged.length > 0) return Object.fromEntries(merged);
  return stored && Object.keys(stored).length === 0 ? stored : null;
}

export function textLengthOfAll(records: readonly object[]): number {
  let length = 0;
  for (const record of records) for (const value of Object.values(record)) length += textLength(value);
  return length;
}

/**
 * Returns what a record's external IDs count towards the limits of a batch: each counts once per started 100 characters
 * of its key and value, because databases store and index them whole. Values may be as sent.
 */
export function externalIdCount(externalIds: object): number {
  let total = 0;
  for (const [key, value] of Object.entries(externalIds))
    total += Math.max(1, Math.ceil((key.length + textLength(value)) / 100));
  return total;
}

/** The rule of externalIdCount, for messages. */
export const longExternalIds = 'one of more than 100 characters counts several times';

/**
 * The most external IDs that one write stores, and the most that it replaces or deletes. SQLite stores each in a row of
 * its own, and other writes wait 0.2 to 0.5 s for so many. Postgres has the same limit: both accept the same requests.
 */
export const maxExternalIdsPerWrite = 30_000;

export const text = (description: string) => ({ type: 'text', description }) as const;

/** Declares a finite number from `min` to `max`, both included. */
export const number = (description: string, { min, max }: { min: number; max: number }) =>
  ({ type: 'number', description, min, max }) as const;

export const boolean = (description: string) => ({ type: 'boolean', description }) as const;

export const dateTime = (description: string) => ({ type: 'dateTime', description }) as const;

export const externalIds = () =>
  ({
    type: 'externalIds',
    indexed: true,
    description: 'The IDs of the record in other systems, by the name of the system: `{"erp": "4711"}`.',
  }) as const;

type Backwards = Pick<RefersTo, 'reverse'>;

/** Indexed, because references are followed backwards. */
export const reference = (target: string, refersTo: string, { reverse }: Backwards = {}) =>
  ({
    type: 'reference',
    indexed: true,
    target,
    refersTo,
    ...(reverse !== undefined && { reverse }),
    description: `The ID of ${refersTo}. An ID of another system is stored as sent.`,
  }) as const;

export const foreignReference = (target: ForeignType, refersTo: string, { reverse }: Backwards = {}) =>
  ({
    type: 'foreignReference',
    indexed: true,
    target,
    refersTo,
    ...(reverse !== undefined && { reverse }),
    description: `The ID of ${refersTo}. It is an ID of another system, stored as sent.`,
  }) as const;

export const json = (description: string) => ({ type: 'json', description }) as const;

export const required = <F extends StoredField>(field: F) => ({ ...field, required: true }) as const;

export const indexed = <F extends TextField | NumberField | PlainField<'dateTime'>>(field: F) =>
  ({ ...field, indexed: true }) as const;

export const formed = <F extends TextField>(field: F, form: TextForm) => ({ ...field, form }) as const;

export const matchable = <F extends TextField>(field: F) => ({ ...field, matchable: true, indexed: true }) as const;

export const unique = <F extends TextField>(field: F, { example }: { example: string }) =>
  ({ ...field, matchable: true, unique: true, indexed: true, example }) as const;

export const mustExist = <F extends ReferenceField>(field: F) =>
  ({ ...field, mustExist: true, description: `The ID of ${field.refersTo}, which must be stored here.` }) as const;
