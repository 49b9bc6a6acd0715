/** Limits of texts are in Unicode's characters. They are only counted where the length in UTF-16 leaves the answer open. */
import { textLength } from './fields.ts';

/** Whether texts, and external ids with their keys, have more characters in all than allowed; other values have none. */
export function areLongerThan(values: readonly unknown[], maxLength: number): boolean {
  const length = sum(values, textLength);
  if (length <= maxLength || length > 2 * maxLength) return length > maxLength;
  return length - sum(values, pairsIn) > maxLength;
}

/** Asked of every text, and nearly always answered by its length. */
export const isLongerThan = (text: string, maxLength: number): boolean =>
  text.length > maxLength && areLongerThan([text], maxLength);

/** Characters that are two in UTF-16. */
function pairsIn(value: unknown): number {
  if (typeof value === 'object' && value !== null) return sum(Object.entries(value).flat(), pairsIn);
  if (typeof value !== 'string') return 0;
  let pairs = 0;
  for (const character of value) if (character.length === 2) pairs += 1;
  return pairs;
}

const sum = (values: readonly unknown[], count: (value: unknown) => number): number =>
  values.reduce<number>((total, value) => total + count(value), 0);
