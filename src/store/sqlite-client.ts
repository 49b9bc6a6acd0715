/**
 * Knex's SQLite dialect with `BEGIN IMMEDIATE`: a transaction takes the write lock at once. Taken later, between a read
 * and a write, it fails when another process has written in the meantime, whatever the busy timeout.
 */
import Transaction from 'knex/lib/dialects/sqlite3/execution/sqlite-transaction.js';
import Client from 'knex/lib/dialects/sqlite3/index.js';

class ImmediateTransaction extends Transaction {
  override begin(connection: unknown) {
    return this.query(connection, 'BEGIN IMMEDIATE;');
  }
}

export class SqliteClient extends Client {
  override transaction(...args: unknown[]) {
    // Sound because Knex's own client returns the class this one extends.
    return new ImmediateTransaction(this, ...args) as never;
  }
}
