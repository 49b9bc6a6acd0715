/** Rows of a file, read as records of their kind: what the columns are, and what the text of a cell means. */
import { DateTime } from 'luxon';
import { StartError } from '../errors.ts';
import type { Field } from '../model/fields.ts';
import { expected, type Issue, isObject, quote } from '../model/issues.ts';
import { linkField } from '../model/labels.ts';
import { linkFields } from '../model/links.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { type RecordParser, suggestion, updateParser } from '../model/schemas.ts';
import { recordKinds } from '../records/index.ts';

export interface Row {
  readonly kind: RecordKind;
  readonly line: number;
  /** The cells of a CSV file, or the line of an NDJSON file, for the file of refused rows. */
  readonly source: readonly (string | null)[] | string;
  readonly id?: string | undefined;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly outside: readonly Outside[];
  readonly issues: readonly Issue[];
}

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
      const read = field && typeof given === 'string' ? valueIn(field, given, form) : given;
      fields[column.name] = read;
      if (field && read !== null && typeof read !== jsonTypeOf(field))
        issues.push(...typeIssues(kind, column.name, read));
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

const jsonTypeOf = ({ type }: Field): string =>
  type === 'number' || type === 'boolean' ? type : type === 'externalIds' ? 'object' : 'string';

const parsers = new Map<RecordKind, RecordParser<object>>();

/** What is wrong with a value of another type. The service would refuse all rows that are sent together because of it. */
function typeIssues(kind: RecordKind, name: string, value: unknown): readonly Issue[] {
  const limits = { maxTextLength: Infinity, maxExternalIds: Infinity, maxRecordLength: Infinity };
  const parse = parsers.get(kind) ?? updateParser(kind, limits);
  parsers.set(kind, parse);
  return parse({ [name]: value }).issues ?? [];
}

export type Column =
  | { readonly is: 'field'; readonly name: string }
  | { readonly is: 'externalId'; readonly key: string }
  /** An external ID of the record that a link leads to: `project.externalIds.erp`. */
  | { readonly is: 'link'; readonly name: string; readonly key: string }
  /** Names the row: links of other rows may have it. */
  | { readonly is: 'id' }
  /** No row may have a value below an empty name. */
  | { readonly is: 'unnamed' }
  | { readonly is: 'skipped' };

export interface ColumnOptions {
  /** Names of fields, by the columns that have another name. */
  readonly map: ReadonlyMap<string, string>;
  readonly skip: ReadonlySet<string>;
}

/** The column of a file of refused rows that has the reasons. An import of that file leaves it out. */
export const reasonColumn = 'refused because';

/**
 * Returns a function that finds the column with a name, which may be the name of a field in any case, with or without spaces:
 * `Current location ID`. Returns undefined for an unknown column.
 */
export function columnFinder(kind: RecordKind, { map, skip }: ColumnOptions): (name: string) => Column | undefined {
  const fields = new Map<string, string>();
  for (const name of Object.keys(kind.fields)) {
    fields.set(plain(linkField(name)), name);
    fields.set(plain(name), name);
  }
  const links = new Map(linkFields(kind).map(([link]) => [plain(link), link]));
  const ofService = new Set(Object.keys(kind.storedFields).map(plain));

  const find = (name: string): Column | undefined => {
    const [first = '', second = '', ...rest] = name.split('.');
    const key = rest.join('.');
    if (plain(first) === 'externalids' && kind.fields.externalIds && second !== '') {
      return { is: 'externalId', key: [second, ...rest].join('.') };
    }
    const link = links.get(plain(first));
    if (link !== undefined && plain(second) === 'externalids' && key !== '') return { is: 'link', name: link, key };
    const field = fields.get(plain(name));
    if (field !== undefined) return { is: 'field', name: field };
    if (plain(name) === 'id') return { is: 'id' };
    return ofService.has(plain(name)) || name === reasonColumn ? { is: 'skipped' } : undefined;
  };

  return (name) => {
    if (skip.has(name)) return { is: 'skipped' };
    return name.trim() === '' ? { is: 'unnamed' } : find(map.get(name) ?? name.trim());
  };
}

export function unknownColumns(kind: RecordKind, names: readonly string[], { map }: ColumnOptions): StartError {
  const [first = ''] = names;
  const fields = Object.keys(kind.fields);
  const listed = names.slice(0, 10).map((name) => {
    const field = map.get(name);
    return `${quote(name)}${field === undefined ? '' : `, mapped to ${quote(field)}`}${suggestion(field ?? name, fields)}`;
  });
  const others = names.length > listed.length ? `, and ${names.length - listed.length} more` : '';
  return new StartError(
    `unknown column${names.length > 1 ? 's' : ''} ${listed.join('; ')}${others}: map it to a field with --map ${quote(`${first}=…`)}, or leave it out with --skip ${quote(first)}. The fields of ${kind.pluralLabel} are ${fields.join(', ')}`,
  );
}

/** Returns `currentlocationid` for `Current location ID`. */
export const plain = (name: string): string => name.toLowerCase().replace(/[\s_-]/g, '');

/** Returns the kind with this name, in the singular or plural, in any case: `Work orders`, `WORK_ORDER`, `workOrders`. */
export const kindCalled = (name: string): RecordKind | undefined =>
  recordKinds.find((kind) => [kind.name, kind.plural].map(plain).includes(plain(name)));

export interface CellForm {
  /** A pattern of luxon: `dd.MM.yyyy`. ISO dates are always read. */
  readonly datePattern?: string | undefined;
  /** The IANA zone of times without one, such as `Europe/Berlin`. */
  readonly timeZone?: string | undefined;
  /** True for numbers such as `53,08`. */
  readonly hasDecimalComma: boolean;
}

export function valueIn(field: Field, text: string, form: CellForm): unknown {
  switch (field.type) {
    case 'number':
      return numberOf(text.trim(), form);
    case 'boolean':
      return booleans.get(text.trim().toLowerCase()) ?? text;
    case 'dateTime':
      return dateTimeOf(text.trim(), form);
    case 'externalIds':
      return jsonOf(text);
    default:
      return text;
  }
}

const booleans = new Map([
  ...['true', 'yes', '1'].map((text) => [text, true] as const),
  ...['false', 'no', '0'].map((text) => [text, false] as const),
]);

function numberOf(text: string, { hasDecimalComma }: CellForm): unknown {
  const number = hasDecimalComma ? text.replace(',', '.') : text;
  return /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(number) ? Number(number) : text;
}

/**
 * Returns the time as the interface has it. In the hour that a zone has twice, when summer time ends, the second one is meant; a time in the
 * hour that it does not have is moved by an hour.
 */
function dateTimeOf(text: string, { datePattern, timeZone }: CellForm): string {
  const [, date, time] = /^(\d+[./-]\d+[./-]\d+)(?:[ T]+(\d{1,2}:\d{2}(?::\d{2})?))?$/.exec(text) ?? [];
  if (date === undefined) return text;
  const day = /^\d{4}-/.test(date) ? date : datePattern === undefined ? undefined : toIso(date, datePattern);
  if (day === undefined) return text;
  if (time === undefined) return day;
  const [hours = '', ...others] = time.split(':');
  const local = `${day}T${hours.padStart(2, '0')}:${others.join(':')}${others.length > 1 ? '' : ':00'}`;
  // Without a zone it is refused by the service, which says so.
  return timeZone === undefined ? local : (DateTime.fromISO(local, { zone: timeZone }).toUTC().toISO() ?? text);
}

function toIso(date: string, pattern: string): string | undefined {
  const read = DateTime.fromFormat(date, pattern, { zone: 'utc' });
  return read.isValid ? read.toFormat('yyyy-MM-dd') : undefined;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export function datePatternOf(example: string): string {
  const parts: Readonly<Record<string, string>> = { 2026: 'yyyy', 26: 'yy', 31: 'd', 12: 'M' };
  const match = /^(\d+)([./-])(\d+)([./-])(\d+)$/.exec(example.trim());
  const [, first = '', separator, second = '', again, third = ''] = match ?? [];
  const patterns = [first, second, third].map((part) => parts[part]);
  if (
    !match ||
    separator !== again ||
    new Set(patterns.map((pattern) => pattern?.[0])).size < 3 ||
    patterns.includes(undefined)
  ) {
    throw new StartError(
      `--dates: ${expected('31 December 2026 as the file writes dates, such as 31.12.2026 or 12/31/26', example)}`,
    );
  }
  return patterns.join(separator);
}

export function requireTimeZone(zone: string): void {
  if (!DateTime.local({ zone }).isValid)
    throw new StartError(`--time-zone: ${expected('a time zone such as Europe/Berlin', zone)}`);
}
