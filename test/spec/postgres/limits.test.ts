/** Time limits of statements, and of waiting for a connection. */
import { expect, test } from 'vitest';
import { ServiceError } from '../../../src/errors.ts';
import { openDatabase } from '../../../src/store/database.ts';
import { defaultOptions } from '../../../src/store/database-settings.ts';
import { eventually } from '../../support/clock.ts';
import { useTestDatabase } from '../../support/database.ts';
import { byEffort } from '../../support/effort.ts';
import { query } from '../../support/postgres.ts';
import { startForTest } from '../../support/service.ts';

const database = useTestDatabase();

const tooLong = new ServiceError(503, 'the database has taken too long, ask for less at a time, or try again');

test('a statement that runs too long is cancelled on the server, and is 503', async () => {
  const limited = await openDatabase(database.url, { ...defaultOptions, statementTimeout: 200 });

  await expect(limited.run('select pg_sleep(60)')).rejects.toThrow(tooLong);

  // The client may know of it before the server's list does.
  await eventually(async () => {
    const running = await query(
      database.url,
      "select 1 from pg_stat_activity where query like '%pg_sleep(60)'  and state = 'active'",
    );
    expect(running).toEqual([]);
  });
  await limited.ping();
  await limited.close();
});

test('a mutation that is stored, and whose links cannot be read, is not to be sent again', async () => {
  const service = await startForTest({ DATABASE_STATEMENT_TIMEOUT: '500' });
  const other = await openDatabase(service.url);

  await other.transaction(async (run) => {
    await run('lock table assets in access exclusive mode');
    const { headers, body } = await service.graphql(
      'mutation { createLocations(input: [{ name: "once" }]) { id assets { nodes { id } } } }',
    );

    expect(headers['retry-after']).toBeUndefined();
    expect(body.errors).toMatchObject([
      {
        message: 'the mutation was executed, but the database has taken too long, ask for less at a time, or try again',
        extensions: { code: 'SERVICE_UNAVAILABLE', mayBeStored: true },
      },
    ]);
  });

  expect((await service.data('{ locations { nodes { name } } }')).locations.nodes).toEqual([{ name: 'once' }]);
  await other.close();
});

test('requests that get no connection in time are 503 with Retry-After, over REST and GraphQL', async () => {
  const service = await startForTest({ DATABASE_POOL_SIZE: '1', DATABASE_CONNECTION_TIMEOUT: '1000' });

  await service.database.transaction(async () => {
    const rest = await service.post('/locations', [{}]);
    const graphql = await service.graphql('{ locations { totalCount } }');
    const ready = await service.get('/readyz');

    expect([rest.status, rest.headers['retry-after'], rest.body]).toEqual([
      503,
      '1',
      { error: 'the database is not available, try again', code: '503' },
    ]);
    expect([graphql.status, graphql.headers['retry-after'], graphql.body.errors]).toMatchObject([
      503,
      '1',
      [{ message: 'the database is not available, try again', extensions: { code: 'SERVICE_UNAVAILABLE' } }],
    ]);
    expect(ready.status).toBe(503);
  });

  expect((await service.post('/locations', [{}])).status).toBe(201);
});

test('cancelling a statement that ends at its time limit does not affect the next one', async () => {
  const limited = await openDatabase(database.url, { ...defaultOptions, poolSize: 1, statementTimeout: 100 });
  for (let round = 0; round < byEffort({ small: 8, long: 60 }); round += 1) {
    await limited.run('select pg_sleep(0.0995)').catch(() => undefined);
    await limited.run('select pg_sleep(0.003)');
  }
  await limited.close();
});
