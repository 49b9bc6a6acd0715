/**
 * The SQL of Postgres. Settings end with the transaction: connections may come through a pooler.
 *
 * With Citus, tables are distributed by workspace. The SQL differs only where it would fail:
 * - Inserts have `returning`. Without it, Citus runs an `insert … select` as a COPY; if the transaction has read the
 *   same shard before, it commits without two-phase commit, and loses acknowledged batches when a worker dies.
 * - Records, changes and keys are inserted by a statement each: Citus refuses one that writes several tables.
 * - Limits of statements on several workspaces are literals: see `literally`.
 * - No constant stands in a subquery: see conditions.ts.
 * - Lookups by external IDs have a plain condition on the workspace.
 * - Locks are rows: an advisory lock holds on one node only.
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
import { writtenColumns } from '../query/computed.ts';
import type { Dialect, Filters, Insert, Pattern } from '../query/dialect.ts';
import { requireWhole } from '../query/rows.ts';
import { changes, idempotencyResults } from '../query/tables.ts';
import { toDateTime } from './driver.ts';

export async function openPostgresDialect(read: Run): Promise<Dialect> {
  const [row] = await read("select exists (select from pg_extension where extname = 'citus') as is_citus");
  const problem = await findSettingsProblem(read);
  if (problem !== undefined) throw new Error(problem);
  return createPostgresDialect({ isCitus: row?.is_citus === true });
}

function createPostgresDialect({ isCitus }: { readonly isCitus: boolean }): Dialect {
  // Names need no quotes.
  const builder = knex({ client: 'pg', wrapIdentifier: (name) => name });
  // With `= any(…)`, a server without statistics would read the workspace by another index.
  const lateralRows: Dialect['rowsReferring'] = ({ table, field }, workspaceId, ids, limitPerId) =>
    builder.from(
      builder.raw(
        `unnest(?::text[]) as wanted (wanted_id) cross join lateral (select * from ${table.table}
          where workspace_id = ? and ${columnName(field)} = wanted_id limit ${requireWhole(limitPerId)}) as found`,
        [[...ids], workspaceId],
      ),
    );
  return {
    builder,
    // Releases the locks of a process that hangs in a transaction.
    begin: "begin; set local idle_in_transaction_session_timeout = '60s'",
    beginSnapshot: 'begin isolation level repeatable read read only',
    jsonElements: 'json_array_elements',
    jsonArrayOf: 'json_agg',
    prepareCopy: 'set local idle_in_transaction_session_timeout = 0',
    finishCopy: "select setval(pg_get_serial_sequence('workspaces', 'number'), max(number)) from workspaces",
    // At a higher isolation level it would not see the commits that it waited for.
    lockMaintenance:
      "set transaction isolation level read committed; select pg_advisory_xact_lock(hashtext('yardgraph maintenance'))",
    lock: `insert into locks (workspace_id, name) values ($1, $2)
      on conflict (workspace_id, name) do update set name = excluded.name`,
    // Otherwise a small table would be scanned for each ID: comparing JSON counts as cheap.
    prepareExternalIds: "select set_config('enable_seqscan', 'off', true)",
    sizes: `select pg_database_size(current_database()) as database, pg_total_relation_size('changes') as log,
      (select coalesce(sum(number - horizon), 0) from change_numbers where final_number is null) as changes`,
    filters: createFilters(builder, isCitus),
    byteLength: (column) => `octet_length(${column}::text)`,
    inserts: (table, records) => inserts(table, records, isCitus),
    insertWithLog: isCitus ? undefined : insertWithLog,
    updates,
    deletions,
    timeType: 'timestamptz',
    parents: (ids) => builder.raw('unnest(?::text[]) as parent (value)', [[...ids]]),
    date(column, length, offset) {
      const shift = offset === undefined ? '' : ` + (${offset}) * interval '1 second'`;
      return `to_char(${column} at time zone 'UTC'${shift}, '${'YYYY-MM-DD'.slice(0, length)}')`;
    },
    rowsById: (table, workspaceId, ids) => lateralRows({ table, field: 'id' }, workspaceId, ids, 1),
    rowsReferring: (from, workspaceId, ids, limit) => lateralRows(from, workspaceId, ids, limit).limit(limit),
    // Without `lateral` and a limit, a server without statistics reads the whole table for a page of 100 records.
    joinByKey: ({ table, alias, key = 'id' }, value) =>
      `left join lateral (select ${columnList(writtenColumns(table))} from ${table.table}
        where workspace_id = ? and ${key} = ${value} limit 1) ${alias} on true`,
    // Likewise: 29 s for 125,000 steps down a tree of 500 records. The limit is never reached.
    joinReferring: ({ table, alias, column }, id) =>
      `cross join lateral (select id from ${table.table}
        where workspace_id = ? and ${column} = ${id} limit 1000000000) ${alias}`,
    jsonRow,
    fromJson(columns) {
      const times = columns.flatMap(({ type }, index) => (type === 'dateTime' ? [index] : []));
      return (row) => {
        const values = columns.length > maxArguments ? row.flat() : row;
        for (const index of times) if (values[index] !== null) values[index] = toDateTime(String(values[index]));
        return values;
      };
    },
    // For a linked list of 100, an array per row took a tenth longer, one text of all rows 3 %.
    jsonPage: (columns) => columns.map(({ name }) => `json_agg(${name})`),
    parsePage(texts) {
      // Null without rows.
      const arrays: (unknown[] | null)[] = texts.map((text) => JSON.parse(String(text)));
      return (arrays[0] ?? []).map((_, row) => arrays.map((values) => values?.[row]));
    },
  };
}

/** Postgres allows 100 arguments of a function. */
const maxArguments = 100;

/** More columns become an array of arrays: linked records may add hundreds. */
function jsonRow(columns: readonly SelectedColumn[]): string {
  const arrays: string[] = [];
  for (let start = 0; start < columns.length; start += maxArguments) {
    const names = columns.slice(start, start + maxArguments).map(({ name }) => name);
    arrays.push(`json_build_array(${names.join(', ')})`);
  }
  return arrays.length > 1 ? `json_build_array(${arrays.join(', ')})` : arrays.join();
}

/** Rejects settings that would change returned values. */
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
      `${table} as found where ${workspaceSql(isCitus)} and ${holdsExternalIdSql(column, '?::jsonb')}`,
      [workspaceId, object, object],
    );
    // Otherwise Postgres may read the workspace in order until it has found enough.
    return builder.raw(`${alias}.id = any(array(select found.id from ?))`, [found]);
  },
  idsWithExternalId({ workspaceId, table, column }, key, value, limit) {
    const object = `jsonb_build_object(?::text, jsonb_build_object(${key}, ${value}))`;
    const workspaceKey = String(workspaceId);
    return builder(`${table} as found`)
      .whereRaw(`${workspaceSql(isCitus)} and ${holdsExternalIdSql(column, object)}`, [
        workspaceId,
        workspaceKey,
        workspaceKey,
      ])
      .orderBy('found.id')
      .modify((rows) => limit !== undefined && rows.limit(limit))
      .select('found.id');
  },
  externalId: (column, key) => `(${column} ->> ${key})`,
  // Postgres makes `exists` a join, but with `is true` a hash table or lookups by an index. With joins, 400 lists of 20
  // records, filtered by the names of 1 to 20,000 labels or locations, took 0.05 to over 30 s, without 0.03 to 0.2 s.
  // Within `or` and `not`, `in` would compare each row with all values.
  isAmong(value, { column, from, where }, isPerRow) {
    const exists = builder.raw(`exists (select 1 from ${from} where ${column} = ${value} and ?)`, [where]);
    return isPerRow ? builder.raw('(?) is true', [exists]) : exists;
  },
  // If more than 100 match, a page is soon found in any order.
  isAmongFew(column, rows) {
    const values = builder.raw(`array(select ${rows.column} from ${rows.from} where ? limit 101)`, [rows.where]);
    const areMany = builder.raw('cardinality(?) > 100', [values]);
    return [builder.raw(`${column} = any(?) and not ?`, [values, areMany]), areMany];
  },
});

/**
 * `+ 0` hides the index that begins with the workspace: on a server without statistics, 1,000 lookups among 80,000
 * records took 4 seconds with it, not 50 ms. Citus needs the plain condition to find the machine.
 */
const workspaceSql = (isCitus: boolean) => (isCitus ? 'found.workspace_id = ?' : 'found.workspace_id + 0 = ?');

/**
 * Matches the expression of the index, which contains the workspace. Repeated: Postgres then expects few rows, and the
 * machines of Citus use the index, too.
 */
function holdsExternalIdSql(column: string, object: string): string {
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

/** `workspace` is a parameter, unless the rows have it. */
function insertFrom(parameter: string, table: Table, workspace?: string): string {
  const columns = writtenColumns(table);
  const sent = workspace === undefined ? columns : columns.filter(({ type }) => type !== 'workspace');
  const values = columns.map(({ field, type }) => (type === 'workspace' && workspace ? workspace : `"${field}"`));
  return `insert into ${table.table} (${columnList(columns)})
    select ${values.join(', ')} from ${recordset(parameter, sent)}`;
}

/** Rows are one JSON text: batches with a parameter per value, at most 65,535, take a third longer. */
function* inserts(table: Table, unordered: readonly Row[], isCitus: boolean): Generator<Statement> {
  const records = sortByText(unordered, uniqueFieldOf(table));
  const sql = insertFrom('$1', table) + (isCitus ? ' returning 1' : '');
  for (const slice of sliceRows(records, rowsPerInsert)) yield { sql, values: [JSON.stringify(slice)] };
}

const uniqueFieldOf = ({ storedFields }: Table): string | undefined =>
  Object.keys(storedFields).find((name) => storedFields[name]?.unique);

/** Sorted: transactions that insert the same unique values in different orders could deadlock. */
function sortByText(rows: readonly Row[], field: string | undefined): readonly Row[] {
  if (field === undefined) return rows;
  const textIn = (row: Row) => String(row[field] ?? '');
  return rows.toSorted((a, b) => (textIn(a) < textIn(b) ? -1 : Number(textIn(a) > textIn(b))));
}

const loggedColumns = tableColumns(changes).filter(({ field }) => field !== 'number' && field !== 'recordId');

/** The log of an insert: common values, IDs of records, and the number of records of earlier inserts. */
const insertColumns: readonly JsonColumn[] = [
  ...loggedColumns,
  { field: 'recordIds', type: 'json' },
  { field: 'earlier', type: 'number' },
];

/**
 * One statement, without BEGIN and COMMIT. It locks referenced records first; if one is missing, it fails by a division
 * by zero. Postgres runs last, in reverse order, the parts that no other part reads: the change number is locked only
 * after records and keys are inserted.
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
  const resultRows = sortByText(
    inserts.flatMap(({ resultRow }): Row[] => (resultRow ? [resultRow] : [])),
    'key',
  );
  if (resultRows.length > 0) {
    values.push(JSON.stringify(resultRows));
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
  const columns = writtenColumns(table);
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

/** By `ctid`: by ID, a server without statistics would read the workspace for 100 locked records. */
const rowPlaceSql = ({ table }: Table, workspaceId: string, id: string): string =>
  `cross join lateral (select ctid as place from ${table} where workspace_id = ${workspaceId} and id = ${id} limit 1) as found`;
