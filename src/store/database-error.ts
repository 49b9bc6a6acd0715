/**
 * What may leave the store when a statement fails. Drivers put values into their messages, and Knex the SQL: neither
 * may reach an answer or a log.
 */
import { ServiceError, unavailable } from '../errors.ts';

/** Worth another try later. */
const temporarySqlite = /^SQLITE_(?:BUSY|CANTOPEN|FULL|INTERRUPT|IOERR|LOCKED|READONLY)/;

/**
 * Postgres's classes of errors that pass: connection, authorization, catalogue, resources, a server that only reads,
 * transaction rolled back, locks and limits, an operator's intervention, the system below.
 */
const temporaryPostgres = /^(?:08|28|3D|53|25|40|55|57|58)...$/;

/** Others wrote meanwhile: the transaction is rolled back, and run again it sees what they wrote. */
const conflicts: ReadonlySet<string> = new Set([
  '40001', // serialization failure
  '40P01', // deadlock
  '23505', // a unique value, taken since it was looked for
  '23503', // a row that is referred to, gone since
]);

/** A transaction that lost against others. Nothing of it is stored. */
export class TransactionConflict extends ServiceError {
  constructor(code: string) {
    super(503, 'too many are writing the same at once, try again', [], { cause: code });
  }
}

/** The database failed in a way the client can do nothing about. */
class DatabaseError extends Error {}

/** The error without SQL and values: a ServiceError 503 when the database cannot answer now. */
export function databaseError(error: unknown, isConnectionLost = false): Error {
  const code = codeOf(error);
  if (conflicts.has(code)) return new TransactionConflict(code);
  if (isConnectionLost || temporarySqlite.test(code) || temporaryPostgres.test(code)) return databaseAway(code);
  return new DatabaseError(`database error: ${code}`);
}

/** The server has become a standby: another one takes writes now, where a new connection may lead. */
export const isReadOnly = (error: unknown): boolean => codeOf(error) === '25006';

/** No connection could be had, for whatever reason. */
export const connectionError = (error: unknown): Error => databaseAway(codeOf(error));

/** An error at COMMIT. Unless the database says that it rolled back, nobody knows whether it stored the records. */
export function commitError(error: unknown, isConnectionLost: boolean): Error {
  const known = databaseError(error, isConnectionLost);
  if (known instanceof TransactionConflict || known instanceof DatabaseError) return known;
  return unavailable(
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
