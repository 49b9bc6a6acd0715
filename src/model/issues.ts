/** Validation issues of REST and GraphQL: data, which model/sentences.ts turns into messages. */
import type { Criterion, RecordKey } from './record-kind.ts';

/** `[2, 'name']` in a batch, `['name']` in a single record, `[]` for the whole input. */
export type Path = readonly (string | number)[];

/**
 * The codes of issues with the values in their messages, as plain JSON: `kind` is the label of a record kind,
 * `received` the input, `found` has IDs and paths of new items. Clients compare codes: a code is never renamed.
 */
export interface IssueValues {
  // Values
  required: { description: string };
  'wrong-type': { received: unknown } & ({ type: ValueType } | { type: 'record'; kind: string });
  'out-of-range': { min: number; max: number; received: unknown };
  'too-long': { max: number; isKey?: boolean };
  'record-too-long': { max: number; stored?: string | undefined };
  'too-many-external-ids': { max: number; received: number; stored?: string | undefined };
  'invalid-character': { character: 'nul' | 'surrogate'; received: string; isKey?: boolean };
  blank: { orNull: boolean; received: string };
  'invalid-form': { called: string; example: string; received: string };
  'invalid-date': { form: ExpectedDate; received: string };
  'invalid-id': { max: number; received: unknown };
  'invalid-ref': { max: number; received: unknown };
  'invalid-cursor': { received: unknown };
  // Fields
  'unknown-field': { suggestion?: string | undefined } | { kind: string; known: readonly string[] };
  'read-only': object;
  exclusive: { names: readonly string[] };
  unlisted: { count: number; what?: 'fields' };
  // Links and keys
  'empty-link': { known: readonly string[] };
  contradiction: { externalId: string; received: string };
  'key-required': { by: RecordKey };
  'empty-key': { kind: string; received: string };
  'unknown-ref': { ref: string };
  'repeated-ref': { ref: string };
  'wrong-ref': { kind: string; ref: string; actual: string };
  'rejected-target': { ref: string } | { kind: string; criteria: readonly Criterion[] };
  'wrong-kind': { kind: string; prefix: string; received: string; actual?: string | undefined };
  'no-record': { kind: string; prefix?: string; isMalformed?: boolean; actual?: string } & Criterion;
  'no-match': { kind: string; criteria: readonly Criterion[] };
  several: { plural: string; criteria: readonly Criterion[]; found: readonly (string | Path)[]; isMore?: boolean };
  // Records
  repeated: Criterion;
  taken: { kind: string; inExchange?: boolean } & Criterion;
  changed: { kind: string; updatedAt: string; received: string };
  'changed-since': { kind: string; change: number };
  erased: { kind: string };
  referenced: { kind: string; counts: readonly Count[]; ids: readonly string[]; mayClear: boolean };
  'still-referenced': { kind: string; referring: string; id: string };
  cycle: { kind: string; received?: unknown; isRestored?: boolean };
  'rejected-moves': object;
  /** A stored record has its `id` here, another item its path in `other`. */
  clash: { kind: string; occupied: string; id?: string };
}

export type IssueCode = keyof IssueValues;

export type IssueData<Code extends IssueCode = IssueCode> = {
  [C in Code]: { readonly code: C } & Readonly<IssueValues[C]>;
}[Code];

export type ValueType =
  | ('text' | 'text-or-null' | 'number' | 'boolean' | 'date' | 'link')
  | ('external-id' | 'external-ids' | 'external-ids-patch');

export type ExpectedDate = 'date' | 'date-time' | 'day' | 'zone' | 'year';

export type Count = Readonly<{ kind: string; plural: string; count: number; isMore?: boolean }>;

/** `other` is the path of a second item. */
export type ValidationIssue = IssueData & { readonly path: Path; readonly other?: Path };

/** Issues that an import finds in cells have no code. */
export interface Issue {
  readonly path: Path;
  readonly message: string;
  readonly code?: string | undefined;
  readonly other?: Path | null | undefined;
}

export type DescribedIssue = Issue & { readonly code: IssueCode };

export type Parsed<T> =
  | { readonly value: T; readonly issues?: never; readonly validFields?: never }
  | {
      readonly value?: never;
      readonly issues: readonly ValidationIssue[];
      readonly validFields: Readonly<Record<string, unknown>>;
    };

export function validValues({ value, validFields }: Parsed<unknown>): Readonly<Record<string, unknown>> {
  const values = value ?? validFields;
  return isObject(values) ? values : {};
}

export const maxQuoted = 100;

export const truncate = (text: string, maxLength: number): string =>
  text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A page has the form of the browser. */
export const formatCount = (n: number): string => n.toLocaleString('document' in globalThis ? undefined : 'en-US');

/** Truncates input to 100 characters, and escapes unprintable ones. */
export function quote(sent: string): string {
  const text = JSON.stringify(sent.length > maxQuoted ? sent.slice(0, maxQuoted) : sent).replace(
    /[\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return sent.length > maxQuoted ? `${text}…` : text;
}

/** `expected text, received 5` */
export const expected = (form: string, received: unknown): string => `expected ${form}, received ${describe(received)}`;

function describe(received: unknown): string {
  if (received === undefined) return 'nothing';
  if (Array.isArray(received)) return 'an array';
  if (typeof received === 'object' && received !== null) return 'an object';
  return typeof received === 'string' ? quote(received) : String(received).slice(0, maxQuoted);
}

/** `[2].externalIds.sap` */
export function formatPath(path: Path): string {
  return path
    .map((step, depth) => {
      if (typeof step === 'number') return `[${step}]`;
      if (!/^[\w-]{1,100}$/.test(step)) return `[${quote(step)}]`;
      return depth === 0 ? step : `.${step}`;
    })
    .join('');
}

/** `[0].name: required` */
export const formatIssue = ({ path, message }: Pick<Issue, 'path' | 'message'>): string =>
  path.length === 0 ? message : `${formatPath(path)}: ${message}`;
