/** Validation issues, for REST and GraphQL alike: data, which model/sentences.ts puts into words. */
import type { Criterion, RecordKey } from './record-kind.ts';

/** The location in the input: `[2, 'name']` in a batch, `['name']` in a single record, `[]` for the whole input. */
export type Path = readonly (string | number)[];

export type PathOf = (index: number) => Path;

/**
 * The codes of issues, and the values that the sentence of each has. Clients compare codes, so that none is ever renamed. Values are plain
 * JSON: `kind` is the label of a record kind, `received` a value as sent, `found` has IDs, and paths of items that have none yet.
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
  'invalid-date': { form: DateForm; received: string };
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
  referenced: { kind: string; counts: readonly Count[]; ids: readonly string[]; mayClear: boolean };
  'still-referenced': { kind: string; referring: string; id: string };
  cycle: { kind: string; received?: unknown; isRestored?: boolean };
  'rejected-moves': object;
}

export type IssueCode = keyof IssueValues;

export type IssueData<Code extends IssueCode = IssueCode> = {
  [C in Code]: { readonly code: C } & Readonly<IssueValues[C]>;
}[Code];

/** What a value should have been, where its type alone says it. */
export type ValueType =
  | ('text' | 'text-or-null' | 'number' | 'boolean' | 'date' | 'link')
  | ('external-id' | 'external-ids' | 'external-ids-patch');

export type DateForm = 'date' | 'date-time' | 'day' | 'zone' | 'year';

/** Records of a kind, or more than so many of them. */
export type Count = Readonly<{ kind: string; plural: string; count: number; isMore?: boolean }>;

/** An issue as parsers find it; `other` is the path of another item that it is about, too. */
export type ValidationIssue = IssueData & { readonly path: Path; readonly other?: Path };

/** A place in the input, and what is wrong there. Only an issue of a cell, which an import finds, has no code. */
export interface Issue {
  readonly path: Path;
  readonly message: string;
  readonly code?: string | undefined;
  readonly other?: Path | null | undefined;
}

/** An issue as clients get it. */
export type DescribedIssue = Issue & { readonly code: IssueCode };

/** The parsed value, or all issues and the fields that have none. */
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

/** Formats a number as `10,000`. */
export const formatCount = (n: number): string => n.toLocaleString('en-US');

/** Quotes input, truncated to 100 characters, with unprintable characters escaped, also those that terminals act upon. */
export function quote(sent: string): string {
  const text = JSON.stringify(sent.length > maxQuoted ? sent.slice(0, maxQuoted) : sent).replace(
    /[\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return sent.length > maxQuoted ? `${text}…` : text;
}

/** Returns `expected text, received 5` */
export const expected = (what: string, received: unknown): string => `expected ${what}, received ${describe(received)}`;

function describe(received: unknown): string {
  if (received === undefined) return 'nothing';
  if (Array.isArray(received)) return 'an array';
  if (typeof received === 'object' && received !== null) return 'an object';
  return typeof received === 'string' ? quote(received) : String(received).slice(0, maxQuoted);
}

/** Returns a path as text: `[2].externalIds.sap` */
export function formatPath(path: Path): string {
  return path
    .map((step, depth) => {
      if (typeof step === 'number') return `[${step}]`;
      if (!/^[\w-]{1,100}$/.test(step)) return `[${quote(step)}]`;
      return depth === 0 ? step : `.${step}`;
    })
    .join('');
}

/** Returns an issue as text: `[0].name: required` */
export const formatIssue = ({ path, message }: Pick<Issue, 'path' | 'message'>): string =>
  path.length === 0 ? message : `${formatPath(path)}: ${message}`;
