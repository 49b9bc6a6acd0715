/** Random choices that a seed repeats. */
export function createRandom(seed: number) {
  let state = seed >>> 0;

  /** Mulberry32: enough for tests, and the same everywhere. */
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const integer = (below: number): number => Math.floor(next() * below);
  const pick = <T>(items: readonly T[]): T | undefined => items[integer(items.length)];

  return {
    integer,
    pick,
    chance: (probability: number): boolean => next() < probability,
    shuffle: <T>(items: readonly T[]): T[] =>
      items
        .map((item) => ({ item, place: next() }))
        .toSorted((a, b) => a.place - b.place)
        .map(({ item }) => item),
  };
}
