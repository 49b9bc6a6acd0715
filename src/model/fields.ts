/** By system, with keys and order exactly as received. */
export type ExternalIds = Readonly<Record<string, string>>;

/** A merge patch (RFC 7396): a text sets an ID, null removes it, absent IDs stay. */
export type ExternalIdsPatch = Readonly<Record<string, string | null>>;

interface FieldBase {
  readonly description: string;
  readonly required?: boolean;
  readonly unique?: boolean;
  readonly indexed?: boolean;
  /** REST omits the unset field, even in a kind that shows unset fields as null. */
  readonly unset?: 'omitted';
}

/** A `dateTime` is a text in UTC with milliseconds: `2026-03-01T07:30:00.000Z`. */
interface PlainField<Type extends string> extends FieldBase {
  readonly type: Type;
}

export interface TextField extends PlainField<'text'> {
  readonly matchable?: boolean;
  readonly form?: TextForm;
  /** For filters: the example of a kind has no unique values. */
  readonly example?: string;
}

interface TextForm {
  readonly pattern: RegExp;
  /** For messages: `a colour`, followed by `such as` and the example. */
  readonly called: string;
  readonly example: string;
}

interface NumberField extends PlainField<'number'> {
  readonly min: number;
  readonly max: number;
}

interface ReferenceBase {
  readonly refersTo: string;
  /** Unless set, the name of the kind's list (records/index.ts). */
  readonly reverse?: string;
}

/** The ID of a stored record, or a foreign identifier, stored as sent. */
export interface ReferenceField extends PlainField<'reference'>, ReferenceBase {
  /** A name: kinds can refer to each other in any order. */
  readonly target: string;
  readonly mustExist?: boolean;
}

/** The ID of an object in another system, as sent, never looked up. */
export interface ForeignReferenceField extends PlainField<'foreignReference'>, ReferenceBase {
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

/** `json` occurs only in tables without records. */
export type StoredField = Field | PlainField<'json'>;

/** This service has only the IDs of such objects. */
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

/** Counts UTF-16 code units of texts and property names. */
export function textLength(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  let length = 0;
  for (const [name, inner] of Object.entries(value)) length += name.length + textLength(inner);
  return length;
}

export const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text);

/** Texts by which people sort and seek records have a sort key, and their index has it. */
export const isSorted = ({ type, indexed, unique }: Pick<StoredField, 'type' | 'indexed' | 'unique'>): boolean =>
  type === 'text' && indexed === true && !unique;

export function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || !a || !b) return false;
  const otherEntries = new Map(Object.entries(b));
  const entries = Object.entries(a);
  return entries.length === otherEntries.size && entries.every(([key, text]) => otherEntries.get(key) === text);
}

/** Null if the patch removes the last ID. */
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

/** Databases index an ID whole: it counts once per started 100 characters. Input may be invalid. */
export function externalIdCount(externalIds: object): number {
  let total = 0;
  for (const [key, value] of Object.entries(externalIds))
    total += Math.max(1, Math.ceil((key.length + textLength(value)) / 100));
  return total;
}

export const longExternalIds = 'one of more than 100 characters counts several times';

/**
 * The most that a write stores, and that it replaces or deletes. SQLite has a row for each, and other writes wait 0.2
 * to 0.5 s for so many. Postgres has the same limit: both accept the same requests.
 */
export const maxExternalIdsPerWrite = 30_000;

export const text = (description: string) => ({ type: 'text', description }) as const;

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

type ReferenceOptions = Pick<ReferenceBase, 'reverse'>;

/** Indexed for reverse links. */
export const reference = (target: string, refersTo: string, { reverse }: ReferenceOptions = {}) =>
  ({
    type: 'reference',
    indexed: true,
    target,
    refersTo,
    ...(reverse !== undefined && { reverse }),
    description: `The ID of ${refersTo}. An ID of another system is stored as sent.`,
  }) as const;

export const foreignReference = (target: ForeignType, refersTo: string, { reverse }: ReferenceOptions = {}) =>
  ({
    type: 'foreignReference',
    indexed: true,
    target,
    refersTo,
    ...(reverse !== undefined && { reverse }),
    description: `The ID of ${refersTo}. It is an ID of another system, stored as sent.`,
  }) as const;

/** Not in the documented interface: its responses stay as they were until the field is set. */
export const omittedUnset = <F extends Field>(field: F) => ({ ...field, unset: 'omitted' }) as const;

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
