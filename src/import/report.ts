import { stringify } from 'lossless-json';
import { csvCell } from '../model/csv.ts';
import { isSame } from '../model/fields.ts';
import { formatCount, formatIssue } from '../model/issues.ts';
import { constantCase, linkField } from '../model/labels.ts';
import { linkFields } from '../model/links.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { reasonColumn, reasonMark } from './columns.ts';
import type { CsvTable } from './csv.ts';
import { type RowIndex, recordIdsByCell } from './items.ts';
import { lineName } from './json.ts';
import { type Cell, keyValue, type RecordRow, type RowIssue, type RowOutcome, type SourceRow } from './row.ts';
import { isOfDeleted } from './warnings.ts';

const none = { created: 0, changed: 0, cleared: 0, unchanged: 0, refused: 0 };
type Counts = Record<keyof typeof none, number>;

const counted = { CREATED: 'created', UPDATED: 'changed', UNCHANGED: 'unchanged', REJECTED: 'refused' } as const;

export class Tally {
  /** By column. The counts of whole rows come first, without a name. */
  private readonly kinds = new Map<RecordKind, Map<string, Counts>>();

  add(settled: RowOutcome): void {
    const { outcome, issues } = settled;
    const { kind } = settled.row;
    const columns = this.kinds.get(kind) ?? new Map<string, Counts>();
    this.kinds.set(kind, columns);
    const addTo = (column: string, what: keyof Counts) => {
      const counts = columns.get(column) ?? { ...none };
      columns.set(column, counts);
      counts[what] += 1;
    };
    addTo('', counted[outcome]);
    if (outcome === 'REJECTED') {
      for (const column of new Set(issues.flatMap(({ path }) => issueColumn(kind, path) ?? [])))
        addTo(column, 'refused');
      return;
    }
    let isCleared = false;
    for (const { column, text, old, now, isChanged } of cellsOf(settled)) {
      if (outcome === 'CREATED' && text !== null) addTo(column, 'created');
      if (outcome === 'CREATED') continue;
      if (!isChanged) addTo(column, 'unchanged');
      else addTo(column, now === null && !settled.unchecked.has(column) ? 'cleared' : 'changed');
      isCleared ||= outcome === 'UPDATED' && now === null && old !== null;
    }
    if (isCleared) addTo('', 'cleared');
  }

  table(): { readonly head: readonly string[]; readonly rows: readonly (readonly (string | number)[])[] } {
    const rows = [...this.kinds].flatMap(([{ pluralLabel }, columns]) =>
      [...columns].map(([name, counts]) => [name === '' ? pluralLabel : `  ${name}`, ...Object.values(counts)]),
    );
    return { head: ['', ...Object.keys(none)], rows };
  }
}

/** The values of a row, with those of the stored record before and after the import. `text` is that of the row. */
export function cellsOf({ row, unchecked, before, after }: RowOutcome) {
  const { fields, externalIds, links } = row;
  const texts: (readonly [column: string, text: unknown])[] = [
    ...Object.entries(fields),
    ...Object.entries(externalIds).map(([key, id]) => [`externalIds.${key}`, id] as const),
  ];
  for (const [index, { field }] of links.entries()) {
    // A link may have several cells, some of them empty.
    const cells = links.filter((link) => link.field === field);
    if (cells[0] === links[index] && !(field in fields))
      texts.push([field, cells.find(({ value }) => value !== null)?.value ?? null]);
  }
  return texts.map(([column, text]) => {
    const [old, now] = [keyValue(before, column) ?? null, keyValue(after, column) ?? null];
    return { column, text, old, now, isChanged: unchecked.has(column) || !isSame(old, now) };
  });
}

function issueColumn(kind: RecordKind, [first, second]: RowIssue['path']): string | undefined {
  const field = linkFields(kind).find(([name]) => name === first)?.[1];
  if (/^(merge)?externalIds$/i.test(String(first)) && second !== undefined) return `externalIds.${second}`;
  return field ?? (first === undefined ? undefined : String(first));
}

const maxListed = 10;
const maxReasons = 1_000;

/** The first row refused for a value, and what helps: the name that is meant, or a record to create. */
function refusedValue({ source, links, fields }: RecordRow, issue: RowIssue) {
  const { code, path, alike } = issue;
  const ofLink = links.filter(({ name, field, value }) => [name, field].includes(String(path[0])) && value !== null);
  const link = ofLink.find(({ by }) => by !== 'id') ?? ofLink[0];
  // The ID beside the name of a link, or the key of the label.
  const beside = link?.beside ?? ofLink.find((other) => other !== link && other.by === 'id')?.value ?? undefined;
  const isLabel = alike !== undefined || issue.creatable !== undefined;
  const text = link?.value ?? (isLabel ? String(fields[String(path[0])]) : undefined);
  const isUnknown = code === 'no-record' && path[1] === 'name' && alike === undefined;
  const creatable = issue.creatable ?? (isUnknown ? link?.target : undefined);
  const linkName = linkField(String(path[0] ?? ''));
  return { line: source.line, fields, link: linkName, text, alike, creatable, beside };
}

/** The first refused rows, or if there are more, the number of rows for each reason. */
export class Refusals {
  readonly values = new Map<string, ReturnType<typeof refusedValue> & { readonly message: string; count: number }>();
  private count = 0;
  private readonly first: string[] = [];
  private readonly reasons = new Map<string, { readonly text: string; readonly first: string; count: number }>();

  add({ row, issues }: RowOutcome): void {
    this.count += 1;
    const place = `${row.file.name}, line ${row.source.line}`;
    if (this.first.length < maxListed) this.first.push(`  ${place}: ${formatReasons(issues)}`);
    for (const issue of issues) {
      const [text = ''] = formatReason(issue).split(', received ', 1);
      // Quoted values differ between rows with the same reason.
      const key = text.replace(/"[^"]{0,600}"/g, '"');
      const known = this.reasons.get(key);
      if (known) known.count += 1;
      else if (this.reasons.size < maxReasons) this.reasons.set(key, { text, first: place, count: 1 });
      this.addValue(row, issue);
    }
  }

  private addValue(row: RecordRow, issue: RowIssue): void {
    // Its row is in doubt.
    if (isOfDeleted(row, issue)) return;
    const message = formatIssue(issue);
    const known = this.values.get(message);
    if (known) known.count += 1;
    else if (this.values.size < maxReasons)
      this.values.set(message, { message, ...refusedValue(row, issue), count: 1 });
  }

  lines(): readonly string[] {
    if (this.count <= maxListed) return this.first;
    const reasons = [...this.reasons.values()].toSorted((a, b) => b.count - a.count);
    const others = reasons.length - 2 * maxListed;
    const lines = reasons.map(({ count: n, text, first }) => `  ${countedRows(n)}: ${text}, first in ${first}`);
    return [...lines.slice(0, 2 * maxListed), ...(others > 0 ? [`  and ${formatCount(others)} other reasons`] : [])];
  }
}

export const countedRows = (n: number): string => `${formatCount(n)} ${n === 1 ? 'row' : 'rows'}`;

const formatReason = (issue: RowIssue): string => [formatIssue(issue), issue.help].filter(Boolean).join(': ');

const formatReasons = (issues: readonly RowIssue[]): string => issues.map(formatReason).join('; ');

export interface RefusedFile {
  readonly name: string;
  write(text: string): void;
  /** Says the reason of a refused row in other words. */
  describe?(reason: string): string;
}

/** In the form of the file, with reasons in a last column: rows can be fixed and imported. */
export function createRefusedWriter(table: CsvTable | undefined, index: RowIndex, file: RefusedFile) {
  const { names = [], separator = ',' } = table ?? {};
  const formatCells = (cells: readonly (string | null)[], reason: string): string => {
    // The reason stands below its column, or after the last cell of a row with too many cells.
    const isLonger = cells.length > names.length;
    const all = isLonger ? cells : names.map((_, index) => cells[index] ?? null);
    const isReason = (cell: string | null, index: number) =>
      isLonger ? index === all.length - 1 && cell?.startsWith(reasonMark) : names[index] === reasonColumn;
    return [...all.filter((cell, index) => !isReason(cell, index)), reason]
      .map((cell) => csvCell(cell, separator))
      .join(separator);
  };
  const formatRow = ({ row, issues }: RowOutcome): string => {
    const { source } = row;
    const reason = file.describe?.(formatReasons(issues)) ?? formatReasons(issues);
    // Only this import knows the IDs of rows: later, links need IDs of records.
    const known = recordIdsByCell(index, row);
    const cells = source.cells.map((cell, index) => known.get(index) ?? cell);
    if (!table) return refusedObject(source, cells, reason);
    if (cells.length === 0) return source.text + separator + csvCell(reasonMark + reason, separator);
    const texts = cells.map((cell) => (cell === null ? null : String(cell)));
    return formatCells(texts, reasonMark + reason);
  };
  // Without a byte order mark, spreadsheet programs read the file as Windows-1252.
  const start = table ? `\uFEFF${formatCells(names, reasonColumn)}\n` : '';
  let isEmpty = true;
  return {
    isEmpty: () => isEmpty,
    add(rows: readonly RowOutcome[]): void {
      if (rows.length === 0) return;
      file.write((isEmpty ? start : '') + rows.map((row) => `${formatRow(row)}\n`).join(''));
      isEmpty = false;
    },
  };
}

/** An unreadable line is kept as a text. */
function refusedObject({ text, kind, names, problem }: SourceRow, cells: readonly Cell[], reason: string): string {
  const named: (readonly [string, Cell])[] = names.map((name, index) => [name, cells[index] ?? null]);
  const members = problem === undefined ? named : ([[lineName, text]] as const);
  const ofKind = kind && { kind: constantCase(kind.name) };
  const values = Object.fromEntries(members.filter(([name]) => name !== reasonColumn));
  // `stringify` keeps the digits of numbers.
  return String(stringify({ ...ofKind, ...values, [reasonColumn]: reason }));
}
