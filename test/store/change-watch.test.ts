/** Waiting for changes: few reads, however many wait and however much is written. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createChangeWatch } from '../../src/store/log/change-watch.ts';
import { numberOf } from '../support/open-store.ts';

let last: number;
let reads: (readonly number[])[];

const read = async (workspaceIds: readonly number[]) => {
  reads.push(workspaceIds);
  return new Map(workspaceIds.map((workspaceId) => [workspaceId, last]));
};

beforeEach(() => {
  vi.useFakeTimers();
  last = 7;
  reads = [];
});

afterEach(() => {
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

/** Waits, and tells whether it is over. */
function waitIn(watch: ReturnType<typeof createChangeWatch>, after: number, workspaceId = numberOf('acme')) {
  const end = new AbortController();
  const state = { isOver: false, end: () => end.abort() };
  void watch.wait(workspaceId, after, end.signal).then(() => {
    state.isOver = true;
  });
  return state;
}

/** After the last one has stopped to wait. */
const lastRead = () => vi.advanceTimersByTimeAsync(1_000);

test('while a hundred wait, the number is read twice a second, by one statement', async () => {
  const watch = createChangeWatch(read);
  const waiting = Array.from({ length: 100 }, () => waitIn(watch, 7));

  await vi.advanceTimersByTimeAsync(10_000);

  expect(reads.length).toBeLessThanOrEqual(21);
  expect(reads.length).toBeGreaterThanOrEqual(19);
  expect(waiting.some(({ isOver }) => isOver)).toBe(false);
  for (const { end } of waiting) end();
  await lastRead();
});

test('after a write of this process the number is read soon, once for many writes', async () => {
  const watch = createChangeWatch(read);
  const waiting = waitIn(watch, 7);
  await vi.advanceTimersByTimeAsync(100);
  const before = reads.length;

  last = 1_007;
  for (let write = 0; write < 1_000; write += 1) watch.changed(numberOf('acme'));
  await vi.advanceTimersByTimeAsync(20);

  expect(waiting.isOver).toBe(true);
  expect(reads.length - before).toBe(1);
  await lastRead();
});
