/**
 * Record identifiers: TypeIDs made of the kind's prefix and a UUIDv7, `asset_01h455vb4pex5vsknk084sn02q`.
 * They sort by creation time, and the prefix shows the kind of record.
 */
import { randomInt } from 'node:crypto';

/** Crockford's base 32. */
const digits = '0123456789abcdefghjkmnpqrstvwxyz';
const pairs = Array.from({ length: 1_024 }, (_, n) => `${digits[n >>> 5]}${digits[n & 31]}`);

const bits20 = (n: number): string => `${pairs[n >>> 10]}${pairs[n & 1_023]}`;
const bits30 = (n: number): string => `${pairs[n >>> 20]}${bits20(n & 0xf_ffff)}`;

const maxTail = 2 ** 30 - 1;

/** The last identifier: its millisecond, the first 14 of its 26 digits, and the other 12, which count up: two numbers of 30 bits. */
let time = 0;
let head = '';
let upperTail = 0;
let lowerTail = 0;

/**
 * Returns new identifiers, in ascending order. Within a process they are greater than all earlier ones, even within one millisecond and
 * when the clock goes back. Implemented here because a library that makes one at a time takes a tenth of the CPU time of a batched record.
 */
export function newIds(prefix: string, count: number): string[] {
  const now = Date.now();
  if (now > time) startMillisecond(now);
  const start = `${prefix}_${head}`;
  return Array.from({ length: count }, () => {
    if (lowerTail === maxTail) upperTail += 1;
    lowerTail = lowerTail === maxTail ? 0 : lowerTail + 1;
    return `${start}${bits30(upperTail)}${bits30(lowerTail)}`;
  });
}

/** 48 bits of time, version 7, 12 random bits, variant 2, and 62 bits: random, but one is 0 to leave room for counting. */
function startMillisecond(now: number): void {
  time = now;
  const versioned = 0x7_0000 | (randomInt(2 ** 12) << 4) | 0b1000 | randomInt(4);
  head = bits20(Math.floor(now / 2 ** 30)) + bits30(now % 2 ** 30) + bits20(versioned);
  upperTail = randomInt(2 ** 29);
  lowerTail = randomInt(2 ** 30);
}

/** A prefix, and 128 bits in Crockford's base 32: 26 characters, the first of which holds only three bits. */
const typeId = /^([a-z]+(?:_[a-z]+)*)_[0-7][0-9a-hjkmnp-tv-z]{25}$/;

const maxLength = 63 + 1 + 26;

export const idPrefixOf = (id: string): string | undefined =>
  id.length > maxLength ? undefined : typeId.exec(id)?.[1];
