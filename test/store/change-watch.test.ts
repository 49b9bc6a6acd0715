/** Waiting for changes: few reads, however many wait and however much is written. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createChangeWatch } from '../../src/store/change-watch.ts';

const workspaceId = 1;
let last: number;
let reads: number;
let ended: number;
let isDown: boolean;
let watch: ReturnType<typeof createChangeWatch>;

beforeEach(() => {
  vi.useFakeTimers();
  [last, reads, ended, isDown] = [7, 0, 0, false];
  watch = createChangeWatch(async () => {
    reads += 1;
    if (isDown) throw new Error('down');
    return last;
  });
});

afterEach(async () => {
  // After the last one has stopped to wait.
  await vi.advanceTimersByTimeAsync(1_000);
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

const wait = async (signal: AbortSignal) => {
  await watch.wait(workspaceId, 7, signal);
  ended += 1;
};

test('while a hundred wait, the number is read twice a second, and once soon after many writes of this process', async () => {
  for (let n = 0; n < 100; n += 1) void wait(new AbortController().signal);

  await vi.advanceTimersByTimeAsync(10_100);

  expect([reads >= 19, reads <= 21, ended]).toEqual([true, true, 0]);
  const before = reads;
  last = 1_007;
  for (let write = 0; write < 1_000; write += 1) watch.changed(workspaceId);
  await vi.advanceTimersByTimeAsync(20);
  expect([ended, reads - before]).toEqual([100, 1]);
});

test('a write during a read is noticed by the next one, soon after it', async () => {
  let answer = (_: number) => {};
  watch = createChangeWatch(() => new Promise((resolve) => (answer = resolve)));
  void wait(new AbortController().signal);

  watch.changed(workspaceId);
  answer(7);
  await vi.advanceTimersByTimeAsync(20);
  answer(8);
  await vi.advanceTimersByTimeAsync(0);

  expect(ended).toBe(1);
});

test('changes are noticed once the number can be read again', async () => {
  isDown = true;
  void wait(new AbortController().signal);
  await vi.advanceTimersByTimeAsync(2_000);
  last = 8;
  isDown = false;
  await vi.advanceTimersByTimeAsync(600);

  expect(ended).toBe(1);
});
