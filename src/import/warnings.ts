/** What is allowed in a file, and probably wrong. */
import { hasApostrophe } from '../model/csv.ts';
import { count, cut, maxQuoted, quote } from '../model/issues.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { type Column, type ColumnOptions, isLinkedByName, meaningOf } from './columns.ts';
import { JsonNumber, type SourceRow, type Warning } from './row.ts';

export type Warn = (warning: Warning) => void;

export interface WarningGroup {
  readonly message: string;
  readonly first: readonly Warning[];
  readonly count: number;
}

const maxListed = 10;

/** Keeps the first warnings of each message, and counts the others. */
export function collectWarnings(): { readonly warn: Warn; readonly groups: () => readonly WarningGroup[] } {
  const groups = new Map<string, { message: string; first: Warning[]; count: number }>();
  function warn(warning: Warning): void {
    const { message } = warning;
    const group = groups.get(message) ?? { message, first: [], count: 0 };
    groups.set(message, group);
    group.count += 1;
    if (group.first.length < maxListed) group.first.push(warning);
  }
  return { warn, groups: () => [...groups.values()] };
}

type Check = (source: SourceRow, columns: readonly Column[], fields: Readonly<Record<string, unknown>>) => void;

export function rowChecker(
  kind: RecordKind,
  options: ColumnOptions & { readonly form: { readonly hasApostrophes: boolean } },
  warn: Warn,
): Check {
  const isNameKey = isLinkedByName(kind, options);
  const findSimilar = similarFinder();
  let names: readonly string[] | undefined;

  return (source, columns, fields) => {
    const { line } = source;
    if (source.names !== names) {
      names = source.names;
      for (const name of repeated(names)) warn({ line, column: name, message: 'several columns have this name' });
    }
    for (const [index, column] of columns.entries()) {
      const sent = source.cells[index];
      const text = sent instanceof JsonNumber ? sent.text : sent;
      if (column.is === 'skipped' || typeof text !== 'string' || text === '') continue;
      const say = (message: string, detail = quote(text)) =>
        warn({ line, column: source.names[index] ?? '', message, detail });
      if (column.is === 'field' && column.field.type === 'dateTime') {
        const time = fields[column.name];
        const isFar = typeof time === 'string' && (time < '1900' || time >= '2101');
        if (isFar) say('the date is before 1900 or after 2100');
      }
      if (column.is === 'field' && column.field.type !== 'text' && column.field.type !== 'foreignReference') continue;
      if (text.trim() !== text) say('there is white space around the value');
      if (!options.form.hasApostrophes && hasApostrophe(text)) {
        say('there is an apostrophe before the value: --excel takes off what an export has added');
      }
      if (!isKey(column, isNameKey)) continue;
      if (/^\d(?:[.,]\d{1,30})?e\+\d{1,3}$/i.test(text)) say('a spreadsheet has probably rounded this ID');
      const other = findSimilar(meaningOf(column), text, line);
      if (other) say('values differ only in case, white space or the form of letters', `${quote(text)} and ${other}`);
    }
    if (fields.latitude === 0 && fields.longitude === 0) {
      warn({ line, column: 'latitude', message: 'the coordinates are 0 and 0, which is in the Atlantic' });
    }
  };

  /** Returns the first value that is similar to this one, and the line that has it. */
  function similarFinder() {
    const values = new Map<string, { readonly text: string; readonly line: number }>();
    let isFull = false;
    return (key: string, text: string, line: number): string | undefined => {
      const similar = JSON.stringify([
        key,
        text
          .normalize('NFKC')
          .trim()
          .replace(/\s{1,100}/g, ' ')
          .toLowerCase(),
      ]);
      const other = values.get(similar);
      if (other) return other.text === text ? undefined : `${quote(other.text)} in line ${other.line}`;
      if (values.size < maxCompared) values.set(similar, { text, line });
      else if (!isFull) {
        isFull = true;
        warn({ line, column: '', message: `after ${count(maxCompared)} values, no more are compared with each other` });
      }
      return undefined;
    };
  }
}

/** The most values that are compared, for some 20 MB of memory. */
const maxCompared = 100_000;

const repeated = (names: readonly string[]): string[] => {
  const seen = new Set<string>();
  return names
    .filter((name) => name.trim() !== '' && seen.size === seen.add(name).size)
    .map((name) => cut(name, maxQuoted));
};

/** Whether records are found by the values of a column. */
function isKey(column: Column, isNameKey: boolean): boolean {
  if (column.is !== 'field') return column.is !== 'unnamed';
  const { name, field } = column;
  return field.type === 'text' && (field.matchable === true || (name === 'name' && isNameKey));
}
