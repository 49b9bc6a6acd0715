import { distance } from 'fastest-levenshtein';

/** `Hamburk yard` is probably the Hamburg yard, but Bay 4 is not Bay 3. */
export const isTypo = (text: string, name: string): boolean =>
  text.length > 3 &&
  Math.abs(text.length - name.length) <= 2 &&
  distance(text, name) <= 2 &&
  text.replace(/\D/g, '') === name.replace(/\D/g, '');

/** A difference between texts with the same sort key, and how to remove it. */
const differences: readonly (readonly [name: string, remove: (text: string) => string])[] = [
  ['white space', (text) => text.trim().replace(/\s+/g, ' ')],
  ['the form of letters', (text) => text.normalize('NFKC')],
  ['case', (text) => text.toLowerCase()],
];

/** `case`, or `white space and case`. The texts have the same sort key. */
export function describeDifference(a: string, b: string): string {
  const isSameWithout = (parts: typeof differences) => {
    const [first, second] = [a, b].map((text) => parts.reduce((rest, [, remove]) => remove(rest), text));
    return first === second;
  };
  if (!isSameWithout(differences)) return 'accents, leading zeros or the like';
  const found = differences.filter((part) => !isSameWithout(differences.filter((other) => other !== part)));
  return found.map(([name]) => name).join(' and ');
}
