/**
 * The SQL of Postgres. Nothing here changes a session beyond its transaction, so that connections may come through a pooler in
 * transaction mode.
 *
 * With Citus, tables are distributed by workspace. What is different for it is only what fails otherwise:
 * - Inserts return something. Citus runs an `insert … select` as a COPY. If the transaction has read the same shard before, it then commits
 *   without two-phase commit, and acknowledged batches are lost when a worker dies. It does not use COPY for an insert with `returning`.
 * - Records, their changes and keys are inserted by a statement each: it refuses one that writes several tables.
 * - Limits of statements on several workspaces are no parameters, which it refuses there: see `literally`.
 * - No constant stands in a subquery, with which Postgres would fold the filter by workspace: see conditions.ts.
 * - Lookups by external IDs have a plain condition on the workspace, without which it refuses a subquery.
 * - Locks are rows, because an advisory lock holds on one node only.
 */
import { type Knex, knex } from 'knex';
import type { Table } from '../../model/record-kind.ts';
import type { Row, Run, Statement } from '../connections/driver.ts';
import {
  type ColumnType,
  columnList,
  columnName,
  type SelectedColumn,
  sliceRows,
  type TableColumn,
  tableColumns,
} from '../query/columns.ts';
import type { Dialect, Filters, Insert, Pattern } from '../query/dialect.ts';
import { requireWhole } from '../query/rows.ts';
import { changes, idempotencyResults } from '../query/tables.ts';
import { toDateTime } from './driver.ts';

/** Throws an error with the reason if the server cannot be used. */
export async function openPostgresDialect(read: Run): Promise<Dialect> {
  const [row] = await read("select exists (select from pg_extension where extname = 'citus') as is_citus");
  const problem = await findSettingsProblem(read);
  if (problem !== undefined) throw new Error(problem);
  return createPostgresDialect({ isCitus: row?.is_citus === true });
}

function createPostgresDialect({ isCitus }: { readonly isCitus: boolean }): Dialect {
  // Names of tables and columns need no quotes.
  const builder = knex({ client: 'pg', wrapIdentifier: (name) => name });
  // With `= any(…)`, a server without statistics would read all of the workspace in another index.
  const lateralRows: Dialect['rowsReferring'] = ({ table, field }, workspaceId, ids, limitPerId) =>
    builder.from(
      builder.raw(
        `unnest(?::text[]) as wanted (wanted_id) cross join lateral (select * from ${table.table}
          where workspace_id = ? and ${columnName(field)} = wanted_id limit ${requireWhole(limitPerId)}) as found`,
        [ids as string[], workspaceId],
      ),
    );
  return {
    builder,
    // If a process stops responding in the middle of a transaction, its connection is closed and its locks are released.
    begin: "begin; set local idle_in_transaction_session_timeout = '60s'",
    beginSnapshot: 'begin isolation level repeatable read read only',
    jsonElements: 'json_array_elements',
    jsonArrayOf: 'json_agg',
    prepareCopy: 'set local idle_in_transaction_session_timeout = 0',
    finishCopy: "select setval(pg_get_serial_sequence('workspaces', 'number'), max(number)) from workspaces",
    // At a higher isolation level it would not see what others did while it waited for the lock.
    lockMaintenance:
      "set transaction isolation level read committed; select pg_advisory_xact_lock(hashtext('yardgraph maintenance'))",
    lock: `insert into locks (workspace_id, name) values ($1, $2)
      on conflict (workspace_id, name) do update set name = excluded.name`,
    // Otherwise a small table would be read from end to end for each of them, because comparing JSON counts as cheap.
    prepareExternalIds: "select set_config('enable_seqscan', 'off', true)",
    filters: createFilters(builder, isCitus),
    byteLength: (column) => `octet_length(${column}::text)`,
    inserts: (table, records) => inserts(table, records, isCitus),
    insertWithLog: isCitus ? undefined : insertWithLog,
    updates,
    deletions,
    parents: (ids) => builder.raw('unnest(?::text[]) as parent (value)', [ids as string[]]),
    date(column, length, offset) {
      const shift = offset === undefined ? '' : ` + (${offset}) * interval '1 second'`;
      return `to_char(${column} at time zone 'UTC'${shift}, '${'YYYY-MM-DD'.slice(0, length)}')`;
    },
    rowsById: (table, workspaceId, ids) => lateralRows({ table, field: 'id' }, workspaceId, ids, 1),
    rowsReferring: (from, workspaceId, ids, limit) => lateralRows(from, workspaceId, ids, limit).limit(limit),
    // Without `lateral` and a limit, a server without statistics would read the whole table for a page of a hundred records.
    joinById: ({ table, alias }, reference) =>
      `left join lateral (select ${columnList(table)} from ${table.table}
        where workspace_id = ? and id = ${reference} limit 1) ${alias} on true`,
    jsonRow,
    fromJson(columns) {
      const times = columns.flatMap(({ type }, index) => (type === 'dateTime' ? [index] : []));
      return (row) => {
        const values = columns.length > maxArguments ? row.flat() : row;
        for (const index of times) if (values[index] !== null) values[index] = toDateTime(String(values[index]));
        return values;
      };
    },
    // An array for each column: building one for each row took a tenth longer for a linked list of a hundred, and one text of all of them 3 %.
    jsonPage: (columns) => columns.map(({ name }) => `json_agg(${name})`),
    parsePage(texts) {
      // Without rows, they are null.
      const arrays = texts.map((text) => JSON.parse(String(text)) as unknown[] | null);
      return (arrays[0] ?? []).map((_, row) => arrays.map((values) => values?.[row]));
    },
  };
}

/** The most arguments of a function of Postgres. */
const maxArguments = 100;

/** More columns become an array of arrays: a record with what it links to, and what that links to, may have hundreds. */
function jsonRow(columns: readonly SelectedColumn[]): string {
  const arrays: string[] = [];
  for (let start = 0; start < columns.length; start += maxArguments) {
    const names = columns.slice(start, start + maxArguments).map(({ name }) => name);
    arrays.push(`json_build_array(${names.join(', ')})`);
  }
  return arrays.length > 1 ? `json_build_array(${arrays.join(', ')})` : arrays.join();
}

/** Returns what is wrong with the server's settings, with which some values would be returned differently than they were sent. */
async function findSettingsProblem(read: Run): Promise<string | undefined> {
  const [settings] = await read(
    `select current_setting('server_encoding') as encoding, current_setting('DateStyle') as date_style,
      current_setting('extra_float_digits') as digits`,
  );
  if (settings?.encoding !== 'UTF8') return `expected its encoding to be UTF8, it is ${settings?.encoding}`;
  if (!String(settings.date_style).startsWith('ISO')) {
    return `expected its DateStyle to be ISO, it is ${settings.date_style}`;
  }
  if (Number(settings.digits) < 1) return `expected extra_float_digits of at least 1, it is ${settings.digits}`;
  return undefined;
}

const createFilters = (builder: Knex, isCitus: boolean): Filters => ({
  isOneOf: (column, _type, values) => builder.raw(`${column} = any(?)`, [values as string[]]),
  isSet: (column, isSet) => builder.raw(`${column} is ${isSet ? 'not null' : 'null'}`),
  contains: (column, text) => builder.raw(`strpos(${column}, ?) > 0`, [text]),
  endsWith: (column, text) => builder.raw(`right(${column}, ?) = ?`, [Array.from(text).length, text]),
  matchesAny: (column, patterns) => builder.raw(`${column} ~ any(?)`, [patterns.map(regularExpressionOf)]),
  hasExternalId({ workspaceId, table, alias, column }, key, value) {
    if (value === undefined) return builder.raw(`(${alias}.${column} ->> ?::text) is not null`, [key]);
    const object = JSON.stringify({ [workspaceId]: { [key]: value } });
    const found = builder.raw(
      `${table} as found where ${isInWorkspace(isCitus)} and ${containsExternalId(column, '?::jsonb')}`,
      [workspaceId, object, object],
    );
    // Looked up first: otherwise Postgres may read the workspace's rows in order until it has found enough of them.
    return builder.raw(`${alias}.id = any(array(select found.id from ?))`, [found]);
  },
  idsWithExternalId({ workspaceId, table, column }, key, value, limit) {
    const object = `jsonb_build_object(?::text, jsonb_build_object(${key}, ${value}))`;
    const workspaceKey = String(workspaceId);
    return builder(`${table} as found`)
      .whereRaw(`${isInWorkspace(isCitus)} and ${containsExternalId(column, object)}`, [
        workspaceId,
        workspaceKey,
        workspaceKey,
      ])
      .orderBy('found.id')
      .modify((rows) => limit !== undefined && rows.limit(limit))
      .select('found.id');
  },
  externalId: (column, key) => `(${column} ->> ${key})`,
  // Postgres makes a join of `exists`. Within `or` and `not` it would compare each row with all of the values of an `in`.
  isAmong: (column, rows) =>
    builder.raw(`exists (select 1 from ${rows.from} where ${rows.column} = ${column} and ?)`, [rows.where]),
  // Of more than a hundred, a page is soon found in any order.
  isAmongFew(column, rows) {
    const values = builder.raw(`array(select ${rows.column} from ${rows.from} where ? limit 101)`, [rows.where]);
    const areMany = builder.raw('cardinality(?) > 100', [values]);
    return [builder.raw(`${column} = any(?) and not ?`, [values, areMany]), areMany];
  },
});

/**
 * On a server without statistics, Postgres would read the whole workspace for each lookup, by an index that begins with it: 1,000 lookups
 * among 80,000 records took 4 seconds instead of 50 ms. Citus needs the plain condition, which says which machine has the row.
 */
const isInWorkspace = (isCitus: boolean) => (isCitus ? 'found.workspace_id = ?' : 'found.workspace_id + 0 = ?');

/**
 * Compares as the index does, whose entries contain the workspace. The condition is there twice because Postgres then expects few rows to
 * meet it, so that the machines of Citus use that index, too.
 */
function containsExternalId(column: string, object: string): string {
  const condition = `jsonb_set('{}', array[found.workspace_id::text], found.${column}::jsonb) @> ${object}`;
  return `${condition} and ${condition}`;
}

function regularExpressionOf({ characters, isAnchoredAtStart, isAnchoredAtEnd }: Pattern): string {
  const parts = characters.map((forms) => {
    const escaped = forms.map(escapedCharacter).join('');
    return forms.length > 1 ? `[${escaped}]` : escaped;
  });
  return `${isAnchoredAtStart ? '^' : ''}${parts.join('')}${isAnchoredAtEnd ? '$' : ''}`;
}

const escapedCharacter = (character: string): string =>
  /^[A-Za-z0-9]$/.test(character) ? character : `\\U${(character.codePointAt(0) ?? 0).toString(16).padStart(8, '0')}`;

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

type JsonColumn = Pick<TableColumn, 'field' | 'type'>;

const fieldList = (columns: readonly JsonColumn[]): string => columns.map(({ field }) => `"${field}"`).join(', ');

const recordset = (parameter: string, columns: readonly JsonColumn[]): string =>
  `json_to_recordset(${parameter}) as sent (${columns.map(({ field, type }) => `"${field}" ${jsonTypes[type]}`).join(', ')})`;

/** Without `workspace`, the parameter with its number, the rows have it. */
function insertFrom(parameter: string, table: Table, workspace?: string): string {
  const columns = tableColumns(table);
  const sent = workspace === undefined ? columns : columns.filter(({ type }) => type !== 'workspace');
  const values = columns.map(({ field, type }) => (type === 'workspace' && workspace ? workspace : `"${field}"`));
  return `insert into ${table.table} (${columnList(table)})
    select ${values.join(', ')} from ${recordset(parameter, sent)}`;
}

/** With a parameter per value, of which a statement may have 65,535, batches take a third longer than with one JSON text. */
function* inserts(table: Table, unordered: readonly Row[], isCitus: boolean): Generator<Statement> {
  const records = sortByText(unordered, uniqueFieldOf(table));
  const sql = insertFrom('$1', table) + (isCitus ? ' returning 1' : '');
  for (const slice of sliceRows(records, rowsPerInsert)) yield { sql, values: [JSON.stringify(slice)] };
}

const uniqueFieldOf = ({ storedFields }: Table): string | undefined =>
  Object.keys(storedFields).find((name) => storedFields[name]?.unique);

/** Of two transactions of a workspace with the same unique values, one then waits for the other: in different orders, they could deadlock. */
function sortByText(rows: readonly Row[], field: string | undefined): readonly Row[] {
  if (field === undefined) return rows;
  const textOf = (row: Row) => String(row[field] ?? '');
  return rows.toSorted((a, b) => (textOf(a) < textOf(b) ? -1 : Number(textOf(a) > textOf(b))));
}

const loggedColumns = tableColumns(changes).filter(({ field }) => field !== 'number' && field !== 'recordId');

/** The parts of the log of an insert: what its rows have in common, their records, and how many come before them. */
const insertColumns: readonly JsonColumn[] = [
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
function insertWithLog(table: Table, inserts: readonly Insert[]): Statement {
  const records = inserts.flatMap((insert) => insert.records);
  let earlier = 0;
  const logged = inserts.map(({ change, records }) => {
    const entry = { ...change, recordIds: records.map(({ id }) => id), earlier };
    earlier += records.length;
    return entry;
  });
  const values: unknown[] = [
    JSON.stringify(sortByText(records, uniqueFieldOf(table))),
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
      from ${recordset('$4', insertColumns)} cross join taken
        cross join lateral json_array_elements_text("recordIds") with ordinality as record (record_id, place))`,
  ];
  const keyed = sortByText(
    inserts.flatMap((insert): Row[] => (insert.keyed ? [insert.keyed] : [])),
    'key',
  );
  if (keyed.length > 0) {
    values.push(JSON.stringify(keyed));
    parts.push(`keyed as (${insertFrom(`$${values.length}`, idempotencyResults)})`);
  }
  const conditions: string[] = [];
  for (const target of new Set(inserts.flatMap(({ references }) => [...references.keys()]))) {
    const ids = new Set(inserts.flatMap(({ references }) => references.get(target) ?? []));
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

function* updates(
  table: Table,
  workspaceId: number,
  records: readonly Row[],
  fields: ReadonlySet<string>,
): Generator<Statement> {
  const columns = tableColumns(table);
  const [id] = columns.filter(({ field }) => field === 'id');
  const changed = columns.filter(({ field }) => fields.has(field));
  if (!id || changed.length === 0) return;
  const assignments = changed.map(({ field, name }) => `${name} = sent."${field}"`).join(', ');
  const sql = `update ${table.table} set ${assignments}
    from ${recordset('$1', [id, ...changed])} ${rowPlaceSql(table, '$2', 'sent.id')} where workspace_id = $2 and ctid = found.place`;
  for (const slice of sliceRows(records, rowsPerInsert)) {
    const sent = slice.map((record) => Object.fromEntries([id, ...changed].map(({ field }) => [field, record[field]])));
    yield { sql, values: [JSON.stringify(sent), workspaceId] };
  }
}

function deletions(table: Table, workspaceId: number, ids: readonly string[]): Statement[] {
  return [
    {
      sql: `delete from ${table.table}
      using unnest($1::text[]) as wanted (wanted_id) ${rowPlaceSql(table, '$2', 'wanted_id')} where workspace_id = $2 and ctid = found.place`,
      values: [ids, workspaceId],
    },
  ];
}

/** A locked row stays in its place. By its ID, a server without statistics would read all of the workspace for a hundred records. */
const rowPlaceSql = ({ table }: Table, workspaceId: string, id: string): string =>
  `cross join lateral (select ctid as place from ${table} where workspace_id = ${workspaceId} and id = ${id} limit 1) as found`;
