/** A module is loaded once, when it is first needed, and again if loading failed. */
import { expect, test, vi } from 'vitest';
import { loadLate } from '../src/load-late.ts';

test('a module is loaded when it is first needed, and once for all callers', async () => {
  const load = vi.fn(async () => 'module');
  const loaded = loadLate(load);
  expect(load).not.toHaveBeenCalled();

  expect(await Promise.all([loaded(), loaded()])).toEqual(['module', 'module']);
  expect(await loaded()).toBe('module');
  expect(load).toHaveBeenCalledTimes(1);
});

test('every waiting caller gets the error of a failed load, and the next call tries again', async () => {
  const load = vi.fn(async () => 'module').mockRejectedValueOnce(new Error('not now'));
  const loaded = loadLate(load);

  const outcomes = await Promise.allSettled([loaded(), loaded()]);

  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await loaded()).toBe('module');
  expect(load).toHaveBeenCalledTimes(2);
});
