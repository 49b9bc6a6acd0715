/** Two nodes write to one database at the same time: the database enforces the rules, and no client gets a 5xx. */
import { describe, expect, inject, test } from 'vitest';
import { ServiceError } from '../../../src/errors.ts';
import { DatabaseError } from '../../../src/store/connections/database-error.ts';
import { hasTriggers, queryNodes } from '../../support/postgres.ts';
import { createRandom } from '../../support/random.ts';
import { startService, useService } from '../../support/service.ts';

/** However slow the machine is, no statement takes too long. */
const patient = { DATABASE_CONNECTION_TIMEOUT: '120000', DATABASE_STATEMENT_TIMEOUT: '120000' };
const one = useService(patient);

const asset = (uid: string) => ({ name: 'Crane', uid });
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

describe('a transaction', () => {
  const failWith = (code: string) => `do $$ begin raise exception 'planted' using errcode = '${code}'; end $$`;

  test.each([
    ['40001', new ServiceError(503, 'too many concurrent writes to the same records, try again')],
    ['23505', new DatabaseError('database error: 23505', '23505')],
  ])('that conflicts every time (%s) is retried five times, and then fails', async (code, error) => {
    let runs = 0;
    const failing = one.database.transaction(async (run) => {
      runs += 1;
      await run(failWith(code));
    });

    await expect(failing).rejects.toThrow(error);
    expect(runs).toBe(6);
  });

  test.runIf(hasTriggers).each([1, 5_001])(
    'of %d records whose connection is lost at COMMIT fails, and is not retried because it may be stored',
    async (records) => {
      await one.database.run(`create function die() returns trigger language plpgsql as
        $$ begin perform pg_terminate_backend(pg_backend_pid()); perform pg_sleep(1); return null; end $$`);
      await one.database.run(`create constraint trigger die after insert on work_orders deferrable initially deferred
        for each row execute function die()`);

      const statements = await one.statements(async () => {
        const input = Array(records).fill({ name: 'lost' });
        const { status, headers, body } = await one.post('/work-orders', input, { accept: 'application/problem+json' });
        expect([status, headers['retry-after'], body]).toMatchObject([
          503,
          undefined,
          {
            type: 'urn:yardgraph:may-be-stored',
            detail: 'connection lost during commit: check whether the records were stored before retrying',
          },
        ]);
      });
      expect(statements.filter((sql) => sql.includes('insert into work_orders'))).toHaveLength(records === 1 ? 1 : 2);
      expect(statements.includes('commit')).toBe(records > 1);
      const { status, headers, body } = await one.graphql('mutation { createWorkOrders(input: [{}]) { id } }');
      expect([status, body.errors[0].extensions]).toMatchObject([503, { mayBeStored: true }]);
      expect(headers).not.toHaveProperty('retry-after');
      expect((await one.post('/assets', [asset('after')])).status).toBe(201);
    },
  );

  test.runIf(hasTriggers)('that the database rolls back at COMMIT because of a conflict is retried', async () => {
    await one.database.run('create table attempts (n serial)');
    await one.database.run(`create function lose() returns trigger language plpgsql as
      $$ begin if nextval('attempts_n_seq') < 3 then raise exception 'planted' using errcode = '40001'; end if; return null; end $$`);
    await one.database.run(`create constraint trigger lose after insert on locations deferrable initially deferred
      for each row execute function lose()`);

    await one.create('/locations', { name: 'third time lucky' });

    const { locations } = await one.data('{ locations { nodes { name } } }');
    expect(locations.nodes).toEqual([{ name: 'third time lucky' }]);
  });

  test('whose node stops sending statements is ended by the server after a minute, which releases its locks', async () => {
    const [setting] = await one.database.transaction((run) =>
      run("select current_setting('idle_in_transaction_session_timeout') as limit"),
    );
    expect(setting).toEqual({ limit: '1min' });
  });
});

/** The server counts deadlocks when connections end, and keeps the count of a database that is used again. */
async function deadlocks(): Promise<unknown> {
  const name = new URL(one.url).pathname.slice(1);
  return queryNodes(inject('postgres') ?? '', `select deadlocks from pg_stat_database where datname = '${name}'`);
}

test('of simultaneous batches with the same unique values in other orders, one is stored, the others are 409, and no deadlock occurs', async () => {
  const before = await deadlocks();
  const other = await startService({ ...patient, DATABASE_URL: one.url });
  const { shuffle } = createRandom(7);
  const uids = numbers(100).map((n) => `uid ${n}`);

  const responses = await Promise.all(
    numbers(8).map((n) => (n % 2 === 0 ? one : other).post('/assets', shuffle(uids).map(asset))),
  );

  expect(responses.map(({ status }) => status).toSorted()).toEqual([201, ...Array(7).fill(409)]);
  await other.stop();
  expect(await deadlocks()).toEqual(before);
});
