/** How SQLite inserts, updates and deletes thousands of records in one statement. */
import { textLengthOfAll } from '../../model/fields.ts';
import type { Table } from '../../model/record-kind.ts';
import { changes, type NewChange, placesOf } from '../changes.ts';
import { type Column, columnList, columnsOf, toColumnValue } from '../columns.ts';
import type { Statement } from '../dialect.ts';
import type { Row } from '../driver.ts';
import { idempotencyResults } from '../idempotency.ts';
import { slicesOf } from '../row-slices.ts';
import { binaryParts } from './filters.ts';
import { scriptBegin } from './statements.ts';

/** Building such a statement takes less than 10 ms. */
const rowsPerStatement = 2_500;

export function* inserts(table: Table, records: readonly Row[]): Generator<Statement> {
  for (const slice of slicesOf(records, rowsPerStatement)) {
    const { sql, values } = rowsOf(columnsOf(table), slice);
    yield { sql: `insert into ${table.table} (${columnList(table)}) ${sql}`, values };
  }
}

/** Sets the fields in all of the records. */
export function* updates(
  table: Table,
  workspaceId: string,
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

export const deletions = ({ table }: Table, workspaceId: string, ids: readonly string[]): Statement[] => [
  {
    sql: `delete from ${table} where workspace_id = ? and id in (select value from json_each(?))`,
    values: [workspaceId, JSON.stringify(ids)],
  },
];

/**
 * Selects rows that are sent: one JSON parameter for the values that differ between records, and one parameter for each column whose
 * value is the same in all of them. With a parameter for every value, the main thread takes four times as long; with all values in
 * JSON, SQLite takes a third longer.
 */
function rowsOf(columns: readonly Column[], records: readonly Row[]): Statement {
  const shared: unknown[] = [];
  const differing: Column[] = [];
  /** A number takes two elements of a row, everything else one. */
  let elements = 0;
  const sources = columns.map((column) => {
    const { field, type, name } = column;
    const value = records[0]?.[field];
    if (records.every((record) => record[field] === value)) {
      shared.push(toColumnValue(column, value));
      return `? as ${name}`;
    }
    differing.push(column);
    elements += type === 'number' ? 2 : 1;
    const last = `value ->> ${elements - 1}`;
    return `${type === 'number' ? `(value ->> ${elements - 2}) * pow(2, ${last})` : last} as ${name}`;
  });
  const rows = records.map((record) => {
    const row: unknown[] = [];
    for (const column of differing) {
      const value = toColumnValue(column, record[column.field]);
      if (column.type === 'number') row.push(...binaryParts(value));
      else row.push(value);
    }
    return row;
  });
  return { sql: `select ${sources.join(', ')} from json_each(?)`, values: [...shared, JSON.stringify(rows)] };
}

/** Characters. A longer script would be an unusual text to make and to parse. */
const maxScriptLength = 32_000_000;

const loggedColumns = columnsOf(changes).map(({ name }) => (name === 'number' ? 'taken.number - sent.number' : name));

/**
 * The insert, the keys and the changes as a script. As statements of a transaction they would take a third longer, and between them the main
 * thread would have to be free. Undefined if it were too long.
 */
export function withChanges(
  insert: Statement,
  entries: readonly NewChange[],
  keyed: readonly Row[],
): Statement | undefined {
  if (textLengthOfAll([insert.values]) > maxScriptLength) return undefined;
  const { totals, places } = placesOf(entries);
  const taken = [...totals].map(([workspaceId, number]) => `(${literal(workspaceId)}, ${number})`);
  const logged = rowsOf(
    columnsOf(changes),
    places.map(({ change, later }) => ({ ...change, number: later })),
  );
  const script = [
    `${scriptBegin} ${withLiterals(insert)}`,
    ...(keyed.length > 0 ? [insertLiterally(idempotencyResults, keyed)] : []),
    `insert into change_numbers (workspace_id, number) values ${taken.join(', ')}
      on conflict (workspace_id) do update set number = number + excluded.number`,
    `insert into changes (${columnList(changes)}) select ${loggedColumns.join(', ')}
      from (${withLiterals(logged)}) as sent join change_numbers as taken using (workspace_id)`,
    'commit',
  ];
  return { sql: script.join(';\n'), values: [] };
}

/** For a few short rows: for those, `json_each` would take longer than the insert. */
const insertLiterally = (table: Table, rows: readonly Row[]): string => {
  const columns = columnsOf(table);
  const tuples = rows.map((row) =>
    columns.map((column) => literal(toColumnValue(column, row[column.field]))).join(', '),
  );
  return `insert into ${table.table} (${columnList(table)}) values (${tuples.join('), (')})`;
};

/** The statement's values in the places of its parameters. */
function withLiterals({ sql, values }: Statement): string {
  const [start = '', ...parts] = sql.split('?');
  return parts.reduce((text, part, index) => `${text}${literal(values[index])}${part}`, start);
}

/** A value as SQL. In a text, only an apostrophe has a meaning; NUL, which ends a script, is refused before. */
function literal(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'boolean') return value ? '1' : '0';
  if (typeof value === 'number') {
    const [whole, exponent] = binaryParts(value);
    return `(${whole} * pow(2, ${exponent}))`;
  }
  if (typeof value !== 'string' || value.includes('\0')) throw new Error('a value cannot be written as SQL');
  return `'${value.replaceAll("'", "''")}'`;
}
