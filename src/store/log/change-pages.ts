/** Reads the feed of a workspace page by page. */
import { badRequest } from '../../errors.ts';
import { requireWhole } from '../query/rows.ts';
import { runQuery } from '../query/run-query.ts';
import type { Scope } from '../records/read-records.ts';
import { type Change, type ChangesQuery, createChangeReads } from './read-changes.ts';

export type ChangePageQuery = Omit<ChangesQuery, 'upTo'>;

export interface ChangePage {
  readonly changes: readonly Change[];
  /** The number after which the next page begins. All changes up to it are on this page or earlier ones, or of other kinds. */
  readonly end: number;
  readonly hasMore: boolean;
}

export interface ChangePageReads {
  /** May be empty although there is more: changes of some kinds may be far apart. Throws a ServiceError 400 if `after` is in the future. */
  changePage(query: ChangePageQuery): Promise<ChangePage>;
}

/** The most rows of the log that are read for a page of some kinds: the changes between them are read, too. */
const maxScanned = 100_000;

export function createChangePageReads(scope: Scope): ChangePageReads {
  const { dialect, run, workspaceId } = scope;
  const { changes } = createChangeReads(scope);

  async function extentAfter(after: number) {
    const [row] = await runQuery(
      run,
      dialect.builder.raw(
        `select number, (
          select number from changes where workspace_id = ? and number >= ? order by number limit 1
        ) as upto from change_numbers where workspace_id = ?`,
        [workspaceId, requireWhole(after + maxScanned), workspaceId],
      ),
    );
    const last = Number(row?.number ?? 0);
    return { last, upTo: Number(row?.upto ?? last) };
  }

  return {
    async changePage({ limit, ...query }) {
      const { after } = query;
      // Read first, so that the end of the page also passes numbers without a change, such as those of changes that an older version has
      // moved.
      const { last, upTo } = await extentAfter(after);
      if (after > last) throw beyondLast(after, last);
      const found = await changes({ ...query, upTo, limit: limit + 1 });
      const page = found.slice(0, limit);
      const end = found.length > limit ? page.at(-1)?.number : upTo;
      return { changes: page, end: Math.max(after, end ?? 0), hasMore: found.length > limit || upTo < last };
    },
  };
}

/** Otherwise the consumer would get nothing until there are as many changes again, and miss these. */
const beyondLast = (after: number, last: number) =>
  badRequest(
    `the cursor "${after}" is beyond the last change, which is "${last}"; after restoring a backup, consumers must start over`,
  );
