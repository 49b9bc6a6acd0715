/** A batch is all or nothing, and returns records in the order sent. */

import { expect, test } from 'vitest';
import { useSharedService } from '../support/service.ts';

const service = useSharedService();

const count = async (connection: string) =>
  (await service.data(`{ ${connection} { totalCount } }`))[connection].totalCount;

test('a batch that takes several statements is stored completely and returned in the order sent, or not at all', async () => {
  const batch = Array.from({ length: 5_001 }, (_, index) => ({ name: `asset ${index}`, uid: `U-${index}` }));
  const before = await count('assets');

  const refused = await service.post('/assets', [...batch.slice(1), { name: 5 }]);
  expect([refused.status, refused.body.error]).toEqual([400, '[5000].name: expected text, received 5']);
  expect(await count('assets')).toBe(before);

  const { status, body } = await service.post('/assets', batch);
  expect(status).toBe(201);
  expect(body.map(({ uid }: { uid: string }) => uid)).toEqual(batch.map(({ uid }) => uid));
  expect(await count('assets')).toBe(before + 5_001);
});

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
