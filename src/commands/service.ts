import {
  ConnectionError,
  type Options,
  ServiceError,
  TimeoutError,
  Yardgraph,
  YardgraphError,
} from '../../client/index.ts';
import { errorCode, Interrupted, StartError } from '../errors.ts';

/** Shorter than the service allows: commands add to it. */
const maxMessageLength = 450;

export function connect(options: Options): Yardgraph {
  if ((options.changeMessage?.length ?? 0) > maxMessageLength) {
    throw new StartError(`--message: expected at most ${maxMessageLength} characters`);
  }
  try {
    return new Yardgraph(options);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new StartError(error.message.replace('Yardgraph: ', ''));
  }
}

export function messageOf(error: Error, url: string): string {
  if (error instanceof ServiceError && error.status === 401) return `${error.message} (YARDGRAPH_API_KEY)`;
  const isUnreachable = error instanceof ConnectionError || error instanceof TimeoutError;
  // The URL may contain a password.
  return isUnreachable ? `${error.message} (${new URL(url).origin})` : error.message;
}

/** Errors of the service, the connection and the file system, such as a full disk. */
export const isExpected = (error: unknown): error is Error =>
  error instanceof Interrupted || error instanceof YardgraphError || /^(?:E[A-Z]+|SQLITE_\w+)$/.test(errorCode(error));
