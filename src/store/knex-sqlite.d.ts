/** The part of Knex's SQLite dialect that sqlite-client.ts builds on; Knex ships no types for it. */
declare module 'knex/lib/dialects/sqlite3/index.js' {
  import type { Knex } from 'knex';

  class SqliteClient extends Knex.Client {}
  export = SqliteClient;
}

declare module 'knex/lib/dialects/sqlite3/execution/sqlite-transaction.js' {
  class SqliteTransaction {
    constructor(...args: unknown[]);
    query(connection: unknown, sql: string): Promise<unknown>;
    begin(connection: unknown): Promise<unknown>;
  }
  export = SqliteTransaction;
}
