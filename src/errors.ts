/** Errors whose messages are meant for people: ServiceError for clients, StartError for operators. All others are masked. */
import { count, type DescribedIssue, type FoundIssue, formatIssue, type IssueCode } from './model/issues.ts';
import { described } from './model/sentences.ts';

/** HTTP statuses on which a client can act (docs/interface.md). */
type ErrorStatus = 400 | 401 | 403 | 404 | 405 | 406 | 409 | 413 | 415 | 429 | 503;

export class ServiceError extends Error {
  readonly status: ErrorStatus;
  /** The problem type of RFC 9457, if the status alone does not say how to react. */
  readonly type: string | undefined;
  /** The issues of the input; empty if the error is about the request as a whole. */
  readonly issues: readonly DescribedIssue[];
  /** The reason for the log, if the status alone does not say it. A constant: nothing that a client sent. */
  readonly reason: string | undefined;

  constructor(
    status: ErrorStatus,
    message: string,
    issues: readonly DescribedIssue[] = [],
    { type, reason, ...options }: ErrorOptions & { type?: string | undefined; reason?: string | undefined } = {},
  ) {
    super(message, options);
    this.name = 'ServiceError';
    this.status = status;
    this.type = type;
    this.issues = issues;
    this.reason = reason;
  }

  /** Returns the error with issues whose paths begin with the name of an argument; itself if it has no issues. */
  within(argument: string): ServiceError {
    if (this.issues.length === 0) return this;
    const { status, message, type, reason, cause } = this;
    const issues = this.issues.map((issue) => {
      const { path, other } = issue;
      return { ...issue, path: [argument, ...path], other: other && [argument, ...other] };
    });
    return new ServiceError(status, message, issues, { type, reason, cause });
  }
}

const withStatus =
  (status: ErrorStatus) =>
  (message: string, reason?: string): ServiceError =>
    new ServiceError(status, message, [], { reason });

export const badRequest = withStatus(400);

export const unauthorized = withStatus(401);

export const forbidden = withStatus(403);

export const notFound = withStatus(404);

export const tooLarge = withStatus(413);

export const tooManyRequests = withStatus(429);

/** Something the service needs is unavailable, usually the database: a retry may succeed. The cause is for the log. */
export const unavailable = (message: string, cause: string, type?: string) =>
  new ServiceError(503, message, [], { cause, type });

/** The type of the 503 while the database's disk is full: nothing is stored until an operator frees space. */
export const diskFullType = 'urn:yardgraph:disk-full';

/** The type of the only 503 after which a client must check before it retries. */
export const mayBeStoredType = 'urn:yardgraph:may-be-stored';

/**
 * Returns the error after which nobody knows whether the records are stored. The cause is the database's code: SQLite has no
 * connection that could be lost.
 */
export function mayBeStored(advice: string, cause: string): ServiceError {
  const what = cause.startsWith('SQLITE_') ? 'the outcome of the commit is unknown' : 'connection lost during commit';
  return new ServiceError(503, `${what}: ${advice}`, [], {
    cause,
    type: mayBeStoredType,
    reason: 'lost during commit',
  });
}

/** Returns the error for a key that was used for another request, the only 409 that is not about a value. */
export const idempotencyKeyReused = () =>
  new ServiceError(409, 'this Idempotency-Key was sent with another request: a new request needs a new key', [], {
    type: 'urn:yardgraph:idempotency-key-reused',
    reason: 'idempotency key reused',
  });

/** The requested records hold too much text for one response: none of it is sent. */
export class ResponseTooLarge extends ServiceError {
  constructor(maxLength: number) {
    const most = `more than ${count(maxLength)} characters of text`;
    super(413, `the response would hold ${most}: request fewer records or fields at a time`, [], {
      reason: 'response too large',
    });
  }
}

/** The codes of valid input that the stored records do not allow. */
const conflicts: ReadonlySet<unknown> = new Set<IssueCode>(['taken', 'changed', 'referenced', 'still-referenced']);

/** Input that breaks the interface's rules: 400, or 409 if all issues are conflicts. An issue such as "and 12 more" may list several of them. */
export function invalid(listed: readonly FoundIssue[], all = listed): ServiceError {
  const issues = listed.map(described);
  const named = issues.slice(0, 10).map(formatIssue);
  const more = all.length > named.length ? [`and ${all.length - named.length} more`] : [];
  const status = all.every(({ code }) => conflicts.has(code)) ? 409 : 400;
  return new ServiceError(status, [...named, ...more].join('; '), issues);
}

export const errorCode = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : '';

/** Thrown when a command cannot run or go on: one line per problem, shown to the operator without a stack. */
export class StartError extends Error {}

/** Thrown when a command stops partway, and goes on when it is run again. */
export class Interrupted extends Error {}
