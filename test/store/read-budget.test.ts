/** Responses that wait to be sent: what they may hold together. */
import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { ResponseTooLarge } from '../../src/errors.ts';
import { project } from '../../src/records/index.ts';
import { createReadBudget, holdUntilClosed } from '../../src/store/records/read-budget.ts';

test('while unsent responses hold too much, further ones get 503, those that have begun are completed, and one that is closed makes room', () => {
  const texts = { length: 0 };
  const responses = [0, 1].map(() => Object.assign(new EventEmitter(), { closed: false, destroyed: false }));
  const [hold, holdOther] = responses.map((response) => holdUntilClosed(texts, response));
  hold?.(30_000_000);
  hold?.(1);

  expect(() => holdOther?.(0)).toThrow('too many long responses are being sent, try again');
  responses[0]?.emit('close');

  expect(() => holdOther?.(1)).not.toThrow();
  expect(texts.length).toBe(1);
});

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
        return [{ notes: 'x'.repeat(bytes) }];
      },
      measure: async () => bytes,
      rowsOf: (rows) => rows,
    });

  await expect(readMeasured(3_001)).rejects.toThrow(ResponseTooLarge);
  expect(reads).toBe(0);
  expect(await readMeasured(3_000)).toHaveLength(1);
  await expect(readMeasured(1)).rejects.toThrow(ResponseTooLarge);
});
