/**
 * Stores new records, their changes and their idempotency keys by one statement of SQLite: it inserts a row for each addition into a view of
 * the connection, whose trigger does the rest. As statements of a transaction they would take a third longer, and between them the main
 * thread would have to be free.
 */

import type { RecordKind } from '../../model/record-kind.ts';
import type { Row, Statement } from '../connections/driver.ts';
import { type Column, columnList, columnsOf, toColumnValue } from '../query/columns.ts';
import type { NewRecords } from '../query/dialect.ts';
import { slicesOf } from '../query/row-slices.ts';
import { changes, idempotencyResults } from '../query/tables.ts';
import { elementsOf, rowsPerStatement } from './writes.ts';

const changeColumns = columnsOf(changes).filter(({ field }) => field !== 'number');
const keyColumns = columnsOf(idempotencyResults);

interface KindStatement extends Pick<Statement, 'sql' | 'setUp'> {
  /** Returns the elements of an addition's row. */
  of(addition: NewRecords): unknown[];
}

const statementsByKind = new WeakMap<RecordKind, KindStatement>();

/** Undefined if there are more records than one statement inserts. */
export function withChanges(kind: RecordKind, additions: readonly NewRecords[]): Statement | undefined {
  const records = additions.flatMap((addition) => addition.records);
  if ([...slicesOf(records, rowsPerStatement)].length !== 1) return undefined;
  const statement = statementsByKind.get(kind) ?? statementFor(kind);
  statementsByKind.set(kind, statement);
  const { sql, setUp, of } = statement;
  return { sql, setUp, values: [JSON.stringify(additions.map(of))] };
}

function statementFor(kind: RecordKind): KindStatement {
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
  ];
  const view = `new_${kind.table}`;
  const trigger = `
    insert into ${kind.table} (${columnList(kind)})
      select ${columns.map((column) => sent.sources.get(column) ?? `new.${named('record', column)}`).join(', ')}
      from jsonb_each(new.sent);
    insert into idempotency_keys (${columnList(idempotencyResults)})
      select ${keyColumns.map((column) => `new.${named('key', column)}`).join(', ')} where new.key_key is not null;
    insert into change_numbers (workspace_id, number) values (new.change_workspace_id, new.change_records)
      on conflict (workspace_id) do update set number = number + excluded.number;
    insert into changes (${changeColumns.map(({ name }) => name).join(', ')}, number)
      select ${changeColumns.map((column) => `new.${named('change', column)}`).join(', ')}, number
      from change_numbers where workspace_id = new.change_workspace_id;`;
  const valuesOf = (row: Row | undefined, from: readonly Column[]) =>
    from.map((column) => toColumnValue(column, row?.[column.field]));
  return {
    // Otherwise SQLite would copy the whole addition for each of these columns.
    sql: `insert into ${view}
      with addition as materialized (select value -> 0 as own, jsonb_extract(value, '$[1]') as sent from jsonb_each(?))
      select ${names.map((_, index) => `own ->> ${index}`).join(', ')}, sent from addition`,
    setUp: [
      `create temp view if not exists ${view} as select ${[...names, 'sent'].map((name) => `null as ${name}`).join(', ')}`,
      `create temp trigger if not exists ${view}_insert instead of insert on ${view} begin ${trigger} end`,
    ],
    of: ({ records, change, keyed }) => [
      [
        ...valuesOf(records[0], shared),
        ...valuesOf(change as object as Row, changeColumns),
        ...valuesOf(keyed, keyColumns),
      ],
      records.map(sent.of),
    ],
  };
}
