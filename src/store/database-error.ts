/**
 * What may leave the store when a statement fails. Drivers put values into their messages, and Knex the SQL: neither
 * may reach an answer or a log.
 *
 * | What happened                               | Becomes                  | The transaction | The connection |
 * |---------------------------------------------|--------------------------|-----------------|----------------|
 * | others wrote the same (`conflicts`)         | TransactionConflict, 503 | is run again    | is kept        |
 * | no connection, or none left                 | 503                      | is over         | is dropped     |
 * | a server that only reads, a file that       | 503                      | is over         | is dropped     |
 * | cannot be read or written                   |                          |                 |                |
 * | busy, full, too slow (`temporary…`)         | 503                      | is over         | is kept        |
 * | any of these at COMMIT, but the first       | 503: it may be stored    | is over         | as above       |
 * | the same, in a statement that runs alone    | likewise, if it may have | is over         | as above       |
 * |                                             | come as far as COMMIT    |                 |                |
 * | a broken file                               | DatabaseError, 500       | is over         | is dropped     |
 * | anything else                               | DatabaseError, 500       | is over         | is kept        |
 *
 * A connection is kept only if it is idle afterwards: out of any transaction, with no statement active. Otherwise it is closed.
 */
import { mayBeStored, ServiceError, unavailable } from '../errors.ts';

/** Worth another try later. */
const temporarySqlite = /^SQLITE_(?:BUSY|CANTOPEN|FULL|INTERRUPT|IOERR|LOCKED|READONLY)/;

/**
 * Postgres's errors that pass: the connection, who may connect, the catalogue, resources, transactions rolled back, locks
 * and limits, an operator's intervention, the system below; a server that only reads, a transaction that took too long.
 */
const temporaryPostgres = /^(?:(?:08|28|3D|53|40|55|57|58)...|25006|25P03|25P04)$/;

/** Others wrote meanwhile: the transaction is rolled back, and run again it sees what they wrote. */
const conflicts: ReadonlySet<string> = new Set([
  '40001', // serialization failure
  '40P01', // deadlock
  '23505', // a unique value, taken since it was looked for
  '23503', // a row that is referred to, gone since
]);

/** SQLite says which constraint only in words. A unique value was taken, as by 23505. */
const isTaken = (error: unknown): boolean =>
  codeOf(error) === 'SQLITE_CONSTRAINT' && String(error).includes('UNIQUE constraint failed');

/** The database failed in a way the client can do nothing about. */
export class DatabaseError extends Error {}

/** A transaction that lost against others. Nothing of it is stored. */
export class TransactionConflict extends ServiceError {
  readonly #code: string;

  constructor(code: string) {
    super(503, 'too many are writing the same at once, try again', [], { cause: code });
    this.#code = code;
  }

  /** What it is when it never won: a constraint that is broken every time was broken by ourselves. */
  atLast(): Error {
    return /^(?:23|SQLITE_CONSTRAINT)/.test(this.#code) ? new DatabaseError(`database error: ${this.#code}`) : this;
  }
}

/** The error without SQL and values: a ServiceError 503 when the database cannot answer now. */
export function databaseError(error: unknown, isConnectionLost = false): Error {
  const code = codeOf(error);
  if (conflicts.has(code) || isTaken(error)) return new TransactionConflict(code);
  if (isConnectionLost || temporarySqlite.test(code) || temporaryPostgres.test(code)) return databaseAway(code);
  return new DatabaseError(`database error: ${code}`);
}

/**
 * A new connection may do better: the server ends this one, or has become a standby, and another one takes writes now; or
 * SQLite could not read or write its file, after which nothing that the connection holds in memory is to be trusted.
 */
export const needsNewConnection = (error: unknown): boolean =>
  /^(?:25006$|08...$|57P0[1-3]$|SQLITE_(?:CANTOPEN|CORRUPT|IOERR|NOMEM|NOTADB|PROTOCOL|MISUSE))/.test(codeOf(error));

/** A statement waited for others until its time was up; not one at COMMIT, which may have stored what came before it. */
export const isTimeout = (error: unknown): boolean =>
  error instanceof ServiceError &&
  error.type === undefined &&
  /^(?:57014|55P03|SQLITE_INTERRUPT)$/.test(String(error.cause));

/** The statement failed before it could commit, were it by itself. */
export const isNotStored = (error: unknown): boolean =>
  /^(?:SQLITE_(?:BUSY|CANTOPEN|FULL|INTERRUPT|LOCKED|READONLY)|25006$|53...$|55...$|57014$)/.test(codeOf(error));

/** No connection could be had, for whatever reason. */
export const connectionError = (error: unknown): Error => databaseAway(codeOf(error));

/** An error at COMMIT. Unless the database says that it rolled back, nobody knows whether it stored the records. */
export function commitError(error: unknown, isConnectionLost: boolean): Error {
  const known = databaseError(error, isConnectionLost);
  if (known instanceof TransactionConflict) return known;
  // Citus says so (XX000) when some of its nodes have committed, and others perhaps not.
  const isRolledBack = known instanceof DatabaseError && !/^(?:unknown$|XX)/.test(codeOf(error));
  if (isRolledBack) return known;
  return mayBeStored(
    'the database went away while it stored this: see whether it did before you try again',
    codeOf(error),
  );
}

const databaseAway = (code: string) => unavailable('the database is not available, try again', code);

const codeOf = (error: unknown): string => {
  if (!(error instanceof Error)) return 'unknown';
  if ('code' in error && typeof error.code === 'string') return error.code;
  return error.name === 'Error' ? 'unknown' : error.name;
};

/** For whoever starts the service, in one line; of Knex's messages what the driver says, without the SQL in front of it. */
export const reason = (error: unknown): string => {
  const message = error instanceof Error ? error.message : String(error);
  const [line = ''] = (/SQLITE_.*/.exec(message)?.[0] ?? message.split(' - ').at(-1) ?? '').split('\n');
  return line || codeOf(error);
};
