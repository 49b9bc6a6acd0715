import type { Knex } from 'knex';
import { badRequest } from '../../errors.ts';
import { textLength, textLengthOfAll } from '../../model/fields.ts';
import { formatCount } from '../../model/issues.ts';
import type { AnyRecord, RecordKind, RecordOf, Table } from '../../model/record-kind.ts';
import type { ReverseLink } from '../../model/reverse-link.ts';
import type { Row } from '../connections/driver.ts';
import {
  columnList,
  columnName,
  pickFields,
  recordFromValues,
  type SelectedColumn,
  type TableColumn,
  tableColumns,
} from '../query/columns.ts';
import { clashSql } from '../query/conditions.ts';
import type { Dialect } from '../query/dialect.ts';
import {
  type Condition,
  oldestFirst,
  type PagesQuery,
  type RecordQuery,
  type RecordSummary,
  type SummaryQuery,
  type Tree,
} from '../query/record-query.ts';
import {
  parseRows,
  type RowSource,
  rowsQuery,
  runQuery,
  selectRecords,
  selectRows,
  selectValues,
  withOrderFields,
} from '../query/rows.ts';
import { ancestorsOf, descendantIds, idsBelowEach, parentsOf, resolveWithin } from '../query/trees.ts';
import {
  bytesSql,
  measureRows,
  type ReadResult,
  readBounded,
  sumOfBytes,
  type WorkspaceScope,
  withLength,
} from './read-budget.ts';
import { readSummary } from './summaries.ts';

export interface RecordReads {
  /** In any order. IDs without a record are left out. */
  find<K extends RecordKind>(kind: K, ids: readonly string[], fields?: RecordQuery['fields']): Promise<RecordOf<K>[]>;
  /** Oldest first, unless ordered. Includes linked records unless their text could exceed the budget. */
  list<K extends RecordKind>(kind: K, query?: RecordQuery, links?: readonly LinkToRead[]): Promise<RecordOf<K>[]>;
  count(kind: RecordKind, query?: Pick<RecordQuery, 'where'>): Promise<number>;
  /** Oldest first, unless ordered. A few records can have millions of ancestors: too many are a 400. */
  pages(link: ReverseLink, parentIds: readonly string[], query: PagesQuery): Promise<ReadonlyMap<string, RecordPage>>;
  summarize(kind: RecordKind, query: SummaryQuery): Promise<RecordSummary>;
  /** Resolves the parts of trees in a condition once, for several reads. */
  resolve(where: Condition | undefined): Promise<Condition | undefined>;
}

export interface LinkToRead {
  /** The property of the record that holds the linked one; null without it. */
  readonly name: string;
  readonly field: string;
  readonly kind: RecordKind;
  readonly fields: ReadonlySet<string>;
  readonly links: readonly LinkToRead[];
}

export interface RecordPage {
  readonly records: readonly AnyRecord[];
  readonly count?: number;
}

/** Linked records in the same statement halve the time of a list. */
export function fetchRows(
  scope: WorkspaceScope,
  whole: Table,
  rows: Knex.QueryBuilder,
  { fields, limit }: Pick<RecordQuery, 'fields' | 'limit'>,
  links: readonly LinkToRead[] = [],
): Promise<Row[]> {
  const { dialect, run } = scope;
  const table = pickFields(whole, fields);
  if (limit === undefined) return selectRecords(scope, table, rows);
  return readBounded(scope, {
    table,
    linked: linkedTables(links),
    maxRows: limit,
    measure: () => measureRows(dialect, run, table, rows),
    read: async (withLinked) =>
      withLinked ? selectLinked(scope, table, rows, links) : withLength(await selectRecords(scope, table, rows, true)),
  });
}

export function createRecordReads(scope: WorkspaceScope): RecordReads {
  const { dialect, run, workspaceId } = scope;
  return {
    find: async (kind, ids, fields) =>
      asRecords(
        kind,
        await fetchRows(scope, kind, dialect.rowsById(kind, workspaceId, ids), { fields, limit: ids.length }),
      ),

    async list(kind, query = {}, links = []) {
      const where = await resolveTrees(scope, query.where);
      const rows = rowsQuery(dialect, kind, workspaceId, { orderBy: oldestFirst, ...query, where });
      const table = withOrderFields(kind, query.orderBy);
      return asRecords(kind, await fetchRows(scope, table, rows, query, links));
    },

    async count(kind, query) {
      const where = await resolveTrees(scope, query?.where);
      const [row] = await runQuery(run, rowsQuery(dialect, kind, workspaceId, { where }).count({ count: '*' }));
      return Number(row?.count);
    },

    async pages(link, parentIds, query) {
      const ids = [...new Set(parentIds)];
      if (ids.length === 0) return new Map();
      if (link.direction === 'ancestors') await requireFewAncestors(scope, link, ids);
      // Only to limit their number.
      if (query.below) await readDescendants(scope, query.below, ids);
      const where = await resolveTrees(scope, query.where);
      const selection = createPagesSelection(dialect, workspaceId, link, ids, { ...query, where });
      const pages = await readBounded(scope, {
        table: selection.table,
        maxRows: ids.length * (query.limit ?? 0),
        measure: () => measurePages(scope, selection),
        async read() {
          const result = await selectPages(scope, selection);
          return { result, length: textLengthOfAll(result.flatMap(({ records }) => records)) };
        },
      });
      return new Map(
        pages.map(({ records, count }, index) => [
          ids[index] ?? '',
          { records: asRecords(link.kind, records), ...(count !== undefined && { count }) },
        ]),
      );
    },

    async summarize(kind, query) {
      return readSummary(scope, kind, { ...query, where: await resolveTrees(scope, query.where) });
    },

    resolve: (where) => resolveTrees(scope, where),
  };
}

const linkedTables = (links: readonly LinkToRead[]): Table[] =>
  links.flatMap((link) => [pickFields(link.kind, link.fields), ...linkedTables(link.links)]);

interface JoinedTable {
  readonly columns: readonly TableColumn[];
  readonly start: number;
  readonly links: readonly JoinedLink[];
}

/** A linked record takes its ID from the reference: reading it twice makes the rows a third longer. */
interface JoinedLink {
  readonly name: string;
  readonly referenceAt: number;
  readonly isFoundAt: number;
  readonly to: JoinedTable;
}

async function selectLinked(
  { dialect, run, workspaceId, workspaceName }: WorkspaceScope,
  table: Table,
  rows: Knex.QueryBuilder,
  links: readonly LinkToRead[],
): Promise<ReadResult<Row[]>> {
  const selected: SelectedColumn[] = [];
  const joins: string[] = [];

  function select(columns: readonly TableColumn[], links: readonly LinkToRead[], alias: string): JoinedTable {
    const start = selected.length;
    for (const { name, type } of columns) selected.push({ name: `${alias}.${name}`, type });
    return {
      columns,
      start,
      links: links.map((link) => ({
        name: link.name,
        referenceAt: start + columns.findIndex(({ field }) => field === link.field),
        ...join(link, alias),
      })),
    };
  }

  function join({ field, kind, fields, links }: LinkToRead, from: string): Pick<JoinedLink, 'isFoundAt' | 'to'> {
    const table = pickFields(kind, fields);
    const alias = `t${joins.length + 1}`;
    joins.push(dialect.joinByKey({ table, alias }, `${from}.${columnName(field)}`));
    const isFoundAt = selected.push({ name: `${alias}.id is not null`, type: 'boolean' }) - 1;
    const columns = tableColumns(table).filter((column) => column.field !== 'id');
    return { isFoundAt, to: select(columns, links, alias) };
  }

  /** Reads the values in place: splitting a row into lists took a tenth of the time of a list. */
  function recordOf(values: readonly unknown[], { columns, start, links }: JoinedTable) {
    const record = recordFromValues(columns, values, workspaceName, start);
    for (const { name, referenceAt, isFoundAt, to } of links) {
      const linked = values[isFoundAt] ? recordOf(values, to) : null;
      if (linked) linked.id = values[referenceAt];
      record[name] = linked;
    }
    return record;
  }

  const columns = tableColumns(table);
  const joined = select(columns, links, 't0');
  const bindings = [rows.select(columns.map(({ name }) => name)), ...joins.map(() => workspaceId)];
  // Built by Knex, the joins would take as long as reading.
  const query = (list: string) => dialect.builder.raw(`select ${list} from ? as t0 ${joins.join(' ')}`, bindings);
  const found = await selectValues(dialect, run, selected, query, true);
  let length = 0;
  for (const values of found) for (const value of values) length += textLength(value);
  return { result: found.map((values) => recordOf(values, joined)), length };
}

export async function readParents(
  scope: WorkspaceScope,
  tree: ReverseLink,
  ids: readonly string[],
  limit: number,
): Promise<ReadonlyMap<string, string | null>> {
  const rows = await runQuery(scope.run, parentsOf(scope, tree, ids).limit(limit));
  // Above a root, the recursion adds a row without a record.
  const records = rows.filter(({ id }) => id !== null);
  return new Map(records.map(({ id, parent }) => [String(id), parent === null ? null : String(parent)]));
}

/** In one read: so many parents take some hundredths of a second. */
const maxAncestors = 20_000;

async function requireFewAncestors(scope: WorkspaceScope, link: ReverseLink, ids: readonly string[]): Promise<void> {
  const parents = await readParents(scope, link, ids, maxAncestors + 1);
  let total = parents.size > maxAncestors ? parents.size : 0;
  for (const id of ids) {
    // Also ends at a record that is its own ancestor.
    for (let above = parents.get(id); above && above !== id && total <= maxAncestors; above = parents.get(above))
      total += 1;
  }
  if (total <= maxAncestors) return;
  const { label, pluralLabel } = link.kind;
  throw badRequest(
    ids.length === 1
      ? `the ${label} has more than ${formatCount(maxAncestors)} ancestors`
      : `${formatCount(ids.length)} ${pluralLabel} have more than ${formatCount(maxAncestors)} ancestors together: request fewer at a time`,
    'too many ancestors',
  );
}

/** Below the records of a condition or a read: so many IDs take some tenths of a second. */
const maxDescendants = 100_000;

/** Walks down each part of a tree once. */
async function resolveTrees(scope: WorkspaceScope, where: Condition | undefined): Promise<Condition | undefined> {
  if (!where) return undefined;
  const walks = new Map<string, Promise<readonly string[]>>();
  return resolveWithin(where, (id, tree) => {
    const key = `${tree.kind.table} ${id}`;
    const walk = walks.get(key) ?? readDescendants(scope, tree, [id]);
    walks.set(key, walk);
    return walk;
  });
}

/** Includes the records themselves. Throws a 400 for too many below them. */
async function readDescendants({ dialect, run, workspaceId }: WorkspaceScope, tree: Tree, ids: readonly string[]) {
  const most = maxDescendants + ids.length;
  const rows = await runQuery(run, idsBelowEach({ dialect, workspaceId }, tree, ids).limit(most + 1));
  if (rows.length <= most) return rows.map(({ id }) => String(id));
  const { label, pluralLabel } = tree.kind;
  const subject = ids.length === 1 ? `the ${label} has` : `${formatCount(ids.length)} ${pluralLabel} together have`;
  throw badRequest(
    `${subject} more than ${formatCount(maxDescendants)} ${pluralLabel} below: request smaller parts of the tree`,
    'too many descendants',
  );
}

/** Safe: rows are written only from records of the kind. */
export const asRecords = <K extends RecordKind>(_kind: K, rows: readonly Row[]): RecordOf<K>[] =>
  rows as readonly object[] as RecordOf<K>[];

/** The queries refer to the ID of a parent as `parent.value`. */
interface PagesSelection {
  readonly table: Table;
  readonly parentIds: readonly string[];
  /** Undefined if only counts are read. */
  readonly page: ((columns: string) => Knex.QueryBuilder) | undefined;
  readonly count: Knex.QueryBuilder | undefined;
}

/** Subqueries read only the parents' pages: a window function takes a hundred times as long. */
async function selectPages(
  { dialect, run, workspaceName }: WorkspaceScope,
  { table, parentIds, page, count }: PagesSelection,
) {
  const { builder, jsonArrayOf, jsonRow, fromJson } = dialect;
  const columns = tableColumns(table);
  const toValues = fromJson(columns);
  const pages = builder.from(dialect.parents(parentIds));
  if (page) {
    const records = builder.raw(`${jsonArrayOf}(${jsonRow(columns)})`);
    pages.select(
      builder
        .from(page(columnList(tableColumns(table))).as('page'))
        .select(records)
        .as('records'),
    );
  }
  if (count) pages.select(count.as('count'));
  return (await runQuery(run, pages)).map((row) => ({
    records: page
      ? parseRows(row.records).map((values) => recordFromValues(columns, toValues(values), workspaceName))
      : [],
    ...(count && { count: Number(row.count) }),
  }));
}

async function measurePages(
  { dialect, run }: WorkspaceScope,
  { parentIds, table, page }: PagesSelection,
): Promise<number> {
  if (!page) return 0;
  const { builder } = dialect;
  const ofParent = builder
    .from(page(`${bytesSql(dialect, table)} as bytes`).as('page'))
    .select(builder.raw(sumOfBytes));
  const all = builder.from(dialect.parents(parentIds)).select(ofParent.as('bytes')).as('page');
  const [row] = await runQuery(run, builder.from(all).select(builder.raw(sumOfBytes)));
  return Number(row?.bytes);
}

function createPagesSelection(
  dialect: Dialect,
  workspaceId: number,
  link: ReverseLink,
  parentIds: readonly string[],
  query: PagesQuery,
): PagesSelection {
  const { where, limit, withCount, fields, below } = query;
  const source = pageSource(dialect, workspaceId, link, below);
  return {
    table: pickFields(withOrderFields(link.kind, query.orderBy), fields),
    parentIds,
    page:
      limit === undefined
        ? undefined
        : (columns) => selectRows(source, { orderBy: oldestFirst, ...query }).select(dialect.builder.raw(columns)),
    count: withCount ? selectRows(source, { where }).count({ count: '*' }) : undefined,
  };
}

function pageSource(dialect: Dialect, workspaceId: number, link: ReverseLink, below: Tree | undefined): RowSource {
  const { builder } = dialect;
  const { kind, field, direction } = link;
  const { table } = kind;
  const reference = columnName(field);
  const source = { dialect, workspaceId, table: kind, isPerRow: true };
  if (below) {
    const ids = descendantIds(source, below, builder.raw('parent.value'));
    return { ...source, restriction: builder.raw(`${table}.${reference} in ?`, [ids]) };
  }
  if (direction === 'referring') return { ...source, restriction: builder.raw(`${table}.${reference} = parent.value`) };
  if (direction === 'clashing') {
    const clashes = builder
      .from(`${table} as origin`)
      .joinRaw(`join ${table} as record on record.workspace_id = ? and ${clashSql('record', 'origin', reference)}`, [
        workspaceId,
      ])
      .whereRaw('origin.workspace_id = ? and origin.id = parent.value', [workspaceId]);
    return { ...source, from: clashes.select('record.*') };
  }
  const first = builder.raw(
    `(select child.${reference} from ${table} as child where child.workspace_id = ? and child.id = parent.value)`,
    [workspaceId],
  );
  return { ...source, from: ancestorsOf(source, link, first) };
}
