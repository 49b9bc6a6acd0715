/** A row of a file, read as a record of its kind. */
import { type Issue, isObject } from '../model/issues.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { type CellForm, valueIn } from './cells.ts';
import type { Column } from './columns.ts';

export interface Row {
  readonly kind: RecordKind;
  /** The line of the file at which it begins, from 1. */
  readonly line: number;
  /** The cells of a CSV file, or the line of an NDJSON file, for the file of refused rows. */
  readonly source: readonly (string | null)[] | string;
  readonly id?: string | undefined;
  readonly fields: Readonly<Record<string, unknown>>;
  /** External IDs of the records that links lead to. */
  readonly outside: readonly Outside[];
  /** The reasons for which it cannot be a record, whatever the service knows. */
  readonly issues: readonly Issue[];
}

/** A row that was refused, and why. */
export interface RefusedRow {
  readonly row: Row;
  readonly issues: readonly Issue[];
  /** The IDs of stored records that its references lead to, by their fields: earlier rows of the import were these records. */
  readonly known?: ReadonlyMap<string, string>;
}

export interface Outside {
  readonly link: string;
  readonly key: string;
  readonly value: string;
}

/** Returns the row with these values, of which text is read in the form of the file. A value that is null clears its field. */
export function readRow(
  kind: RecordKind,
  values: Iterable<readonly [Column, unknown]>,
  form: CellForm,
): Pick<Row, 'id' | 'fields' | 'outside' | 'issues'> {
  const fields: Record<string, unknown> = {};
  const externalIds: Record<string, string> = {};
  const outside: Outside[] = [];
  const issues: Issue[] = [];
  let id: string | undefined;
  for (const [column, value] of values) {
    if (column.is === 'field') {
      const field = kind.fields[column.name];
      // A number may be the ID of a row, as the column `id` may be one.
      const given = field?.type === 'reference' && typeof value === 'number' ? String(value) : value;
      fields[column.name] = field && typeof given === 'string' ? valueIn(field, given, form) : given;
    } else if (value === null || value === '') continue;
    else if (column.is === 'externalId') externalIds[column.key] = String(value);
    else if (column.is === 'link') outside.push({ link: column.name, key: column.key, value: String(value) });
    else if (column.is === 'id') id = String(value);
    else if (column.is === 'unnamed')
      issues.push({ path: [], message: 'a column without a name has a value: name it' });
  }
  if (Object.keys(externalIds).length > 0) {
    fields.externalIds = { ...(isObject(fields.externalIds) && fields.externalIds), ...externalIds };
  }
  return { id, fields, outside, issues };
}
