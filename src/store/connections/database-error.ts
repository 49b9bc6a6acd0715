/**
 * The errors that the store throws when a statement fails. Drivers put values into their messages, and Knex adds the SQL:
 * neither may reach a response or a log.
 *
 * | Cause                                       | Becomes                  | The transaction | The connection |
 * |---------------------------------------------|--------------------------|-----------------|----------------|
 * | a conflict with another (`conflicts`)       | TransactionConflict, 503 | is retried      | is kept        |
 * | a workspace that was deleted                | WorkspaceDeleted, 503    | has failed      | is kept        |
 * | no connection, or a lost one                | 503                      | has failed      | is closed      |
 * | a read-only server, or a file that cannot   | 503                      | has failed      | is closed      |
 * | be read or written                          |                          |                 |                |
 * | busy, full, too slow (`temporary…`), or a   | 503                      | has failed      | is kept        |
 * | server of a cluster that is unavailable     |                          |                 |                |
 * | any of these but the first two, at COMMIT   | 503: may be stored       | is unknown      | as above       |
 * | the same, in a single-statement transaction | likewise, unless it      | is unknown      | as above       |
 * |                                             | failed before COMMIT     |                 |                |
 * | a corrupt file                              | DatabaseError, 500       | has failed      | is closed      |
 * | anything else                               | DatabaseError, 500       | has failed      | is kept        |
 *
 * A connection is kept only if it is idle afterwards, in no transaction and without an active statement.
 *
 * If a group of new records fails because of a conflict, a deleted workspace or a DatabaseError, none of them is stored, and each half of
 * the group is stored by itself: the cause may be one of them. After any other error a retry is useless, or could store them twice.
 */
import { diskFullType, mayBeStored, ServiceError, unavailable } from '../../errors.ts';

const temporarySqlite = /^SQLITE_(?:BUSY|CANTOPEN|FULL|INTERRUPT|IOERR|LOCKED|READONLY)/;

/** Postgres's errors after which a retry may succeed: classes of codes, of two characters, and single codes. */
const temporaryPostgres: ReadonlySet<string> = new Set([
  '08', // the connection
  '28', // authorization to connect
  '3D', // the name of the database
  '40', // transactions that were rolled back
  '53', // resources
  '55', // locks
  '57', // an operator's intervention, such as a shutdown
  '58', // the operating system
  '25006', // a read-only server
  '25P03', // a transaction that was idle for too long
  '25P04', // a transaction that took too long
]);

const isTemporary = (code: string): boolean =>
  temporarySqlite.test(code) ||
  temporaryPostgres.has(code) ||
  (code.length === 5 && temporaryPostgres.has(code.slice(0, 2)));

/**
 * Parts of the messages with which Citus reports a lost connection to another machine: most are libpq's, and have no code of
 * their own.
 */
const lostInCluster = [
  'server closed the connection',
  'no connection to the server',
  'connection not open',
  'could not receive data from server',
  'could not send data to server',
  'SSL connection',
  'SSL error',
  'SSL SYSCALL error',
  'connection error',
  'connection to the remote node',
  'connection marked as essential',
  'terminating connection',
];

const isLostInCluster = (error: unknown): boolean =>
  codeOf(error) === 'XX000' && lostInCluster.some((text) => String(error).includes(text));

const conflicts: ReadonlySet<string> = new Set([
  '40001', // serialization failure
  '40P01', // deadlock
  '23505', // a unique value was taken after it had been looked up
  '23503', // a referenced row was deleted after it had been looked up
]);

/** SQLite's equivalent of 23505: it names the kind of constraint only in its message. */
const isTaken = (error: unknown): boolean =>
  codeOf(error) === 'SQLITE_CONSTRAINT' && String(error).includes('UNIQUE constraint failed');

/** A failure of the database that the client can do nothing about. */
export class DatabaseError extends Error {
  /** The database's own, such as `XX000` or `SQLITE_CORRUPT`. */
  readonly code: string | undefined;

  constructor(message: string, code?: string) {
    super(message);
    this.code = code;
  }
}

/** A transaction that conflicted with another. Nothing of it is stored. */
export class TransactionConflict extends ServiceError {
  readonly #code: string;

  constructor(code: string) {
    super(503, 'too many concurrent writes to the same records, try again', [], { cause: code });
    this.#code = code;
  }

  /** Returns the error after the last attempt. A constraint that is violated on every attempt is a defect of this service. */
  afterLastAttempt(): Error {
    return /^(?:23|SQLITE_CONSTRAINT)/.test(this.#code)
      ? new DatabaseError(`database error: ${this.#code}`, this.#code)
      : this;
  }
}

/** Ends the transaction, and runs its work again: another one has changed what this one has looked up. */
export const lookupOutdated = () => new TransactionConflict('LOOKUP_OUTDATED');

/** Thrown on writes to a deleted workspace, which a process may have cached for a few seconds. */
export class WorkspaceDeleted extends ServiceError {
  constructor() {
    super(503, 'the workspace is being deleted, try again', [], { cause: 'WORKSPACE_DELETED' });
  }
}

const isFull = (code: string): boolean => code === 'SQLITE_FULL' || code === '53100';

export const isDiskFull = (error: unknown): boolean => error instanceof ServiceError && isFull(String(error.cause));

const isDeleted = (error: unknown): boolean =>
  /^(?:23514|SQLITE_CONSTRAINT)$/.test(codeOf(error)) && String(error).includes('change_numbers_open');

export const isConflict = (error: unknown): boolean =>
  error instanceof TransactionConflict ||
  (error instanceof DatabaseError && /^(?:23|SQLITE_CONSTRAINT)/.test(error.code ?? ''));

/** Converts a driver's error to one without SQL and values: a ServiceError 503 if a retry may succeed. */
export function databaseError(error: unknown, isConnectionLost = false): Error {
  const code = codeOf(error);
  if (conflicts.has(code) || isTaken(error)) return new TransactionConflict(code);
  if (isDeleted(error)) return new WorkspaceDeleted();
  if (isConnectionLost || isTemporary(code) || isLostInCluster(error)) return databaseUnavailable(code);
  return new DatabaseError(`database error: ${code}`, code);
}

/** The server ends the connection or is now a standby; or SQLite could not use its file, and nothing in memory can be trusted. */
export const needsNewConnection = (error: unknown): boolean =>
  /^(?:25006$|08...$|57P0[1-3]$|SQLITE_(?:CANTOPEN|CORRUPT|IOERR|NOMEM|NOTADB|PROTOCOL|MISUSE))/.test(codeOf(error));

/** True if a statement that is a transaction by itself failed before its commit. */
export const isNotStored = (error: unknown): boolean =>
  /^(?:SQLITE_(?:BUSY|CANTOPEN|FULL|INTERRUPT|LOCKED|READONLY)|25006$|53...$|55...$|57014$)/.test(codeOf(error));

export const connectionError = (error: unknown): Error => databaseUnavailable(codeOf(error));

/** Converts an error at COMMIT. Unless the database reports that it rolled back, the records may be stored. */
export function commitError(error: unknown, isConnectionLost: boolean): Error {
  const failure = databaseError(error, isConnectionLost);
  if ([TransactionConflict, WorkspaceDeleted].some((notStored) => failure instanceof notStored)) return failure;
  // Citus reports XX000 when some of its nodes have committed, and others may not have.
  const isRolledBack = failure instanceof DatabaseError && !/^(?:unknown$|XX)/.test(codeOf(error));
  if (isRolledBack) return failure;
  return mayBeStored('check whether the records were stored before retrying', codeOf(error));
}

export const databaseUnavailable = (code: string) =>
  unavailable(unavailableMessage(code), code, isFull(code) ? diskFullType : undefined);

const unavailableMessage = (code: string): string =>
  isFull(code) ? 'the disk of the database is full: nothing can be stored' : 'the database is not available, try again';

const codeOf = (error: unknown): string => {
  if (!(error instanceof Error)) return 'unknown';
  if ('code' in error && typeof error.code === 'string') return error.code;
  return error.name === 'Error' ? 'unknown' : error.name;
};

/** In one line, for the operator. From Knex's messages, only the driver's part, without the SQL before it. */
export const reason = (error: unknown): string => {
  const message = error instanceof Error ? error.message : String(error);
  const [line = ''] = (/SQLITE_.*/.exec(message)?.[0] ?? message.split(' - ').at(-1) ?? '').split('\n');
  return line || codeOf(error);
};
