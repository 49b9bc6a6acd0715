/**
 * Characters of texts. Length limits count Unicode code points. They are counted only where the UTF-16 length cannot decide,
 * because counting visits every character.
 */
import { textLengthOfAll } from './fields.ts';

export const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text);

export const isLongerThan = (text: string, maxLength: number): boolean =>
  text.length > maxLength && (text.length > 2 * maxLength || text.length - pairsIn(text) > maxLength);

export function isRecordLongerThan(record: object, maxLength: number): boolean {
  const length = textLengthOfAll([record]);
  if (length <= maxLength || length > 2 * maxLength) return length > maxLength;
  return length - Object.values(record).reduce<number>((pairs, value) => pairs + pairsIn(value), 0) > maxLength;
}

function pairsIn(value: unknown): number {
  let pairs = 0;
  if (typeof value === 'object' && value !== null)
    for (const text of Object.entries(value).flat()) pairs += pairsIn(text);
  if (typeof value === 'string') for (const character of value) if (character.length === 2) pairs += 1;
  return pairs;
}
