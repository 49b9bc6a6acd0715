/** What a filter costs, before anything is read. */
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { filterCost, parseFilter } from '../../src/graphql/schema/filter.ts';
import { asset } from '../../src/records/index.ts';

const { limits } = loadConfig({});

test('a filter is read once, in however many fields its variable stands', () => {
  let reads = 0;
  const where = {
    get name() {
      reads += 1;
      return { eq: 'Crane' };
    },
  };
  const costs = [1, 2, 3].map(() => filterCost(asset, where, limits));
  const condition = parseFilter(asset, where, limits);

  expect(costs).toEqual([10, 10, 10]);
  expect(condition).toMatchObject({ field: 'name' });
  expect(reads).toBe(1);
});
