/** Validation issues and their messages, for REST and GraphQL alike. None repeats more than 100 characters of input. */

/** The location in the input: `[2, 'name']` in a batch, `['name']` in a single record, `[]` for the whole input. */
export type Path = readonly (string | number)[];

export type PathOf = (index: number) => Path;

export interface Issue {
  readonly path: Path;
  readonly message: string;
}

/** The parsed value, or all issues and the fields that have none. */
export type Parsed<T> =
  | { readonly value: T; readonly issues?: never; readonly validFields?: never }
  | {
      readonly value?: never;
      readonly issues: readonly Issue[];
      readonly validFields: Readonly<Record<string, unknown>>;
    };

export function validValues({ value, validFields }: Parsed<unknown>): Readonly<Record<string, unknown>> {
  const values = value ?? validFields;
  return isObject(values) ? values : {};
}

export const maxQuoted = 100;

export const cut = (text: string, maxLength: number): string =>
  text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Formats a number as `10,000`. */
export const count = (n: number): string => n.toLocaleString('en-US');

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
export const formatIssue = ({ path, message }: Issue): string =>
  path.length === 0 ? message : `${formatPath(path)}: ${message}`;
