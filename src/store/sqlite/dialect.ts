import { knex } from 'knex';
import type { RecordKind, Table } from '../../model/record-kind.ts';
import type { Row, Statement } from '../connections/driver.ts';
import {
  columnList,
  isJson,
  type SelectedColumn,
  sliceRows,
  type TableColumn,
  tableColumns,
  toColumn,
} from '../query/columns.ts';
import { writtenColumns } from '../query/computed.ts';
import type { Dialect, Filters, Insert, Pattern } from '../query/dialect.ts';
import { rowsQuery } from '../query/rows.ts';
import { changes, idempotencyResults } from '../query/tables.ts';

const builder = knex({ client: 'sqlite3', useNullAsDefault: true, wrapIdentifier: (name) => name });

export const sqliteDialect: Dialect = {
  builder,
  // Takes the write lock at once: after a read, that fails if another process has written. Rows need no locks.
  begin: 'begin immediate',
  sizes: `select page_count * page_size as database,
      (select coalesce(sum(number - horizon), 0) from change_numbers where final_number is null) as changes
    from pragma_page_count, pragma_page_size`,
  beginSnapshot: 'begin',
  jsonElements: 'json_each',
  jsonArrayOf: 'json_group_array',
  filters: createFilters(),
  byteLength: (column) => `octet_length(${column})`,
  inserts,
  insertWithLog,
  updates,
  deletions,
  timeType: 'text',
  parents: (ids) => builder.raw('json_each(?) as parent', [JSON.stringify(ids)]),
  date: (column, length, offset) =>
    `substr(${offset === undefined ? column : `date(${column}, (${offset}) || ' seconds')`}, 1, ${length})`,
  rowsById: (table, workspaceId, ids) =>
    rowsQuery(sqliteDialect, table, workspaceId, { where: { field: 'id', in: ids } }),
  rowsReferring: ({ table, field }, workspaceId, ids, limit) =>
    rowsQuery(sqliteDialect, table, workspaceId, { where: { field, in: ids }, limit }),
  joinByKey: ({ table, alias, key = 'id' }, value) =>
    `left join ${table.table} ${alias} on ${alias}.workspace_id = ? and ${alias}.${key} = ${value}`,
  joinReferring: ({ table, alias, column }, id) =>
    `join ${table.table} ${alias} on ${alias}.workspace_id = ? and ${alias}.${column} = ${id}`,
  jsonRow,
  fromJson(columns) {
    const numbers = columns.flatMap(({ type }, index) => (type === 'number' ? [index] : []));
    return (values) => {
      for (const index of numbers) if (values[index] !== null) values[index] = Number(values[index]);
      return values;
    };
  },
  jsonPage: (columns) => [`json_group_array(${jsonRow(columns)})`],
  parsePage: ([rows]) => JSON.parse(String(rows)),
};

/** Longer than a key. */
const afterAllKeys = '\u{10ffff}'.repeat(400);

function createFilters(): Filters {
  return {
    isOneOf(column, type, values) {
      if (type !== 'number') {
        return builder.raw(`${column} in (select value from json_each(?))`, [JSON.stringify(values)]);
      }
      return builder.raw(`${column} in (select (value ->> 0) * pow(2, value ->> 1) from json_each(?))`, [
        JSON.stringify(values.map(binaryParts)),
      ]);
    },
    // SQLite assumes few nulls and takes the wrong index. Likelihoods were chosen with explain.test.ts.
    isSet: (column, isSet) =>
      builder.raw(isSet ? `likelihood(${column} is not null, 0.1)` : `likelihood(${column} is null, 0.25)`),
    contains: (column, text) => builder.raw(`instr(${column}, ?) > 0`, [text]),
    endsWith: (column, text) =>
      text === ''
        ? builder.raw(`${column} is not null`)
        : builder.raw(`substr(${column}, ?) = ?`, [-Array.from(text).length, text]),
    // SQLite would parse a single JSON parameter for each row.
    matchesAny: (column, patterns) =>
      builder.raw(`(${patterns.map(() => `${column} glob ?`).join(' or ')})`, patterns.map(globOf)),
    // Triggers fill this table: see the migration.
    hasExternalId: ({ workspaceId, table, alias, column }, key, value) =>
      builder.raw(
        `${alias}.id in (select id from ${table}_${column} where workspace_id = ? and key = ?${
          value === undefined ? '' : ' and value = ?'
        })`,
        value === undefined ? [workspaceId, key] : [workspaceId, key, value],
      ),
    idsWithExternalId: ({ workspaceId, table, column }, key, value, limit) =>
      builder(`${table}_${column}`)
        .where('workspace_id', workspaceId)
        .whereRaw(`key = ${key} and value = ${value}`)
        .orderBy('id')
        .modify((rows) => limit !== undefined && rows.limit(limit))
        .select('id'),
    // With `or`, SQLite reads the workspace in another order.
    isInRanges: ({ workspaceId, table, alias, column }, ranges) =>
      builder.raw(
        `${alias}.id in (select found.id from json_each(?) as sent cross join ${table} as found on found.workspace_id = ?
          and found.${column} >= sent.value ->> 0 and found.${column} < sent.value ->> 1)`,
        [JSON.stringify(ranges.map(({ from, to = afterAllKeys }) => [from, to])), workspaceId],
      ),
    externalId: (column, key) => `(select value from json_each(${column}) where key = ${key})`,
    // With `exists`, SQLite would look the rows up for each row of the outer table.
    isAmong: (column, rows) =>
      builder.raw(`${column} in (select ${rows.column} from ${rows.from} where ?)`, [rows.where]),
    isAmongFew: () => [],
  };
}

/** In GLOB, letters with several forms have no special meaning. */
function globOf({ characters, isAnchoredAtStart, isAnchoredAtEnd }: Pattern): string {
  const parts = characters.map((forms) => {
    const text = forms.join('');
    return forms.length > 1 || '*?['.includes(text) ? `[${text}]` : text;
  });
  return `${isAnchoredAtStart ? '' : '*'}${parts.join('')}${isAnchoredAtEnd ? '' : '*'}`;
}

/** JSON becomes an element of the array, not a text: it is parsed once. */
function jsonRow(columns: readonly SelectedColumn[]): string {
  return `json_array(${columns.map(elementOf).join(', ')})`;
}

function elementOf(column: SelectedColumn): string {
  if (column.type === 'number') return numberText(column.name);
  return isJson(column) ? `json(${column.name})` : column.name;
}

/** SQLite writes numbers into JSON with 15 digits. Texts of 18 are read as exactly the same numbers. */
const numberText = (column: string): string => `iif(${column} is null, null, format('%!.18g', ${column}))`;

/** A statement with so many rows is built in less than 10 ms. */
const rowsPerStatement = 2_500;

function* inserts(table: Table, records: readonly Row[]): Generator<Statement> {
  for (const slice of sliceRows(records, rowsPerStatement)) {
    const columns = writtenColumns(table);
    const { sql, values } = selectRowsSql(columns, slice);
    yield { sql: `insert into ${table.table} (${columnList(columns)}) ${sql}`, values };
  }
}

function* updates(
  table: Table,
  workspaceId: number,
  records: readonly Row[],
  fields: ReadonlySet<string>,
): Generator<Statement> {
  const columns = writtenColumns(table).filter(({ field }) => field === 'id' || fields.has(field));
  const assignments = columns.filter(({ field }) => field !== 'id').map(({ name }) => `${name} = sent.${name}`);
  if (assignments.length === 0) return;
  for (const slice of sliceRows(records, rowsPerStatement)) {
    const { sql, values } = selectRowsSql(columns, slice);
    yield {
      sql: `update ${table.table} set ${assignments.join(', ')} from (${sql}) as sent
        where workspace_id = ? and ${table.table}.id = sent.id`,
      values: [...values, workspaceId],
    };
  }
}

function deletions({ table }: Table, workspaceId: number, ids: readonly string[]): Statement[] {
  return [
    {
      sql: `delete from ${table} where workspace_id = ? and id in (select value from json_each(?))`,
      values: [workspaceId, JSON.stringify(ids)],
    },
  ];
}

/** Values that rows share are parameters, others one JSON: parameters alone take 4 times as long, JSON a third more. */
function selectRowsSql(columns: readonly TableColumn[], records: readonly Row[]): Statement {
  const isShared = ({ field }: TableColumn) => records.every((record) => record[field] === records[0]?.[field]);
  const shared = new Set(columns.filter(isShared));
  const differing = arrayEncoding(columns.filter((column) => !shared.has(column)));
  const sources = columns.map((column) => `${differing.sources.get(column.field) ?? '?'} as ${column.name}`);
  return {
    sql: `select ${sources.join(', ')} from jsonb_each(?)`,
    values: [
      ...[...shared].map((column) => toColumn(column, records[0]?.[column.field])),
      JSON.stringify(records.map(differing.encode)),
    ],
  };
}

interface RowEncoding {
  /** The SQL of values, by field. */
  readonly sources: ReadonlyMap<string, string>;
  encode(row: Row): unknown[];
}

function arrayEncoding(columns: readonly TableColumn[]): RowEncoding {
  const sources = new Map<string, string>();
  /** A number takes two elements, other values one. */
  let elements = 0;
  for (const column of columns) {
    const isNumber = column.type === 'number';
    elements += isNumber ? 2 : 1;
    const last = `value ->> ${elements - 1}`;
    sources.set(column.field, isNumber ? `(value ->> ${elements - 2}) * pow(2, ${last})` : last);
  }
  return {
    sources,
    encode(record) {
      const values: unknown[] = [];
      for (const column of columns) {
        const value = toColumn(column, record[column.field]);
        if (column.type === 'number') values.push(...binaryParts(value));
        else values.push(value);
      }
      // SQLite reads null beyond the end: new fields, which few records have, are last.
      while (values.at(-1) === null) values.pop();
      return values;
    },
  };
}

/** An integer times a power of two: SQLite converts one decimal in 10,000 to a neighbouring number. */
function binaryParts(value: unknown): [number | null, number] {
  if (typeof value !== 'number') return [null, 0];
  if (!Number.isFinite(value)) throw new Error('expected a finite number');
  let whole = value;
  let exponent = 0;
  for (; Math.abs(whole) > Number.MAX_SAFE_INTEGER; exponent += 1) whole /= 2;
  for (; !Number.isInteger(whole); exponent -= 1) whole *= 2;
  return [whole, exponent];
}

const changeColumns = tableColumns(changes).filter(({ field }) => field !== 'number' && field !== 'recordId');
const resultColumns = tableColumns(idempotencyResults);

interface ViewStatement extends Pick<Statement, 'sql' | 'setUp'> {
  encode(insert: Insert): unknown[];
}

/** By view, which is named after its tables. */
const viewStatements = new Map<string, ViewStatement>();

/** The trigger of a view inserts all rows: a transaction takes a third longer. */
function insertWithLog(kind: RecordKind, inserts: readonly Insert[]): Statement {
  const targets = [...new Set(inserts.flatMap(({ references }) => [...references.keys()]))];
  const view = ['new', kind.table, ...targets.map(({ table }) => table)].join('_');
  const statement = viewStatements.get(view) ?? createViewStatement(view, kind, targets);
  viewStatements.set(view, statement);
  const { sql, setUp, encode } = statement;
  return { sql, setUp, values: [JSON.stringify(inserts.map(encode))] };
}

function createViewStatement(view: string, kind: RecordKind, targets: readonly RecordKind[]): ViewStatement {
  const columns = writtenColumns(kind);
  // The service's fields are the same in all records of an insert, but for the ID.
  const isShared = ({ field }: TableColumn) =>
    field !== 'id' && Object.hasOwn(kind.storedFields, field) && !Object.hasOwn(kind.fields, field);
  const sent = arrayEncoding(columns.filter((column) => !isShared(column)));
  const shared = columns.filter(isShared);
  const named = (prefix: string, { name }: TableColumn) => `${prefix}_${name}`;
  const names = [
    ...shared.map((column) => named('record', column)),
    ...changeColumns.map((column) => named('change', column)),
    ...resultColumns.map((column) => named('key', column)),
    'size',
  ];
  const checks = targets.map(
    ({ table }, index) => `
    select raise(abort, 'a reference has no record') where exists (
      select 1 from json_each(new.ids, '$[${index}]') as sent where not exists (
        select 1 from ${table} where workspace_id = new.change_workspace_id and id = sent.value));`,
  );
  const trigger = `${checks.join('')}
    insert into ${kind.table} (${columnList(columns)})
      select ${columns.map((column) => sent.sources.get(column.field) ?? `new.${named('record', column)}`).join(', ')}
      from jsonb_each(new.sent);
    insert into idempotency_keys (${columnList(resultColumns)})
      select ${resultColumns.map((column) => `new.${named('key', column)}`).join(', ')} where new.key_key is not null;
    insert into change_numbers (workspace_id, number) values (new.change_workspace_id, new.size)
      on conflict (workspace_id) do update set number = number + excluded.number;
    insert into changes (${changeColumns.map(({ name }) => name).join(', ')}, record_id, number)
      select ${changeColumns.map((column) => `new.${named('change', column)}`).join(', ')},
        ${sent.sources.get('id')}, number - new.size + 1 + key
      from change_numbers cross join jsonb_each(new.sent) where workspace_id = new.change_workspace_id;`;
  const valuesIn = (row: Row | undefined, from: readonly TableColumn[]) =>
    from.map((column) => toColumn(column, row?.[column.field]));
  return {
    // `materialized`: otherwise SQLite would copy the whole insert for each column.
    sql: `insert into ${view}
      with creation as materialized (
        select value -> 0 as common, value -> 1 as ids, jsonb_extract(value, '$[2]') as sent from jsonb_each(?))
      select ${names.map((_, index) => `common ->> ${index}`).join(', ')}, ids, sent from creation`,
    setUp: `create temp view if not exists ${view} as
        select ${[...names, 'ids', 'sent'].map((name) => `null as ${name}`).join(', ')};
      create temp trigger if not exists ${view}_insert instead of insert on ${view} begin ${trigger} end;`,
    encode: ({ records, references, change, resultRow }) => [
      [
        ...valuesIn({ ...records[0], workspaceId: change.workspaceId }, shared),
        ...valuesIn({ ...change }, changeColumns),
        ...valuesIn(resultRow, resultColumns),
        records.length,
      ],
      targets.map((target) => references.get(target) ?? []),
      records.map(sent.encode),
    ],
  };
}
