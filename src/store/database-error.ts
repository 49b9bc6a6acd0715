/**
 * What may leave the store when a statement fails. Knex puts the SQL and its values into the message: neither may reach
 * an answer or a log.
 */
import { ServiceError, unavailable } from '../errors.ts';

/** Another process holds the lock, the disk is full or away, the pool is exhausted: worth another try later. */
const temporary = new Set([
  'SQLITE_BUSY',
  'SQLITE_CANTOPEN',
  'SQLITE_FULL',
  'SQLITE_IOERR',
  'SQLITE_LOCKED',
  'SQLITE_READONLY',
  'KnexTimeoutError',
]);

/** The database failed in a way the client can do nothing about. */
class DatabaseError extends Error {}

/** Runs a statement. Throws a ServiceError 503 when the database cannot answer now, otherwise an error with its code only. */
export async function statement<T>(query: PromiseLike<T>): Promise<T> {
  try {
    return await query;
  } catch (error) {
    throw databaseError(error);
  }
}

/** The error without SQL and values. Errors of services, raised inside a transaction, stay what they are. */
function databaseError(error: unknown): Error {
  if (error instanceof ServiceError || error instanceof DatabaseError) return error;
  const code = codeOf(error);
  if (code !== undefined && temporary.has(code)) {
    return unavailable('the database is not available, try again', code);
  }
  return new DatabaseError(`database error: ${code ?? 'unknown'}`);
}

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error.name === 'KnexTimeoutError') return error.name;
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
