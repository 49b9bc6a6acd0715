/**
 * Reads records for one request: all IDs requested in the same step become one statement per kind, and all pages of a reverse
 * link one statement, with the columns that the document selects. Reads through the session's store, and so never sees another
 * workspace.
 */
import DataLoader from 'dataloader';
import type { FieldNode } from 'graphql';
import type { RecordKind, RecordOf } from '../../model/record-kind.ts';
import type { ReverseLink } from '../../model/reverse-link.ts';
import { kindNamed, kindOfId } from '../../records/index.ts';
import type { Condition } from '../../store/condition.ts';
import { type LinkToRead, linkedRecord } from '../../store/linked-records.ts';
import type { PagesQuery, RecordQuery, Summary, SummaryQuery } from '../../store/query/record-query.ts';
import type { LimitedReads } from '../../store/workspace-store.ts';
import type { DocumentPlan, Link, Selection } from '../plan/document-plan.ts';

/** Records have the fields that the document selects, and their ID. */
export interface Loaders {
  /** The record, or null if there is none: the ID is unknown, foreign, or of another kind. A promise unless it is loaded. */
  load<K extends RecordKind>(kind: K, id: string): RecordOf<K> | null | Promise<RecordOf<K> | null>;
  list<K extends RecordKind>(kind: K, query: RecordQuery): Promise<RecordOf<K>[]>;
  /** What a record links to, or null if there is none; a promise unless it is loaded. */
  linked(record: Readonly<Record<string, unknown>>, field: string, kind: RecordKind): unknown;
  /** The records of a connection's page, and all that they link to: the resolvers of the links need not wait. */
  page<K extends RecordKind>(kind: K, query: PageQuery, connectionFields: readonly FieldNode[]): Promise<RecordOf<K>[]>;
  /**
   * The same for the records that refer to a parent, and their number; what the document does not select is not read. All parents
   * for which the same query object is passed in a step are one statement.
   */
  pageOf(
    link: ReverseLink,
    parentId: string,
    query: PageQuery,
    connectionFields: readonly FieldNode[],
  ): Promise<PageOf>;
  /** Loads what the items of a list link to, level by level. */
  follow(items: readonly object[], listFields: readonly FieldNode[]): Promise<void>;
  /** The number of records of a kind that match, counted once if no condition is set. */
  count(kind: RecordKind, where?: Condition): Promise<number>;
  summarize(kind: RecordKind, query: SummaryQuery): Promise<Summary>;
  /** Discards everything loaded, which may be stale after a write. */
  clear(): void;
  /** Discards everything loaded and starts a new read budget, for an operation that is executed again. */
  reset(): void;
}

/** What to read of a connection; its order determines what its cursors need. */
export type PageQuery = Required<Pick<RecordQuery, 'where' | 'orderBy' | 'fromEnd' | 'after' | 'before' | 'limit'>>;

/** A page of what refers to one parent. */
export interface PageOf {
  readonly records: readonly RecordOf<RecordKind>[];
  readonly count?: number;
}

/** The records of one kind. */
interface Cache {
  /** By ID; null if there is none. */
  readonly records: Map<string, object | null>;
  /** Adds the records with these IDs. */
  readonly loader: DataLoader<readonly string[], unknown>;
}

/** The links of one field, which fragments and aliases may select several times. */
type LinksOfField = [Link, ...Link[]];
type LinksByField = ReadonlyMap<string, LinksOfField>;

/** The most links that are read with a page: with more, rows become long, and planning the statement takes longer than running it. */
const maxJoined = 8;

/** Shared by all documents, because the store caches what it derives from a set of fields. */
const idOnly: ReadonlySet<string> = new Set(['id']);

export function createLoaders(openStore: () => LimitedReads, plan: DocumentPlan): Loaders {
  let store = openStore();
  const caches = new Map<RecordKind, Cache>();
  const counts = new Map<RecordKind, Promise<number>>();
  const pageLoaders = new Map<PageQuery, DataLoader<string, PageOf>>();
  const fieldsOf = ({ name }: RecordKind) => plan.storedFields.get(name) ?? idOnly;

  /** With those of the order, whose values are in the cursors. */
  function fieldsOfPage(kind: RecordKind, { orderBy }: PageQuery): ReadonlySet<string> {
    const fields = fieldsOf(kind);
    return orderBy.every(({ field }) => fields.has(field))
      ? fields
      : new Set([...fields, ...orderBy.map(({ field }) => field)]);
  }

  /** Links whose records are read together with those that have them. */
  const linksToRead = (kind: RecordKind, linksByField: LinksByField): LinkToRead[] =>
    [...linksByField].map(([field, links]) => {
      const target = kindNamed(links[0].target);
      const fields = plan.linkedFields.get(`${kind.name}.${field}`) ?? idOnly;
      return {
        field,
        kind: target,
        fields,
        links: linksToRead(target, linksIn(links.map(({ selection }) => selection))),
      };
    });

  const selectionsOf = (nodes: readonly FieldNode[]) => nodes.flatMap((node) => plan.listSelections.get(node) ?? []);

  const followPage = (records: readonly object[], connectionFields: readonly FieldNode[]) =>
    followLinks(records, linksIn(recordsIn(selectionsOf(connectionFields))));

  function createPageLoader(link: ReverseLink, query: PageQuery, connectionFields: readonly FieldNode[]) {
    const selections = selectionsOf(connectionFields);
    const { limit, ...others } = query;
    const pagesQuery: PagesQuery = {
      ...others,
      ...(selections.some(({ readsPage }) => readsPage) && { limit }),
      withCount: selections.some(({ readsCount }) => readsCount),
      fields: fieldsOfPage(link.kind, query),
    };
    return new DataLoader<string, PageOf>(async (parentIds) => {
      const pages = await store.pages(link, parentIds, pagesQuery);
      // All at once: pages that had to wait would be one step behind those that had not, and take statements of their own.
      await followPage(
        [...pages.values()].flatMap(({ records }) => records),
        connectionFields,
      );
      return parentIds.map((id) => pages.get(id) ?? { records: [], count: 0 });
    });
  }

  function cacheOf(kind: RecordKind): Cache {
    const cache = caches.get(kind) ?? createCache(store, kind, fieldsOf(kind));
    caches.set(kind, cache);
    return cache;
  }

  async function followLinks(records: readonly object[], linksByField: LinksByField): Promise<void> {
    await Promise.all([...linksByField.values()].map((links) => followLink(records, links)));
  }

  /** Follows the links of one field, each of which may have other links below it. */
  async function followLink(records: readonly object[], links: LinksOfField): Promise<void> {
    const [{ storedField, target }] = links;
    const kind = kindNamed(target);
    const cache = cacheOf(kind);
    const ids = new Set<string>();
    for (const { [storedField]: id } of records as readonly Readonly<Record<string, unknown>>[]) {
      if (typeof id === 'string') ids.add(id);
    }
    const missing = [...ids].filter((id) => !cache.records.has(id) && kindOfId(id) === kind);
    if (missing.length > 0) await cache.loader.load(missing);
    const linksBelow = linksIn(links.map(({ selection }) => selection));
    if (linksBelow.size === 0) return;
    const found = [...ids].flatMap((id) => cache.records.get(id) ?? []);
    await followLinks(found, linksBelow);
  }

  function clear(): void {
    caches.clear();
    counts.clear();
    pageLoaders.clear();
  }

  function load<K extends RecordKind>(kind: K, id: string) {
    const { records, loader } = cacheOf(kind);
    // The cast is safe because a kind's cache holds what the store finds for that kind.
    const loaded = () => records.get(id) as RecordOf<K> | null | undefined;
    const record = loaded();
    if (record !== undefined) return record;
    return kindOfId(id) === kind ? loader.load([id]).then(() => loaded() ?? null) : null;
  }

  return {
    load,
    linked(record, field, kind) {
      const linked = linkedRecord(record, field);
      if (linked !== undefined) return linked;
      const { [field]: id } = record;
      return typeof id === 'string' ? load(kind, id) : null;
    },
    list: (kind, query) => store.list(kind, { ...query, fields: fieldsOf(kind) }),
    async page(kind, query, connectionFields) {
      const page = { ...query, fields: fieldsOfPage(kind, query) };
      const links = linksToRead(kind, linksIn(recordsIn(selectionsOf(connectionFields))));
      if (links.length > 0 && countOf(links) <= maxJoined) {
        const records = await store.listLinked(kind, page, links);
        if (records) return records;
      }
      const records = await store.list(kind, page);
      await followPage(records, connectionFields);
      return records;
    },
    pageOf(link, parentId, query, connectionFields) {
      const loader = pageLoaders.get(query) ?? createPageLoader(link, query, connectionFields);
      pageLoaders.set(query, loader);
      return loader.load(parentId);
    },
    follow: (items, listFields) => followLinks(items, linksIn(selectionsOf(listFields))),
    count(kind, where) {
      if (where) return store.count(kind, { where });
      const count = counts.get(kind) ?? store.count(kind);
      counts.set(kind, count);
      return count;
    },
    summarize: (kind, query) => store.summarize(kind, query),
    clear,
    reset() {
      clear();
      store = openStore();
    },
  };
}

/** The links of the selections and of their fragments. */
function linksIn(selections: Iterable<Selection>): LinksByField {
  const byField = new Map<string, LinksOfField>();
  for (const { links } of withParts(selections)) {
    for (const link of links) {
      const sameField = byField.get(link.storedField);
      if (sameField) sameField.push(link);
      else byField.set(link.storedField, [link]);
    }
  }
  return byField;
}

/** What connections select on the records of their pages. */
const recordsIn = (connections: Iterable<Selection>): Selection[] =>
  [...withParts(connections)].flatMap(({ records }) => records);

/** The selections and those of their fragments, each once. */
function withParts(selections: Iterable<Selection>): ReadonlySet<Selection> {
  const all = new Set(selections);
  // The loop also visits the selections that it adds.
  for (const { parts } of all) for (const part of parts) all.add(part);
  return all;
}

const countOf = (links: readonly LinkToRead[]): number =>
  links.reduce((count, { links: below }) => count + 1 + countOf(below), 0);

function createCache(store: LimitedReads, kind: RecordKind, fields: ReadonlySet<string>): Cache {
  const records = new Map<string, object | null>();
  const loader = new DataLoader<readonly string[], unknown>(
    async (requests) => {
      const ids = [...new Set(requests.flat())];
      const found = await store.find(kind, ids, fields);
      for (const id of ids) records.set(id, null);
      for (const record of found) records.set(record.id, record);
      return requests;
    },
    { cache: false },
  );
  return { records, loader };
}
