/** What is allowed in a file, and probably wrong. */
import { hasApostrophe } from '../model/csv.ts';
import { count, cut, maxQuoted, quote } from '../model/issues.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { type Column, type ColumnOptions, isLinkedByName, isVerbatim, meaningOf } from './columns.ts';
import { type Cell, type SourceRow, textOf, type Warning } from './row.ts';

export type Warn = (warning: Warning) => void;

/** Keeps the first warning of each message, and counts them. */
export function collectWarnings() {
  const groups = new Map<string, { readonly message: string; readonly first: Warning; count: number }>();
  function warn(warning: Warning): void {
    const { message } = warning;
    const group = groups.get(message) ?? { message, first: warning, count: 0 };
    groups.set(message, group);
    group.count += 1;
  }
  return { warn, groups: () => [...groups.values()] };
}

/** Takes a row with columns that those before it did not have. */
export function checkNames({ line, names }: SourceRow, leftOut: readonly string[], warn: Warn): void {
  if (leftOut.length > 0)
    warn({ line, column: leftOut.join(', '), message: 'columns without a field here are left out' });
  const seen = new Set<string>();
  for (const name of names) {
    if (name.trim() !== '' && seen.has(name))
      warn({ line, column: cut(name, maxQuoted), message: 'several columns have this name' });
    seen.add(name);
  }
}

/** What spreadsheets show for a formula without a result, and what programs write for nothing. */
const notAvailable = new Set(
  'NA N/A NaN nan None NULL [NULL] (null) \\N #N/A #NV #REF! #BEZUG! #VALUE! #WERT! #NAME? #DIV/0!'.split(' '),
);

/** What becomes of letters such as `ü` and of quotes when a program reads UTF-8 as Windows-1252; and what no program could read. */
const damaged = /\u00C3[\u0080-\u00BF]|\u00E2\u20AC|\uFFFD/;

/** The first text of a row of totals, or of what a program writes below a table. */
const ofTotals =
  /^(?:(?:sub|grand )?total|sum|count|(?:zwischen|gesamt)?summe|gesamt|anzahl|page \d+ of|seite \d+ von|\(\d+ rows?)(?:[:\s\d.,)]| affected)*$/i;

/** Whether the column's values are stored, not only looked up. */
const isKept = (column: Column): boolean => column.is !== 'id' && (column.is !== 'link' || column.by === 'id');

const isBlankOrNumber = (cell: Cell): boolean =>
  /^[\d\s.,+-]*$/.test(cell === null ? '' : (textOf(cell) ?? 'an object'));

/** True if most other cells are blank or numbers. */
function isTotal(cells: readonly Cell[], width: number): boolean {
  const first = cells.find((cell) => !isBlankOrNumber(cell));
  if (typeof first !== 'string' || !ofTotals.test(first.trim())) return false;
  return (cells.filter((cell) => !isBlankOrNumber(cell)).length - 1) * 2 < width - 1;
}

/** The most values that are compared, for some 20 MB of memory. */
const maxCompared = 100_000;

export function rowChecker(
  kind: RecordKind,
  options: ColumnOptions & {
    readonly form: { readonly excel?: boolean | undefined; readonly null?: string | undefined };
  },
  warn: Warn,
): (source: SourceRow, columns: readonly Column[], fields: Readonly<Record<string, unknown>>) => void {
  const isNameKey = isLinkedByName(kind, options);
  /** The first of the values that are alike, and its line. */
  const firsts = new Map<string, { readonly text: string; readonly line: number }>();
  let isFull = false;

  /** Whether records are found by the values of a column. */
  function isKey(column: Column): boolean {
    if (column.is !== 'field') return true;
    const { name, field } = column;
    return field.type === 'text' && (field.matchable === true || (name === 'name' && isNameKey));
  }

  return ({ line, names, cells }, columns, fields) => {
    for (const [index, column] of columns.entries()) {
      const text = textOf(cells[index]);
      if (column.is === 'skipped' || !text) continue;
      const say = (message: string, detail = quote(text)) =>
        warn({ line, column: names[index] ?? '', message, detail });
      if (column.is === 'field' && column.field.type === 'dateTime') {
        const time = fields[column.name];
        const isFar = typeof time === 'string' && (time < '1900' || time >= '2101');
        if (isFar) say('the date is before 1900 or after 2100');
      }
      if (!isVerbatim(column)) continue;
      if (/^[\s\u200B]|[\s\u200B]$/.test(text)) say('there is white space around the value');
      if (damaged.test(text))
        say('letters were probably damaged by another program: is the encoding of the file another?');
      if (!options.form.excel && hasApostrophe(text)) {
        say('there is an apostrophe before the value: --excel takes off what an export has added');
      }
      if (/^="[^"]*"$/.test(text)) say('the formula around the value is taken for a part of it');
      if (notAvailable.has(text) && text !== options.form.null && isKept(column)) {
        const [name] = meaningOf(column).split('.');
        say(`${name}: ${text} is stored as text: --null '${text}' reads it as empty`);
      }
      if (!isKey(column)) continue;
      if (/^\d(?:[.,]\d{1,30})?e\+\d{1,3}$/i.test(text)) say('a spreadsheet has probably rounded this ID');
      const alike = `${meaningOf(column)}\n${text.normalize('NFKC').trim().replace(/\s+/g, ' ').toLowerCase()}`;
      const first = firsts.get(alike);
      if (first && first.text !== text) {
        const both = `${quote(text)} and ${quote(first.text)} in line ${first.line}`;
        say('values differ only in case, white space or the form of letters', both);
      }
      if (first) continue;
      if (firsts.size < maxCompared) firsts.set(alike, { text, line });
      else if (!isFull) {
        isFull = true;
        say(`after ${count(maxCompared)} values, no more are compared with each other`);
      }
    }
    if (isTotal(cells, names.length)) warn({ line, column: '', message: 'this row is probably a total or a footer' });
    if (fields.latitude === 0 && fields.longitude === 0) {
      warn({ line, column: 'latitude', message: 'the coordinates are 0 and 0, which is in the Atlantic' });
    }
  };
}
