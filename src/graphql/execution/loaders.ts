/**
 * Reads records for one request: all IDs requested in the same step become one statement per kind, with the columns that the document
 * selects. Each read is begun once, and a read that failed stays failed, also when the operation is executed again. Reads through the
 * session's store, and so never sees another workspace.
 */
import type { FieldNode } from 'graphql';
import type { RecordKind, RecordOf } from '../../model/record-kind.ts';
import type { ReverseLink } from '../../model/reverse-link.ts';
import { kindNamed, kindOfId } from '../../records/index.ts';
import type { Condition } from '../../store/query/condition.ts';
import type { RecordQuery, Summary, SummaryQuery } from '../../store/query/record-query.ts';
import { type LinkToRead, linkedRecord } from '../../store/records/linked-records.ts';
import type { Page } from '../../store/records/read-records.ts';
import type { LimitedReads } from '../../store/workspace-store.ts';
import type { DocumentPlan } from '../plan/document-plan.ts';
import { type ChangeLoaders, createChangeLoaders, type Once } from './change-loaders.ts';
import { createPageLoaders, type PageQuery } from './page-loaders.ts';
import { createRecordCache, type RecordCache } from './record-cache.ts';
import { type LinksByField, type LinksOfField, linksIn, recordsIn } from './selected-links.ts';

/** Records have their ID and the fields that the document selects. What the arguments of a field request is read once for the field. */
export interface Loaders extends ChangeLoaders {
  /** Returns a field's parsed arguments. Parses once: they are the same for all objects that have the field. */
  parsed<T>(fieldNodes: readonly FieldNode[], parse: () => T): T;
  /** Returns the record, or null if the ID is unknown, foreign, or of another kind; a promise unless it is loaded. */
  load<K extends RecordKind>(kind: K, id: string): RecordOf<K> | null | Promise<RecordOf<K> | null>;
  list<K extends RecordKind>(kind: K, query: RecordQuery, fieldNodes: readonly FieldNode[]): Promise<RecordOf<K>[]>;
  /** Returns the record that a reference leads to, or null if there is none; a promise unless it is loaded. */
  linked(record: Readonly<Record<string, unknown>>, field: string, kind: RecordKind): unknown;
  /** Returns a page of a list, and loads all that its records link to: the resolvers of the links need not wait. */
  listPage<K extends RecordKind>(
    kind: K,
    query: PageQuery,
    connectionFields: readonly FieldNode[],
  ): Promise<RecordOf<K>[]>;
  /** Returns a page of the records that refer to a parent, and their number; reads only what the document selects. */
  reverseLinkPage(
    link: ReverseLink,
    parentId: string,
    query: PageQuery,
    connectionFields: readonly FieldNode[],
  ): Promise<Page>;
  /** Loads what the items of a list link to, level by level. */
  follow(items: readonly object[], listFields: readonly FieldNode[]): Promise<void>;
  /** Returns the number of records of a kind that match, counted once for all fields without a condition. */
  count(kind: RecordKind, where: Condition | undefined, connectionFields: readonly FieldNode[]): Promise<number>;
  summarize(kind: RecordKind, query: SummaryQuery, fieldNodes: readonly FieldNode[]): Promise<Summary>;
  /** Sets records, by ID, to what a dry run would have made of them; null if deleted. Links lead to these records. */
  prime(kind: RecordKind, records: ReadonlyMap<string, object | null>): void;
  /** Discards everything loaded, which may be stale after a write. */
  clear(): void;
}

/** The most links read with a page: more make rows long, and the statement takes longer to plan than to run. */
const maxJoined = 8;

const idOnly: ReadonlySet<string> = new Set(['id']);

export function createLoaders(store: LimitedReads, plan: DocumentPlan): Loaders {
  const caches = new Map<RecordKind, RecordCache>();
  const reads = new Map<string, Promise<unknown>>();
  const nodeNumbers = new Map<FieldNode, number>();
  const parsedArguments = new Map<string, unknown>();
  const fieldsOf = ({ name }: RecordKind) => plan.storedFields.get(name) ?? idOnly;

  /** Adds the fields of the order, whose values are in the cursors. */
  function fieldsOfPage(kind: RecordKind, { orderBy }: PageQuery): ReadonlySet<string> {
    return new Set([...fieldsOf(kind), ...orderBy.map(({ field }) => field)]);
  }

  /** Returns the links whose records are read together with the records that have them. */
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

  const pageLoaders = createPageLoaders({ store, keyOf, selectionsOf, fieldsOfPage, followPage });

  function cacheOf(kind: RecordKind): RecordCache {
    const cache = caches.get(kind) ?? createRecordCache(store, kind, fieldsOf(kind));
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

  const once: Once = <T>(key: string, read: () => Promise<T>) => {
    // The cast is safe because each key stands for one read.
    const reading = (reads.get(key) as Promise<T> | undefined) ?? read();
    reads.set(key, reading);
    return reading;
  };

  /** Identifies a field by all its nodes, in order: one node of a fragment may belong to several fields. */
  function keyOf(fieldNodes: readonly FieldNode[]): string {
    const numbers = fieldNodes.map((node) => {
      const number = nodeNumbers.get(node) ?? nodeNumbers.size;
      nodeNumbers.set(node, number);
      return number;
    });
    return numbers.join();
  }

  function parsed<T>(fieldNodes: readonly FieldNode[], parse: () => T): T {
    const key = keyOf(fieldNodes);
    // The cast is safe because the same nodes are the same field, whose resolver always passes the same function.
    const value = parsedArguments.has(key) ? (parsedArguments.get(key) as T) : parse();
    parsedArguments.set(key, value);
    return value;
  }

  function load<K extends RecordKind>(kind: K, id: string) {
    const { records, loader } = cacheOf(kind);
    // The cast is safe because a kind's cache holds what the store finds for that kind.
    const loaded = () => records.get(id) as RecordOf<K> | null | undefined;
    const record = loaded();
    if (record !== undefined) return record;
    return kindOfId(id) === kind ? loader.load([id]).then(() => loaded() ?? null) : null;
  }

  const { clear: clearChanges, ...changeLoaders } = createChangeLoaders(store, plan, once);

  return {
    ...changeLoaders,
    parsed,
    load,
    linked(record, field, kind) {
      const linked = linkedRecord(record, field);
      if (linked !== undefined) return linked;
      const { [field]: id } = record;
      return typeof id === 'string' ? load(kind, id) : null;
    },
    list: (kind, query, fieldNodes) =>
      once(`list ${keyOf(fieldNodes)}`, () => store.list(kind, { ...query, fields: fieldsOf(kind) })),
    listPage: (kind, query, connectionFields) =>
      once(`page ${keyOf(connectionFields)}`, async () => {
        const page = { ...query, fields: fieldsOfPage(kind, query) };
        const links = linksToRead(kind, linksIn(recordsIn(selectionsOf(connectionFields))));
        if (links.length > 0 && countOf(links) <= maxJoined) {
          const records = await store.listLinked(kind, page, links);
          if (records) return records;
        }
        const records = await store.list(kind, page);
        await followPage(records, connectionFields);
        return records;
      }),
    reverseLinkPage: pageLoaders.readPage,
    follow: (items, listFields) => followLinks(items, linksIn(selectionsOf(listFields))),
    count: (kind, where, connectionFields) =>
      once(`count ${where ? keyOf(connectionFields) : kind.name}`, () => store.count(kind, { where })),
    summarize: (kind, query, fieldNodes) => once(`summary ${keyOf(fieldNodes)}`, () => store.summarize(kind, query)),
    prime(kind, records) {
      for (const [id, record] of records) cacheOf(kind).set(id, record);
    },
    clear() {
      caches.clear();
      reads.clear();
      pageLoaders.clear();
      clearChanges();
    },
  };
}

const countOf = (links: readonly LinkToRead[]): number =>
  links.reduce((count, { links: below }) => count + 1 + countOf(below), 0);
