/** What cells mean, with one rule for each type of field. A value is never guessed or changed: what a cell does not say exactly is refused. */
import { DateTime, type Zone } from 'luxon';
import { StartError } from '../errors.ts';
import { withoutApostrophe } from '../model/csv.ts';
import { aDate, parseDateTime } from '../model/date-time.ts';
import type { Field } from '../model/fields.ts';
import { expected, type Issue, isObject, quote } from '../model/issues.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { requiredMessage } from '../model/schemas.ts';
import { type Column, type ColumnOptions, columnsOf, meaningOf } from './columns.ts';
import { type Cell, JsonNumber, type RecordRow, type RowLink, type SourceRow } from './row.ts';
import { rowChecker, type Warn } from './warnings.ts';

export interface CellForm {
  /** How the file writes dates. Dates that begin with the year, and those with the name of a month, are always read. */
  readonly dates?: DateForm | undefined;
  /** Of times without one. */
  readonly timeZone?: Zone | undefined;
  /** True for numbers such as `53,08`. */
  readonly hasDecimalComma: boolean;
  /** True if texts have the apostrophes that `export --excel` adds. */
  readonly hasApostrophes: boolean;
  /** True if an empty cell keeps what is stored, instead of clearing it. */
  readonly keepsBlank: boolean;
  /** The text of a cell without a value, such as `\N`, besides the empty one. */
  readonly nullText?: string | undefined;
}

/** Returns a function that reads the rows of a file. It throws a StartError for columns that are unknown, or are the same. */
export function rowReader(
  kind: RecordKind,
  options: ColumnOptions & { readonly form: CellForm },
  warn?: Warn,
): (source: SourceRow) => RecordRow {
  const findColumns = columnCache(kind, options, warn);
  const check = warn && rowChecker(kind, options, warn);
  return (source) => {
    if (source.problem !== undefined) {
      const issues = [{ path: [], message: source.problem }];
      return { kind, source, fields: {}, externalIds: {}, links: [], issues };
    }
    const columns = findColumns(source);
    const row = readRow(source.cells, columns, options.form);
    check?.(source, columns, row.fields);
    return { kind, source, ...row };
  };
}

/** The most sets of columns that are kept. Lines of JSON may have different ones. */
const maxCached = 1_000;

function columnCache(kind: RecordKind, options: ColumnOptions, warn: Warn | undefined) {
  const found = new Map<string, readonly Column[]>();
  return ({ names, line }: SourceRow): readonly Column[] => {
    const key = JSON.stringify(names);
    const known = found.get(key);
    if (known) return known;
    const { columns, leftOut } = columnsOf(kind, names, options);
    if (leftOut.length > 0) warn?.({ line, column: leftOut.join(', '), message: 'unknown columns are left out' });
    if (found.size >= maxCached) found.clear();
    found.set(key, columns);
    return columns;
  };
}

function readRow(cells: readonly Cell[], columns: readonly Column[], form: CellForm) {
  const fields = new Map<string, unknown>();
  const externalIds = new Map<string, string | null>();
  const links: RowLink[] = [];
  const issues: Issue[] = [];
  let id: string | undefined;
  for (const [index, column] of columns.entries()) {
    const sent = cells[index];
    if (sent === undefined || column.is === 'skipped') continue;
    const cell = form.hasApostrophes && typeof sent === 'string' ? withoutApostrophe(sent) : sent;
    const isEmpty = hasNoValue(cell, column, form);
    if (isEmpty && (form.keepsBlank || column.is === 'id' || column.is === 'unnamed')) continue;
    if (column.is === 'unnamed') {
      issues.push({ path: [], message: 'a column without a name has a value: name it' });
    } else if (column.is === 'field') {
      if (isEmpty && column.field.required) {
        issues.push({ path: [column.name], message: requiredMessage(column.field) });
        continue;
      }
      const read = isEmpty ? { value: null } : valueIn(column.field, cell, form);
      if ('value' in read) fields.set(column.name, read.value);
      else issues.push({ path: [column.name], message: expected(read.expected, textOf(cell) ?? cell) });
    } else {
      const text = isEmpty ? null : textOf(cell);
      if (text === undefined) issues.push({ path: meaningOf(column).split('.'), message: expected('text', cell) });
      else if (column.is === 'externalId') externalIds.set(column.key, text);
      else if (column.is === 'id') id = text ?? undefined;
      else links.push({ name: column.name, field: column.field, by: column.by, value: text, cell: index });
    }
  }
  // `fromEntries` sets a key such as `__proto__` like any other.
  return { id, fields: Object.fromEntries(fields), externalIds: Object.fromEntries(externalIds), links, issues };
}

/** The text of a cell, with all digits of a number; undefined for other values of JSON. */
function textOf(cell: Cell): string | undefined {
  if (cell instanceof JsonNumber) return cell.text;
  return typeof cell === 'string' ? cell : undefined;
}

function hasNoValue(cell: Cell, column: Column, { nullText }: CellForm): boolean {
  if (typeof cell !== 'string') return cell === null;
  if (cell === nullText) return true;
  if (column.is === 'unnamed') return cell.trim() === '';
  if (column.is !== 'field') return cell === '';
  const { field } = column;
  if (field.type === 'text') return field.unique === true && cell === '';
  return (field.type === 'foreignReference' ? cell : cell.trim()) === '';
}

type Read = { readonly value: unknown } | { readonly expected: string };

function valueIn(field: Field, cell: Cell, form: CellForm): Read {
  const text = textOf(cell);
  switch (field.type) {
    case 'number':
      return numberIn(text?.trim() ?? '', form.hasDecimalComma && typeof cell === 'string');
    case 'dateTime':
      return dateTimeIn(text?.trim() ?? '', form);
    case 'boolean': {
      const value = typeof cell === 'boolean' ? cell : truth.get(text?.trim().toLowerCase() ?? '');
      return value === undefined ? { expected: 'yes or no (true, 1, ja, wahr; false, 0, nein, falsch)' } : { value };
    }
    case 'externalIds':
      return externalIdsIn(typeof cell === 'string' ? parseWithDigits(cell) : cell);
    default:
      return text === undefined ? { expected: 'text' } : { value: text };
  }
}

/** Without `x`, which means yes in some lists, and no beside a tick in others. */
const truth = new Map([
  ...['true', 'yes', 'y', 't', '1', 'ja', 'j', 'wahr'].map((text) => [text, true] as const),
  ...['false', 'no', 'n', 'f', '0', 'nein', 'falsch'].map((text) => [text, false] as const),
]);

function externalIdsIn(ids: unknown): Read {
  if (!isObject(ids) || ids instanceof JsonNumber) return { expected: 'an object of texts such as {"erp":"4711"}' };
  const texts = Object.entries(ids).map(([key, id]) => [key, textOf(id as Cell)] as const);
  const wrong = texts.find(([, text]) => text === undefined);
  return wrong ? { expected: `an object with text as ${quote(wrong[0])}` } : { value: Object.fromEntries(texts) };
}

/** Parses JSON with numbers as texts, which have all their digits. Returns undefined for a text that is none. */
function parseWithDigits(text: string): unknown {
  try {
    JSON.parse(text);
    return JSON.parse(
      text.replace(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (part) => (part[0] === '"' ? part : `"${part}"`)),
    );
  } catch {
    return undefined;
  }
}

/** Separators of thousands are refused: `1.234` may have three decimals. */
function numberIn(text: string, hasComma: boolean): Read {
  const number = hasComma ? text.replace(/[.,]/g, (mark) => (mark === ',' ? '.' : ',')) : text;
  const [, digits] = /^[+-]?(\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,9})?$/i.exec(number) ?? [];
  if (digits === undefined) {
    if (hasComma) return { expected: 'a number such as 53,08 (--decimal-comma)' };
    return { expected: `a number such as 53.08${text.includes(',') ? ', or 53,08 with --decimal-comma' : ''}` };
  }
  const value = Number(number);
  // A number is kept if it is the same when written with as many digits: 0.1 is, 12345678901234567890 and 1e400 are not.
  const written = significant(digits);
  const isKept = written.length <= 100 && significant(value.toPrecision(written.length || 1)) === written;
  return isKept ? { value } : { expected: `a number that is kept with all its digits, not as ${value}` };
}

/** The digits between leading and trailing zeros, without the point. */
function significant(number: string): string {
  const digits = number.replace(/e.*/is, '').replace(/[-.]/g, '').replace(/^0+/, '');
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  return digits.slice(0, end);
}

/** How a file writes dates, by its form of 31 December 2026: `31.12.2026`, `12/31/26`. */
export interface DateForm {
  readonly example: string;
  readonly order: readonly ('year' | 'month' | 'day')[];
  readonly separator: string;
  /** True if years have two digits: 00 to 60 are in this century, the others in the last one. */
  readonly hasShortYear: boolean;
}

export function dateFormOf(given: string): DateForm {
  const example = given.trim();
  const parts = { 2026: 'year', 26: 'year', 31: 'day', 12: 'month' } as const;
  const [, first = '', separator = '', second = '', again, third = ''] =
    /^(\d{2}|\d{4})([./-])(\d{2}|\d{4})([./-])(\d{2}|\d{4})$/.exec(example) ?? [];
  const order = [first, second, third].flatMap((part) => parts[part as unknown as keyof typeof parts] ?? []);
  // Nobody writes year, day, month, which would read other dates wrongly.
  if (separator !== again || new Set(order).size < 3 || order.join() === 'year,day,month') {
    throw new StartError(
      `--dates: ${expected('31 December 2026 as the file writes dates, such as 31.12.2026 or 12/31/26', given)}`,
    );
  }
  return { example, order, separator, hasShortYear: !example.includes('2026') };
}

export function timeZoneOf(name: string): Zone {
  const { isValid, zone } = DateTime.local({ zone: name });
  if (!isValid) throw new StartError(`--time-zone: ${expected('a time zone such as Europe/Berlin', name)}`);
  return zone;
}

/** A date, and perhaps a time with hours, minutes, seconds, fraction, am or pm, and zone. */
const dateAndTime =
  /^([^:]{6,30}?)(?:(?:T|,? {1,2})(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?: ?([ap])\.?m\.?| uhr)?(?: ?(Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?))?)?$/i;

/** Returns the time as the service stores it; a date is midnight UTC. */
function dateTimeIn(text: string, { dates, timeZone }: CellForm): Read {
  const spaced = text.length > 100 ? '' : text.replace(/\s/g, ' ');
  const [, date = '', hour, minute = '', second = '00', fraction = '', half, zone] = dateAndTime.exec(spaced) ?? [];
  const day = dayIn(date, dates);
  if (day === undefined) return { expected: dateHint(text, dates) };
  if (hour === undefined) return parseDateTime(day);
  const hours = half === undefined ? Number(hour) : hoursOf(Number(hour), half.toLowerCase() === 'p');
  if (hours === undefined || hours > 23) return { expected: 'a time from 00:00 to 23:59, or 1:00 to 12:59 am or pm' };
  if (/[1-9]/.test(fraction.slice(3))) return { expected: 'a time of whole milliseconds, because no more are kept' };
  const local = `${day}T${String(hours).padStart(2, '0')}:${minute}:${second}.${fraction.slice(0, 3).padEnd(3, '0')}`;
  if (zone !== undefined) return parseDateTime(local + offsetOf(zone));
  const asUtc = parseDateTime(`${local}Z`);
  if ('expected' in asUtc) return asUtc;
  if (!timeZone) return { expected: 'a time with a zone such as Z or +02:00, or with --time-zone Europe/Berlin' };
  const [instant, other] = instantsAt(Date.parse(asUtc.value), timeZone);
  if (instant === undefined) return { expected: `a time that clocks in ${timeZone.name} show: they skip this one` };
  if (other !== undefined) {
    return { expected: `a time with its offset, such as +02:00: clocks in ${timeZone.name} show this one twice` };
  }
  return parseDateTime(new Date(instant).toISOString());
}

/** Returns a date as `2026-03-01`, or undefined if it cannot be read without a guess. */
function dayIn(text: string, dates: DateForm | undefined): string | undefined {
  const [, first = '', mark = '', second = '', other = '', third = ''] = datePattern.exec(text.toLowerCase()) ?? [];
  const given = [first, second, third];
  const name = given.findIndex((part) => months.has(part));
  if (name < 0 && (mark !== other || !['.', '/', '-'].includes(mark))) return undefined;
  const declared = mark === dates?.separator ? dates.order : undefined;
  const order = name >= 0 ? orders[name] : first.length === 4 ? yearFirst : declared;
  if (!order) return undefined;
  const [year = '', month = '', day = ''] = yearFirst.map((part) => given[order.indexOf(part)]);
  const century = year.length === 4 ? '' : year.length === 2 && dates?.hasShortYear ? centuryOf(year) : undefined;
  if (century === undefined || day.length > 2) return undefined;
  return `${century}${year}-${String(months.get(month) ?? month).padStart(2, '0')}-${day.padStart(2, '0')}`;
}

const datePattern =
  /^(\d{1,4}|[a-zäö]{3,9})([./, -]{1,2})(\d{1,2}|[a-zäö]{3,9})(?:st|nd|rd|th)?([./, -]{1,2})(\d{1,4})$/;

const yearFirst = ['year', 'month', 'day'] as const;

/** By the place of the name of the month. */
const orders = [
  ['month', 'day', 'year'],
  ['day', 'month', 'year'],
] as const;

const centuryOf = (year: string): string => (Number(year) <= 60 ? '20' : '19');

const months = new Map(
  [
    'january januar jänner jan',
    'february februar feb',
    'march märz maerz mar mär mrz',
    'april apr',
    'may mai',
    'june juni jun',
    'july juli jul',
    'august aug',
    'september sept sep',
    'october oktober oct okt',
    'november nov',
    'december dezember dec dez',
  ].flatMap((names, index) => names.split(' ').map((name) => [name, index + 1] as const)),
);

function hoursOf(hour: number, isAfternoon: boolean): number | undefined {
  return hour < 1 || hour > 12 ? undefined : (hour % 12) + (isAfternoon ? 12 : 0);
}

function offsetOf(zone: string): string {
  const [, hours, minutes = '00'] = /^([+-]\d{2}):?(\d{2})?$/.exec(zone) ?? [];
  return hours === undefined ? 'Z' : `${hours}:${minutes}`;
}

/** The times at which clocks in the zone show this one, which is given as if it were UTC: one as a rule, none or two when they change. */
function instantsAt(local: number, zone: Zone): number[] {
  const aDay = 86_400_000;
  const offsets = new Set([zone.offset(local - aDay), zone.offset(local + aDay)].map((minutes) => minutes * 60_000));
  const candidates = [...offsets].map((offset) => local - offset);
  return candidates.filter((instant) => instant + zone.offset(instant) * 60_000 === local);
}

function dateHint(text: string, dates: DateForm | undefined): string {
  if (/^\d{4,6}(?:[.,]\d{1,15})?$/.test(text)) {
    return `${aDate} (spreadsheets number days: give the column the format of a date, and save it again)`;
  }
  if (dates) return `a date such as ${dates.example} (--dates)`;
  const [, separator] = /^\d{1,4}([./-])\d{1,2}[./-]\d{1,4}/.exec(text) ?? [];
  if (separator === undefined) return aDate;
  const forms = separator === '/' ? '31/12/2026 or --dates 12/31/2026' : `31${separator}12${separator}2026`;
  return `a date such as 2026-03-01, or its order with --dates ${forms}`;
}
