/** Limits of texts are in Unicode's characters. They are counted only where the length in UTF-16 does not decide. */
import { textLength } from './fields.ts';

export const isLongerThan = (text: string, maxLength: number): boolean =>
  text.length > maxLength && (text.length > 2 * maxLength || text.length - pairsIn(text) > maxLength);

/** Whether the texts of a record, external ids with their keys included, have more characters in all than allowed. */
export function isRecordLongerThan(record: object, maxLength: number): boolean {
  let length = 0;
  for (const value of Object.values(record)) length += textLength(value);
  if (length <= maxLength || length > 2 * maxLength) return length > maxLength;
  return length - Object.values(record).reduce<number>((pairs, value) => pairs + pairsIn(value), 0) > maxLength;
}

/** Characters that are two in UTF-16. */
function pairsIn(value: unknown): number {
  let pairs = 0;
  if (typeof value === 'object' && value !== null)
    for (const text of Object.entries(value).flat()) pairs += pairsIn(text);
  if (typeof value === 'string') for (const character of value) if (character.length === 2) pairs += 1;
  return pairs;
}
