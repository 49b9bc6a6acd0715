/** Long work is split into slices, between which other work runs. */
import { expect, test } from 'vitest';
import { encodedInSlices, mapInSlices, mapTextsInSlices, oneEachTurn } from '../src/slices.ts';

test('all items are mapped in order, and other work runs in between', async () => {
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

test('a few items are mapped without a pause', async () => {
  const seen: number[] = [];
  const mapped = mapInSlices([1, 2, 3], (n) => seen.push(n));

  expect(seen).toEqual([1, 2, 3]);
  await mapped;
});

test('texts are mapped in slices of a million characters, however few they are', async () => {
  const texts = Array.from({ length: 10 }, (_, n) => String(n).repeat(600_000));
  let turns = 0;
  let isOver = false;
  const others = () => {
    turns += 1;
    if (!isOver) setImmediate(others);
  };
  setImmediate(others);

  const mapped = await mapTextsInSlices(
    texts,
    ({ length }) => length,
    (text) => text.charAt(0),
  );
  isOver = true;

  expect(mapped.join('')).toBe('0123456789');
  expect(turns).toBeGreaterThanOrEqual(4);
});

test('a long text is encoded in slices, none of which ends between two surrogates', async () => {
  const text = `a${'😀'.repeat(1_200_000)}`;

  const slices: Buffer[] = [];
  for await (const slice of encodedInSlices(text)) slices.push(slice);

  expect(slices).toHaveLength(3);
  expect(Buffer.concat(slices).equals(Buffer.from(text))).toBe(true);
});

test('tasks of a workspace wait for one of another, not for all that it has sent', async () => {
  const inTurn = oneEachTurn();
  const order: string[] = [];
  const send = (workspace: string) => inTurn(workspace, () => void order.push(workspace));

  await Promise.all([...Array.from({ length: 10 }, () => send('theirs')), send('ours'), send('ours')]);

  expect(order.slice(0, 4)).toEqual(['theirs', 'ours', 'theirs', 'ours']);
  expect(order).toHaveLength(12);
});

test('a task that fails rejects its own promise, and the next ones run', async () => {
  const inTurn = oneEachTurn();

  const outcomes = await Promise.allSettled([
    inTurn('ours', () => {
      throw new Error('broken');
    }),
    inTurn('ours', () => 'done'),
  ]);
  const later = await inTurn('ours', () => 'later');

  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  expect(later).toBe('later');
});
