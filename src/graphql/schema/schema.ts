/** The subscription, which follows the feed, and the schema as a whole. Holds nothing between two pages, and no data of a request. */
import { setTimeout as pause } from 'node:timers/promises';
import { assertValidSchema } from 'graphql';
import type { ChangePage } from '../../store/log/read-changes.ts';
import type { FeedQuery, SubscriptionContext } from '../execution/context.ts';
import type { FieldExtensions } from '../limits.ts';
import { builder } from './builder.ts';
import { changePageType, type FeedArgs, parseChangeCursor, parseFeed, recordKindType } from './changes.ts';
import { pageCost } from './connection.ts';
import './object-types.ts';
import './query.ts';
import './mutation.ts';

/** In milliseconds. */
const emptyPagePause = 1_000;

builder.subscriptionType({
  description: 'Events, sent as server-sent events to clients that accept `text/event-stream`.',
  fields: (t) => ({
    changes: t.field({
      type: changePageType,
      description:
        'The changes of the workspace as they are made, in the same order and with the same cursors as the query `changes`, 1 to 50 in each event. After a disconnect, pass the last `endCursor` as `after`, or send it as `Last-Event-ID`, as browsers do.',
      extensions: { cost: pageCost } satisfies FieldExtensions,
      args: {
        after: t.arg.string({
          description: 'Only changes after the one with this cursor; unless set, only changes made from now on.',
        }),
        kinds: t.arg({ type: [recordKindType], description: 'Only changes of records of these kinds.' }),
      },
      // Pothos knows one type of context; the one here is made in subscription.ts.
      subscribe: (_root, args, context: unknown) => follow(args, context as SubscriptionContext),
      resolve: (page: ChangePage) => page,
    }),
  }),
});

/** Follows the feed. A browser's header overrides the argument, which stays the same. Throws a ServiceError 400. */
async function follow(args: FeedArgs, context: SubscriptionContext): Promise<AsyncIterable<ChangePage>> {
  const { lastEventId } = context.stream;
  const query = parseFeed(args, context.limits);
  if (lastEventId !== undefined) {
    return pagesAfter({ ...query, after: parseChangeCursor('Last-Event-ID', lastEventId) }, context);
  }
  const isFromNow = args.after === null || args.after === undefined;
  return pagesAfter(isFromNow ? { ...query, after: await context.session.store.lastChange() } : query, context);
}

async function* pagesAfter(query: FeedQuery, { session, stream }: SubscriptionContext): AsyncGenerator<ChangePage> {
  const { readPage, signal } = stream;
  let { after } = query;
  let hasWaited = false;
  while (!signal.aborted) {
    const page = await readPage({ ...query, after });
    if (!page) return;
    // A change was announced that cannot be read, for example because an older copy of the database was restored.
    if (hasWaited && page.end === after) await pause(emptyPagePause, undefined, { signal }).catch(() => undefined);
    after = page.end;
    if (page.changes.length > 0) yield page;
    hasWaited = !page.hasMore;
    if (hasWaited) await session.store.waitForChange(after, signal);
  }
}

/** The schema of the process; schema.graphql in the root folder is printed from it. */
export const schema = builder.toSchema();

assertValidSchema(schema);
