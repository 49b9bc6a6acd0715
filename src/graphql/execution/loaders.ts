/**
 * Reads for one request, through the session's store, and so never from another workspace. All records requested in the same step are one
 * statement, with the columns that the document selects. A list looks ahead: links that can be read together with its records are. What the
 * list does not find there, such as a link in a fragment on an interface, is loaded by its own resolver.
 */
import DataLoader from 'dataloader';
import {
  type DocumentNode,
  type FieldNode,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  Kind,
  type SelectionSetNode,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { linkFields } from '../../model/links.ts';
import type { AnyRecord, RecordKind, Values } from '../../model/record-kind.ts';
import type { ReverseLink } from '../../model/reverse-link.ts';
import { kindNamed, kindOfId, label } from '../../records/index.ts';
import type { ChangePage, ChangePageQuery, HistoryQuery, LoggedChange } from '../../store/log.ts';
import { type Condition, orderName, type RecordQuery, type SummaryQuery } from '../../store/query/record-query.ts';
import {
  findByUniqueField,
  type LinkToRead,
  type RecordPage,
  type WorkspaceReads,
} from '../../store/workspace-store.ts';
import type { FieldExtensions } from '../limits.ts';

/** The query of a connection; its order determines the fields that cursors need. */
export type PageQuery = Required<Pick<RecordQuery, 'where' | 'orderBy' | 'fromEnd' | 'after' | 'before' | 'limit'>>;

/** Queries for changes: the document says whether values before them are read. */
export type FeedQuery = Omit<ChangePageQuery, 'withBefore'>;
type RecordHistoryQuery = Omit<HistoryQuery, 'withBefore'>;

interface PageLoader {
  readonly query: PageQuery;
  readonly pages: DataLoader<string, RecordPage>;
}

type RecordLoader = DataLoader<string, AnyRecord | null>;

export type Loaders = ReturnType<typeof createLoaders>;

export function createLoaders(
  store: ReturnType<WorkspaceReads['withBudget']>,
  schema: GraphQLSchema,
  document: DocumentNode,
) {
  const stored = storedFieldsIn(schema, document);
  const records = new Map<RecordKind, RecordLoader>();
  const pageLoaders = new Map<readonly FieldNode[], PageLoader>();
  const histories = new Map<string, DataLoader<string, ChangePage>>();
  const versions = new DataLoader(readVersions, { cacheKeyFn: ({ number }: LoggedChange) => number });
  // `before` can be long: it is read only if the document selects it.
  const withBefore = stored.get('Change')?.has('before') ?? false;

  const fieldsOf: FieldsOf = ({ name }) => stored.get(name) ?? idOnly;

  /** Returns the fields that are selected of a group's least or greatest values, which have no ID. */
  const boundsOf = (typeName: string): string[] => [...(stored.get(typeName) ?? [])].filter((field) => field !== 'id');

  const fieldsOfPage = (kind: RecordKind, { orderBy }: PageQuery): ReadonlySet<string> =>
    new Set([...fieldsOf(kind), ...orderBy.map(orderName)]);

  /** Returns the loader of a kind's records by their IDs; null for an ID that is unknown, or of another kind. */
  const of = (kind: RecordKind): RecordLoader =>
    madeOnce(records, kind, () => {
      return new DataLoader(async (ids) => {
        const ofKind = ids.filter((id) => kindOfId(id) === kind);
        const found = ofKind.length > 0 ? await store.find(kind, ofKind, fieldsOf(kind)) : [];
        const byId = new Map(found.map((record) => [record.id, record]));
        return ids.map((id) => byId.get(id) ?? null);
      });
    });

  /** Returns the loader of a field, which has one query: its arguments are parsed once for all objects that have the field. */
  const referring = (link: ReverseLink, info: FieldInfo, parse: () => PageQuery): PageLoader =>
    madeOnce(pageLoaders, info.fieldNodes, () => {
      const query = parse();
      const { readsPage, readsCount } = selectedConnection(link.kind, info, fieldsOf);
      const { limit, ...others } = query;
      const read = {
        ...others,
        ...(readsPage && { limit }),
        withCount: readsCount,
        fields: fieldsOfPage(link.kind, query),
      };
      const pages = new DataLoader(async (parentIds: readonly string[]) => {
        const found = await store.pages(link, parentIds, read);
        return parentIds.map((id) => found.get(id) ?? new Error('the store has left out a parent'));
      });
      return { query, pages };
    });

  /** The labels of what is kept in other systems, of whatever type, by their keys. */
  const labels = new DataLoader(async (keys: readonly string[]) => {
    const found = await findByUniqueField(store, label, 'key', keys, fieldsOfLabels);
    return keys.map((key) => found.get(key) ?? null);
  });

  const historiesOf = ({ limit, before }: RecordHistoryQuery) =>
    madeOnce(histories, `${limit} ${before}`, () => {
      return new DataLoader(async (ids: readonly string[]) => {
        const wellFormed = ids.filter((id) => kindOfId(id));
        const found = await store.histories(wellFormed, { before, limit: limit + 1, withBefore });
        const byId = new Map(wellFormed.map((id, index) => [id, found[index]]));
        return ids.map((id): ChangePage => {
          const changes = byId.get(id) ?? [];
          const page = changes.slice(0, limit);
          return { changes: page, end: page.at(-1)?.number ?? before ?? 0, hasMore: changes.length > limit };
        });
      });
    });

  async function readVersions(changes: readonly LoggedChange[]): Promise<(Values | null)[]> {
    const found = new Map<number, Values | null>();
    const readKind = async (name: string) => {
      const ofKind = changes.filter(({ kind }) => kind === name);
      const after = await store.versions(kindNamed(name), ofKind);
      ofKind.forEach(({ number }, index) => void found.set(number, after[index] ?? null));
    };
    await Promise.all([...new Set(changes.map(({ kind }) => kind))].map(readKind));
    return changes.map(({ number }) => found.get(number) ?? null);
  }

  return {
    of,
    referring,

    /** Returns the label with this key (see labelKey); null if there is none. */
    labelOf: (key: string) => labels.load(key),

    list: (kind: RecordKind, query: RecordQuery) => store.list(kind, { ...query, fields: fieldsOf(kind) }),

    /** Returns a page of a list, together with what its records link to where one statement can read it. */
    listPage: (kind: RecordKind, query: PageQuery, info: FieldInfo) =>
      store.list(kind, { ...query, fields: fieldsOfPage(kind, query) }, selectedConnection(kind, info, fieldsOf).links),

    count: (kind: RecordKind, where: Condition | undefined) => store.count(kind, { where }),

    summarize: (kind: RecordKind, query: Omit<SummaryQuery, 'min' | 'max'>) =>
      store.summarize(kind, { ...query, min: boundsOf(`${kind.name}Min`), max: boundsOf(`${kind.name}Max`) }),

    changePage: (query: FeedQuery) => store.changePage({ ...query, withBefore }),

    /** Returns a page of a record's changes, latest first; empty if no record has had the ID. */
    history: (id: string, query: RecordHistoryQuery) => historiesOf(query).load(id),

    /** Returns the record as the change left it; null if it was deleted. */
    after: async (change: LoggedChange): Promise<Values | null> =>
      change.action === 'deleted' ? null : versions.load(change),

    versionAt: async (kind: RecordKind, id: string, time: string) =>
      kindOfId(id) === kind ? store.versionAt(kind, id, time) : null,

    lastChange: () => store.lastChange(),

    /** Discards everything loaded, which may be stale after a write. */
    clear(): void {
      records.clear();
      pageLoaders.clear();
      histories.clear();
      labels.clearAll();
      versions.clearAll();
    },
  };
}

function madeOnce<Key, Value>(made: Map<Key, Value>, key: Key, create: () => Value): Value {
  const value = made.get(key) ?? create();
  made.set(key, value);
  return value;
}

const fieldsOfLabels: ReadonlySet<string> = new Set(['key', 'name', 'color']);

const idOnly: ReadonlySet<string> = new Set(['id']);

type StoredFields = ReadonlyMap<string, ReadonlySet<string>>;

const storedFields = new WeakMap<DocumentNode, StoredFields>();

/** Returns the stored fields that a document reads, by the type that has them; every record has its ID. */
function storedFieldsIn(schema: GraphQLSchema, document: DocumentNode): StoredFields {
  const known = storedFields.get(document);
  if (known) return known;
  const found = new Map<string, Set<string>>();
  const types = new TypeInfo(schema);
  const addField = () => {
    const { storedField } = (types.getFieldDef()?.extensions ?? {}) as FieldExtensions;
    const type = types.getParentType()?.name ?? '';
    if (storedField !== undefined) found.set(type, (found.get(type) ?? new Set(['id'])).add(storedField));
  };
  visit(document, visitWithTypeInfo(types, { Field: addField }));
  storedFields.set(document, found);
  return found;
}

/** The part of a resolver's `info` that says what is selected. */
type FieldInfo = Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments'>;

type FieldsOf = (kind: RecordKind) => ReadonlySet<string>;

interface SelectedConnection {
  readonly readsPage: boolean;
  readonly readsCount: boolean;
  readonly links: readonly LinkToRead[];
}

/** The most links read with a page: more make rows long, and the statement takes longer to plan than to run. */
const maxJoined = 8;

/** By the nodes of a field, which are the same in all executions of a compiled document. */
const selectedByNodes = new WeakMap<readonly FieldNode[], SelectedConnection>();

function selectedConnection(kind: RecordKind, info: FieldInfo, fieldsOf: FieldsOf): SelectedConnection {
  const { fieldNodes, fragments } = info;
  const cached = selectedByNodes.get(fieldNodes);
  if (cached) return cached;
  const parts = fieldsBelow(fieldNodes, `${kind.name}Connection`, fragments);
  const edges = fieldsBelow(parts.get('edges') ?? [], `${kind.name}Edge`, fragments);
  const records = [...(parts.get('nodes') ?? []), ...(edges.get('node') ?? [])];
  const selected = {
    readsPage: ['nodes', 'edges', 'pageInfo'].some((name) => parts.has(name)),
    readsCount: parts.has('totalCount'),
    links: linksBelow(kind, records, fragments, fieldsOf),
  };
  selectedByNodes.set(fieldNodes, selected);
  return selected;
}

/** Returns the links as a tree; none if there are too many of them. */
function linksBelow(
  kind: RecordKind,
  records: readonly FieldNode[],
  fragments: FieldInfo['fragments'],
  fieldsOf: FieldsOf,
): readonly LinkToRead[] {
  let left = maxJoined;
  const follow = (from: RecordKind, nodes: readonly FieldNode[]): LinkToRead[] => {
    const selected = fieldsBelow(nodes, from.name, fragments);
    const links: LinkToRead[] = [];
    for (const [name, field, { target }] of linkFields(from)) {
      const below = selected.get(name);
      if (!below || left-- <= 0) continue;
      const to = kindNamed(target);
      links.push({ name, field, kind: to, fields: fieldsOf(to), links: follow(to, below) });
    }
    return links;
  };
  const links = follow(kind, records);
  return left < 0 ? [] : links;
}

/** Each fragment is visited once: chains of fragments that spread each other twice would double the work with each link. */
export function fieldsBelow(
  nodes: readonly FieldNode[],
  type: string,
  fragments: FieldInfo['fragments'],
): ReadonlyMap<string, readonly FieldNode[]> {
  const fields = new Map<string, FieldNode[]>();
  const visited = new Set<SelectionSetNode>();

  function visit(selectionSet: SelectionSetNode | undefined): void {
    if (!selectionSet || visited.has(selectionSet)) return;
    visited.add(selectionSet);
    for (const node of selectionSet.selections) {
      if (node.kind === Kind.FIELD) {
        const same = fields.get(node.name.value);
        if (same) same.push(node);
        else fields.set(node.name.value, [node]);
      } else {
        const fragment = node.kind === Kind.INLINE_FRAGMENT ? node : fragments[node.name.value];
        if (fragment && (fragment.typeCondition?.name.value ?? type) === type) visit(fragment.selectionSet);
      }
    }
  }

  for (const { selectionSet } of nodes) visit(selectionSet);
  return fields;
}
