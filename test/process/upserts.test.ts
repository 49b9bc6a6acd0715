/** Several processes upsert the same keys at once: there are never two records with one key, and nobody gets an error. */
import { expect, test } from 'vitest';
import type { RecordKind } from '../../src/model/record-kind.ts';
import { asset, location, workOrder } from '../../src/records/index.ts';
import { createDatabase } from '../support/database.ts';
import { byEffort } from '../support/effort.ts';
import { upsertDocument } from '../support/mutations.ts';
import { ask, post, useProcesses } from '../support/process.ts';

const processes = useProcesses();

const rounds = byEffort({ small: 15, long: 300 });
const keysPerRound = 10;

interface Upsert {
  readonly kind: RecordKind;
  readonly by: object;
  readonly item: (key: string) => object;
}

const upserts: readonly Upsert[] = [
  { kind: asset, by: { field: 'UID' }, item: (key: string) => ({ uid: key, name: 'Crane' }) },
  { kind: workOrder, by: { field: 'REFERENCE' }, item: (key: string) => ({ reference: key }) },
  { kind: location, by: { externalId: 'erp' }, item: (key: string) => ({ externalIds: { erp: key } }) },
];

test(`three processes upsert the same keys in ${rounds} rounds`, async () => {
  const database = await createDatabase({ empty: true });
  const url = database.url;
  const first = processes.start({ DATABASE_URL: url });
  await first.ready();
  const nodes = [first, ...[1, 2].map(() => processes.start({ DATABASE_URL: url }))];
  const addresses = await Promise.all(nodes.map(({ ready }) => ready()));

  const upsert = async (address: string, { kind, by, item }: Upsert, keys: readonly string[]) => {
    const input = keys.map(item);
    const response = await post(`${address}/graphql`, { query: upsertDocument(kind), variables: { by, input } });
    const { data, errors } = (await response.json()) as { data: { result: Result[] }; errors?: object[] };
    expect(errors).toBeUndefined();
    return data.result;
  };

  for (let round = 0; round < rounds; round += 1) {
    const keys = Array.from({ length: keysPerRound }, (_, n) => `${round}-${n}`);
    const operation = upserts[round % upserts.length] ?? upserts[0];
    if (!operation) throw new Error('there is nothing to upsert');
    // Opposite orders could make each wait for the other.
    const results = await Promise.all(
      addresses.map((address, n) => upsert(address, operation, n === 1 ? keys.toReversed() : keys)),
    );
    const outcomes = results.flat().map(({ outcome }) => outcome);
    expect(outcomes.filter((outcome) => outcome === 'CREATED')).toHaveLength(keysPerRound);
    expect(outcomes.filter((outcome) => outcome === 'UNCHANGED')).toHaveLength(2 * keysPerRound);
    expect(new Set(results.flat().map(({ record }) => record.id)).size).toBe(keysPerRound);
  }

  const { assets, workOrders, locations } = await ask(
    addresses[0] ?? '',
    '{ assets { totalCount } workOrders { totalCount } locations { totalCount } }',
  );
  expect(assets.totalCount + workOrders.totalCount + locations.totalCount).toBe(rounds * keysPerRound);
  for (const { child } of nodes) child.kill('SIGKILL');
  await Promise.all(nodes.map(({ exited }) => exited));
  await database.remove();
});

interface Result {
  readonly outcome: string;
  readonly record: { readonly id: string };
}
