/** Parses the arguments of the feed and of histories. A cursor is the number of a change. */
import type { Limits } from '../../../config.ts';
import { badRequest } from '../../../errors.ts';
import { expected } from '../../../model/issues.ts';
import type { ChangePageQuery } from '../../../store/log/change-pages.ts';
import type { HistoryQuery } from '../../../store/log/read-histories.ts';
import { refused } from '../argument.ts';
import { defaultPageSize, pageSize } from '../list/connection.ts';

interface PageArgs {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
}

export interface FeedArgs extends PageArgs {
  readonly kinds?: readonly string[] | null | undefined;
}

/** Digits of a cursor: no workspace has more changes. */
const cursor = /^\d{1,15}$/;

/** Returns the number of the change with this cursor. `name` is the argument's. Throws a ServiceError 400. */
export function parseChangeCursor(name: string, sent: string): number {
  if (cursor.test(sent)) return Number(sent);
  throw badRequest(`${name}: ${expected('a cursor of a change, such as "4711"', sent)}`);
}

/** Throws a ServiceError 400. */
export function parseFeed({ first, after, kinds }: FeedArgs, limits: Limits): Omit<ChangePageQuery, 'withBefore'> {
  if (kinds?.length === 0) throw refused(['kinds'], 'expected at least one value, received none');
  return {
    after: parseChangeCursor('after', after ?? '0'),
    limit: pageSize('first', first ?? defaultPageSize(limits), limits),
    // Each once, however many are sent.
    ...(kinds && { kinds: [...new Set(kinds)] }),
  };
}

/** Throws a ServiceError 400. */
export const parseHistory = ({ first, after }: PageArgs, limits: Limits): Omit<HistoryQuery, 'withBefore'> => ({
  limit: pageSize('first', first ?? defaultPageSize(limits), limits),
  before: after === null || after === undefined ? undefined : parseChangeCursor('after', after),
});
