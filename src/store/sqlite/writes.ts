import type { RecordKind, Table } from '../../model/record-kind.ts';
import type { Row, Statement } from '../connections/driver.ts';
import { type Column, columnList, columnsOf, slicesOf, toColumnValue } from '../query/columns.ts';
import type { NewRecords } from '../query/dialect.ts';
import { changes, idempotencyResults } from '../query/tables.ts';

/** Building such a statement takes less than 10 ms. */
const rowsPerStatement = 2_500;

export function* inserts(table: Table, records: readonly Row[]): Generator<Statement> {
  for (const slice of slicesOf(records, rowsPerStatement)) {
    const { sql, values } = rowsOf(columnsOf(table), slice);
    yield { sql: `insert into ${table.table} (${columnList(table)}) ${sql}`, values };
  }
}

export function* updates(
  table: Table,
  workspaceId: number,
  records: readonly Row[],
  fields: ReadonlySet<string>,
): Generator<Statement> {
  const columns = columnsOf(table).filter(({ field }) => field === 'id' || fields.has(field));
  const assignments = columns.filter(({ field }) => field !== 'id').map(({ name }) => `${name} = sent.${name}`);
  if (assignments.length === 0) return;
  for (const slice of slicesOf(records, rowsPerStatement)) {
    const { sql, values } = rowsOf(columns, slice);
    yield {
      sql: `update ${table.table} set ${assignments.join(', ')} from (${sql}) as sent
        where workspace_id = ? and ${table.table}.id = sent.id`,
      values: [...values, workspaceId],
    };
  }
}

export const deletions = ({ table }: Table, workspaceId: number, ids: readonly string[]): Statement[] => [
  {
    sql: `delete from ${table} where workspace_id = ? and id in (select value from json_each(?))`,
    values: [workspaceId, JSON.stringify(ids)],
  },
];

/** One JSON for what differs, a parameter for what is the same: a parameter per value takes 4 times as long, all in JSON a third longer. */
function rowsOf(columns: readonly Column[], records: readonly Row[]): Statement {
  const isShared = ({ field }: Column) => records.every((record) => record[field] === records[0]?.[field]);
  const shared = new Set(columns.filter(isShared));
  const differing = elementsOf(columns.filter((column) => !shared.has(column)));
  const sources = columns.map((column) => `${differing.sources.get(column.field) ?? '?'} as ${column.name}`);
  return {
    sql: `select ${sources.join(', ')} from jsonb_each(?)`,
    values: [
      ...[...shared].map((column) => toColumnValue(column, records[0]?.[column.field])),
      JSON.stringify(records.map(differing.of)),
    ],
  };
}

function elementsOf(columns: readonly Column[]) {
  const sources = new Map<string, string>();
  /** A number takes two elements, everything else one. */
  let elements = 0;
  for (const column of columns) {
    const isNumber = column.type === 'number';
    elements += isNumber ? 2 : 1;
    const last = `value ->> ${elements - 1}`;
    sources.set(column.field, isNumber ? `(value ->> ${elements - 2}) * pow(2, ${last})` : last);
  }
  return {
    /** SQL for the value of each field, by its name. */
    sources: sources as ReadonlyMap<string, string>,
    of(record: Row): unknown[] {
      const values: unknown[] = [];
      for (const column of columns) {
        const value = toColumnValue(column, record[column.field]);
        if (column.type === 'number') values.push(...binaryParts(value));
        else values.push(value);
      }
      return values;
    },
  };
}

/** Returns a number as an integer times a power of two: SQLite converts one decimal in ten thousand to a neighbouring number. */
export function binaryParts(value: unknown): [number | null, number] {
  if (typeof value !== 'number') return [null, 0];
  if (!Number.isFinite(value)) throw new Error('expected a finite number');
  let whole = value;
  let exponent = 0;
  for (; Math.abs(whole) > Number.MAX_SAFE_INTEGER; exponent += 1) whole /= 2;
  for (; !Number.isInteger(whole); exponent -= 1) whole *= 2;
  return [whole, exponent];
}

const changeColumns = columnsOf(changes).filter(({ field }) => field !== 'number' && field !== 'recordId');
const keyColumns = columnsOf(idempotencyResults);

interface ViewStatement extends Pick<Statement, 'sql' | 'setUp'> {
  of(addition: NewRecords): unknown[];
}

/** By the names of their views. */
const viewStatements = new Map<string, ViewStatement>();

/** By one statement: a view's trigger does the rest. A transaction takes a third longer, and waits for the main thread in between. */
export function withChanges(kind: RecordKind, additions: readonly NewRecords[]): Statement {
  const targets = [...new Set(additions.flatMap(({ references }) => [...references.keys()]))];
  const view = ['new', kind.table, ...targets.map(({ table }) => table)].join('_');
  const statement = viewStatements.get(view) ?? statementFor(view, kind, targets);
  viewStatements.set(view, statement);
  const { sql, setUp, of } = statement;
  return { sql, setUp, values: [JSON.stringify(additions.map(of))] };
}

function statementFor(view: string, kind: RecordKind, targets: readonly RecordKind[]): ViewStatement {
  const columns = columnsOf(kind);
  const isSent = ({ field }: Column) => field === 'id' || Object.hasOwn(kind.fields, field);
  const sent = elementsOf(columns.filter(isSent));
  // What the service sets is the same in all records of an addition.
  const shared = columns.filter((column) => !isSent(column));
  const named = (prefix: string, { name }: Column) => `${prefix}_${name}`;
  const names = [
    ...shared.map((column) => named('record', column)),
    ...changeColumns.map((column) => named('change', column)),
    ...keyColumns.map((column) => named('key', column)),
    'size',
  ];
  const checks = targets.map(
    ({ table }, index) => `
    select raise(abort, 'a reference has no record') where exists (
      select 1 from json_each(new.ids, '$[${index}]') as sent where not exists (
        select 1 from ${table} where workspace_id = new.change_workspace_id and id = sent.value));`,
  );
  const trigger = `${checks.join('')}
    insert into ${kind.table} (${columnList(kind)})
      select ${columns.map((column) => sent.sources.get(column.field) ?? `new.${named('record', column)}`).join(', ')}
      from jsonb_each(new.sent);
    insert into idempotency_keys (${columnList(idempotencyResults)})
      select ${keyColumns.map((column) => `new.${named('key', column)}`).join(', ')} where new.key_key is not null;
    insert into change_numbers (workspace_id, number) values (new.change_workspace_id, new.size)
      on conflict (workspace_id) do update set number = number + excluded.number;
    insert into changes (${changeColumns.map(({ name }) => name).join(', ')}, record_id, number)
      select ${changeColumns.map((column) => `new.${named('change', column)}`).join(', ')},
        ${sent.sources.get('id')}, number - new.size + 1 + key
      from change_numbers cross join jsonb_each(new.sent) where workspace_id = new.change_workspace_id;`;
  const valuesOf = (row: Row | undefined, from: readonly Column[]) =>
    from.map((column) => toColumnValue(column, row?.[column.field]));
  return {
    // Otherwise SQLite would copy the whole addition for each of these columns.
    sql: `insert into ${view}
      with addition as materialized (
        select value -> 0 as own, value -> 1 as ids, jsonb_extract(value, '$[2]') as sent from jsonb_each(?))
      select ${names.map((_, index) => `own ->> ${index}`).join(', ')}, ids, sent from addition`,
    setUp: `create temp view if not exists ${view} as
        select ${[...names, 'ids', 'sent'].map((name) => `null as ${name}`).join(', ')};
      create temp trigger if not exists ${view}_insert instead of insert on ${view} begin ${trigger} end;`,
    of: ({ records, references, change, keyed }) => [
      [
        ...valuesOf({ ...records[0], workspaceId: change.workspaceId }, shared),
        ...valuesOf(change as object as Row, changeColumns),
        ...valuesOf(keyed, keyColumns),
        records.length,
      ],
      targets.map((target) => references.get(target) ?? []),
      records.map(sent.of),
    ],
  };
}
