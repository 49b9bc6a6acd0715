/**
 * Creates a database for an attack, with keys for two workspaces: `acme` attacks, and `other` must lose nothing.
 * Also connects directly to the database, to fill tables faster than the service could and to check what is stored.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import sqlite3 from 'sqlite3';
import { runModule } from '../processes.mjs';

/** Creates the database on the `postgres` server; without one, as an SQLite file in the folder. */
export async function createDatabase(folder, name, postgres) {
  const file = join(folder, `${name}.db`);
  const url = postgres ? await postgres.createDatabase(name) : `sqlite:${file}`;
  const createKey = async (workspace) => {
    const command = ['keys', 'create', '--workspace', workspace, '--user', 'attacks'];
    return (await runModule('../dist/src/cli.js', command, { DATABASE_URL: url })).trim();
  };
  const [key, otherKey] = [await createKey('acme'), await createKey('other')];
  const open = () => (postgres ? openPostgres(url) : openSqlite(file));

  /** Runs work on a new connection, and returns its result. */
  async function direct(work) {
    const connection = await open();
    try {
      return await work(connection);
    } finally {
      await connection.close();
    }
  }

  return {
    url,
    file,
    key,
    otherKey,
    direct,
    /** Returns the uids that are not stored in the workspace. */
    async missing(workspace, uids) {
      const sql = `select uid from assets where workspace_id = ${numberOf(workspace)}`;
      const stored = new Set((await direct(({ query }) => query(sql))).map(({ uid }) => uid));
      return uids.filter((uid) => !stored.has(uid));
    },
    async drop() {
      if (!postgres) {
        for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
        return;
      }
      const server = await openPostgres(url.replace(/[^/]*$/, 'postgres'));
      await server.query(`drop database ${name} with (force)`);
      await server.close();
    },
  };
}

async function openPostgres(connectionString) {
  const client = new pg.Client({ connectionString });
  await client.connect();
  return { query: async (sql) => (await client.query(sql)).rows, close: () => client.end() };
}

export async function openSqlite(file) {
  const database = await new Promise((resolve, reject) => {
    const opened = new sqlite3.Database(file, (error) => (error ? reject(error) : resolve(opened)));
  });
  const query = promisify(database.all.bind(database));
  await query('pragma busy_timeout = 10000');
  return { query, close: promisify(database.close.bind(database)) };
}

/** An SQL expression for the number of a workspace. */
export const numberOf = (workspace) => `(select number from workspaces where name = '${workspace}')`;

/** SQL for both databases that defines a table `series` of the numbers from 1 to count. */
export const series = (count) =>
  `with recursive series (n) as (select 1 union all select n + 1 from series where n < ${count})`;

/** An SQL expression for the ID of record n: 26 digits after the prefix. */
export const idOf = (prefix, n = 'n') => `'${prefix}_00000000' || (100000000000000000 + ${n})`;
