/** The keys of names: which names are alike, how people sort them, and that no version of Node changes a key. */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { keyRanges, sortKey } from '../../src/model/sort-key.ts';
import { compareAlike } from '../support/alike.ts';
import { byEffort } from '../support/effort.ts';
import { createRandom } from '../support/random.ts';
import { texts } from '../support/random-documents.ts';

test('a code point has the same key in every version of Node from 20.19 on', () => {
  const hash = createHash('sha256');
  for (let codePoint = 0; codePoint <= 0x10_ff_ff; codePoint += 1) {
    if (codePoint < 0xd8_00 || codePoint > 0xdf_ff) hash.update(`${sortKey(String.fromCodePoint(codePoint))}\n`);
  }

  // The same with the Unicode tables 16.0 (Node 20.19) and 17.0 (Node 20.20, 24 and 26).
  expect(hash.digest('hex')).toBe('9e5eeea832a1918ee2a9282fdc5434019c4dac7556c30bd3488090b28d9bfed1');
});

test('a key has at most 1,500 bytes, and ends with a whole character', () => {
  // Each becomes 18 characters.
  expect(Buffer.byteLength(sortKey('\ufdfa'.repeat(500)))).toBe(1_500);
  expect(sortKey(`${'一'.repeat(499)}\u{1F600}一`)).toBe('一'.repeat(499));
});

const seed = Date.now();

test(`random names sort and compare by their letters and numbers, seed ${seed}`, () => {
  const random = createRandom(seed);
  const pieces = [...'a B ß ä a\u0308 Σ ς ı ﬁ ² 一 \u{1F600} \u0001 0 7 10 -'.split(' '), ' ', '\t', ...texts];
  const name = () => Array.from({ length: random.integer(5) }, () => random.pick(pieces)).join('');
  for (let round = 0; round < byEffort({ small: 5_000, long: 1_000_000 }); round += 1) {
    const [a, b] = [name(), name()];
    const key = sortKey(a);
    if (key.length < 500) expect(Math.sign(byKey(a, b)), JSON.stringify([a, b])).toBe(Math.sign(compareAlike(a, b)));
    // What starts with a text has a key in the text's ranges.
    const start = Array.from(a).slice(0, random.integer(4)).join('');
    const isInRange = keyRanges(start).some(
      ({ from, to }) => compare(from, key) <= 0 && (to === undefined || compare(key, to) < 0),
    );
    expect(isInRange, JSON.stringify([a, start])).toBe(true);
  }
}, 600_000);

const compare = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
const byKey = (a: string, b: string): number => compare(sortKey(a), sortKey(b));
