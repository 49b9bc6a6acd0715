/** What a request may read. */
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { ResponseTooLarge } from '../../src/errors.ts';
import { location, project, recordKinds } from '../../src/records/index.ts';
import { createReadBudget, withLength } from '../../src/store/records/read-budget.ts';

test('what may be too long is withLength, and not read if it is', async () => {
  const limits = { maxResponseLength: 1_000, maxRecordLength: 1_000, maxTextLength: 1_000, maxExternalIds: 10 };
  const { read } = createReadBudget(limits, () => {});
  let reads = 0;
  const readMeasured = (bytes: number) =>
    read({
      table: project,
      maxRows: 100,
      async read() {
        reads += 1;
        return withLength([{ notes: 'x'.repeat(bytes) }]);
      },
      measure: async () => bytes,
    });

  await expect(readMeasured(3_001)).rejects.toThrow(ResponseTooLarge);
  expect(reads).toBe(0);
  expect(await readMeasured(3_000)).toHaveLength(1);
  await expect(readMeasured(1)).rejects.toThrow(ResponseTooLarge);
});

describe('a read that may be long', () => {
  const { limits } = loadConfig({});

  /** Reads pages of this many locations with texts of this length. Returns what has happened to the turn, and what `begin` would hear. */
  function start() {
    const events: string[] = [];
    const { read } = createReadBudget(limits, (length) => void events.push(`hold ${length}`), {
      async begin(isNeeded) {
        events.push((await isNeeded()) ? 'begin, needed' : 'begin, not needed');
      },
      end: () => void events.push('end'),
    });
    const page = (maxRows: number, length: number) =>
      read({
        table: location,
        maxRows,
        read: async () => withLength([{ notes: 'x'.repeat(length) }]),
        measure: async () => length,
      });
    return { events, page };
  }

  test('takes the turn first, and ends it if it was short; a long one leaves it to the operation, with all that was read before', async () => {
    const { events, page } = start();
    await page(400, 3_000);
    expect(events.splice(0)).toEqual(['begin, not needed', 'hold 0', 'hold 3000', 'end']);
    await page(400, 9_000_000);
    events.length = 0;
    await page(50, 2_000_000);
    expect(events).toEqual(['begin, needed', 'hold 0', 'hold 2000000']);
  });

  test.each(recordKinds)('is none of a page of 50 records with all that they have: $name', async (table) => {
    const events: string[] = [];
    const turn = { begin: async () => void events.push('begin'), end() {} };
    await createReadBudget(limits, undefined, turn).read({
      table,
      maxRows: 51,
      read: async () => withLength([]),
      measure: async () => 0,
    });

    expect(events).toEqual([]);
  });
});
