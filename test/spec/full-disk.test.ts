/** A full disk: writes say so, reads go on, and the service is not ready until there is room again. */
import { expect, test, vi } from 'vitest';
import { passTime } from '../support/clock.ts';
import { isPostgres } from '../support/database.ts';
import { hasTriggers } from '../support/postgres.ts';
import { useSharedService } from '../support/service.ts';

const service = useSharedService();

/** Postgres reports a full disk as SQLite does, from a trigger of this test. */
async function fillDisk() {
  if (!isPostgres) return void (await service.database.run('pragma max_page_count = 1'));
  await service.database.run(`create function fail() returns trigger language plpgsql as $$ begin
    raise exception 'no space left on device' using errcode = '53100'; end $$`);
  await service.database.run('create trigger fail before insert on locations execute function fail()');
}

async function freeDisk() {
  if (!isPostgres) return void (await service.database.run('pragma max_page_count = 1000000'));
  await service.database.run('drop trigger fail on locations');
  await service.database.run('drop function fail()');
}

const many = Array.from({ length: 2_000 }, () => ({ name: 'x'.repeat(200) }));
const ready = async () => (await service.get('/readyz')).status;

test.runIf(!isPostgres || hasTriggers)(
  'while the disk is full, writes are 503 with a type of their own, reads are not, and /readyz fails for ten seconds',
  async () => {
    await service.create('/assets', { name: 'Crane' });
    await fillDisk();
    try {
      const message = 'the disk of the database is full: nothing can be stored';
      const { status, body, headers } = await service.post('/locations', many, { prefer: 'return=minimal' });
      expect([status, body.error, headers['retry-after']]).toEqual([503, message, '1']);
      const problem = await service.post('/locations', many, { accept: 'application/problem+json' });
      expect(problem.body).toMatchObject({ type: 'urn:yardgraph:disk-full', detail: message });
      const { body: graphql } = await service.graphql(
        'mutation ($input: [CreateLocationInput!]!) { createLocations(input: $input) { id } }',
        { input: many },
      );
      expect(graphql.errors).toMatchObject([
        { message, extensions: { code: 'SERVICE_UNAVAILABLE', type: 'urn:yardgraph:disk-full' } },
      ]);

      expect(await ready()).toBe(503);
      expect((await service.data('{ assets { totalCount } }')).assets.totalCount).toBe(1);
      // Ten seconds after the last such write, it is ready to try again, even if the clock was set back.
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 3_600_000 });
      await passTime(10_001);
      expect(await ready()).toBe(200);
    } finally {
      vi.useRealTimers();
      await freeDisk();
    }
    await service.create('/locations', { name: 'Yard' });
    expect(await ready()).toBe(200);
  },
);
