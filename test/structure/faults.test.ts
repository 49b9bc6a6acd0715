/** Planted faults name functions of the code: one that has been renamed is noticed here, long before `npm run faults` runs. */
import { expect, test } from 'vitest';
// @ts-expect-error: plain JavaScript, without types.
import { faults } from '../faults/faults.mjs';
// @ts-expect-error: plain JavaScript, without types.
import { placeOf } from '../faults/plant.mjs';

test.each(faults as { name: string; plant?: unknown[] }[])('the place of the fault exists: $name', ({ plant = [] }) => {
  for (const place of plant) expect(() => placeOf(place)).not.toThrow();
});
