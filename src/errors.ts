/** Errors a client may see. Everything else is logged and answered as an internal error without detail. */
import { formatIssue, type Issue } from './model/issues.ts';

/** An HTTP status that is the client's to act on (interface: "Errors"; the statuses beyond 400 are decisions). */
type ErrorStatus = 400 | 401 | 403 | 404 | 405 | 406 | 409 | 413 | 415 | 429 | 503;

export class ServiceError extends Error {
  readonly status: ErrorStatus;
  /** What the status does not tell a client that decides by itself: the `type` of RFC 9457. */
  readonly type: string | undefined;
  /** What is wrong where, in a batch; empty when the request as a whole is at fault. */
  readonly issues: readonly Issue[];

  constructor(
    status: ErrorStatus,
    message: string,
    issues: readonly Issue[] = [],
    { type, ...options }: ErrorOptions & { type?: string } = {},
  ) {
    super(message, options);
    this.name = 'ServiceError';
    this.status = status;
    this.type = type;
    this.issues = issues;
  }
}

export const badRequest = (message: string) => new ServiceError(400, message);

export const unauthorized = (message: string) => new ServiceError(401, message);

export const forbidden = (message: string) => new ServiceError(403, message);

export const notFound = (message: string) => new ServiceError(404, message);

export const tooLarge = (message: string) => new ServiceError(413, message);

export const tooManyRequests = (message: string) => new ServiceError(429, message);

/** The database is away, busy or full: the same request may succeed later. The cause is for the log. */
export const unavailable = (message: string, cause: string) => new ServiceError(503, message, [], { cause });

/** The only 503 that must not be answered by sending the same again: a client that repeats knows it by this type. */
export const mayBeStored = (message: string, cause: string) =>
  new ServiceError(503, message, [], { cause, type: 'urn:yardgraph:may-be-stored' });

/** What was asked for holds too much text for one response: nothing of it is sent. */
export class ResponseTooLarge extends ServiceError {
  constructor(maxLength: number) {
    super(413, `the response would hold more than ${maxLength} characters of text: ask for less at a time`);
  }
}

/** Input that breaks the interface's rules; `total` where issues stand for several. */
export const invalid = (issues: readonly Issue[], total = issues.length) =>
  new ServiceError(400, summary(issues, total), issues);

/** Input that is well-formed but contradicts what is stored. */
export const conflict = (issues: readonly Issue[]) => new ServiceError(409, summary(issues, issues.length), issues);

/** Up to ten issues in words, the rest counted: `[0].name: required; [7].acquiredAt: not a date, received "soon"; and 3 more`. */
function summary(issues: readonly Issue[], total: number): string {
  const named = issues.slice(0, 10).map(formatIssue);
  const unnamed = total - named.length;
  return [...named, ...(unnamed > 0 ? [`and ${unnamed} more`] : [])].join('; ');
}

/** Why the service cannot start, in one line for the person who started it. */
export class StartError extends Error {}
