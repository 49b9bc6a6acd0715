/**
 * Texts as patterns that ignore the case of letters. The forms of a letter come from JavaScript, so that both databases find the
 * same records; neither uses its own rules, which depend on its version and locale.
 */

/** A text whose characters each have one or more forms, and whether other text may come before and after it. */
export interface Pattern {
  readonly characters: readonly (readonly string[])[];
  readonly isAnchoredAtStart: boolean;
  readonly isAnchoredAtEnd: boolean;
}

type Part = 'all' | 'contains' | 'startsWith' | 'endsWith';

export const patternOf = (text: string, part: Part): Pattern => ({
  characters: Array.from(text, formsOf),
  isAnchoredAtStart: part === 'all' || part === 'startsWith',
  isAnchoredAtEnd: part === 'all' || part === 'endsWith',
});

/** Returns the character and its upper and lower case. A form of several characters does not count: `ß` has no upper case here. */
const formsOf = (character: string): readonly string[] => [
  ...new Set([character, character.toUpperCase(), character.toLowerCase()].filter(isSingle)),
];

const isSingle = (text: string): boolean => Array.from(text).length === 1;
