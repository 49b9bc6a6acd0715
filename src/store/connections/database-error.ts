/** Drivers put values into the messages of errors, and Knex the SQL: neither may reach a response or a log. */
import { diskFullType, mayBeStored, ServiceError, unavailable } from '../../errors.ts';

/** A statement that is `alone` is a transaction by itself. */
export type StatementPhase = 'in transaction' | 'commit' | 'alone';

/**
 * The consequences of an error:
 * - `is`: a `conflict` with another transaction, after which the write runs again; a write to a `deleted` workspace; an
 *   `unavailable` database, a 503; or a `defect`, a 500.
 * - `uncertain`: the write may be stored: `at commit` only if the error came at COMMIT, `always` also if from a
 *   statement alone.
 * - `closes`: the connection is closed. Otherwise it is kept if it is idle.
 *
 * After an error that is neither uncertain nor `unavailable`, no creation of a group is stored, and each is retried in
 * its own transaction: another may have caused it. After other errors a retry is useless, or could store records twice.
 */
interface ErrorMeaning {
  readonly is: 'conflict' | 'deleted' | 'unavailable' | 'defect';
  readonly uncertain: 'never' | 'at commit' | 'always';
  readonly closes?: true;
}

/** Citus has no code for a lost connection to another machine, or a server that shuts down. */
const lostInCluster =
  /server closed the connection|no connection to the server|connection not open|could not (?:receive data from|send data to) server|SSL (?:connection|error|SYSCALL error)|connection error|connection to the remote node|connection marked as essential|terminating connection|postmaster was shut down/;

/** The first match applies. */
const meanings: readonly (ErrorMeaning & { readonly code: RegExp; readonly message?: RegExp })[] = [
  // A serialization failure, a deadlock, or a value taken or a row deleted after it was looked up.
  { code: /^(?:40001|40P01|23505|23503)$/, is: 'conflict', uncertain: 'never' },
  { code: /^SQLITE_CONSTRAINT/, message: /UNIQUE constraint failed/, is: 'conflict', uncertain: 'never' },
  { code: /^(?:23514|SQLITE_CONSTRAINT)$/, message: /change_numbers_open/, is: 'deleted', uncertain: 'never' },
  // The server is read-only, such as a new standby, or the file cannot be opened.
  { code: /^(?:25006$|SQLITE_CANTOPEN)/, is: 'unavailable', uncertain: 'at commit', closes: true },
  // The connection is lost, the server shuts down, or the file cannot be read or written.
  { code: /^(?:08...$|57P0[1-3]$|SQLITE_IOERR)/, is: 'unavailable', uncertain: 'always', closes: true },
  // Resources such as the disk are used up, locks are held, or the statement timed out and was cancelled.
  {
    code: /^(?:53...$|55...$|57014$|SQLITE_(?:BUSY|FULL|INTERRUPT|LOCKED|READONLY))/,
    is: 'unavailable',
    uncertain: 'at commit',
  },
  // The server refuses connections, rolled back, timed out the idle transaction, stopped, or cannot use its files.
  { code: /^(?:28...|3D...|40...|25P0[34]|57...|58...)$/, is: 'unavailable', uncertain: 'always' },
  { code: /^XX000$/, message: lostInCluster, is: 'unavailable', uncertain: 'always' },
  // Nothing in memory can be trusted.
  { code: /^SQLITE_(?:CORRUPT|NOMEM|NOTADB|PROTOCOL|MISUSE)/, is: 'defect', uncertain: 'never', closes: true },
  // Citus reports XX000 when some of its nodes have committed and others may not have.
  { code: /^(?:XX...|unknown)$/, is: 'defect', uncertain: 'always' },
];

function classifyError(error: unknown, isConnectionLost = false): ErrorMeaning {
  const found = meanings.find(
    ({ code, message }) => code.test(databaseCode(error)) && (message?.test(String(error)) ?? true),
  );
  if (isConnectionLost && (found?.is ?? 'defect') === 'defect') return { is: 'unavailable', uncertain: 'always' };
  return found ?? { is: 'defect', uncertain: 'never' };
}

export const needsNewConnection = (error: unknown): boolean => classifyError(error).closes ?? false;

export function databaseError(error: unknown, isConnectionLost: boolean, phase: StatementPhase): Error {
  const { is, uncertain } = classifyError(error, isConnectionLost);
  const code = causeOf(error);
  const isUncertain = phase === 'commit' ? uncertain !== 'never' : phase === 'alone' && uncertain === 'always';
  if (isUncertain) return mayBeStored('check whether the records were stored before retrying', code);
  if (is === 'conflict') return new TransactionConflict(code);
  if (is === 'deleted') return new WorkspaceDeleted();
  return is === 'unavailable' ? databaseUnavailable(code) : new DatabaseError(`database error: ${code}`, code);
}

export class DatabaseError extends Error {
  readonly code: string | undefined;

  constructor(message: string, code?: string) {
    super(message);
    this.code = code;
  }
}

export class TransactionConflict extends ServiceError {
  readonly #code: string;

  constructor(code: string) {
    super(503, 'too many concurrent writes to the same records, try again', [], { cause: code });
    this.#code = code;
  }

  /** A constraint violated on every attempt is a defect. */
  afterLastAttempt(): Error {
    return /^(?:23|SQLITE_CONSTRAINT)/.test(this.#code)
      ? new DatabaseError(`database error: ${this.#code}`, this.#code)
      : this;
  }
}

/** A process may write to a deleted workspace that it has cached for a few seconds. */
export class WorkspaceDeleted extends ServiceError {
  constructor() {
    super(503, 'the workspace is being deleted, try again', [], { cause: 'WORKSPACE_DELETED' });
  }
}

const isFull = (code: string): boolean => code === 'SQLITE_FULL' || code === '53100';

export const isDiskFull = (error: unknown): boolean => error instanceof ServiceError && isFull(String(error.cause));

/** A retry would take as long. */
export const isTimeout = (error: unknown): boolean => error instanceof ServiceError && isCancelled(String(error.cause));

const isCancelled = (code: string): boolean => /^(?:57014|55P03|SQLITE_INTERRUPT)$/.test(code);

export const connectionError = (error: unknown): Error => databaseUnavailable(causeOf(error));

export const databaseUnavailable = (code: string) =>
  unavailable(unavailableMessage(code), code, isFull(code) ? diskFullType : undefined);

function unavailableMessage(code: string): string {
  if (isFull(code)) return 'the disk of the database is full: nothing can be stored';
  if (isCancelled(code)) return 'the database has taken too long, ask for less at a time, or try again';
  return 'the database is not available, try again';
}

const databaseCode = (error: unknown): string => {
  if (!(error instanceof Error)) return 'unknown';
  if ('code' in error && typeof error.code === 'string') return error.code;
  return error.name === 'Error' ? 'unknown' : error.name;
};

/** For logs. The driver of Postgres has no code for a connection that ends. */
const causeOf = (error: unknown): string =>
  /^(?:Connection terminated|Client has encountered a connection error)/.test(String((error as Error)?.message))
    ? 'CONNECTION_LOST'
    : databaseCode(error);

/** Leaves out the SQL in Knex's messages. */
export const failureReason = (error: unknown): string => {
  const message = error instanceof Error ? error.message : String(error);
  const [line = ''] = (/SQLITE_.*/.exec(message)?.[0] ?? message.split(' - ').at(-1) ?? '').split('\n');
  return line || databaseCode(error);
};
