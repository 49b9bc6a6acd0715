/**
 * The key of a text, by which people sort and seek names: `bay 3` comes before `Bay 10`, and `muhlhof` finds `Mühlhof`,
 * composed or not. The store has it beside each name, reference and number, so that one index serves all of this.
 *
 * Databases compare keys by their bytes: their own collations differ, and change with the version of a library, after
 * which an index loses rows. Keys must not change with the version of Node either, whose Unicode tables do: of the code
 * points that Unicode 15.0 leaves unassigned, 71 would have other keys in Node 24 than in Node 20.19. They stay as they
 * are. Of assigned ones, Unicode never changes the decomposition or the case.
 *
 * Other keys would need another file, and a migration.
 */
import { isUnassigned } from './unicode-15.ts';

/** An index entry of Postgres has at most 2,704 bytes. Of texts with equal keys, the ID decides. */
const maxBytes = 1_500;

export const sortKey = (text: string): string => cut(withLengths(folded(text).trim()));

/** No text with a key is longer, in UTF-16 code units: it has at most 500 characters. */
const maxLength = 1_000;

/** Removes control characters, which stand for lengths. White space is among them. */
function folded(sent: string): string {
  const text = sent.length > maxLength ? sent.slice(0, maxLength).toWellFormed() : sent;
  if (/^[!-~]+(?: [!-~]+)*$/.test(text)) return text.toLowerCase();
  let [letters, run] = ['', ''];
  for (const character of text) {
    if (isUnassigned(character)) {
      letters += foldedLetters(run) + character;
      run = '';
    } else run += character;
  }
  letters += foldedLetters(run);
  return letters.replace(/[^\P{Cc}\s]/gu, '').replace(/\s+/g, ' ');
}

const foldedLetters = (letters: string): string =>
  letters
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    // Its lower case depends on its place in a word.
    .replaceAll('Σ', 'σ')
    .toLowerCase()
    .replace(/[ßøæđłı]/g, (letter) => undecomposed[letter] ?? letter);

/** Letters with a stroke, and ligatures, are letters of their own in Unicode. */
const undecomposed: Readonly<Record<string, string>> = { ß: 'ss', ø: 'o', æ: 'ae', đ: 'd', ł: 'l', ı: 'i' };

/** Numbers sort by their length, then by their digits. */
const withLengths = (text: string): string =>
  text.replace(/\d+/g, (number) => {
    const digits = number.startsWith('0') ? number.replace(/^0+(?=.)/, '') : number;
    return (lengthMarks[digits.length - 1] ?? lengthMarks.at(-1)) + digits;
  });

/** The control characters before a blank. Numbers of more than 30 digits share the last one. */
const lengthMarks = Array.from({ length: 31 }, (_, index) => String.fromCharCode(index + 1));

function cut(key: string): string {
  if (3 * key.length <= maxBytes) return key;
  const bytes = new TextEncoder().encode(key);
  let end = Math.min(maxBytes, bytes.length);
  // The byte continues a character.
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return new TextDecoder().decode(bytes.subarray(0, end));
}

/** The text as sent, composed and decomposed: programs send either form. */
export const unicodeForms = (text: string): readonly string[] => [
  ...new Set([text, text.normalize('NFC'), text.normalize('NFD')]),
];

/** The end of a text is the beginning of its last number, which goes on in texts that contain it. */
function splitNumber(text: string): { readonly key: string; readonly digits?: string } {
  const letters = folded(text).trimStart();
  let start = letters.length;
  while (/\d/.test(letters[start - 1] ?? '')) start -= 1;
  if (start === letters.length) return { key: withLengths(letters.trimEnd()) };
  return { key: withLengths(letters.slice(0, start)), digits: letters.slice(start).replace(/^0+/, '') };
}

export interface TextRange {
  readonly from: string;
  /** Not in the range; undefined without an end. */
  readonly to: string | undefined;
}

/** So many lengths have ranges of their own: Postgres has 65,535 parameters for 1,000 conditions. */
const separateLengths = 12;

/** The keys of all texts with the prefix: one range, or one for each length if it ends with a digit. */
export function keyRanges(prefix: string): TextRange[] {
  const { key, digits } = splitNumber(prefix);
  if (digits === undefined) return [prefixRange(cut(key))];
  const { to } = prefixRange(cut(key + lengthMarks.at(-1)));
  return [
    ...lengthMarks
      .slice(Math.max(0, digits.length - 1), separateLengths)
      .map((mark) => prefixRange(cut(key + mark + digits))),
    { from: cut(key + lengthMarks[separateLengths]), to },
  ];
}

/** All texts with the prefix, by code points. */
export function prefixRange(prefix: string): TextRange {
  const codePoints = Array.from(prefix, (character) => character.codePointAt(0) ?? 0);
  while (codePoints.at(-1) === 0x10_ff_ff) codePoints.pop();
  const last = codePoints.pop();
  if (last === undefined) return { from: prefix, to: undefined };
  // Surrogates are not characters.
  return { from: prefix, to: String.fromCodePoint(...codePoints, last === 0xd7_ff ? 0xe0_00 : last + 1) };
}

/**
 * The pattern that keys of texts alike to this one begin with or contain: a text, or if it ends with a number, which
 * may go on, the characters, each with its forms.
 */
export function alikePattern(text: string, { isBeginning }: { readonly isBeginning: boolean }): string | string[][] {
  const { key, digits } = splitNumber(text);
  // The first number may be the end of a longer one.
  const before = isBeginning ? key : key.replace(/^\p{Cc}+/u, '');
  if (digits === undefined) return before;
  if (before === '' && !isBeginning) return digits || '0';
  const characters = (letters: string) => Array.from(letters, (letter) => [letter]);
  return [...characters(before), lengthMarks, ...characters(digits)];
}
