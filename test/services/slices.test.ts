/** Long work in slices. */
import { expect, test } from 'vitest';
import { mapInSlices, takeTurns } from '../../src/slices.ts';

test('everything is mapped, in order, and others get their turn in between', async () => {
  const items = Array.from({ length: 1_050 }, (_, n) => n);
  const done: number[] = [];
  let turns = 0;
  const takeTurns = () => {
    turns += 1;
    if (done.length < items.length) setImmediate(takeTurns);
  };
  setImmediate(takeTurns);

  const doubled = await mapInSlices(items, (n) => {
    done.push(n);
    return n * 2;
  });

  expect(doubled).toEqual(items.map((n) => n * 2));
  expect(turns).toBeGreaterThanOrEqual(10);
});

test('a few are mapped at once', async () => {
  const seen: number[] = [];
  const mapped = mapInSlices([1, 2, 3], (n) => seen.push(n));

  expect(seen).toEqual([1, 2, 3]);
  await mapped;
});

test('of many that wait for their turn a slice goes at once, and others get theirs before the next', async () => {
  const turn = takeTurns();
  let turns = 0;
  let isOver = false;
  const others = () => {
    turns += 1;
    if (!isOver) setImmediate(others);
  };
  setImmediate(others);

  const before = await Promise.all(Array.from({ length: 1_050 }, () => turn().then(() => turns)));
  isOver = true;

  expect(before.slice(0, 99)).toEqual(Array(99).fill(0));
  expect(before.at(-1)).toBeGreaterThanOrEqual(9);
});
