/** The context that the resolvers share. Created for each request and each event, so that users share nothing. */
import type { Limits } from '../../config.ts';
import type { RequestLog } from '../../http/error-response.ts';
import type { Session } from '../../services/write.ts';
import type { ChangePage, ChangePageQuery } from '../../store/log/read-changes.ts';
import type { ItemParsers } from './item-parsers.ts';
import type { Loaders } from './loaders.ts';

export interface Context {
  readonly session: Session;
  /** Returns the session of the mutation with this response name. Throws a ServiceError 400 for an invalid key. */
  readonly sessionFor: (responseName: string) => Session;
  readonly loaders: Loaders;
  readonly limits: Limits;
  readonly parsers: ItemParsers;
  /** Counts a text of this length as held by the response until it is closed. Throws a ServiceError 503 before the first if too much is held. */
  readonly holdText: (length: number) => void;
  readonly requestLog: RequestLog;
}

/** The context of a subscription's resolver. It has no loaders: each event is executed later, with its own context. */
export interface SubscriptionContext extends Omit<Context, 'loaders' | 'holdText'> {
  readonly stream: Stream;
}

interface Stream {
  /** The ID of the last event that a browser received before it reconnected. */
  readonly lastEventId: string | undefined;
  /** Reads what the document selects of a page, once the database is available; undefined when the subscription has ended. */
  readonly readPage: (query: FeedQuery) => Promise<ChangePage | undefined>;
  readonly signal: AbortSignal;
}

export type FeedQuery = Omit<ChangePageQuery, 'withBefore'>;
