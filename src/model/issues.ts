/** What is wrong with an input, and the words for it. The same words go out over REST and GraphQL. */

/** Where in the input: `[2, 'name']` in a batch, `['name']` in a single record, `[]` for the whole. */
export type Path = readonly (string | number)[];

export interface Issue {
  readonly path: Path;
  readonly message: string;
}

/** An input that was read: a value of the right shape, or everything that is wrong with it, and the fields that are not. */
export type Parsed<T> =
  | { readonly value: T; readonly issues?: never; readonly validFields?: never }
  | {
      readonly value?: never;
      readonly issues: readonly Issue[];
      readonly validFields: Readonly<Record<string, unknown>>;
    };

/** No message repeats more of what was sent than this many characters. */
const maxQuoted = 100;

/** The start of a text, and a sign that there was more. */
export const cut = (text: string, maxLength: number): string =>
  text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;

/** `10,000` */
export const count = (n: number): string => n.toLocaleString('en-US');

/** A piece of what was sent, in quotes, cut to 100 characters, with everything unprintable escaped. */
export function quote(sent: string): string {
  return sent.length > maxQuoted ? `${JSON.stringify(sent.slice(0, maxQuoted))}…` : JSON.stringify(sent);
}

/** `expected text, received 5` */
export const expected = (what: string, received: unknown): string => `expected ${what}, received ${describe(received)}`;

/** What came: values are quoted, objects and arrays only named. */
export function describe(received: unknown): string {
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
export const formatIssue = ({ path, message }: Issue): string =>
  path.length === 0 ? message : `${formatPath(path)}: ${message}`;
