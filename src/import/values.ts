/** A value is never guessed or changed: a cell with two meanings is refused. */
import { isLosslessNumber } from 'lossless-json';
import { DateTime, type Zone } from 'luxon';
import { StartError } from '../errors.ts';
import { textOfSpreadsheet } from '../model/csv.ts';
import { aDate, parseDateTime } from '../model/date-time.ts';
import { expected, isObject, quote } from '../model/issues.ts';
import { constantCase, linkField } from '../model/labels.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { requiredMessage } from '../model/schemas.ts';
import { labelKey, labelledTypes } from '../records/index.ts';
import { type Column, type ColumnOptions, columnKey, keepsWhiteSpace, matchColumns, normalizeName } from './columns.ts';
import { parseObject } from './json.ts';
import {
  type Cell,
  cellText,
  columnPath,
  type LinkCell,
  type RecordRow,
  type RowIssue,
  type SourceRow,
} from './row.ts';
import { createRowChecker, isKey, type Warn } from './warnings.ts';

export interface CellForm {
  readonly dates?: DateForm | undefined;
  readonly timeZone?: Zone | undefined;
  readonly decimalComma?: boolean | undefined;
  readonly years?: boolean | undefined;
  readonly months?: boolean | undefined;
  readonly names?: Readonly<Record<string, Readonly<Record<string, string>>>> | undefined;
  readonly excel?: boolean | undefined;
  readonly blank?: 'clear' | 'keep' | undefined;
  readonly null?: string | undefined;
}

/** Throws a StartError for unknown and repeated columns. */
export function createRowReader(
  kind: RecordKind,
  options: ColumnOptions & { readonly form: CellForm },
  warn?: Warn,
): (source: SourceRow) => RecordRow {
  const { form } = options;
  const check = warn && createRowChecker(form, warn);
  let names: readonly string[] | undefined;
  let columns: readonly Column[] = [];
  return (source) => {
    const { line, cells, problem } = source;
    if (problem !== undefined) {
      const issues = [{ path: [], message: problem }];
      return { kind, source, fields: {}, externalIds: {}, links: [], issues };
    }
    if (source.names !== names) {
      names = source.names;
      const found = matchColumns(kind, names, options);
      if (found.problem) throw new StartError(found.problem);
      columns = found.columns;
      const detail = found.leftOut.map((name) => quote(name)).join(', ');
      if (detail) warn?.({ line, column: '', message: 'columns without a field here', detail, isFact: true });
    }
    const row = readRow(cells, columns, form);
    // A refused row has a reason, and no warning.
    if (row.issues.length === 0) check?.(source, columns, row.fields);
    return { kind, source, ...row };
  };
}

function readRow(cells: readonly Cell[], columns: readonly Column[], form: CellForm) {
  const fields = new Map<string, unknown>();
  const externalIds = new Map<string, string | null>();
  const links: LinkCell[] = [];
  const named = new Map<string, 'any' | 'name'>();
  const issues: RowIssue[] = [];
  let id: string | undefined;
  let labelledType: string | undefined;
  for (const [index, column] of columns.entries()) {
    const sent = cells[index];
    if (sent === undefined || column.is === 'skipped') continue;
    const written = form.excel && typeof sent === 'string' ? textOfSpreadsheet(sent) : sent;
    const cell = typeof written === 'string' ? meantText(written, column, form) : written;
    const isEmpty = isEmptyCell(cell, column, form);
    if (isEmpty && (form.blank === 'keep' || column.is === 'unnamed')) continue;
    const refuse = (message: string) => issues.push({ path: columnPath(columnKey(column)), message });
    const text = isEmpty ? null : cellText(cell);
    if (column.is === 'unnamed') {
      const message = "a column without a name has a value: name it, or leave it out with --skip ''";
      issues.push({ path: [], message });
    } else if (text && isShortened.test(String(sent)) && isKey(column)) refuse(expected(allDigits, text));
    else if (column.is === 'field') {
      if (column.isNamed && text) named.set(column.name, cell === written ? 'any' : 'name');
      const read = isEmpty ? { value: null } : parseCell(column.field.type, cell, form);
      if (isEmpty && column.field.required) refuse(requiredMessage(column.field));
      else if ('value' in read) fields.set(column.name, read.value);
      else refuse(expected(read.expected, text ?? cell));
    } else if (text === undefined) refuse(expected('text', cell));
    else if (column.is === 'externalId') externalIds.set(column.key, text);
    else if (column.is === 'id') id = text ?? undefined;
    else if (column.is === 'labelledType') labelledType = text ?? '';
    else {
      const { name, field, target, by } = column;
      links.push({ name, field, target, by, value: text, cell: index });
    }
  }
  if (columns.some(({ is }) => is === 'labelledType')) {
    const type = labelledTypes.find((name) => normalizeName(name) === normalizeName(labelledType ?? ''));
    const known = labelledTypes.map((name) => constantCase(name)).join(', ');
    if (type === undefined) issues.push({ path: ['type'], message: expected(`one of ${known}`, labelledType) });
    else if (id === undefined) issues.push({ path: ['id'], message: 'required: the ID that records have' });
    else fields.set('key', labelKey(type, id));
    id = undefined;
  }
  // Unlike an assignment, `fromEntries` sets `__proto__` as a key.
  return {
    ...{ id, fields: Object.fromEntries(fields), externalIds: Object.fromEntries(externalIds) },
    ...{ links, named: Object.fromEntries(named), issues },
  };
}

/** As spreadsheets show and save numbers of twelve digits. */
const isShortened = /^\d(?:[.,]\d{1,30})?e\+\d{1,3}$/i;

const allDigits =
  'all digits, which a spreadsheet has left out (there, give the column the format of a number without decimals, and save it again)';

/** The name that somebody has chosen for the text of a link. */
function meantText(text: string, column: Column, { names = {} }: CellForm): string {
  const isLink = column.is === 'link' || (column.is === 'field' && column.field.type === 'foreignReference');
  const meant = isLink ? names[linkField(column.name)] : undefined;
  return (meant && Object.hasOwn(meant, text) && meant[text]) || text;
}

/** Only a text field can have an empty text, unless it is a key. White space finds no target of a link. */
function isEmptyCell(cell: Cell, column: Column, form: CellForm): boolean {
  if (cell === null || cell === form.null) return true;
  const isText = column.is === 'field' && column.field.type === 'text' && !column.field.unique;
  if (typeof cell !== 'string' || isText) return false;
  const isLinkByText = column.is === 'link' && column.by !== 'id';
  return (keepsWhiteSpace(column) && !isLinkByText ? cell : cell.trim()) === '';
}

type Read = { readonly value: unknown } | { readonly expected: string };

function parseCell(type: string, cell: Cell, form: CellForm): Read {
  const text = cellText(cell);
  if (type === 'externalIds') return parseExternalIds(cell);
  if (type === 'boolean') return parseBoolean(text ?? String(cell));
  if (type === 'number') return parseNumber(text?.trim() ?? '', form.decimalComma === true && typeof cell === 'string');
  if (type === 'dateTime') return parseTime(text?.trim() ?? '', form);
  return text === undefined ? { expected: 'text' } : { value: text };
}

/** `x` is refused: it means yes in some lists, and no in others. */
function parseBoolean(text: string): Read {
  const word = text.trim().toLowerCase();
  if (['true', 'yes', 'y', 't', '1', 'ja', 'j', 'wahr', 'checked'].includes(word)) return { value: true };
  if (['false', 'no', 'n', 'f', '0', 'nein', 'falsch'].includes(word)) return { value: false };
  return { expected: 'yes or no (true, 1, ja, wahr; false, 0, nein, falsch)' };
}

function parseExternalIds(cell: Cell): Read {
  const ids = typeof cell === 'string' ? parseObject(cell) : cell;
  if (!isObject(ids) || isLosslessNumber(ids)) return { expected: 'an object of texts such as {"erp":"4711"}' };
  const texts = Object.entries(ids).map(([key, id]) => [key, cellText(id)] as const);
  const wrong = texts.find(([, text]) => text === undefined);
  return wrong ? { expected: `an object with text as ${quote(wrong[0])}` } : { value: Object.fromEntries(texts) };
}

/** Separators of thousands need a decimal sign: `1.234` may have three decimals. SAP writes the minus last. */
function parseNumber(written: string, hasComma: boolean): Read {
  const text = written.replace(/^(\d.*)-$/, '-$1');
  const sent = hasComma ? text.replace(/[.,]/g, (mark) => (mark === ',' ? '.' : ',')) : text;
  const number = /^[+-]?\d{1,3}(?:,\d{3})+\.\d+$/.test(sent) ? sent.replaceAll(',', '') : sent;
  if (!/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,9})?$/i.test(number)) {
    if (hasComma) return { expected: 'a number such as 53,08 (--decimal-comma)' };
    return { expected: `a number such as 53.08${text.includes(',') ? ', or 53,08 with --decimal-comma' : ''}` };
  }
  const value = Number(number);
  // A lossless number is the same when written with as many digits: 0.10 is, 12345678901234567890 and 1e400 are not.
  const all = significantDigits(number).slice(0, 101);
  const digits = /^[^e]*\./i.test(number) ? all.replace(/0+$/, '') : all;
  const isKept = all.length <= 100 && significantDigits(value.toPrecision(digits.length || 1)) === digits;
  return isKept ? { value } : { expected: `a number that is kept with all its digits, not as ${value}` };
}

const significantDigits = (number: string): string => number.replace(/e.*/i, '').replace(/\D/g, '').replace(/^0+/, '');

/** 31 December 2026 as a file writes it: `31.12.2026`, `12/31/26`. */
interface DateForm {
  readonly example: string;
  /** `dmy`, `mdy` or `ymd`. `ydm` is refused: nobody writes it, and a mistake would change dates. */
  readonly order: string;
  readonly separator: string;
}

export function parseDateForm(given: string): DateForm {
  const example = given.trim();
  const [separator = ''] = /[./-]/.exec(example) ?? [];
  const letters: Readonly<Record<string, string>> = { 31: 'd', 12: 'm', 26: 'y', 2026: 'y' };
  const parts = example.split(separator);
  const order = parts.map((part) => letters[part]).join('');
  if (['dmy', 'mdy', 'ymd'].includes(order)) return { example, order, separator };
  const what = '31 December 2026 as the file writes dates, such as 31.12.2026 or 12/31/26';
  throw new StartError(`--dates: ${expected(what, given)}`);
}

export function parseTimeZone(name: string): Zone {
  const { isValid, zone } = DateTime.local({ zone: name });
  if (!isValid) throw new StartError(`--time-zone: ${expected('a time zone such as Europe/Berlin', name)}`);
  return zone;
}

const dateAndTime =
  /^([^:]{6,30}?)(?:(?:T|,? {1,2})(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?: ?([ap])\.?m\.?| uhr)?(?: ?(Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?))?)?$/i;

/** In the form the service stores. A date is midnight UTC. */
export function parseTime(text: string, { dates, timeZone, years, months }: CellForm): Read {
  // The form of the service takes a third of the time.
  if (/^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}:\d{2}(?:\.\d{1,3})?Z)?$/.test(text)) return parseDateTime(text);
  if (years && /^(?:19|20)\d\d$/.test(text)) return parseDateTime(`${text}-01-01`);
  const month = months && parseMonth(text);
  if (month) return parseDateTime(`${month}-01`);
  const spaced = text.length > 100 ? '' : withoutWeekday(text.replace(/\s/g, ' '));
  const [, date = '', hour, minute, second = '00', fraction = '', half, zone] = dateAndTime.exec(spaced) ?? [];
  const day = parseDay(date.toLowerCase(), dates);
  if (day === undefined) return { expected: expectedDate(text, dates) };
  if (hour === undefined) return parseDateTime(day);
  const isOfDay = half === undefined ? Number(hour) <= 23 : Number(hour) >= 1 && Number(hour) <= 12;
  if (!isOfDay) return { expected: 'a time from 00:00 to 23:59, or 1:00 to 12:59 am or pm' };
  if (/[1-9]/.test(fraction.slice(3))) return { expected: 'a time in whole milliseconds' };
  const hours = half === undefined ? hour : String((Number(hour) % 12) + (half.toLowerCase() === 'p' ? 12 : 0));
  const time = `${day}T${hours.padStart(2, '0')}:${minute}:${second}.${fraction.slice(0, 3).padEnd(3, '0')}`;
  const offset = /\d/.test(zone ?? '') ? zone?.replace(/^(...):?(\d*)$/, (_, h, m) => `${h}:${m || '00'}`) : 'Z';
  const asWritten = parseDateTime(`${time}${offset}`);
  if (zone !== undefined || 'expected' in asWritten) return asWritten;
  if (!timeZone) return { expected: 'a time with a zone such as Z or +02:00, or with --time-zone Europe/Berlin' };
  const [instant, other] = instantsShownAs(Date.parse(asWritten.value), timeZone);
  if (instant !== undefined && other === undefined) return parseDateTime(new Date(instant).toISOString());
  const once = `a time that occurs once in ${timeZone.name}`;
  return { expected: `${once}, or its offset, such as +02:00` };
}

/** The instants at which clocks of the zone show `local`, a time as if in UTC: none or two when clocks change. */
function instantsShownAs(local: number, zone: Zone): number[] {
  const aDay = 86_400_000;
  const offsets = new Set([zone.offset(local - aDay), zone.offset(local + aDay)].map((minutes) => minutes * 60_000));
  const candidates = [...offsets].map((offset) => local - offset);
  return candidates.filter((instant) => instant + zone.offset(instant) * 60_000 === local);
}

/** In German and English, before a date of numbers: `Mo 02.03.26`. */
export const withoutWeekday = (text: string): string =>
  text.replace(/^(?:mo|di|mi|do|fr|sa|so|mon|tue|wed|thu|fri|sat|sun)\.?,? (?=\d)/i, '');

const datePattern =
  /^(\d{1,4}|[a-zäöéû]{3,9})(?:er)?([./, -]{1,2})(\d{1,2}|[a-zäöéû]{3,9})(?:st|nd|rd|th)?([./, -]{1,2})(\d{1,4})$/;

/** In English, German, French and Dutch. The first three letters suffice, or four of `juin` and `juillet`. */
const namesOfMonths =
  `january januar jänner janvier januari,february februar feber février fevrier februari,march märz maerz mrz mars maart
  mrt,april avril,may mai mei,june juni juin,july juli juillet,august août aout augustus,september septembre,
  october oktober octobre,november novembre,december dezember décembre decembre`
    .split(',')
    .map((forms) => forms.trim().split(/\s+/));

/** 0 if it is no name of a month, or begins two of them. */
function monthNamed(name: string): number {
  const [month = 0, ...others] = namesOfMonths.flatMap((forms, at) =>
    forms.some((form) => form.startsWith(name)) ? at + 1 : [],
  );
  return others.length > 0 ? 0 : month;
}

/** `2021-03` for `2021-3`, `03/2021`, `März 2021` and `Mrz 21`. */
export function parseMonth(text: string): string | undefined {
  const [, first = '', second = ''] = /^([a-zäöéû]{3,9}|\d{1,4})[./, -]{1,2}(\d{1,4})$/i.exec(text) ?? [];
  const named = monthNamed(first.toLowerCase());
  const [year, month] = first.length === 4 && !named ? [first, second] : [second, String(named || first)];
  const isMonth = /^(?:0?[1-9]|1[0-2])$/.test(month) && (year.length === 4 || (named > 0 && year.length === 2));
  return isMonth ? `${fullYear(year)}-${month.padStart(2, '0')}` : undefined;
}

/** As `2026-03-01`; undefined if that takes a guess. */
function parseDay(text: string, dates: DateForm | undefined): string | undefined {
  const [, first = '', mark = '', second = '', other, third = ''] = datePattern.exec(text) ?? [];
  const name = /[a-zäöéû]{3,9}/.exec(text)?.[0];
  const named = name === undefined ? 0 : monthNamed(name);
  let order = mark === dates?.separator ? dates.order : '';
  if (first.length === 4) order = 'ymd';
  if (named > 0 && first === name) order = 'mdy';
  else if (named > 0 && order !== 'ymd') order = 'dmy';
  else if (named === 0 && (name !== undefined || mark !== other || !/^[./-]$/.test(mark))) return undefined;
  const [year = '', month = '', day = ''] = [...'ymd'].map((letter) => [first, second, third][order.indexOf(letter)]);
  const isShort = year.length === 2 && dates !== undefined && !dates.example.includes('2026');
  if ((year.length !== 4 && !isShort) || day.length > 2) return undefined;
  return `${fullYear(year)}-${String(named || month).padStart(2, '0')}-${day.padStart(2, '0')}`;
}

const fullYear = (year: string): string => (year.length === 4 ? year : `${Number(year) <= 60 ? '20' : '19'}${year}`);

function expectedDate(text: string, dates: DateForm | undefined): string {
  if (/^(?:19|20)\d\d$/.test(text)) return `${aDate} (of a year alone, write a day, such as ${text}-01-01)`;
  const month = parseMonth(text);
  if (month) return `${aDate} (of a month alone, write a day, such as ${month}-01)`;
  if (/^\d{4,6}(?:[.,]\d{1,15})?$/.test(text)) {
    return `${aDate} (spreadsheets number days: give the column the format of a date, and save it again)`;
  }
  if (dates) {
    const isShort = dates.example.includes('2026') && /^\d{1,2}\D\d{1,2}\D\d\d(?!\d)/.test(text);
    return `a date such as ${dates.example}${isShort ? ', with four digits of the year' : ''} (--dates)`;
  }
  return /^\d/.test(text) ? `${aDate}, or its order with --dates, such as 31.12.2026 or 12/31/2026` : aDate;
}
