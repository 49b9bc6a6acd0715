/** A workspace that keeps all of its connections busy leaves the others to other workspaces, and to the service's own statements. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { location } from '../../src/records/index.ts';
import { type Database, openDatabase } from '../../src/store/database.ts';
import { defaultOptions } from '../../src/store/database-settings.ts';
import { createDatabase, isPostgres } from '../support/database.ts';
import { inSteps, insert } from '../support/insert.ts';
import { numberOf, storeOpener } from '../support/open-store.ts';

let database: Database;
let remove: () => Promise<void>;

/** Milliseconds. Slow statements run that long. */
const statementTimeout = 2_000;

beforeEach(async () => {
  const created = await createDatabase();
  remove = created.remove;
  database = await openDatabase(created.url, { ...defaultOptions, statementTimeout, connectionTimeout: 1_000 });
});

afterEach(async () => {
  await database.close();
  await remove();
});

const slow = isPostgres
  ? 'select pg_sleep(1000)'
  : 'with recursive n (i) as (select 1 union all select i + 1 from n where i < 1000000000) select count(*) from n';

/** Begins slow reads of a workspace, more than there are connections. */
function keepBusy() {
  const end = new AbortController();
  const reads = { ended: 0, stop: async () => {} };
  const all = Array.from({ length: 20 }, () =>
    database
      .forWorkspace(numberOf('busy'), end.signal)
      .read(slow)
      .catch(() => {})
      .finally(() => {
        reads.ended += 1;
      }),
  );
  reads.stop = async () => {
    end.abort();
    await Promise.all(all);
  };
  return reads;
}

test('reads and writes go on while another workspace reads slowly', async () => {
  const ours = storeOpener(database)('ours');
  const busy = keepBusy();

  const [created] = await insert(ours, location, [{ name: 'yard' }]);
  expect(await ours.find(location, [created?.id ?? ''])).toHaveLength(1);
  await inSteps(ours, async (steps) => steps.add(location, [{ name: 'in a transaction' }]));
  expect(await ours.count(location)).toBe(2);

  expect(busy.ended).toBe(0);
  await busy.stop();
});
