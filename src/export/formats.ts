/** An import with the same options reads the file back exactly. */
import { DateTime, IANAZone } from 'luxon';
import { badRequest } from '../errors.ts';
import { csvCell, forSpreadsheet } from '../model/csv.ts';
import { hasSupportedYear } from '../model/date-time.ts';
import type { Field } from '../model/fields.ts';
import { expected } from '../model/issues.ts';
import { capitalized, constantCase, linkField, words } from '../model/labels.ts';
import type { RecordKind, Values } from '../model/record-kind.ts';

/** Linked records by ID, and labels by key. */
export type LinkTargets = ReadonlyMap<string, Values>;

export interface ExportColumn {
  readonly name: string;
  readonly type: Field['type'];
  readonly read: (record: Values, targets: LinkTargets) => unknown;
}

export interface Format {
  readonly type: string;
  /** Unless chosen otherwise, links have their names, and all IDs come last. */
  readonly isForPeople?: boolean;
  header(columns: readonly ExportColumn[]): string;
  row(kind: RecordKind, columns: readonly ExportColumn[], record: Values, targets: LinkTargets): string;
}

export const ndjson: Format = {
  type: 'application/x-ndjson; charset=utf-8',
  header: () => '',
  row(kind, columns, record, targets) {
    const row: Record<string, unknown> = { kind: constantCase(kind.name) };
    for (const { name, read } of columns) {
      const value = read(record, targets);
      if ((value ?? null) !== null) row[name] = value;
    }
    return `${JSON.stringify(row)}\n`;
  },
};

export const csvParameters = ['delimiter', 'dates', 'timeZone', 'decimalComma', 'excel'];

const delimiters = new Map([',', ';', '\t'].map((character) => [character, character])).set('tab', '\t');

const dateForms = ['31.12.2026', '31/12/2026', '12/31/2026'];

/** Throws a 400 for an invalid parameter. */
export function csvFormat(sent: Partial<Record<string, string>>): Format {
  const language = readLanguage(sent.excel);
  const delimiter = delimiters.get(sent.delimiter ?? (language?.hasDecimalComma ? ';' : ','));
  if (delimiter === undefined) throw invalidParameter('delimiter', 'a comma, a semicolon or tab', sent.delimiter);
  const decimalPoint = readFlag('decimalComma', sent.decimalComma, language?.hasDecimalComma) ? ',' : '.';
  const isExcel = language !== undefined || readFlag('excel', sent.excel);
  const timeIn = timeFormat(sent, language);
  const cell = (text: string | null) => csvCell(text === null || !isExcel ? text : forSpreadsheet(text), delimiter);

  function cellText(type: Field['type'], value: unknown): string {
    if (value === null || value === undefined) return cell(null);
    // As they are: no program executes a number or a time.
    if (type === 'number') return csvCell(String(value).replace('.', decimalPoint), delimiter);
    if (type === 'boolean') return csvCell(String(value), delimiter);
    if (type === 'dateTime') return csvCell(timeIn(String(value)), delimiter);
    return cell(typeof value === 'object' ? JSON.stringify(value) : String(value));
  }

  return {
    type: 'text/csv; charset=utf-8',
    isForPeople: language !== undefined,
    // Spreadsheet programs recognize UTF-8 by the byte order mark.
    header: (columns) => {
      const heads = columns.map((column) => cell(language ? heading(column) : column.name));
      return `${isExcel ? '\uFEFF' : ''}${heads.join(delimiter)}\n`;
    },
    row: (_kind, columns, record, targets) => {
      const cells = columns.map(({ name, type, read }) => {
        const value = read(record, targets);
        return cellText(type, language && /^(created|updated)At$/.test(name) ? toMinute(String(value)) : value);
      });
      return `${cells.join(delimiter)}\n`;
    },
  };
}

/** Excel would show a time with milliseconds without its day, and save it so. An import compares stamps by minutes. */
const toMinute = (stamp: string): string => stamp.replace(/\d\d\.\d{3}Z$/, '00.000Z');

/** `Status` and `Status ID`, as an import reads them. */
function heading({ name, type }: ExportColumn): string {
  if (name.includes('externalIds.')) return name;
  const isId = type === 'reference' || type === 'foreignReference';
  return capitalized(words(isId ? `${linkField(name)}Id` : name.replace(/\.name$/, '')));
}

function isKnownLanguage(tag: string): boolean {
  try {
    return Intl.NumberFormat.supportedLocalesOf(tag).length > 0;
  } catch {
    return false;
  }
}

/** As spreadsheet programs with this language read numbers and dates. */
function readLanguage(tag: string | undefined) {
  if (tag === undefined || tag === 'true' || tag === 'false') return undefined;
  if (!isKnownLanguage(tag)) throw invalidParameter('excel', 'true, false or a language such as de-DE', tag);
  const latin = { numberingSystem: 'latn' };
  const numeric = { day: '2-digit', month: '2-digit', year: 'numeric', calendar: 'gregory', timeZone: 'UTC' } as const;
  const parts = new Intl.DateTimeFormat(tag, { ...numeric, ...latin }).formatToParts(Date.UTC(2026, 11, 31));
  const [, mark = '-'] = /([./-])/.exec(parts.map(({ value }) => value).join('')) ?? [];
  const numbers = parts.flatMap(({ type, value }) => (['day', 'month', 'year'].includes(type) ? [value] : []));
  return { dates: numbers.join(mark), hasDecimalComma: new Intl.NumberFormat(tag, latin).format(1.5).includes(',') };
}

export function readFlag(name: string, sent: string | undefined, otherwise = false): boolean {
  if (sent === undefined) return otherwise;
  if (sent === 'false') return false;
  if (sent !== 'true') throw invalidParameter(name, 'true or false', sent);
  return true;
}

const invalidParameter = (name: string, expectation: string, sent: string | undefined) =>
  badRequest(`${name}: ${expected(expectation, sent)}`);

/**
 * As `01.03.2026 08:30`, with seconds and milliseconds unless zero, and midnight UTC as a date. A time ambiguous in the
 * zone has its offset if written for a language. Otherwise, or if an import would read it as another, it is in UTC:
 * `… UTC`.
 */
function timeFormat(
  { dates: chosen, timeZone }: Partial<Record<string, string>>,
  language: ReturnType<typeof readLanguage>,
): (stored: string) => string {
  const dates = chosen ?? language?.dates;
  if (dates === undefined && timeZone === undefined) return (stored) => stored;
  if (chosen !== undefined && !dateForms.includes(chosen))
    throw invalidParameter('dates', `one of ${dateForms.join(', ')}`, chosen);
  if (timeZone !== undefined && !IANAZone.isValidZone(timeZone))
    throw invalidParameter('timeZone', 'a time zone such as Europe/Berlin', timeZone);

  /** Undefined if it must be in UTC. Before there were zones, clocks differed by seconds. */
  function toLocalTime(stored: string): string | undefined {
    if (timeZone === undefined) return undefined;
    const time = DateTime.fromISO(stored, { zone: timeZone });
    const isAmbiguous = time.getPossibleOffsets().length > 1;
    if (!Number.isInteger(time.offset) || (isAmbiguous && !language)) return undefined;
    const local = new Date(time.toMillis() + time.offset * 60_000).toISOString();
    if (!hasSupportedYear(local)) return undefined;
    return formatTime(local) + (isAmbiguous ? time.toFormat(' ZZ') : '');
  }

  function formatTime(time: string): string {
    const [, year = '', month = '', day = '', clock = '', seconds = '', milliseconds = ''] =
      /^(\d{4})-(\d\d)-(\d\d)T(\d\d:\d\d):(\d\d)\.(\d{3})Z$/.exec(time) ?? [];
    const parts: Readonly<Record<string, string>> = { 2026: year, 12: month, 31: day };
    const date = (dates ?? '2026-12-31').replace(/\d+/g, (part) => parts[part] ?? part);
    const rest = milliseconds === '000' ? (seconds === '00' ? '' : `:${seconds}`) : `:${seconds}.${milliseconds}`;
    return `${date} ${clock}${rest}`;
  }

  return (stored) => {
    if (stored.endsWith('T00:00:00.000Z')) return formatTime(stored).split(' ')[0] ?? '';
    return toLocalTime(stored) ?? `${formatTime(stored)} UTC`;
  };
}
