/** No error contains the API key. */
import type { Problem } from './openapi.ts';

/**
 * An invalid field of a record: `{ index: 1, field: 'name', message: 'required: the name of the asset', code:
 * 'required' }`. `other` is the position of a second record in conflict, such as `[0]`; in an import, `list` names the
 * list.
 */
export type FailingItem = NonNullable<Problem['errors']>[number] & { list?: string };

export interface GraphqlErrorItem {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions?: Readonly<Record<string, unknown>>;
}

interface Outcome {
  readonly mayBeStored: boolean;
  readonly cause?: unknown;
}

/** The base class of all errors but TypeErrors for invalid arguments. */
export class YardgraphError extends Error {
  override readonly name: string = 'YardgraphError';
  /** The service may have stored the request or a part of it: check before you retry. */
  readonly mayBeStored: boolean;

  constructor(message: string, { mayBeStored, cause }: Outcome) {
    super(message, cause === undefined ? undefined : { cause });
    this.mayBeStored = mayBeStored;
  }

  /** Adds the message, which JSON.stringify omits, and leaves out the cause. */
  toJSON(): object {
    return { ...this, message: this.message };
  }
}

type ErrorDetails = Outcome &
  Pick<ServiceError, 'status' | 'requestId' | 'retryAfter'> & { readonly items?: ServiceError['items'] };

/** The service rejected the request with 400, 404, 409, 413, 503 or another error status. */
export class ServiceError extends YardgraphError {
  override readonly name: string = 'ServiceError';
  readonly status: number;
  /** Each invalid field of each invalid record; empty for an error of the whole request. */
  readonly items: readonly FailingItem[];
  /** Identifies the request in the service's log. */
  readonly requestId: string | undefined;
  /** Seconds to wait before a retry, if the service sent Retry-After. */
  readonly retryAfter: number | undefined;

  constructor(message: string, { status, items = [], requestId, retryAfter, ...outcome }: ErrorDetails) {
    super(message, outcome);
    this.status = status;
    this.items = items;
    this.requestId = requestId;
    this.retryAfter = retryAfter;
  }
}

/** The GraphQL response has errors, and possibly also data. */
export class GraphqlError extends ServiceError {
  override readonly name: string = 'GraphqlError';
  readonly errors: readonly GraphqlErrorItem[];
  readonly data: unknown;

  constructor(message: string, { errors, data, ...details }: ErrorDetails & Pick<GraphqlError, 'errors' | 'data'>) {
    super(message, details);
    this.errors = errors;
    this.data = data;
  }
}

/** The service could not be reached, or the connection was lost before the response was complete. */
export class ConnectionError extends YardgraphError {
  override readonly name: string = 'ConnectionError';
  /** The system's error code, such as ECONNREFUSED; browsers have none. */
  readonly code: string | undefined;

  constructor(code: string | undefined, outcome: Outcome) {
    super(`no response from the service: ${code ?? 'the connection failed'}`, outcome);
    this.code = code;
  }
}

export class TimeoutError extends YardgraphError {
  override readonly name: string = 'TimeoutError';

  constructor(timeout: number, outcome: Outcome) {
    super(`no response from the service within ${timeout} ms`, outcome);
  }
}

/** The response comes from a proxy, a login page or another service. */
export class UnexpectedResponseError extends YardgraphError {
  override readonly name: string = 'UnexpectedResponseError';
  readonly status: number;
  readonly retryAfter: number | undefined;

  constructor(received: string, { status, retryAfter, ...outcome }: Omit<ErrorDetails, 'items' | 'requestId'>) {
    super(`expected a response from Yardgraph, received ${received}`, outcome);
    this.status = status;
    this.retryAfter = retryAfter;
  }
}
