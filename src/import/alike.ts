import { sortKey } from '../model/sort-key.ts';

const collapse = (text: string): string => text.trim().replace(/\s+/g, ' ');

/** What two texts with the same sort key may differ in, and how to remove the difference. */
const differences: readonly (readonly [name: string, remove: (text: string) => string])[] = [
  ['white space', collapse],
  ['the form of letters', (text) => text.normalize('NFKC')],
  ['case', (text) => text.toLowerCase()],
  ['accents or leading zeros', sortKey],
];

/** Returns `case`, or `white space and case`. The texts have the same sort key. */
export function describeDifference(a: string, b: string): string {
  const isSameWithout = (parts: typeof differences) => {
    const [first, second] = [a, b].map((text) => parts.reduce((rest, [, remove]) => remove(rest), text));
    return first === second;
  };
  const simple = differences.slice(0, -1);
  const found = isSameWithout(simple)
    ? simple.filter((part) => !isSameWithout(simple.filter((other) => other !== part)))
    : differences.slice(-1);
  return found.map(([name]) => name).join(' and ');
}
