import { YardgraphError } from './errors.ts';
import type { Graphql } from './graphql.ts';
import {
  type ChangePage,
  changePageFields,
  type RecordKind,
  type RevertedChanges,
  revertedChangesFields,
} from './graphql-types.ts';
import { requireKnown, type WriteOptions } from './options.ts';
import { pause, reconnectDelay } from './retry.ts';

export interface ChangesOptions {
  /** The `endCursor` of the last processed page. Default: the first change. */
  readonly after?: string | undefined;
  readonly kinds?: readonly RecordKind[] | undefined;
  /** Changes per page. Default, and maximum: 1,000. */
  readonly pageSize?: number | undefined;
  /** Waits for further changes. Default: true. */
  readonly follow?: boolean | undefined;
  /** Milliseconds between requests. Default: 1,000. */
  readonly interval?: number | undefined;
  /** Called before each wait for an unreachable service. A permanent error, such as a revoked key, is thrown. */
  readonly onReconnect?: ((reconnect: Reconnect) => void) | undefined;
  /** Ends the iteration after the current request. */
  readonly signal?: AbortSignal | undefined;
}

export interface Reconnect {
  readonly error: YardgraphError;
  readonly failures: number;
  /** Milliseconds until the next attempt. */
  readonly delay: number;
}

export type Changes = (options?: ChangesOptions) => AsyncGenerator<ChangePage, void, undefined>;

export function changes(graphql: Graphql): Changes {
  const query = `query ($after: String, $first: Int, $kinds: [RecordKind!]) {
    changes(after: $after, first: $first, kinds: $kinds) { ${changePageFields} }
  }`;

  return ({ after, kinds, pageSize = 1_000, follow = true, interval = 1_000, onReconnect, signal } = {}) => {
    const read = async (cursor?: string) => (await graphql(query, { after: cursor, first: pageSize, kinds })).changes;
    return pages(read, { after, signal, onReconnect, interval: follow ? interval : undefined });
  };
}

export function changeCursor(graphql: Graphql): () => Promise<string> {
  return async () => (await graphql('{ changeCursor }')).changeCursor;
}

export function historyOf(
  graphql: Graphql,
): (id: string, options?: Pick<ChangesOptions, 'after' | 'pageSize'>) => AsyncGenerator<ChangePage, void, undefined> {
  const query = `query ($id: ID!, $after: String, $first: Int) {
    history(id: $id, after: $after, first: $first) { ${changePageFields} }
  }`;

  return (id, { after, pageSize = 100 } = {}) => {
    return pages(async (cursor) => (await graphql(query, { id, after: cursor, first: pageSize })).history, { after });
  };
}

type FollowOptions = Pick<ChangesOptions, 'after' | 'signal' | 'onReconnect' | 'interval'>;

/** With an interval, waits for changes and for an unavailable service. Without it, both end the iteration. */
async function* pages(
  read: (after: string | undefined) => Promise<ChangePage>,
  { after, signal, onReconnect, interval }: FollowOptions,
): AsyncGenerator<ChangePage, void, undefined> {
  let cursor = after;
  let failures = 0;
  while (!signal?.aborted) {
    const page = await read(cursor).catch(async (error: unknown) => {
      if (interval === undefined || !(error instanceof YardgraphError)) throw error;
      const delay = reconnectDelay(error, failures);
      if (delay === undefined) throw error;
      failures += 1;
      onReconnect?.({ error, failures, delay });
      await pause(delay, signal);
    });
    if (!page) continue;
    failures = 0;
    cursor = page.endCursor;
    if (page.nodes.length > 0) yield page;
    if (page.hasMore) continue;
    if (interval === undefined) return;
    await pause(interval, signal);
  }
}

/** The changes after the cursor `after`, up to and including the cursor `upTo`. */
export interface ChangeRange {
  readonly after: string;
  readonly upTo: string;
  readonly message?: string | undefined;
}

export interface RevertOptions extends WriteOptions {
  /** Returns the counts, but reverses nothing. */
  readonly dryRun?: boolean | undefined;
}

export type RevertChanges = (range: ChangeRange, options?: RevertOptions) => Promise<RevertedChanges>;

const revertDocument = `mutation ($after: String!, $upTo: String!, $message: String, $dryRun: Boolean!) {
  revertChanges(after: $after, upTo: $upTo, message: $message, dryRun: $dryRun) { ${revertedChangesFields} }
}`;

export const revertChanges =
  (graphql: Graphql): RevertChanges =>
  async ({ after, upTo, message, ...misnamed }, { dryRun = false, ...options } = {}) => {
    requireKnown('revertChanges', { ...misnamed, ...options });
    return (await graphql(revertDocument, { after, upTo, message, dryRun }, options)).revertChanges;
  };
