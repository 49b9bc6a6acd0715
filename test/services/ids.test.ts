/** Identifiers: valid TypeIDs, each greater than the one before. */
import { TypeID } from 'typeid-js';
import { afterEach, expect, test, vi } from 'vitest';
import { kindOfId, newIds } from '../../src/records/index.ts';

afterEach(() => {
  vi.useRealTimers();
});

const newId = (prefix: string): string => newIds(prefix, 1)[0] ?? '';

/** The UUID of an identifier, decoded by the reference implementation. */
const uuidOf = (id: string) => TypeID.fromString(id).toUUID();

test('an identifier is a TypeID with a UUIDv7 of the current time', () => {
  const before = Date.now();
  const id = newId('work_order');

  expect(kindOfId(id)?.idPrefix).toBe('work_order');
  const uuid = uuidOf(id);
  expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  const milliseconds = Number.parseInt(uuid.replace('-', '').slice(0, 12), 16);
  expect(milliseconds).toBeGreaterThanOrEqual(before);
  expect(milliseconds).toBeLessThanOrEqual(Date.now());
});

test('identifiers are different and sort in the order of creation, one by one or in batches, also if the clock goes back', () => {
  const make = () => [
    ...Array.from({ length: 10_000 }, () => newId('asset')),
    ...Array.from({ length: 10 }, () => newIds('asset', 1_000)).flat(),
  ];
  const ids = make();
  vi.useFakeTimers({ now: Date.now() - 60_000 });
  ids.push(...make());

  expect(new Set(ids).size).toBe(40_000);
  expect(ids.toSorted()).toEqual(ids);
});
