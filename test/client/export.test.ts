/** The client's export. */
import { randomBytes } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { ConnectionError, ServiceError, type Yardgraph } from '../../client/index.ts';
import { clientOf, errorOf } from '../support/client.ts';
import { startService, useService } from '../support/service.ts';

const service = useService();
let yardgraph: Yardgraph;

beforeEach(async () => {
  yardgraph = await clientOf(service);
});

async function all(rows: AsyncIterable<unknown>): Promise<unknown[]> {
  const read: unknown[] = [];
  for await (const row of rows) read.push(row);
  return read;
}

test('yields the records of a kind that match, or of all kinds', async () => {
  await yardgraph.assets.create([{ name: 'Crane', externalIds: { erp: '1' } }, { name: 'Pump' }]);
  await yardgraph.workOrders.create([{ name: 'Set up' }]);

  const options = { where: { name: { eq: 'Crane' } }, externalIds: ['erp'] };
  expect(await all(yardgraph.export('assets', options))).toMatchObject([
    { kind: 'ASSET', name: 'Crane', 'externalIds.erp': '1' },
  ]);
  expect(await all(yardgraph.export('workOrders'))).toMatchObject([{ kind: 'WORK_ORDER', name: 'Set up' }]);
  expect(await all(yardgraph.export('all'))).toHaveLength(3);
});

test('opens a file with the number of its records', async () => {
  await yardgraph.locations.create([{ name: '=North' }]);

  const { count, body } = await yardgraph.exportFile('locations', 'csv', { excel: true });

  expect(count).toBe(1);
  expect(await new Response(body).text()).toContain(",'=North,");
});

// It depends on time, which a busy machine has not.
test('throws what the service says, and a cut-off as an error', { retry: 3 }, async () => {
  const { message } = await errorOf(ServiceError, all(yardgraph.export('assets', { where: { nmae: {} } })));
  expect(message).toContain('Did you mean "name"?');

  const slow = await startService({ EXPORT_TIMEOUT: '700' });
  try {
    const client = await clientOf(slow);
    for (let n = 0; n < 20; n += 1) {
      await client.assets.create(Array.from({ length: 1_000 }, () => ({ name: randomBytes(1_000).toString('hex') })));
    }
    const rows = client.export('assets');
    await rows.next();
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await errorOf(ConnectionError, all(rows));
  } finally {
    await slow.stop();
  }
});

test('ends when it is not read to its end, and another can begin', async () => {
  await yardgraph.assets.create(Array.from({ length: 5_000 }, () => ({ name: 'x'.repeat(1_000) })));
  for await (const _ of yardgraph.export('assets')) break;

  expect(await all(yardgraph.export('assets'))).toHaveLength(5_000);
});
