/** What a request may read. */
import { expect, test } from 'vitest';
import { ResponseTooLarge } from '../../src/errors.ts';
import { project } from '../../src/records/index.ts';
import { createReadBudget, measured } from '../../src/store/records/read-budget.ts';

test('what may be too long is measured, and not read if it is', async () => {
  const limits = { maxResponseLength: 1_000, maxRecordLength: 1_000, maxTextLength: 1_000, maxExternalIds: 10 };
  const { read } = createReadBudget(limits, () => {});
  let reads = 0;
  const readMeasured = (bytes: number) =>
    read({
      table: project,
      maxRows: 100,
      async read() {
        reads += 1;
        return measured([{ notes: 'x'.repeat(bytes) }]);
      },
      measure: async () => bytes,
    });

  await expect(readMeasured(3_001)).rejects.toThrow(ResponseTooLarge);
  expect(reads).toBe(0);
  expect(await readMeasured(3_000)).toHaveLength(1);
  await expect(readMeasured(1)).rejects.toThrow(ResponseTooLarge);
});
