/** Postgres: its URL, the settings it must have, its connections, TLS and time limits. */
import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ServiceError } from '../../../src/errors.ts';
import { connectDatabase, openDatabase } from '../../../src/store/database.ts';
import { defaultOptions } from '../../../src/store/database-settings.ts';
import { useTestDatabase } from '../../support/database.ts';
import { freePort, query, startPostgres } from '../../support/postgres.ts';
import { startService } from '../../support/service.ts';

const database = useTestDatabase();

const failureOf = (opening: Promise<{ close(): Promise<void> }>): Promise<string> =>
  opening.then(
    async (opened) => {
      await opened.close();
      return 'opened';
    },
    (error: Error) => error.message,
  );

const nameOf = (url: string) => new URL(url).pathname.slice(1);

const shown = (url: string) => {
  const { hostname, port, pathname } = new URL(url);
  return `postgres://${hostname}:${port || 5432}${pathname}`;
};

const tooLong = new ServiceError(503, 'the database has taken too long, ask for less at a time, or try again');

describe('a URL', () => {
  test('is shown without user and password, and its parameters apply', async () => {
    const opened = await openDatabase(`${database.url}?application_name=test&connect_timeout=3`);
    const [row] = await opened.run("select current_setting('application_name') as name");
    expect(row?.name).toBe('test');
    expect(opened.driver.location).toBe(shown(database.url));
    await opened.close();
  });

  test.each<[string, (url: string) => string | Promise<string>, RegExp]>([
    [
      'an unknown sslmode',
      (url) => `${url}?sslmode=sometimes`,
      /^database URL: sslmode: expected one of disable, require, verify-ca, verify-full$/,
    ],
    [
      'an unknown parameter',
      (url) => `${url}?schema=other`,
      /^database URL: unknown parameter schema, expected some of host, port, .*sslmode/,
    ],
    ['a certificate that is not there', (url) => `${url}?sslrootcert=/no/such/file`, /^database URL: ENOENT/],
    [
      'a port at which nothing listens',
      async () => `postgres://postgres:secret@127.0.0.1:${await freePort()}/x`,
      /^cannot use the database postgres:\/\/127.*: .*ECONNREFUSED/,
    ],
    [
      'a user who does not exist',
      (url) => Object.assign(new URL(url), { username: 'nobody', password: 'secretive' }).href,
      /^cannot use the database postgres:\/\/.*: (?:password authentication failed for user|role) "nobody"/,
    ],
  ])('with %s is an error of one line at the start, without its password', async (_, change, message) => {
    const failure = await failureOf(openDatabase(await change(database.url)));
    expect(failure).toMatch(message);
    expect(failure).not.toMatch(/secret|\n/);
  });
});

describe('a server with other settings', () => {
  test.each([
    ['DateStyle', 'German', 'expected its DateStyle to be ISO, it is German, DMY'],
    ['extra_float_digits', '0', 'expected extra_float_digits of at least 1, it is 0'],
  ])('is not used if its %s is %s', async (setting, value, problem) => {
    await query(database.url, `alter database ${nameOf(database.url)} set ${setting} = '${value}'`);
    const failure = await failureOf(openDatabase(database.url));
    expect(failure).toBe(`cannot use the database ${shown(database.url)}: ${problem}`);
  });

  test('returns the same times in another time zone', async () => {
    await query(database.url, `alter database ${nameOf(database.url)} set timezone = 'America/New_York'`);
    const service = await startService({ DATABASE_URL: database.url });
    const dates = [
      '0001-01-01T00:00:00.000Z',
      '1893-03-31T23:00:00.001Z',
      '2026-03-29T01:30:00.500Z',
      '9999-12-31T23:59:59.999Z',
    ];

    const orders = await service.create('/work-orders', ...dates.map((startDate) => ({ startDate })));

    expect(orders.map(({ startDate }) => startDate)).toEqual(dates);
    const { workOrders } = await service.data('{ workOrders { nodes { startDate createdAt } } }');
    expect(workOrders.nodes).toEqual(orders.map(({ startDate, createdAt }) => ({ startDate, createdAt })));
    await service.stop();
  });
});

test('a write to a read-only server is a 503, after which a new connection is opened, perhaps to another server', async () => {
  const name = nameOf(database.url);
  await query(database.url, `alter database ${name} set default_transaction_read_only = on`);
  const service = await startService({ DATABASE_URL: database.url });
  expect((await service.post('/locations', [{}])).status).toBe(503);

  await query(
    database.url,
    `begin; set transaction read write; alter database ${name} set default_transaction_read_only = off; commit`,
  );

  expect((await service.post('/locations', [{}])).status).toBe(201);
  await service.stop();
});

test('a statement that is sent again is kept by the server, and sent as a whole where the server does not keep it', async () => {
  const opened = await connectDatabase(database.url, { ...defaultOptions, poolSize: 1 });
  const read = () => opened.read('select $1::int + 1 as sum', [1]);
  const kept = async () => (await opened.run('select statement from pg_prepared_statements')).length;
  for (let times = 0; times < 3; times += 1) expect(await read()).toEqual([{ sum: 2 }]);
  expect(await kept()).toBe(1);

  // As a pooler does that connects each transaction with another server process.
  await opened.run('deallocate all');

  expect(await read()).toEqual([{ sum: 2 }]);
  expect(await read()).toEqual([{ sum: 2 }]);
  expect(await kept()).toBe(0);
  await opened.close();
});

describe.runIf(existsSync('/usr/bin/openssl'))('TLS', () => {
  let postgres: Awaited<ReturnType<typeof startPostgres>>;
  let certificate: string;

  beforeAll(async () => {
    postgres = await startPostgres();
    certificate = join(postgres.folder, 'server.crt');
    const key = join(postgres.folder, 'server.key');
    execFileSync(
      'openssl',
      [
        ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
        ...['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost', '-keyout', key, '-out', certificate],
      ],
      { stdio: 'ignore' },
    );
    const { uid, gid } = statSync(postgres.folder);
    for (const file of [key, certificate]) chownSync(file, uid, gid);
    await query(postgres.url, 'alter system set ssl = on');
    await query(postgres.url, 'select pg_reload_conf()');
  });

  afterAll(() => postgres.stop());

  const isEncrypted = async (parameters: string, host = 'localhost') => {
    const opened = await connectDatabase(postgres.url.replace('127.0.0.1', host) + parameters);
    const [row] = await opened.run('select ssl from pg_stat_ssl where pid = pg_backend_pid()');
    await opened.close();
    return row?.ssl;
  };

  test('encrypts the connection and verifies the server as sslmode requires', async () => {
    expect(await isEncrypted('')).toBe(false);
    expect(await isEncrypted('?sslmode=disable')).toBe(false);
    expect(await isEncrypted('?sslmode=require')).toBe(true);
    expect(await isEncrypted(`?sslmode=verify-full&sslrootcert=${certificate}`)).toBe(true);
    expect(await isEncrypted(`?sslmode=verify-ca&sslrootcert=${certificate}`, '127.0.0.1')).toBe(true);
  });

  test('fails the start if the server does not satisfy sslmode', async () => {
    const url = postgres.url.replace('127.0.0.1', 'localhost');
    expect(await failureOf(openDatabase(`${url}?sslmode=verify-full`))).toMatch(/self-signed certificate/);
    expect(await failureOf(openDatabase(`${postgres.url}?sslmode=verify-full&sslrootcert=${certificate}`))).toMatch(
      /^cannot use the database .*does not match/,
    );
    expect(await failureOf(openDatabase(`${database.url}?sslmode=require`))).toMatch(/does not support SSL/);
  });

  test('does not prevent the cancellation of a statement that runs too long', async () => {
    const url = `${postgres.url}?sslmode=require`;
    const impatient = await connectDatabase(url, { ...defaultOptions, statementTimeout: 200 });
    await expect(impatient.run('select pg_sleep(60)')).rejects.toThrow(tooLong);
    await impatient.ping();
    await impatient.close();
  });
});
