/**
 * Says where a text stops being JSON, and what was expected there: `JSON.parse` gives the position in some versions of Node
 * only, and repeats the text. Runs only after it has failed, visits each character once, and must not build values.
 */
import { quote } from '../model/issues.ts';

/** The most characters to search, which takes some 30 ms: meanwhile, no other request gets a response. */
const maxSearched = 1_000_000;

/** Returns `line 2, column 5: expected a comma or ], found "}"`. Lines and columns begin at 1. */
export function jsonProblem(text: string): string {
  const searched = text.slice(0, maxSearched);
  const { at, expected } = firstProblem(searched);
  const place = placeOf(searched, at);
  // A word such as `false`, or an escape sequence, may be cut.
  if (searched.length < text.length && at > searched.length - 6) return `somewhere after ${place}`;
  if (at < searched.length) return `${place}: expected ${expected}, found ${describeAt(searched, at)}`;
  return `it ends too early, at ${place}: expected ${expected}`;
}

interface Problem {
  readonly at: number;
  readonly expected: string;
}

/** The next token. Only a first item of an array or a first key of an object may be a closing bracket instead. */
const next = {
  value: 'a value',
  firstItem: 'a value or ]',
  key: 'a key in double quotes',
  firstKey: 'a key in double quotes or }',
  colon: 'a colon',
  comma: 'a comma',
} as const;

type Next = keyof typeof next;

const scalar = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

function firstProblem(text: string): Problem {
  /** The closing brackets of the objects and arrays that are open: never more than the limit on nesting. */
  const open: ('}' | ']')[] = [];
  let awaited: Next = 'value';
  let at = 0;
  for (;;) {
    while (isSpace(text.charCodeAt(at))) at += 1;
    const character = text[at];
    const close = open.at(-1);
    const isValue: boolean = awaited === 'value' || awaited === 'firstItem';
    const mayClose = awaited === 'comma' || awaited === 'firstItem' || awaited === 'firstKey';
    if (close && mayClose && character === close) {
      open.pop();
      awaited = 'comma';
      at += 1;
    } else if (isValue && (character === '{' || character === '[')) {
      open.push(character === '{' ? '}' : ']');
      awaited = character === '{' ? 'firstKey' : 'firstItem';
      at += 1;
    } else if (close && awaited === 'comma' && character === ',') {
      awaited = close === '}' ? 'key' : 'value';
      at += 1;
    } else if (awaited === 'colon' && character === ':') {
      awaited = 'value';
      at += 1;
    } else if (character === '"' && awaited !== 'comma' && awaited !== 'colon') {
      const end = endOfString(text, at);
      if (typeof end !== 'number') return end;
      awaited = isValue ? 'comma' : 'colon';
      at = end;
    } else {
      const end: number | undefined = isValue ? endOf(scalar, text, at) : undefined;
      if (end === undefined) {
        const afterValue = close ? `a comma or ${close}` : 'nothing more';
        return { at, expected: awaited === 'comma' ? afterValue : next[awaited] };
      }
      awaited = 'comma';
      at = end;
    }
  }
}

export const isSpace = (code: number | undefined): boolean =>
  code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d;

function endOf(expression: RegExp, text: string, at: number): number | undefined {
  expression.lastIndex = at;
  return expression.test(text) ? expression.lastIndex : undefined;
}

const escapeSequence = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;

function endOfString(text: string, start: number): number | Problem {
  for (let at = start + 1; ; ) {
    const character = text[at];
    if (character === undefined) return { at, expected: 'the quote that ends the text' };
    if (character === '"') return at + 1;
    if (character < ' ') return { at, expected: 'control characters such as line breaks to be escaped' };
    const end: number | undefined = character === '\\' ? endOf(escapeSequence, text, at) : at + 1;
    if (end === undefined) return { at, expected: 'an escape sequence of JSON such as \\n' };
    at = end;
  }
}

function placeOf(text: string, at: number): string {
  let line = 1;
  let start = 0;
  for (let end = text.indexOf('\n'); end >= 0 && end < at; end = text.indexOf('\n', start)) {
    line += 1;
    start = end + 1;
  }
  return `line ${line}, column ${at - start + 1}`;
}

const word = /[\w.+-]{1,30}|./suy;

/** Describes a word, or a single character: by its code if it is invisible, such as a web page's no-break space. */
function describeAt(text: string, at: number): string {
  const found = text.slice(at, endOf(word, text, at));
  if (/^[\p{L}\p{N}\p{P}\p{S}]/u.test(found)) return quote(found);
  return `U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
