/** What clients see while Postgres restarts and connections are cut: nothing acknowledged is lost or stored in part. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { byEffort } from '../../support/effort.ts';
import { databaseUrl, query, startPostgres } from '../../support/postgres.ts';
import { ask, post, useProcesses } from '../../support/process.ts';

const processes = useProcesses();
let postgres: Awaited<ReturnType<typeof startPostgres>>;

beforeAll(async () => {
  postgres = await startPostgres();
});

afterAll(() => postgres.stop());

const batchSize = 10;
const restarts = byEffort({ small: 2, long: 20 });
const cuts = byEffort({ small: 5, long: 50 });

/** Clients that post batches, each with a name of its own, one after the other, until `stop`. */
function startClients(address: string, count: number) {
  const acknowledged: string[] = [];
  const failures: { status: number; retryAfter: string | null; body: unknown }[] = [];
  let sent = 0;
  let isOver = false;
  const client = async () => {
    while (!isOver) {
      sent += 1;
      const name = `batch ${sent}`;
      const response = await post(
        `${address}/locations`,
        Array.from({ length: batchSize }, () => ({ name })),
      );
      const body = await response.json();
      if (response.status === 201) acknowledged.push(name);
      else {
        failures.push({ status: response.status, retryAfter: response.headers.get('retry-after'), body });
        await pause(20);
      }
    }
  };
  const clients = Array.from({ length: count }, client);
  return {
    acknowledged,
    failures,
    /** Milliseconds until the next batch is acknowledged. */
    async untilSuccess(): Promise<number> {
      const [before, start] = [acknowledged.length, Date.now()];
      while (acknowledged.length === before) await pause(5);
      return Date.now() - start;
    },
    async stop() {
      isOver = true;
      await Promise.all(clients);
    },
  };
}

/** How many records each batch has in the database. */
async function storedBatches(url: string): Promise<Map<string, number>> {
  const rows = await query(url, 'select name, count(*) as count from locations group by name');
  return new Map(rows.map(({ name = '', count }) => [name, Number(count)]));
}

const messages = [
  'the database is not available, try again',
  'connection lost during commit: check whether the records were stored before retrying',
];

test(`${restarts} restarts and ${cuts} cut connections while clients write: every acknowledged batch is stored whole`, async () => {
  await query(postgres.url, 'create database faults');
  const url = databaseUrl(postgres.url, 'faults');
  const service = processes.start({ DATABASE_URL: url, DATABASE_CONNECTION_TIMEOUT: '2000', LOG_LEVEL: 'silent' });
  const address = await service.ready();
  const clients = startClients(address, 8);
  const recoveries: number[] = [];

  for (let round = 0; round < restarts; round += 1) {
    await clients.untilSuccess();
    await postgres.halt(round % 2 === 0 ? 'fast' : 'immediate');
    await pause(100);
    await postgres.start();
    recoveries.push(await clients.untilSuccess());
  }
  for (let round = 0; round < cuts; round += 1) {
    await pause(20);
    await query(url, "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'yardgraph'");
  }
  recoveries.push(await clients.untilSuccess());
  await clients.stop();

  const stored = await storedBatches(url);
  expect(clients.acknowledged.filter((name) => stored.get(name) !== batchSize)).toEqual([]);
  expect([...stored].filter(([, count]) => count !== batchSize)).toEqual([]);
  for (const { status, retryAfter, body } of clients.failures) {
    // A client that simply repeats a batch that may be stored would store it twice.
    expect([status, retryAfter]).toEqual([503, (body as { error: string }).error === messages[0] ? '1' : null]);
    expect(body).toEqual({ error: expect.stringMatching(`^(?:${messages.join('|')})$`), code: '503' });
  }
  expect(clients.failures.length).toBeGreaterThan(restarts);
  expect(await ask(address, '{ locations(first: 1) { totalCount } }')).toMatchObject({ locations: {} });
  expect(service.child.exitCode).toBeNull();
  console.info(
    `${clients.acknowledged.length} batches acknowledged, ${clients.failures.length} got a 503,` +
      ` first success at most ${Math.max(...recoveries)} ms after Postgres was back`,
  );
}, 240_000);
