/** Clients see ServiceErrors only; a StartError is for operators. */
import { type DescribedIssue, formatCount, formatIssue, type IssueCode, type ValidationIssue } from './model/issues.ts';
import { describeIssue } from './model/sentences.ts';

type ErrorStatus = 400 | 401 | 403 | 404 | 405 | 406 | 409 | 410 | 413 | 415 | 429 | 503;

export class ServiceError extends Error {
  readonly status: ErrorStatus;
  /** The problem type (RFC 9457), if the status alone does not tell a client how to react. */
  readonly type: string | undefined;
  /** Empty for an error of the whole request. */
  readonly issues: readonly DescribedIssue[];
  /** The reason in the log, unless the status tells it. A constant, without text of a client. */
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

  prefixed(argument: string): ServiceError {
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

/** A retry may succeed. The cause is for the log. */
export const unavailable = (message: string, cause: string, type?: string) =>
  new ServiceError(503, message, [], { cause, type });

/** The disk of the database is full: nothing is stored until an operator frees space. */
export const diskFullType = 'urn:yardgraph:disk-full';

/** After a 503 of this type only, a client must check before it retries. */
export const mayBeStoredType = 'urn:yardgraph:may-be-stored';

/** The outcome of the commit is unknown. SQLite has no connection that could be lost. */
export function mayBeStored(advice: string, cause: string): ServiceError {
  const problem = cause.startsWith('SQLITE_')
    ? 'the outcome of the commit is unknown'
    : 'connection lost during commit';
  return new ServiceError(503, `${problem}: ${advice}`, [], {
    cause,
    type: mayBeStoredType,
    reason: 'lost during commit',
  });
}

export const idempotencyKeyReused = () =>
  new ServiceError(409, 'this Idempotency-Key was sent with another request: a new request needs a new key', [], {
    type: 'urn:yardgraph:idempotency-key-reused',
    reason: 'idempotency key reused',
  });

/** `horizon` is the number of the last deleted change. */
export const logPruned = (horizon: number, at: unknown) =>
  new ServiceError(410, `the log begins after the change "${horizon}", of ${at}: earlier ones were deleted`, [], {
    type: 'urn:yardgraph:log-pruned',
    reason: 'deleted from the log',
  });

export class ResponseTooLarge extends ServiceError {
  constructor(maxLength: number) {
    const most = `more than ${formatCount(maxLength)} characters of text`;
    super(413, `the response would hold ${most}: request fewer records or fields at a time`, [], {
      reason: 'response too large',
    });
  }
}

/** Codes of valid input that conflicts with stored records. */
const conflicts: ReadonlySet<unknown> = new Set<IssueCode>([
  'taken',
  'changed',
  'referenced',
  'still-referenced',
  'clash',
]);

/**
 * Input that breaks a rule of the interface: 400, or 409 if all issues are conflicts. `listed` may replace several
 * issues of `all` by one, such as "and 12 more".
 */
export function invalid(listed: readonly ValidationIssue[], all = listed): ServiceError {
  const issues = listed.map(describeIssue);
  const named = issues.slice(0, 10).map(formatIssue);
  const more = all.length > named.length ? [`and ${all.length - named.length} more`] : [];
  const status = all.every(({ code }) => conflicts.has(code)) ? 409 : 400;
  return new ServiceError(status, [...named, ...more].join('; '), issues);
}

export const errorCode = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : '';

/** A command cannot run or continue. Operators see a line per problem, without a stack. */
export class StartError extends Error {}

/** A command stopped partway, and resumes at the next run. */
export class Interrupted extends Error {}
