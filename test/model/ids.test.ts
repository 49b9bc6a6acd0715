/** Identifiers: valid TypeIDs, each greater than the one before. */
import fc from 'fast-check';
import { TypeID } from 'typeid-js';
import { afterEach, expect, test, vi } from 'vitest';
import { idPrefixOf, idsFrom, newIds, placeAfter } from '../../src/model/ids.ts';

afterEach(() => {
  vi.useRealTimers();
});

const newId = (prefix: string): string => newIds(prefix, 1)[0] ?? '';

/** The UUID of an identifier, decoded by the reference implementation. */
const uuidOf = (id: string) => TypeID.fromString(id).toUUID();

test('an identifier is a TypeID with a UUIDv7 of the current time', () => {
  const before = Date.now();
  const id = newId('work_order');

  expect(idPrefixOf(id)).toBe('work_order');
  const uuid = uuidOf(id);
  expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  const milliseconds = Number.parseInt(uuid.replace('-', '').slice(0, 12), 16);
  expect(milliseconds).toBeGreaterThanOrEqual(before);
  expect(milliseconds).toBeLessThanOrEqual(Date.now());
});

test('a hundred thousand identifiers are different, and sort in the order of creation', () => {
  const ids = Array.from({ length: 100_000 }, () => newId('asset'));

  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.toSorted()).toEqual(ids);
});

test('the identifiers of a batch follow from the first one and their number', () => {
  fc.assert(
    fc.property(fc.nat(3_000), (count) => {
      const ids = newIds('work_order', count + 1);

      expect(idsFrom(ids[0] ?? '', count + 1)).toEqual(ids);
      expect(idsFrom(ids[0] ?? '', 1, count)).toEqual(ids.slice(-1));
      expect(placeAfter(ids[0] ?? '', ids.at(-1) ?? '')).toBe(count);
    }),
  );
  // The last 30 bits overflow.
  expect(idsFrom('asset_01h455vb4pex5v0sk0zzzzzz', 2)[1]).toBe('asset_01h455vb4pex5v0sk1000000');
});

test('identifiers keep increasing if the clock goes back', () => {
  const before = newId('asset');
  vi.useFakeTimers({ now: Date.now() - 60_000 });

  expect(newId('asset') > before).toBe(true);
});

test.each([2 ** 31 - 1, 2 ** 31, 2 ** 41, 2 ** 48 - 2])('the time %i is stored completely', (now) => {
  vi.useFakeTimers({ now });
  // The times are ascending, because a later identifier never has an earlier time.
  const uuid = uuidOf(newId('asset'));

  expect(Number.parseInt(uuid.replace('-', '').slice(0, 12), 16)).toBeGreaterThanOrEqual(now);
});
