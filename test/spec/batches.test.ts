/** Batches at the same time. test/services/write-model.test.ts has that each is stored as a whole or not at all. */

import { expect, test } from 'vitest';
import { useSharedService } from '../support/service.ts';

const service = useSharedService();

test('batches sent at the same time are each stored contiguously', async () => {
  const batches = Array.from({ length: 12 }, (_, batch) =>
    service.post(
      '/locations',
      Array.from({ length: 40 }, () => ({ name: `batch ${batch}` })),
    ),
  );

  await Promise.all(batches);

  const where = 'where: { name: { startsWith: "batch " } }';
  const { locations } = await service.data(`{ locations(first: 1000, ${where}) { nodes { name } } }`);
  const names: string[] = locations.nodes.map(({ name }: { name: string }) => name);
  expect(names).toHaveLength(480);
  // IDs are generated inside the transaction, so records sort in the order of commits, batch by batch.
  expect(names.filter((name, index) => name !== names[index - 1])).toHaveLength(12);
});
