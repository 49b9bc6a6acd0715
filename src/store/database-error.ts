/**
 * The errors that leave the store when a statement fails. Drivers put values into their messages, and Knex the SQL: neither may
 * reach a response or a log.
 *
 * | Cause                                       | Becomes                  | The transaction | The connection |
 * |---------------------------------------------|--------------------------|-----------------|----------------|
 * | a conflict with another (`conflicts`)       | TransactionConflict, 503 | is retried      | is kept        |
 * | no connection, or it was lost               | 503                      | has failed      | is dropped     |
 * | a read-only server, or a file that cannot   | 503                      | has failed      | is dropped     |
 * | be read or written                          |                          |                 |                |
 * | busy, full, too slow (`temporary…`)         | 503                      | has failed      | is kept        |
 * | any of these but a conflict, at COMMIT      | 503: may be stored       | is unknown      | as above       |
 * | the same, in a single-statement transaction | likewise, unless it      | is unknown      | as above       |
 * |                                             | failed before COMMIT     |                 |                |
 * | a corrupt file                              | DatabaseError, 500       | has failed      | is dropped     |
 * | anything else                               | DatabaseError, 500       | has failed      | is kept        |
 *
 * A connection is kept only if it is idle afterwards: in no transaction, with no active statement. Otherwise it is closed.
 */
import { mayBeStored, ServiceError, unavailable } from '../errors.ts';

/** Errors after which a retry may succeed. */
const temporarySqlite = /^SQLITE_(?:BUSY|CANTOPEN|FULL|INTERRUPT|IOERR|LOCKED|READONLY)/;

/**
 * Postgres's temporary errors: the connection, authorization to connect, the catalogue, resources, transactions rolled back,
 * locks and limits, an operator's intervention, the operating system; a read-only server, a transaction that took too long.
 */
const temporaryPostgres = /^(?:(?:08|28|3D|53|40|55|57|58)...|25006|25P03|25P04)$/;

/** Another transaction wrote meanwhile: this one is rolled back, and sees what the other wrote when it is retried. */
const conflicts: ReadonlySet<string> = new Set([
  '40001', // serialization failure
  '40P01', // deadlock
  '23505', // a unique value, taken since it was looked for
  '23503', // a row that is referred to, gone since
]);

/** SQLite names the constraint only in its message. The same as 23505. */
const isTaken = (error: unknown): boolean =>
  codeOf(error) === 'SQLITE_CONSTRAINT' && String(error).includes('UNIQUE constraint failed');

/** A failure of the database about which the client can do nothing. */
export class DatabaseError extends Error {}

/** A transaction that conflicted with another. Nothing of it is stored. */
export class TransactionConflict extends ServiceError {
  readonly #code: string;

  constructor(code: string) {
    super(503, 'too many concurrent writes to the same records, try again', [], { cause: code });
    this.#code = code;
  }

  /** The error once retries are used up: a constraint that is violated every time was violated by this service. */
  atLast(): Error {
    return /^(?:23|SQLITE_CONSTRAINT)/.test(this.#code) ? new DatabaseError(`database error: ${this.#code}`) : this;
  }
}

/** The error without SQL and values: a ServiceError 503 when the database is unavailable now. */
export function databaseError(error: unknown, isConnectionLost = false): Error {
  const code = codeOf(error);
  if (conflicts.has(code) || isTaken(error)) return new TransactionConflict(code);
  if (isConnectionLost || temporarySqlite.test(code) || temporaryPostgres.test(code)) return databaseUnavailable(code);
  return new DatabaseError(`database error: ${code}`);
}

/**
 * The server ends this connection, or has become a standby while another one accepts writes; or SQLite could not read or write
 * its file, after which nothing that the connection holds in memory can be trusted.
 */
export const needsNewConnection = (error: unknown): boolean =>
  /^(?:25006$|08...$|57P0[1-3]$|SQLITE_(?:CANTOPEN|CORRUPT|IOERR|NOMEM|NOTADB|PROTOCOL|MISUSE))/.test(codeOf(error));

/** A statement timed out while it waited for others; not one at COMMIT, which may have stored what came before it. */
export const isTimeout = (error: unknown): boolean =>
  error instanceof ServiceError &&
  error.type === undefined &&
  /^(?:57014|55P03|SQLITE_INTERRUPT)$/.test(String(error.cause));

/** As a single-statement transaction it failed before commit. */
export const isNotStored = (error: unknown): boolean =>
  /^(?:SQLITE_(?:BUSY|CANTOPEN|FULL|INTERRUPT|LOCKED|READONLY)|25006$|53...$|55...$|57014$)/.test(codeOf(error));

/** There was no connection, for any reason. */
export const connectionError = (error: unknown): Error => databaseUnavailable(codeOf(error));

/** An error at COMMIT. Unless the database reports that it rolled back, the records may be stored. */
export function commitError(error: unknown, isConnectionLost: boolean): Error {
  const failure = databaseError(error, isConnectionLost);
  if (failure instanceof TransactionConflict) return failure;
  // Citus reports XX000 when some of its nodes have committed, and others perhaps not.
  const isRolledBack = failure instanceof DatabaseError && !/^(?:unknown$|XX)/.test(codeOf(error));
  if (isRolledBack) return failure;
  return mayBeStored(
    'connection lost during commit: check whether the records were stored before retrying',
    codeOf(error),
  );
}

const databaseUnavailable = (code: string) => unavailable('the database is not available, try again', code);

const codeOf = (error: unknown): string => {
  if (!(error instanceof Error)) return 'unknown';
  if ('code' in error && typeof error.code === 'string') return error.code;
  return error.name === 'Error' ? 'unknown' : error.name;
};

/** One line for the operator; of Knex's messages the driver's part, without the SQL before it. */
export const reason = (error: unknown): string => {
  const message = error instanceof Error ? error.message : String(error);
  const [line = ''] = (/SQLITE_.*/.exec(message)?.[0] ?? message.split(' - ').at(-1) ?? '').split('\n');
  return line || codeOf(error);
};
