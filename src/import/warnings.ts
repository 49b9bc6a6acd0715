import { hasApostrophe, textOfSpreadsheet } from '../model/csv.ts';
import { quote } from '../model/issues.ts';
import { sortKey } from '../model/sort-key.ts';
import { kindOfId } from '../records/index.ts';
import { describeDifference } from './alike.ts';
import { type Column, columnKey, keepsWhiteSpace } from './columns.ts';
import {
  cellText,
  columnPath,
  placeOf,
  type RecordRow,
  type RowIssue,
  type RowOutcome,
  type SourceRow,
  type Warning,
} from './row.ts';

export type Warn = (warning: Warning) => void;

/** The most groups by column. Later warnings are grouped by message alone. */
const maxGroups = 100;

/** Keeps the first two warnings of each message and column, and counts the rest. */
export class WarningCollector {
  readonly #groups = new Map<string, { readonly message: string; first: Warning; count: number }>();

  readonly warn: Warn = (warning) => {
    const { message, line, column, detail } = warning;
    const key = this.#groups.size < maxGroups ? `${message}\n${column}` : message;
    const group = this.#groups.get(key) ?? { message, first: warning, count: 0 };
    this.#groups.set(key, group);
    group.count += 1;
    if (detail && group.count === 2)
      group.first = { ...group.first, detail: `${group.first.detail}, then in line ${line}, ${detail}` };
  };

  groups = () => [...this.#groups.values()];
}

/** Signs that another program has changed a text or an ID. */
const signs: readonly (readonly [sign: RegExp, message: string])[] = [
  [/^[\s\u200B]|[\s\u200B]$/, 'there is white space around the value'],
  // UTF-8 letters such as `ü` and quotes, read as Windows-1252.
  [
    /\u00C3[\u0080-\u00BF]|\u00E2\u20AC/,
    'another program has probably damaged letters: does the file have another encoding?',
  ],
  // Not the question mark of a URL.
  [/\uFFFD|^[^/?]{0,200}\p{L}\?\p{L}/u, 'another program has lost letters: save the file there as UTF-8'],
  [
    /^(?:NA|N\/A|NaN|nan|None|NULL|\[NULL\]|\(null\)|\\N|#(?:N\/A|NV|REF!|BEZUG!|VALUE!|WERT!|NAME\?|DIV\/0!))$/,
    'this is stored as text: --null reads it as empty',
  ],
];

/** Starts a row of totals, or a line that a program prints around a table. */
const ofTotals =
  /^(?:(?:sub|grand )?total|sum|count|(?:zwischen|gesamt)?summe|gesamt|anzahl|page \d+ of|seite \d+ von|\(\d+ rows?(?: affected)?|[-=+|]{3})[-=+|:\s.,)]*(?:\d[-=+|:\s\d.,)]{0,50}[a-zäöüß]{0,30})?$/i;

function totalIn({ cells }: SourceRow): string | undefined {
  const text = cells.find((cell) => typeof cell === 'string' && !/^[+-]?[\d\s.,]*$/.test(cell));
  return typeof text === 'string' && ofTotals.test(text.trim()) ? text : undefined;
}

/** The message about totals, which are the same whatever the columns become. */
export const mayBeTotal = 'may be a total or a footer';

/** Rows for which somebody chooses an answer. */
export interface Doubt {
  readonly message: string;
  readonly first: string[];
  /** By `placeOf`. */
  readonly rows: string[];
  readonly answers: readonly string[];
  readonly answer?: string;
}

/** True if the ID of a row has the form of its kind's: its record was stored here once. */
export const isOfDeleted = ({ kind, id = '' }: RecordRow, { code, path }: RowIssue): boolean =>
  code === 'no-record' && path[0] === 'id' && kindOfId(id) === kind;

/** An end without a time is the whole day. */
const isReversed = ({ startDate: start, endDate: end }: RowOutcome['row']['fields']): boolean =>
  typeof start === 'string' && typeof end === 'string' && start > end.replace('T00:00:00.000', 'T24');

/** `by` is the key that finds stored records. Most rows are in no doubt: that takes little time. */
export function addDoubts(doubts: Map<string, Doubt>, settled: RowOutcome, by = '', files: readonly unknown[] = []) {
  const { row, issues, outcome, before, after, isOlder } = settled;
  const { kind, fields, source } = row;
  const record = () => [fields.uid ?? fields.reference ?? fields.number, fields.name].filter(Boolean).join(' ');
  const add = (message: string, text: unknown, answer = 'Import') => {
    const doubt = doubts.get(message) ?? { message, first: [], rows: [], answers: ['Leave out', answer] };
    doubts.set(message, doubt);
    const line = [`line ${source.line}`, text].filter(Boolean).join(', ');
    if (doubt.rows.push(placeOf(files, row)) <= 3) doubt.first.push(line);
  };
  if (isReversed(fields) && ['CREATED', 'UPDATED'].includes(outcome))
    add('would end before the start', `${record()}, ${fields.startDate} – ${fields.endDate}`);
  if (isOlder) add(`would replace newer values of stored ${kind.pluralLabel}`, record());
  if (issues.some((issue) => isOfDeleted(row, issue)))
    return add(`may belong to a deleted ${kind.label}`, fields.name, 'Import as new');
  // An export has the IDs of its records.
  if (by === 'key' || (by === 'id' && row.id !== undefined)) return;
  const total = before ? undefined : totalIn(source);
  if (total !== undefined) add(mayBeTotal, total);
  const [old = '', now = ''] = before ? [String(before.name), String(after?.name)] : [];
  if (old !== now && sortKey(old) !== sortKey(now))
    add(`would rename a stored ${kind.label}, found by ${columnPath(by).at(-1)}`, `${old} → ${now}`);
}

/** The most values to compare, in some 20 MB of memory. */
const maxCompared = 100_000;

export const isKey = (column: Column): boolean =>
  column.is !== 'field' ||
  column.field.type === 'foreignReference' ||
  (column.field.type === 'text' && column.field.matchable === true);

export function createRowChecker(
  form: { readonly excel?: boolean | undefined; readonly null?: string | undefined },
  warn: Warn,
): (source: SourceRow, columns: readonly Column[], fields: Readonly<Record<string, unknown>>) => void {
  /** By sort key: the first text and its line. */
  const firsts = new Map<string, { readonly text: string; readonly line: number }>();

  return (source, columns, fields) => {
    const { line, names, cells } = source;
    for (const [index, column] of columns.entries()) {
      const text = cellText(cells[index]);
      if (column.is === 'skipped' || !text || text === form.null) continue;
      const say = (message: string, detail = quote(text)) =>
        warn({ line, column: names[index] ?? '', message, detail });
      const time = column.is === 'field' && column.field.type === 'dateTime' ? fields[column.name] : undefined;
      if (typeof time === 'string' && (time < '1900' || time >= '2101')) say('the date is before 1900 or after 2100');
      if (!keepsWhiteSpace(column)) continue;
      for (const [sign, message] of signs) if (sign.test(text)) say(message);
      if (!form.excel && textOfSpreadsheet(text) !== text) {
        const what = hasApostrophe(text) ? 'an apostrophe before' : 'a formula around';
        say(`there is ${what} the value: --excel removes it`);
      }
      if (!isKey(column)) continue;
      const alike = `${columnKey(column)}\n${sortKey(text)}`;
      const first = firsts.get(alike);
      if (!first && firsts.size < maxCompared) firsts.set(alike, { text, line });
      else if (first && first.text !== text) {
        const both = `${quote(text)} and ${quote(first.text)} in line ${first.line}`;
        say(`values differ only in ${describeDifference(text, first.text)}`, both);
      }
    }
    if (totalIn(source) !== undefined)
      warn({ isAsked: true, line, column: '', message: 'this row is probably a total or a footer' });
    if (isReversed(fields)) warn({ isAsked: true, line, column: '', message: 'the row ends before it starts' });
    if (fields.latitude === 0 && fields.longitude === 0) {
      warn({ line, column: 'latitude', message: 'the coordinates are 0 and 0, which is in the Atlantic' });
    }
  };
}
