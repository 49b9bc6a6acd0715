import type { Table } from '../../model/record-kind.ts';
import type { Row, Statement } from '../connections/driver.ts';
import { type Column, type ColumnType, columnList, columnsOf, slicesOf } from '../query/columns.ts';
import type { NewRecords } from '../query/dialect.ts';
import { changes, idempotencyResults, keyRowsOf } from '../query/tables.ts';

const jsonTypes: Record<ColumnType, string> = {
  workspace: 'bigint',
  id: 'text',
  text: 'text',
  number: 'double precision',
  boolean: 'boolean',
  dateTime: 'timestamptz',
  externalIds: 'json',
  json: 'json',
  reference: 'text',
  foreignReference: 'text',
};

const rowsPerInsert = 5_000;

type JsonColumn = Pick<Column, 'field' | 'type'>;

const fieldList = (columns: readonly JsonColumn[]): string => columns.map(({ field }) => `"${field}"`).join(', ');

const recordset = (parameter: string, columns: readonly JsonColumn[]): string =>
  `json_to_recordset(${parameter}) as sent (${columns.map(({ field, type }) => `"${field}" ${jsonTypes[type]}`).join(', ')})`;

/** Without `workspace`, the parameter with its number, the rows have it. */
function insertFrom(parameter: string, table: Table, workspace?: string): string {
  const columns = columnsOf(table);
  const sent = workspace === undefined ? columns : columns.filter(({ type }) => type !== 'workspace');
  const values = columns.map(({ field, type }) => (type === 'workspace' && workspace ? workspace : `"${field}"`));
  return `insert into ${table.table} (${columnList(table)})
    select ${values.join(', ')} from ${recordset(parameter, sent)}`;
}

/** With a parameter per value, of which a statement may have 65,535, batches take a third longer than with one JSON text. */
export function* inserts(table: Table, unordered: readonly Row[], isCitus: boolean): Generator<Statement> {
  const records = inOrderOfUniqueValues(table, unordered);
  const sql = insertFrom('$1', table) + (isCitus ? ' returning 1' : '');
  for (const slice of slicesOf(records, rowsPerInsert)) yield { sql, values: [JSON.stringify(slice)] };
}

/** Of two transactions with the same unique values, one then waits for the other: in different orders, they could deadlock. */
function inOrderOfUniqueValues(table: Table, records: readonly Row[]): readonly Row[] {
  const [unique] = Object.entries(table.storedFields).find(([, field]) => field.unique) ?? [];
  if (!unique || records.length < 2) return records;
  const keyOf = (record: Row) => `${record.workspaceId} ${record[unique] ?? ''}`;
  const keyed = records.map((record) => ({ key: keyOf(record), record }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key))).map(({ record }) => record);
}

const loggedColumns = columnsOf(changes).filter(({ field }) => field !== 'number' && field !== 'recordId');

/** The parts of the log of an addition: what its rows have in common, their records, and how many come before them. */
const additionColumns: readonly JsonColumn[] = [
  ...loggedColumns,
  { field: 'recordIds', type: 'json' },
  { field: 'earlier', type: 'number' },
];

/**
 * The insert of records of one workspace and its changes as one statement, which needs no BEGIN and COMMIT. Records that are referred to are
 * locked first, so that nobody deletes them before the commit; if one is not there, the statement fails by a division by zero. Postgres runs
 * the parts whose rows nothing reads last, and of these the last one first: the number of the workspace is locked only after the records and
 * the keys have been inserted.
 */
export function withChanges(table: Table, additions: readonly NewRecords[]): Statement {
  const records = additions.flatMap((addition) => addition.records);
  let earlier = 0;
  const logged = additions.map(({ change, records }) => {
    const entry = { ...change, recordIds: records.map(({ id }) => id), earlier };
    earlier += records.length;
    return entry;
  });
  const values: unknown[] = [
    JSON.stringify(inOrderOfUniqueValues(table, records)),
    logged[0]?.workspaceId,
    records.length,
    JSON.stringify(logged),
  ];
  const parts = [
    `taken as (insert into change_numbers (workspace_id, number) values ($2, $3)
      on conflict (workspace_id) do update set number = change_numbers.number + excluded.number
      returning number as last)`,
    `logged as (insert into changes (${loggedColumns.map(({ name }) => name).join(', ')}, record_id, number)
      select ${fieldList(loggedColumns)}, record_id, last - $3 + earlier + place
      from ${recordset('$4', additionColumns)} cross join taken
        cross join lateral json_array_elements_text("recordIds") with ordinality as record (record_id, place))`,
  ];
  const keyed = keyRowsOf(additions);
  if (keyed.length > 0) {
    values.push(JSON.stringify(keyed));
    parts.push(`keyed as (${insertFrom(`$${values.length}`, idempotencyResults)})`);
  }
  const conditions: string[] = [];
  for (const target of new Set(additions.flatMap(({ references }) => [...references.keys()]))) {
    const ids = new Set(additions.flatMap(({ references }) => references.get(target) ?? []));
    if (ids.size === 0) continue;
    values.push([...ids].sort());
    const sent = `$${values.length}::text[]`;
    parts.push(`found_${target.table} as materialized (
      select from unnest(${sent}) as sent (sent_id) cross join lateral (
        select from ${target.table} where workspace_id = $2 and id = sent_id limit 1 for key share) as found)`);
    conditions.push(`(select count(*) from found_${target.table}) = cardinality(${sent})`);
  }
  const where = conditions.length > 0 ? ` where 1 / (case when ${conditions.join(' and ')} then 1 else 0 end) = 1` : '';
  return { sql: `with ${parts.join(', ')} ${insertFrom('$1', table, '$2')}${where}`, values };
}

export function* updates(
  table: Table,
  workspaceId: number,
  records: readonly Row[],
  fields: ReadonlySet<string>,
): Generator<Statement> {
  const columns = columnsOf(table);
  const [id] = columns.filter(({ field }) => field === 'id');
  const changed = columns.filter(({ field }) => fields.has(field));
  if (!id || changed.length === 0) return;
  const assignments = changed.map(({ field, name }) => `${name} = sent."${field}"`).join(', ');
  const sql = `update ${table.table} set ${assignments}
    from ${recordset('$1', [id, ...changed])} ${placeOf(table, '$2', 'sent.id')} where workspace_id = $2 and ctid = found.place`;
  for (const slice of slicesOf(records, rowsPerInsert)) {
    const sent = slice.map((record) => Object.fromEntries([id, ...changed].map(({ field }) => [field, record[field]])));
    yield { sql, values: [JSON.stringify(sent), workspaceId] };
  }
}

export const deletions = (table: Table, workspaceId: number, ids: readonly string[]): Statement[] => [
  {
    sql: `delete from ${table.table}
      using unnest($1::text[]) as wanted (wanted_id) ${placeOf(table, '$2', 'wanted_id')} where workspace_id = $2 and ctid = found.place`,
    values: [ids, workspaceId],
  },
];

/** A locked row stays in its place. By its ID, a server without statistics would read all of the workspace for a hundred records. */
const placeOf = ({ table }: Table, workspaceId: string, id: string): string =>
  `cross join lateral (select ctid as place from ${table} where workspace_id = ${workspaceId} and id = ${id} limit 1) as found`;
