/** The subscription that follows the feed. Reads each page anew, and holds nothing between two of them. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Limits } from '../../config.ts';
import { ServiceError } from '../../errors.ts';
import type { ChangePage, ChangePageQuery } from '../../store/change-pages.ts';
import type { Context } from '../execution/context.ts';
import type { FieldExtensions } from '../plan/extensions.ts';
import type { Builder } from './builder.ts';
import { type FeedArgs, parseChangeCursor, parseFeed } from './change-page.ts';
import { connectionCost, defaultPageSize } from './connection.ts';
import type { ObjectTypes } from './object-type.ts';

/** Milliseconds until a page is read again after the database was unavailable. */
const retryDelay = 1_000;

export function defineSubscription(builder: Builder, { changes }: ObjectTypes, limits: Limits): void {
  builder.subscriptionType({
    description: 'Events, sent as server-sent events.',
    fields: (t) => ({
      changes: t.field({
        type: changes.page,
        description: `The changes of the workspace as they are made, in the same order and with the same cursors as the query \`changes\`: each event has at least one, and at most ${defaultPageSize(limits)}. After a disconnect, pass the last \`endCursor\` as \`after\`, or send it as \`Last-Event-ID\`, as browsers do.`,
        extensions: { cost: connectionCost(limits) } satisfies FieldExtensions,
        args: {
          after: t.arg.string({
            description: 'Only changes after the one with this cursor; those that are made from now on unless set.',
          }),
          kinds: t.arg({ type: [changes.kind], description: 'Only changes of records of these kinds.' }),
        },
        subscribe: (_root, args, context) => follow(args, context, limits),
        resolve: (page: ChangePage) => page,
      }),
    }),
  });
}

type FeedQuery = Omit<ChangePageQuery, 'withBefore'>;

/** The header that browsers send when they connect again wins over the argument, which stays the same. Throws a ServiceError 400. */
async function follow(args: FeedArgs, context: Context, limits: Limits): Promise<AsyncIterable<ChangePage>> {
  const { lastEventId } = context.stream;
  const query = parseFeed(args, limits);
  const isFromNow = args.after === null || args.after === undefined;
  if (lastEventId !== undefined)
    return pagesAfter({ ...query, after: parseChangeCursor('Last-Event-ID', lastEventId) }, context);
  if (!isFromNow) return pagesAfter(query, context);
  return pagesAfter({ ...query, after: await context.session.store.lastChange() }, context);
}

async function* pagesAfter(query: FeedQuery, { session, stream, openLoaders }: Context): AsyncGenerator<ChangePage> {
  const { signal } = stream;
  let { after } = query;
  while (!signal.aborted) {
    // With new loaders, because a request may only read a limited amount of text.
    const page = await retrying(() => openLoaders().changePage({ ...query, after }), signal);
    if (!page) return;
    after = page.end;
    if (page.changes.length > 0) yield page;
    if (!page.hasMore) await session.store.waitForChange(after, signal);
  }
}

/** Reads while the database is unavailable again and again. Undefined if the signal was aborted meanwhile. */
async function retrying<T>(read: () => Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  while (!signal.aborted) {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof ServiceError && error.status === 503)) throw error;
      await pause(retryDelay, undefined, { signal }).catch(() => undefined);
    }
  }
  return undefined;
}
