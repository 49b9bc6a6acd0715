/** Identifiers: TypeIDs as others read them, each greater than the one before. */
import { TypeID } from 'typeid-js';
import { afterEach, expect, test, vi } from 'vitest';
import { idPrefixOf, newId } from '../../src/model/ids.ts';

afterEach(() => {
  vi.useRealTimers();
});

/** The UUID in an identifier, by the reference implementation. */
const uuidOf = (id: string) => TypeID.fromString(id).toUUID();

test('an identifier is a TypeID with a UUIDv7 of the time it was made', () => {
  const before = Date.now();
  const id = newId('work_order');

  expect(idPrefixOf(id)).toBe('work_order');
  const uuid = uuidOf(id);
  expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  const milliseconds = Number.parseInt(uuid.replace('-', '').slice(0, 12), 16);
  expect(milliseconds).toBeGreaterThanOrEqual(before);
  expect(milliseconds).toBeLessThanOrEqual(Date.now());
});

test('a hundred thousand are different, and sort as they were made', () => {
  const ids = Array.from({ length: 100_000 }, () => newId('asset'));

  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.toSorted()).toEqual(ids);
});

test('they go on when the clock goes back', () => {
  const before = newId('asset');
  vi.useFakeTimers({ now: Date.now() - 60_000 });

  expect(newId('asset') > before).toBe(true);
});

test('those of different milliseconds have no random bits in common', () => {
  vi.useFakeTimers({ now: Date.now() + 1_000 });
  const one = uuidOf(newId('asset'));
  vi.advanceTimersByTime(1);
  const other = uuidOf(newId('asset'));

  expect(other.slice(-12)).not.toBe(one.slice(-12));
  expect(other.slice(19, 23)).not.toBe(one.slice(19, 23));
});

test.each([2 ** 31 - 1, 2 ** 31, 2 ** 41, 2 ** 48 - 2])('time %i is kept whole', (now) => {
  vi.useFakeTimers({ now });
  // Each is later than those before it.
  const uuid = uuidOf(newId('asset'));

  expect(Number.parseInt(uuid.replace('-', '').slice(0, 12), 16)).toBeGreaterThanOrEqual(now);
});
