/** The order in which the changes of a write are logged, and stored. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mustExist, reference, required, text, unique } from '../../src/model/fields.ts';
import { type RecordKind, recordKind, type Values } from '../../src/model/record-kind.ts';
import { orderChanges } from '../../src/services/order.ts';
import type { Change } from '../../src/store/writes/tx.ts';

/** A tree whose records have a unique code. */
const place: RecordKind = recordKind({
  name: 'Place',
  plural: 'Places',
  label: 'place',
  pluralLabel: 'places',
  description: 'A place.',
  table: 'places',
  idPrefix: 'place',
  fields: {
    name: required(text('The name.')),
    code: unique(text('The code.'), { example: 'P-1' }),
    parentId: mustExist(reference('Place', 'the place around it', { reverse: 'inside' })),
  },
  example: { name: 'Hall' },
  stamps: [],
  unset: 'omitted',
});

const change = (before: Values | null, after: Values | null): Change => {
  const action = before === null ? 'created' : after === null ? 'deleted' : 'updated';
  return { kind: place, action, before, after, at: '2026-03-01T00:00:00.000Z' } as Change;
};

test('records that exchange values have no order, whether directly or because one refers to the other', () => {
  const [first, second] = [
    change({ id: 'a', code: 'P-1' }, { id: 'a', code: 'P-2' }),
    change({ id: 'b', code: 'P-2' }, { id: 'b', code: 'P-1' }),
  ];
  const [moved, taking] = [
    change({ id: 'c', code: 'P-3' }, { id: 'c', code: 'P-4', parentId: 'd' }),
    change(null, { id: 'd', code: 'P-3' }),
  ];

  expect(orderChanges([first, second]).blocked).toEqual([
    { change: first, by: second },
    { change: second, by: first },
  ]);
  expect(orderChanges([moved, taking]).blocked).toEqual([{ change: taking, by: moved }]);
});

test('from any state to any other, each change is allowed by those before it, unless records exchange values', () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  /** Parents are earlier in the list, so that there are no cycles; codes are distinct. */
  const state = fc.tuple(
    fc.subarray(names),
    fc.array(fc.nat(names.length), { minLength: names.length, maxLength: names.length }),
    fc.shuffledSubarray(['1', '2', '3', '4', '5', '6'], { minLength: 6 }),
  );
  const recordsOf = ([existing, parents, codes]: readonly [readonly string[], readonly number[], readonly string[]]) =>
    new Map(
      existing.map((id, index) => {
        const place = names.indexOf(id);
        const parentId = existing[(parents[place] ?? 0) % (index + 1)] ?? null;
        return [id, { id, code: codes[place], parentId: parentId === id ? null : parentId } as Values];
      }),
    );

  fc.assert(
    fc.property(state, state, (first, second) => {
      const [before, after] = [recordsOf(first), recordsOf(second)];
      const changes = names.flatMap((id) => {
        const [old, now] = [before.get(id) ?? null, after.get(id) ?? null];
        return old || now ? [change(old, now)] : [];
      });

      const { ordered, blocked } = orderChanges(changes);
      fc.pre(blocked.length === 0);
      const records = new Map(before);
      for (const { before: old, after: now } of ordered) {
        const id = String((now ?? old)?.id);
        if (now) {
          const others = [...records.values()].filter((other) => other.id !== id);
          expect(now.parentId === null || records.has(String(now.parentId))).toBe(true);
          expect(others.some(({ code }) => code === now.code)).toBe(false);
          records.set(id, now);
        } else {
          records.delete(id);
          expect([...records.values()].some(({ parentId }) => parentId === id)).toBe(false);
        }
      }
      expect(records).toEqual(after);
    }),
    { numRuns: 1_000 },
  );
});
