/** What can go wrong between a caller and the service: a class for each thing that a caller would do something else about. */
import type { Problem } from './openapi.ts';

/** What is wrong where: `{ index: 1, field: 'name', message: 'required' }`. */
export type FailingItem = NonNullable<Problem['errors']>[number];

export interface GraphqlErrorItem {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions?: Readonly<Record<string, unknown>>;
}

interface Outcome {
  readonly mayBeStored: boolean;
  readonly cause?: unknown;
}

/** Every error of the client, wrong arguments apart. */
export class YardgraphError extends Error {
  override readonly name: string = 'YardgraphError';
  /** The service may have stored what was sent, or a part of it: look before you send it again. False for what only reads. */
  readonly mayBeStored: boolean;

  constructor(message: string, { mayBeStored, cause }: Outcome) {
    super(message, cause === undefined ? undefined : { cause });
    this.mayBeStored = mayBeStored;
  }

  /** JSON has the message too, which an Error keeps to itself, and never the cause. */
  toJSON(): object {
    return { ...this, message: this.message };
  }
}

interface Refusal extends Outcome {
  readonly status: number;
  readonly items?: readonly FailingItem[];
  readonly requestId: string | undefined;
  readonly retryAfter: number | undefined;
}

/** The service refused: 400, 404, 409, 413, 503 and so on, with everything that is wrong. */
export class ServiceError extends YardgraphError {
  override readonly name: string = 'ServiceError';
  readonly status: number;
  /** Each failing field of each failing record; empty when the request as a whole is at fault. */
  readonly items: readonly FailingItem[];
  /** The service's log has more under this id. */
  readonly requestId: string | undefined;
  /** Seconds that the service asks to wait. */
  readonly retryAfter: number | undefined;

  constructor(message: string, { status, items = [], requestId, retryAfter, ...outcome }: Refusal) {
    super(message, outcome);
    this.status = status;
    this.items = items;
    this.requestId = requestId;
    this.retryAfter = retryAfter;
  }
}

/** GraphQL answered with errors, and perhaps with data beside them. */
export class GraphqlError extends ServiceError {
  override readonly name: string = 'GraphqlError';
  readonly errors: readonly GraphqlErrorItem[];
  readonly data: unknown;

  constructor(errors: readonly GraphqlErrorItem[], data: unknown, refusal: Refusal) {
    super(errors.map(({ message }) => message).join('; '), refusal);
    this.errors = errors;
    this.data = data;
  }
}

/** The service could not be reached, or the connection broke before all of the answer was there. */
export class ConnectionError extends YardgraphError {
  override readonly name: string = 'ConnectionError';
  /** The system's word for it, such as ECONNREFUSED; browsers do not tell. */
  readonly code: string | undefined;

  constructor(code: string | undefined, outcome: Outcome) {
    super(`no answer from the service: ${code ?? 'the connection failed'}`, outcome);
    this.code = code;
  }
}

/** The answer was not there in time. */
export class TimeoutError extends YardgraphError {
  override readonly name: string = 'TimeoutError';

  constructor(timeout: number, outcome: Outcome) {
    super(`no answer from the service within ${timeout} ms`, outcome);
  }
}

/** Something answered, but not this service: a proxy, a login page, another service. */
export class UnexpectedAnswerError extends YardgraphError {
  override readonly name: string = 'UnexpectedAnswerError';
  readonly status: number;
  readonly retryAfter: number | undefined;

  constructor(received: string, { status, retryAfter, ...outcome }: Omit<Refusal, 'items' | 'requestId'>) {
    super(`expected an answer of Yardgraph, received ${received}`, outcome);
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

/** A batch that was sent in parts is stored up to the part that failed; the `cause` says why. */
export class PartialBatchError<T = unknown> extends YardgraphError {
  override readonly name: string = 'PartialBatchError';
  /** The records of the parts before, in the order sent: what is left to send starts at `created.length`. */
  readonly created: readonly T[];
  /** As in the cause, with positions in the whole batch. */
  readonly items: readonly FailingItem[];

  constructor(created: readonly T[], size: number, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(
      `created the first ${created.length} of ${size} records; the part that starts at [${created.length}] failed: ${reason}`,
      { mayBeStored: cause instanceof YardgraphError && cause.mayBeStored, cause },
    );
    const items = cause instanceof ServiceError ? cause.items : [];
    this.created = created;
    this.items = items.map((item) =>
      item.index === undefined ? item : { ...item, index: item.index + created.length },
    );
  }
}
