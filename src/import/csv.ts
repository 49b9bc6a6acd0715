/**
 * A quote at the start of a cell must be closed before a separator or the end of a line. Otherwise the line with the
 * opening quote or the one with the next quote may be wrong: both are refused. The lines between them are read as rows:
 * none opens a quoted cell, so each line is scanned twice at most. CSV libraries stop at such a quote, or read the text
 * up to a later quote as one cell. The quotes of a formula such as `="00815"` are like those around a cell.
 */
import { StartError } from '../errors.ts';
import { formatCount, quote } from '../model/issues.ts';
import { reasonColumn, reasonMark } from './columns.ts';
import type { SourceRow, Warning } from './row.ts';

export interface TableOptions {
  readonly columns?: readonly string[] | undefined;
  /** Tells the header from titles above it, and one separator from another. */
  isKnown(name: string): boolean;
  warn(warning: Warning): void;
}

/** The form of a file, and of its refused rows. */
export interface CsvTable {
  readonly separator: string;
  readonly names: readonly string[];
  readonly lineBreak?: string;
  /** The program quotes all cells, even empty ones. */
  readonly quotesAll?: boolean;
}

/** The most characters of a row of several lines. A single line may have twice as many. */
const maxRowLength = 2_000_000;

const beginningLines = 50;

export class CsvParser {
  table: CsvTable | undefined;
  private readonly fileName: string;
  private readonly options: TableOptions;
  /** The text after the last completed row, and its line. */
  private text = '';
  private firstLine = 1;
  /** The last row with an unclosed quote, while the next rows may be the rest of its cell. */
  private broken: { readonly line: number; readonly cells: number } | undefined;

  constructor(fileName: string, options: TableOptions) {
    this.fileName = fileName;
    this.options = options;
  }

  read(piece: string, isLast: boolean): SourceRow[] {
    this.text += piece;
    if (!this.table) {
      const end = [...this.text.matchAll(lineBreak)][beginningLines]?.index;
      if (end === undefined && !isLast && this.text.length <= maxRowLength) return [];
      this.table = this.begin(end);
    }
    const { text, table } = this;
    // A carriage return at the end may be the first half of a line break.
    const end = isLast ? text.length : 1 + Math.max(text.lastIndexOf('\n'), text.slice(0, -1).lastIndexOf('\r'));
    const rows = splitRows(text.slice(0, end), this.firstLine, table, isLast);
    this.skipTo(rows.at(-1)?.next ?? 0);
    requireLineEnds(this.text, this.firstLine, this.fileName);
    return rows.flatMap((row) => this.sourceOf(row, table) ?? []);
  }

  private skipTo(position: number): void {
    this.firstLine += lineBreaksIn(this.text.slice(0, position));
    this.text = this.text.slice(position);
  }

  /** Detects the form of the file from its first lines, and skips the header. */
  private begin(end: number | undefined): CsvTable {
    const { columns, warn } = this.options;
    const [line = '', declared] = /^"?sep=([^"])"?(?:\r\n?|\n)/i.exec(this.text) ?? [];
    const [firstBreak = ''] = this.text.match(lineBreak) ?? [];
    const start = this.text.slice(line.length, end);
    this.skipTo(line.length);
    const { separator, header, above, other, isTitle } = detectTable(start, this.firstLine, declared, this.options);
    // A file of refused rows has a header even if the original had none.
    const hasHeader = !columns || columns.every((name, at) => name === headerName(header?.cells[at] ?? null));
    if (!hasHeader) return { separator, names: columns, lineBreak: firstBreak };
    const refuse = (problem: string) => new StartError(`${this.fileName}: ${problem}`);
    if (!header) throw refuse('it is empty: expected a line with the names of the columns');
    if (isTitle)
      throw refuse(`no heading is known: leave out the lines above the headings, such as line ${header.line}`);
    const problem = header.text.includes('\0') ? nulProblem : header.problem;
    if (problem) throw refuse(`line ${header.line}, the header: ${problem}`);
    if (other) {
      const both = `lines ${other.line} and ${header.line} both look like the header`;
      throw refuse(`${both}: leave one of them out, or make two files`);
    }
    const [title] = above;
    const titles = `${above.length} title line${above.length === 1 ? '' : 's'} above the headings`;
    const text = title?.cells.filter((cell) => cell?.trim()).join(`${separator} `) ?? '';
    if (title) warn({ line: title.line, column: '', message: titles, detail: quote(text), isFact: true });
    this.skipTo(header.next);
    const names = withoutSurplus(header.cells, 0).map(headerName);
    return { separator, names, lineBreak: firstBreak, quotesAll: header.isQuoted };
  }

  /** Undefined for an empty row, and for a repeated header, as in concatenated files. */
  private sourceOf(
    { line, text, cells: sent, problem }: CsvRow,
    { names, quotesAll }: CsvTable,
  ): SourceRow | undefined {
    if (problem !== undefined) {
      this.broken = { line, cells: sent.length };
      return { line, names, cells: [], text, problem };
    }
    if (isEmpty(sent)) return undefined;
    const cells = withoutSurplus(quotesAll ? sent.map((cell) => cell || null) : sent, names.length);
    const refuse = (reason: string) => ({ line, names, cells, text, problem: reason });
    if (this.broken && cells.length < Math.min(this.broken.cells, names.length)) {
      return refuse(`it may be the rest of a cell of line ${this.broken.line}, whose quotes do not match`);
    }
    this.broken = undefined;
    if (text.includes('\0')) return refuse(nulProblem);
    if (cells.length > names.length) {
      const widths = `expected ${names.length} cells, as in the header, received ${cells.length}`;
      return refuse(`${widths}: a cell with a separator needs quotes`);
    }
    const reason = cells[names.indexOf(reasonColumn)];
    if (reason && !reason.startsWith(reasonMark)) {
      const what = `the column ${quote(reasonColumn)} has ${quote(reason)}`;
      const message = `${what}: does a cell with a separator need quotes? If it is a note of yours, clear it`;
      // Written back as a cell of the row.
      return { ...refuse(message), cells: [...cells, null] };
    }
    const { warn } = this.options;
    if (cells.length < names.length) warn({ line, column: '', message: 'the row has fewer cells than the header' });
    else if (
      cells.length > 1 &&
      cells.every((cell, at) => headerName(cell).toLowerCase() === names[at]?.toLowerCase())
    ) {
      warn({ line, column: '', message: 'the headings, repeated', isFact: true });
      return undefined;
    }
    return { line, names, cells, text };
  }
}

export function requireLineEnds(rest: string, line: number, fileName: string): void {
  if (rest.length <= 2 * maxRowLength) return;
  throw new StartError(
    `${fileName}: line ${line} is longer than ${formatCount(2 * maxRowLength)} characters: is it a table?`,
  );
}

const nulProblem = 'it has a NUL character: is the file in another encoding, such as --encoding utf-16le?';

const filledIn = ({ cells }: CsvRow): number => cells.filter(Boolean).length;

/**
 * The header is the row with the most known names, else the first that is not empty. The separator is the one with the
 * most known names in the header, else with the most cells, else the one rarer in texts.
 */
function detectTable(
  start: string,
  firstLine: number,
  declared: string | undefined,
  { columns, isKnown }: TableOptions,
) {
  const knownIn = ({ cells }: CsvRow) => cells.filter((cell) => cell && isKnown(headerName(cell))).length;
  const tables = (declared === undefined ? ['\t', '|', ';', ','] : [declared]).map((separator) => {
    const isFilled = ({ cells, problem }: CsvRow) => problem !== undefined || !isEmpty(cells);
    const rows = splitRows(start, firstLine, { separator, names: [] }, true).filter(isFilled);
    // Without a header: the separator with which the most rows have the right width.
    const fitting = rows.filter(({ cells }) => cells.length === columns?.length).length;
    const known = columns ? fitting : Math.max(0, ...rows.map(knownIn));
    const at = columns ? 0 : rows.findIndex((row) => knownIn(row) === known);
    const [header, above] = [rows[at], rows.slice(0, Math.max(0, at))];
    // Rows between two headers would be taken for titles.
    const other = above.find((row) => knownIn(row) === filledIn(row));
    const width = header?.cells.length ?? 0;
    // Without a known heading, the first line is the header unless it is shorter than the others.
    const isWider = (row: CsvRow) => filledIn(row) > (header ? filledIn(header) : 0);
    const isTitle = known === 0 && !columns && 2 * rows.filter(isWider).length > rows.length;
    return { separator, header, above, other, known, width, isTitle };
  });
  return tables.reduce((best, table) => ((table.known - best.known || table.width - best.width) > 0 ? table : best));
}

const headerName = (cell: string | null): string => cell?.trim().replace(/\s/g, ' ') ?? '';

/** DOS ends a file with \x1A. */
const isEmpty = (cells: CsvRow['cells']): boolean =>
  cells.every((cell) => cell === null || cell === '\x1A' || cell.trim() === '');

function withoutSurplus<T>(cells: readonly T[], width: number): readonly T[] {
  let { length } = cells;
  while (length > width && !cells[length - 1]) length -= 1;
  return length === cells.length ? cells : cells.slice(0, length);
}

const lineBreak = /\r\n?|\n/g;

export const lineBreaksIn = (text: string): number => text.match(lineBreak)?.length ?? 0;

interface CsvRow {
  readonly line: number;
  readonly text: string;
  readonly cells: readonly (string | null)[];
  readonly isQuoted: boolean;
  readonly problem: string | undefined;
  readonly next: number;
}

const quotesHelp = 'a quote within a quoted cell is written twice';

/** Leaves out a row at the end that may be incomplete. */
function splitRows(text: string, firstLine: number, table: CsvTable, isLast: boolean): CsvRow[] {
  const { separator, names, lineBreak: rowBreak = '' } = table;
  const rows: CsvRow[] = [];
  let failing = { line: 0, problem: '' };
  for (let [at, line] = [0, firstLine]; at < text.length; ) {
    let problem = line === failing.line ? failing.problem : undefined;
    const row = problem ? splitLine(text, at, separator) : scanRow(text, at, separator);
    let { cells, isQuoted = false, opens, end } = row;
    if (opens !== undefined) {
      if (end === text.length && !isLast && end - at <= maxRowLength) break;
      const opensIn = line + lineBreaksIn(text.slice(at, opens));
      const failsIn = line + lineBreaksIn(text.slice(at, end));
      if (end < text.length && failsIn > opensIn) {
        failing = { line: failsIn, problem: `its quotes and those of line ${opensIn} do not match: ${quotesHelp}` };
      }
      end = endOfLine(text, opens);
      const start = quote(text.slice(opens + 1, Math.min(opens + 31, end)));
      problem = `the quote before ${start} is not closed at the end of its cell: ${quotesHelp}`;
      cells = text.slice(at, end).split(separator);
    } else if (cells.length < names.length && line > failing.line && !text.startsWith(rowBreak, end)) {
      // A row may contain line breaks of another form than its end.
      const [joined = ''] = text.slice(at, at + maxJoined).split(rowBreak, 1);
      const below = at + joined.length;
      if (!isLast && below === text.length && joined.length < maxJoined) break;
      const isRow = joined.split(separator).length === names.length && !joined.includes('"');
      if (isRow && text.startsWith(rowBreak, below)) {
        problem = 'it has a line break that does not end other rows: a cell with one needs quotes';
        [cells, end] = [[], below];
      }
    }
    const next = end + (text.startsWith('\r\n', end) ? 2 : 1);
    rows.push({ line, text: text.slice(at, end), cells, isQuoted, problem, next });
    line += lineBreaksIn(text.slice(at, next));
    at = next;
  }
  return rows;
}

/** The most characters of a row with unquoted line breaks. */
const maxJoined = 1_000;

/** A row and its end, or an opening quote not closed before `end`. */
interface ScannedRow {
  readonly cells: readonly (string | null)[];
  readonly isQuoted?: boolean;
  readonly opens?: number;
  readonly end: number;
}

/** Splits at separators in quotes, too. */
function splitLine(text: string, at: number, separator: string): ScannedRow {
  const end = endOfLine(text, at);
  const cells = text.slice(at, end).split(separator);
  return { cells: cells.map((cell) => cell || null), end };
}

function scanRow(text: string, at: number, separator: string): ScannedRow {
  if (!text.slice(at, endOfLine(text, at)).includes('"')) return splitLine(text, at, separator);
  const cells: (string | null)[] = [];
  let isQuoted = true;
  for (let start = at; ; ) {
    let end = start;
    const isFormula = text.startsWith('="', start);
    const opens = isFormula ? start + 1 : afterSpace(text, start, separator);
    if (text[opens] === '"') {
      const close = closingQuote(text, opens + 1);
      if (close < 0 || close - at > maxRowLength) return { cells, opens, end: text.length };
      end = afterSpace(text, close + 1, separator);
      if (![separator, '\n', '\r', undefined].includes(text[end])) return { cells, opens, end };
      cells.push(isFormula ? text.slice(start, close + 1) : text.slice(opens + 1, close).replaceAll('""', '"'));
    } else {
      while (end < text.length && ![separator, '\n', '\r'].includes(text[end] ?? '')) end += 1;
      cells.push(text.slice(start, end) || null);
      isQuoted = false;
    }
    if (text[end] !== separator) return { cells, isQuoted, end };
    start = end + 1;
  }
}

function endOfLine(text: string, at: number): number {
  lineBreak.lastIndex = at;
  return lineBreak.exec(text)?.index ?? text.length;
}

function afterSpace(text: string, start: number, separator: string): number {
  let at = start;
  while (' \t\u00A0\uFEFF'.includes(text[at] ?? '"') && text[at] !== separator) at += 1;
  return at;
}

function closingQuote(text: string, start: number): number {
  let at = text.indexOf('"', start);
  while (at >= 0 && text[at + 1] === '"') at = text.indexOf('"', at + 2);
  return at;
}
