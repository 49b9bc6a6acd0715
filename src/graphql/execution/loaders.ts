/**
 * The reads of one request. One statement reads all records that a step loads, with the selected columns. A list also
 * reads the selected links, except some, as in a fragment on an interface: resolvers load those.
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
import {
  type Condition,
  orderName,
  type PagesQuery,
  type RecordQuery,
  type SummaryQuery,
} from '../../store/query/record-query.ts';
import {
  findByUniqueField,
  type LinkToRead,
  type RecordPage,
  type WorkspaceReads,
} from '../../store/workspace-store.ts';
import type { FieldExtensions } from '../limits.ts';

export interface PageQuery
  extends Required<Pick<RecordQuery, 'where' | 'orderBy' | 'fromEnd' | 'after' | 'before' | 'limit'>>,
    Pick<PagesQuery, 'below'> {}

export type FeedQuery = Omit<ChangePageQuery, 'withBefore'>;
type RecordHistoryQuery = Omit<HistoryQuery, 'withBefore'>;

interface PageLoader {
  readonly query: PageQuery;
  readonly pages: DataLoader<string, RecordPage>;
}

type RecordLoader = DataLoader<string, AnyRecord | null>;

export class Loaders {
  readonly #store: ReturnType<WorkspaceReads['withBudget']>;
  readonly #selected: SelectedFields;
  /** Values before a change can be long: read only if selected. */
  readonly #withBefore: boolean;
  readonly #records = new Map<RecordKind, RecordLoader>();
  readonly #pages = new Map<readonly FieldNode[], PageLoader>();
  readonly #histories = new Map<string, DataLoader<string, ChangePage>>();
  readonly #labels = new DataLoader((keys: readonly string[]) => this.#readLabels(keys));
  readonly #versions = new DataLoader((changes: readonly LoggedChange[]) => this.#readVersions(changes), {
    cacheKeyFn: ({ number }: LoggedChange) => number,
  });

  constructor(store: ReturnType<WorkspaceReads['withBudget']>, schema: GraphQLSchema, document: DocumentNode) {
    this.#store = store;
    this.#selected = selectedFieldsIn(schema, document);
    this.#withBefore = this.#selected.get('Change')?.has('before') ?? false;
  }

  /** Null for an ID that is unknown or of another kind. */
  of(kind: RecordKind): RecordLoader {
    return getOrCreate(this.#records, kind, () => new DataLoader((ids) => this.#readRecords(kind, ids)));
  }

  /** `parse` reads the arguments once, for all parents. */
  referring(link: ReverseLink, info: FieldInfo, parse: () => PageQuery): PageLoader {
    return getOrCreate(this.#pages, info.fieldNodes, () => {
      const query = parse();
      const { readsPage, readsCount } = selectedConnection(link.kind, info, this.#selected);
      const { limit, ...withoutLimit } = query;
      const read = {
        ...withoutLimit,
        ...(readsPage && { limit }),
        withCount: readsCount,
        fields: this.#fieldsOfPage(link.kind, query),
      };
      const pages = new DataLoader(async (parentIds: readonly string[]) => {
        const found = await this.#store.pages(link, parentIds, read);
        return parentIds.map((id) => found.get(id) ?? new Error('the store has left out a parent'));
      });
      return { query, pages };
    });
  }

  labelOf(key: string) {
    return this.#labels.load(key);
  }

  list(kind: RecordKind, query: RecordQuery) {
    return this.#store.list(kind, { ...query, fields: fieldsOf(kind, this.#selected) });
  }

  listPage(kind: RecordKind, query: PageQuery, info: FieldInfo) {
    const { links } = selectedConnection(kind, info, this.#selected);
    return this.#store.list(kind, { ...query, fields: this.#fieldsOfPage(kind, query) }, links);
  }

  count(kind: RecordKind, where: Condition | undefined) {
    return this.#store.count(kind, { where });
  }

  summarize(kind: RecordKind, query: Omit<SummaryQuery, 'min' | 'max'>) {
    const boundsOf = (typeName: string) => [...(this.#selected.get(typeName) ?? [])].filter((field) => field !== 'id');
    const bounds = { min: boundsOf(`${kind.name}Min`), max: boundsOf(`${kind.name}Max`) };
    return this.#store.summarize(kind, { ...query, ...bounds });
  }

  changePage(query: FeedQuery) {
    return this.#store.changePage({ ...query, withBefore: this.#withBefore });
  }

  history(id: string, query: RecordHistoryQuery): Promise<ChangePage> {
    const key = `${query.limit} ${query.before}`;
    const loader = getOrCreate(
      this.#histories,
      key,
      () => new DataLoader((ids: readonly string[]) => this.#readHistories(ids, query)),
    );
    return loader.load(id);
  }

  /** Null after a deletion. */
  async after(change: LoggedChange): Promise<Values | null> {
    return change.action === 'deleted' ? null : this.#versions.load(change);
  }

  async versionAt(kind: RecordKind, id: string, time: string) {
    return kindOfId(id) === kind ? this.#store.versionAt(kind, id, time) : null;
  }

  importRuns(query: Parameters<WorkspaceReads['importRuns']>[0]) {
    return this.#store.importRuns(query);
  }

  lastChange() {
    return this.#store.lastChange();
  }

  clear(): void {
    this.#records.clear();
    this.#pages.clear();
    this.#histories.clear();
    this.#labels.clearAll();
    this.#versions.clearAll();
  }

  /** Cursors need the fields of the order. */
  #fieldsOfPage(kind: RecordKind, { orderBy }: PageQuery): ReadonlySet<string> {
    return new Set([...fieldsOf(kind, this.#selected), ...orderBy.map(orderName)]);
  }

  async #readRecords(kind: RecordKind, ids: readonly string[]): Promise<(AnyRecord | null)[]> {
    const idsOfKind = ids.filter((id) => kindOfId(id) === kind);
    const fields = fieldsOf(kind, this.#selected);
    const found = idsOfKind.length > 0 ? await this.#store.find(kind, idsOfKind, fields) : [];
    const byId = new Map(found.map((record) => [record.id, record]));
    return ids.map((id) => byId.get(id) ?? null);
  }

  async #readLabels(keys: readonly string[]) {
    const found = await findByUniqueField(this.#store, label, 'key', keys, fieldsOfLabels);
    return keys.map((key) => found.get(key) ?? null);
  }

  async #readHistories(ids: readonly string[], { limit, before }: RecordHistoryQuery): Promise<ChangePage[]> {
    const wellFormed = ids.filter((id) => kindOfId(id));
    const query = { before, limit: limit + 1, withBefore: this.#withBefore };
    const found = await this.#store.histories(wellFormed, query);
    const byId = new Map(wellFormed.map((id, index) => [id, found[index]]));
    return ids.map((id): ChangePage => {
      const changes = byId.get(id) ?? [];
      const page = changes.slice(0, limit);
      return { changes: page, end: page.at(-1)?.number ?? before ?? 0, hasMore: changes.length > limit };
    });
  }

  async #readVersions(changes: readonly LoggedChange[]): Promise<(Values | null)[]> {
    const found = new Map<number, Values | null>();
    const readKind = async (name: string) => {
      const ofKind = changes.filter(({ kind }) => kind === name);
      const versions = await this.#store.versions(kindNamed(name), ofKind);
      for (const [index, { number }] of ofKind.entries()) found.set(number, versions[index] ?? null);
    };
    await Promise.all([...new Set(changes.map(({ kind }) => kind))].map(readKind));
    return changes.map(({ number }) => found.get(number) ?? null);
  }
}

function getOrCreate<Key, Value>(values: Map<Key, Value>, key: Key, create: () => Value): Value {
  const value = values.get(key) ?? create();
  values.set(key, value);
  return value;
}

const fieldsOfLabels: ReadonlySet<string> = new Set(['key', 'name', 'color']);

const idOnly: ReadonlySet<string> = new Set(['id']);

/** Stored fields by type. Every record has its ID. */
type SelectedFields = ReadonlyMap<string, ReadonlySet<string>>;

const fieldsOf = ({ name }: RecordKind, selected: SelectedFields): ReadonlySet<string> => selected.get(name) ?? idOnly;

const selectedFields = new WeakMap<DocumentNode, SelectedFields>();

function selectedFieldsIn(schema: GraphQLSchema, document: DocumentNode): SelectedFields {
  const cached = selectedFields.get(document);
  if (cached) return cached;
  const found = new Map<string, Set<string>>();
  const types = new TypeInfo(schema);
  const addField = () => {
    const { storedFields = [] } = (types.getFieldDef()?.extensions ?? {}) as FieldExtensions;
    const type = types.getParentType()?.name ?? '';
    const fields = found.get(type) ?? new Set(['id']);
    if (storedFields.length > 0) found.set(type, fields);
    for (const field of storedFields) fields.add(field);
  };
  visit(document, visitWithTypeInfo(types, { Field: addField }));
  selectedFields.set(document, found);
  return found;
}

type FieldInfo = Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments'>;

interface SelectedConnection {
  readonly readsPage: boolean;
  readonly readsCount: boolean;
  readonly links: readonly LinkToRead[];
}

/** With more, a page takes longer to plan than to run. */
const maxJoined = 8;

/** All executions of a compiled document share the nodes of a field. */
const selectedByNodes = new WeakMap<readonly FieldNode[], SelectedConnection>();

function selectedConnection(kind: RecordKind, info: FieldInfo, selectedByType: SelectedFields): SelectedConnection {
  const { fieldNodes, fragments } = info;
  const cached = selectedByNodes.get(fieldNodes);
  if (cached) return cached;
  const parts = fieldsBelow(fieldNodes, `${kind.name}Connection`, fragments);
  const edges = fieldsBelow(parts.get('edges') ?? [], `${kind.name}Edge`, fragments);
  const records = [...(parts.get('nodes') ?? []), ...(edges.get('node') ?? [])];
  const selected = {
    readsPage: ['nodes', 'edges', 'pageInfo'].some((name) => parts.has(name)),
    readsCount: parts.has('totalCount'),
    links: selectedLinks(kind, records, fragments, selectedByType),
  };
  selectedByNodes.set(fieldNodes, selected);
  return selected;
}

/** No links if there are too many. */
function selectedLinks(
  kind: RecordKind,
  records: readonly FieldNode[],
  fragments: FieldInfo['fragments'],
  selectedByType: SelectedFields,
): readonly LinkToRead[] {
  let remaining = maxJoined;
  const follow = (from: RecordKind, nodes: readonly FieldNode[]): LinkToRead[] => {
    const selected = fieldsBelow(nodes, from.name, fragments);
    const links: LinkToRead[] = [];
    for (const [name, field, { target }] of linkFields(from)) {
      const below = selected.get(name);
      if (!below || remaining-- <= 0) continue;
      const to = kindNamed(target);
      links.push({ name, field, kind: to, fields: fieldsOf(to, selectedByType), links: follow(to, below) });
    }
    return links;
  };
  const links = follow(kind, records);
  return remaining < 0 ? [] : links;
}

/** Visits each fragment once: a chain of fragments spread twice would double the work with each link. */
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
