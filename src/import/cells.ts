/** Reads the text of a cell as a value of its field. Text that is not such a value stays as it is: the service says what it expected. */
import { DateTime } from 'luxon';
import { StartError } from '../errors.ts';
import type { Field } from '../model/fields.ts';
import { expected } from '../model/issues.ts';

/** How a file writes dates, times and numbers. */
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

/** Returns the pattern of dates that are written as this example of 31 December 2026 is. */
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

/** Throws a StartError unless the zone is known. */
export function requireTimeZone(zone: string): void {
  if (!DateTime.local({ zone }).isValid)
    throw new StartError(`--time-zone: ${expected('a time zone such as Europe/Berlin', zone)}`);
}
