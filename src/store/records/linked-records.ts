/** Reads a page with what it links to by one statement: with one for each link, half of the time of a list would be statements. */
import type { Knex } from 'knex';
import { textLength } from '../../model/fields.ts';
import type { RecordKind, RecordOf, Table } from '../../model/record-kind.ts';
import type { Row } from '../connections/driver.ts';
import { type Column, columnName, columnsOf, partOf, recordIn } from '../query/columns.ts';
import type { SelectedColumn } from '../query/dialect.ts';
import { oldestFirst, type RecordQuery } from '../query/record-query.ts';
import { rowsQuery, withLinkedFields } from '../query/rows.ts';
import type { Measured, ReadBudget } from './read-budget.ts';
import type { Scope } from './read-records.ts';

export interface LinkToRead {
  /** The name under which a record has the linked one; null if there is none. */
  readonly name: string;
  readonly field: string;
  readonly kind: RecordKind;
  readonly fields: ReadonlySet<string>;
  readonly links: readonly LinkToRead[];
}

const linkedTablesOf = (links: readonly LinkToRead[]): Table[] =>
  links.flatMap((link) => [partOf(link.kind, link.fields), ...linkedTablesOf(link.links)]);

/** Returns a function that reads a page and its links, or undefined where their texts may be too long to be read together. */
export const readLinked =
  (scope: Scope, budget: ReadBudget) =>
  <K extends RecordKind>(
    kind: K,
    query: RecordQuery & { readonly limit: number },
    links: readonly LinkToRead[],
  ): Promise<RecordOf<K>[]> | undefined => {
    const { dialect, workspaceId } = scope;
    const page = { table: partOf(withLinkedFields(kind, query.orderBy), query.fields), links };
    const rows = rowsQuery(dialect, kind, workspaceId, { orderBy: oldestFirst, ...query });
    const extent = { table: page.table, linked: linkedTablesOf(links), maxRows: query.limit };
    // The cast is safe: the rows have the columns of the kind's fields.
    return budget.readIfShort(extent, () => selectLinked(scope, page, rows)) as Promise<RecordOf<K>[]> | undefined;
  };

interface JoinedTable {
  readonly columns: readonly Column[];
  readonly start: number;
  readonly hasWorkspace: boolean;
  readonly links: readonly JoinedLink[];
}

/** The ID of a linked record is in the reference: without a second one, the rows of a page are a quarter shorter. */
interface JoinedLink {
  readonly name: string;
  readonly referenceAt: number;
  readonly isFoundAt: number;
  readonly to: JoinedTable;
}

/** Returns the records of the page in the order of its rows, the query for which must not be used again. */
async function selectLinked(
  scope: Scope,
  page: { readonly table: Table; readonly links: readonly LinkToRead[] },
  rows: Knex.QueryBuilder,
): Promise<Measured<Row[]>> {
  const { dialect, run, workspaceId, workspaceName } = scope;
  const selected: SelectedColumn[] = [];
  const joins: string[] = [];

  function select(columns: readonly Column[], links: readonly LinkToRead[], alias: string): JoinedTable {
    const start = selected.length;
    for (const { name, type } of columns) selected.push({ name: `${alias}.${name}`, type });
    return {
      columns,
      start,
      hasWorkspace: columns.some(({ type }) => type === 'workspace'),
      links: links.map((link) => ({
        name: link.name,
        referenceAt: start + columns.findIndex(({ field }) => field === link.field),
        ...join(link, alias),
      })),
    };
  }

  function join({ field, kind, fields, links }: LinkToRead, from: string): Pick<JoinedLink, 'isFoundAt' | 'to'> {
    const table = partOf(kind, fields);
    const alias = `t${joins.length + 1}`;
    joins.push(dialect.joinById({ table, alias }, `${from}.${columnName(field)}`));
    const isFoundAt = selected.push({ name: `${alias}.id is not null`, type: 'boolean' }) - 1;
    const others = columnsOf(table).filter((column) => column.field !== 'id');
    return { isFoundAt, to: select(others, links, alias) };
  }

  /** One loop over the values of a row, for each of its records: collecting them in lists of lists took a tenth of a list's time. */
  function recordOf(values: readonly unknown[], { columns, start, hasWorkspace, links }: JoinedTable) {
    const record = recordIn(columns, values, start);
    if (hasWorkspace) record.workspaceId = workspaceName;
    for (const { name, referenceAt, isFoundAt, to } of links) {
      const linked = values[isFoundAt] ? recordOf(values, to) : null;
      if (linked) linked.id = values[referenceAt];
      record[name] = linked;
    }
    return record;
  }

  const columns = columnsOf(page.table);
  const joined = select(columns, page.links, 't0');
  const bindings = [rows.select(columns.map(({ name }) => name)), ...joins.map(() => workspaceId)];
  // As text, because Knex takes as long to build a query of joins as to build the page in it.
  const query = (list: string) => dialect.builder.raw(`select ${list} from ? as t0 ${joins.join(' ')}`, bindings);
  const found = await dialect.selectValues(run, selected, query, true);
  let length = 0;
  for (const values of found) for (const value of values) length += textLength(value);
  return { result: found.map((values) => recordOf(values, joined)), length };
}
