/**
 * Reads the pages of reverse links for one request: one statement for all parents, then what their records link to.
 * Reads only what the document selects.
 */
import type DataLoader from 'dataloader';
import type { FieldNode } from 'graphql';
import type { RecordKind } from '../../model/record-kind.ts';
import type { ReverseLink } from '../../model/reverse-link.ts';
import type { PagesQuery, RecordQuery } from '../../store/query/record-query.ts';
import type { Page } from '../../store/records/read-records.ts';
import type { LimitedReads } from '../../store/workspace-store.ts';
import type { Selection } from '../plan/document-plan.ts';
import { createBatchLoader } from './batch-loader.ts';

/** The query of a connection; its order determines the fields that cursors need. */
export type PageQuery = Required<Pick<RecordQuery, 'where' | 'orderBy' | 'fromEnd' | 'after' | 'before' | 'limit'>>;

/** Reads the page of one parent. The pages of a field that are requested in the same step are read by one statement. */
type ReadPage = (
  link: ReverseLink,
  parentId: string,
  query: PageQuery,
  connectionFields: readonly FieldNode[],
) => Promise<Page>;

interface Reading {
  readonly store: Pick<LimitedReads, 'pages'>;
  /** Identifies a field, which has one query. */
  keyOf(fieldNodes: readonly FieldNode[]): string;
  /** Returns the selections of the fields. */
  selectionsOf(nodes: readonly FieldNode[]): readonly Selection[];
  fieldsOfPage(kind: RecordKind, query: PageQuery): ReadonlySet<string>;
  /** Loads what the records of pages link to. */
  followPage(records: readonly object[], connectionFields: readonly FieldNode[]): Promise<void>;
}

export function createPageLoaders({ store, keyOf, selectionsOf, fieldsOfPage, followPage }: Reading) {
  const loaders = new Map<string, DataLoader<string, Page>>();

  function createPageLoader(link: ReverseLink, query: PageQuery, connectionFields: readonly FieldNode[]) {
    const selections = selectionsOf(connectionFields);
    const { limit, ...others } = query;
    const pagesQuery: PagesQuery = {
      ...others,
      ...(selections.some(({ readsPage }) => readsPage) && { limit }),
      withCount: selections.some(({ readsCount }) => readsCount),
      fields: fieldsOfPage(link.kind, query),
    };
    return createBatchLoader(async (parentIds: readonly string[]) => {
      const pages = await store.pages(link, parentIds, pagesQuery);
      // All at once: pages that had to wait would be one step behind the others, and take statements of their own.
      await followPage(
        [...pages.values()].flatMap(({ records }) => records),
        connectionFields,
      );
      return parentIds.map((id) => {
        const page = pages.get(id);
        if (!page) throw new Error('the store has left out a parent');
        return page;
      });
    });
  }

  const readPage: ReadPage = (link, parentId, query, connectionFields) => {
    const key = keyOf(connectionFields);
    const loader = loaders.get(key) ?? createPageLoader(link, query, connectionFields);
    loaders.set(key, loader);
    return loader.load(parentId);
  };

  return { readPage, clear: () => loaders.clear() };
}
