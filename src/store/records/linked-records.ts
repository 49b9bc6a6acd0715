/**
 * Reads a page of records together with what they link to, in one statement: with one for each link, half of the time of a list
 * would be statements.
 */
import type { Knex } from 'knex';
import type { RecordKind, Table } from '../../model/record-kind.ts';
import type { Row } from '../connections/driver.ts';
import { type Column, columnName, columnsOf, partOf, recordIn } from '../query/columns.ts';
import type { SelectedColumn } from '../query/dialect.ts';
import { oldestFirst, type RecordQuery } from '../query/record-query.ts';
import { rowsQuery } from '../query/run-query.ts';
import type { ReadBudget } from './read-budget.ts';
import { nameWorkspace, type Scope } from './read-records.ts';

/** A reference to follow, what to read of the records that it leads to, and which of their references to follow. */
export interface LinkToRead {
  readonly field: string;
  readonly kind: RecordKind;
  readonly fields: ReadonlySet<string>;
  readonly links: readonly LinkToRead[];
}

/** The table of a page, with the columns to read, and the references to follow. */
interface Page {
  readonly table: Table;
  readonly links: readonly LinkToRead[];
}

/** Holds the linked records of a record, by the field of the reference: null if there is none. */
const linked = Symbol('linked records');

type LinkedRow = Row & { readonly [linked]?: Readonly<Record<string, LinkedRow | null>> };

/** Returns the linked record; undefined if the record was read without it. */
export const linkedRecord = (record: LinkedRow, field: string): Row | null | undefined => record[linked]?.[field];

/** Returns all linked records that were read with the record. */
const linkedFrom = (record: LinkedRow): Row[] =>
  linkedRecordsIn(Object.values(record[linked] ?? {}).filter((other) => other !== null));

/** Returns the records, and all linked records that were read with them. */
const linkedRecordsIn = (records: readonly LinkedRow[]): Row[] =>
  records.flatMap((record) => [record, ...linkedFrom(record)]);

/** Returns the tables that are joined for a page: one for each link. */
const linkedTablesOf = (links: readonly LinkToRead[]): Table[] =>
  links.flatMap((link) => [partOf(link.kind, link.fields), ...linkedTablesOf(link.links)]);

/** Returns a function that reads a page and its links, or undefined where their texts may be too long to be read together. */
export const readLinked =
  (scope: Scope, budget: ReadBudget) =>
  (kind: RecordKind, query: RecordQuery & { readonly limit: number }, links: readonly LinkToRead[]) => {
    const { dialect, workspaceId } = scope;
    const page = { table: partOf(kind, query.fields), links };
    const rows = rowsQuery(dialect, kind, workspaceId, { orderBy: oldestFirst, ...query });
    const readAll = () => selectLinked(scope, page, rows);
    const extent = { table: page.table, linked: linkedTablesOf(links), maxRows: query.limit };
    return budget.readIfShort(extent, { readAll, rowsOf: linkedRecordsIn });
  };

/** A table of the statement, and where its values are in a row. */
interface JoinedTable {
  readonly columns: readonly Column[];
  readonly start: number;
  readonly idAt: number;
  readonly links: readonly { readonly field: string; readonly to: JoinedTable }[];
}

/** Returns the records of the page in the order of its rows, the query for which must not be used again. */
async function selectLinked(scope: Scope, page: Page, rows: Knex.QueryBuilder): Promise<LinkedRow[]> {
  const { dialect, run, workspaceId } = scope;
  const selected: SelectedColumn[] = [];
  let tables = 0;

  function join({ table, links }: Page): JoinedTable {
    const alias = `t${tables}`;
    tables += 1;
    const columns = columnsOf(table);
    const start = selected.length;
    selected.push(...columns.map(({ name, type }) => ({ name: `${alias}.${name}`, type })));
    return {
      columns,
      start,
      idAt: start + columns.findIndex(({ field }) => field === 'id'),
      links: links.map(({ field, kind, fields, links: below }) => {
        const target = partOf(kind, fields);
        const to = { table: target, alias: `t${tables}` };
        dialect.joinById(query, to, { workspaceId, reference: `${alias}.${columnName(field)}` });
        return { field, to: join({ table: target, links: below }) };
      }),
    };
  }

  const query = dialect.builder.from(rows.select(columnsOf(page.table).map(({ name }) => name)).as('t0'));
  const joined = join(page);
  const found = await dialect.selectValues(run, selected, query, true);
  const records = found.map((values) => linkedRowIn(values, joined));
  // `asRecords` does this for the records of the page themselves, as for any list.
  nameWorkspace(scope, records.flatMap(linkedFrom));
  return records;
}

function linkedRowIn(values: readonly unknown[], { columns, start, links }: JoinedTable): LinkedRow {
  const record = recordIn(columns, values, start);
  if (links.length === 0) return record;
  const others: Record<string, LinkedRow | null> = {};
  for (const { field, to } of links) others[field] = values[to.idAt] === null ? null : linkedRowIn(values, to);
  return Object.assign(record, { [linked]: others });
}
