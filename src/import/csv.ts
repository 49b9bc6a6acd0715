/**
 * Reads CSV as spreadsheets, databases and people write it, without losing or changing a cell.
 *
 * A quote at the start of a cell must be closed before a separator or the end of a line. Where quotes do not add up, nobody knows which
 * line is to blame, so both are refused: the line with the quote that opens, and the line with the next quote, at which it fails. Reading
 * goes on below the first, so that neither swallows the lines between, which have no quotes or pairs of them: each is looked at twice at
 * most. Libraries for CSV stop there, or take the text up to some later quote for one cell.
 */
import { StartError } from '../errors.ts';
import { count, quote } from '../model/issues.ts';
import type { Cell, SourceRow, Warning } from './row.ts';

/** The most characters of a row. */
export const maxRowLength = 2_000_000;

export interface TableOptions {
  /** The names of the columns of a file without a header. */
  readonly columns?: readonly string[] | undefined;
  /** True for what may be the name of a column: it tells the header from titles above it, and one separator from another. */
  isKnown(name: string): boolean;
  warn(warning: Warning): void;
}

/** How a file is written. A file of its refused rows is written alike. */
export interface Table {
  readonly separator: string;
  /** The line above the header in which Excel names the separator, or PowerShell a type, with its end; mostly empty. */
  readonly declaration: string;
  readonly names: readonly string[];
}

const separators = [',', ';', '\t', '|'];

/** Titles, separators and the header are looked for in the first lines, which should be within this. */
const beginningLength = 65_536;
const beginningRows = 20;

/** Takes text in pieces, and returns the rows that end within it. */
export class CsvParser {
  /** Set when the header has been read. */
  table: Table | undefined;
  private readonly options: TableOptions;
  private beginning = '';
  private lines = new LineReader(',', '', 1);
  private hasNul = false;
  private quotesAll = false;
  /** The line above, if its quotes do not add up, or if it may be the rest of a cell of such a line. */
  private broken: { readonly line: number; readonly cells: number } | undefined;

  constructor(options: TableOptions) {
    this.options = options;
  }

  read(text: string, isLast: boolean): SourceRow[] {
    this.hasNul ||= text.includes('\0');
    if (this.table) this.lines.append(text);
    else {
      this.beginning += text;
      if (!isLast && this.beginning.length < beginningLength) return [];
      if (!this.begin(isLast)) return [];
    }
    const rows: SourceRow[] = [];
    for (let row = this.lines.next(isLast); row; row = this.lines.next(isLast)) {
      const source = this.table && this.sourceOf(row, this.table);
      if (source) rows.push(source);
    }
    return rows;
  }

  /** Returns false if the header goes on after this. */
  private begin(isLast: boolean): boolean {
    const { columns, warn } = this.options;
    const { separator, declaration, rows, header: above, lines } = findTable(this.beginning, this.options);
    this.lines = lines();
    let names = columns;
    this.quotesAll = rows[0]?.isQuoted ?? false;
    if (!names) {
      for (let index = 0; index < above; index += 1) this.lines.next(true);
      const header = this.lines.next(isLast || this.beginning.length > maxRowLength);
      if (!header && !isLast) return false;
      if (!header || (header.problem === undefined && isEmpty(header.cells)))
        throw new StartError('it is empty: expected a line with the names of the columns');
      if (header.problem !== undefined) throw new StartError(`line ${header.line}, the header: ${header.problem}`);
      if (header.text.includes('\0')) throw new StartError(`line ${header.line}: ${nulProblem}`);
      this.quotesAll = header.isQuoted;
      names = withoutSurplus(header.cells, 0).map((cell) => nameOf(cell));
      const titles = rows.slice(0, above).filter(({ text }) => text.trim() !== '');
      const message = `the lines above the header are left out: ${quote(titles.map(({ text }) => text).join('\n'))}`;
      if (titles[0]) warn({ line: titles[0].line, column: '', message });
    }
    this.table = { separator, declaration, names };
    this.beginning = '';
    return true;
  }

  /** Returns undefined for an empty row, and for the header in the middle of a file, as where files were put together. */
  private sourceOf(row: ReadRow, { names, separator }: Table): SourceRow | undefined {
    const { line, text } = row;
    if (row.problem !== undefined) {
      if (row.problem !== tooLongProblem) this.broken = { line, cells: text.split(separator).length };
      return { line, names, cells: [], text, problem: row.problem };
    }
    if (isEmpty(row.cells)) return undefined;
    if (this.isHeader(row.cells, names)) {
      this.options.warn({ line, column: '', message: 'the header once more: this line is left out' });
      return undefined;
    }
    const values = this.quotesAll ? row.cells.map((cell) => cell || null) : row.cells;
    const cells = withoutSurplus(values, names.length);
    return { line, names, cells, text, problem: this.problemOf(row, cells, names.length, separator) };
  }

  private isHeader(cells: readonly (string | null)[], names: readonly string[]): boolean {
    // Most rows differ in the length of the first cell.
    if ((cells[0] ?? '').trim().length !== (names[0] ?? '').trim().length) return false;
    const given = withoutSurplus(cells, names.length).map((cell) => nameOf(cell).toLowerCase());
    return given.length === names.length && names.every((name, index) => nameOf(name).toLowerCase() === given[index]);
  }

  private problemOf(
    { line, text, lineBreaks }: ReadRow,
    cells: readonly Cell[],
    width: number,
    separator: string,
  ): string | undefined {
    if (this.broken) {
      if (cells.length < Math.min(this.broken.cells, width)) {
        return `it may be the rest of a cell of line ${this.broken.line}, whose quotes do not add up`;
      }
      this.broken = undefined;
    }
    if (this.hasNul && text.includes('\0')) return nulProblem;
    if (cells.length > width) {
      return `expected ${width} cells, as the header has, received ${cells.length}: a cell with a separator needs quotes`;
    }
    if (lineBreaks > 0 && width > 1) {
      const parts = text.split(/\r\n|\n|\r/);
      if (parts.every((part) => part.split(separator).length === width)) {
        const message = `a quoted cell goes on to line ${line + lineBreaks}, though each of these lines could be a row: is a quote missing?`;
        this.options.warn({ line, column: '', message });
      }
    }
    return undefined;
  }
}

interface ReadRow {
  readonly line: number;
  readonly cells: readonly (string | null)[];
  /** Without the end of the line. */
  readonly text: string;
  readonly lineBreaks: number;
  /** True if every cell is. */
  readonly isQuoted: boolean;
  readonly problem?: string;
}

/** Splits text that arrives in pieces into the rows of a table. */
class LineReader {
  private readonly separator: string;
  private text: string;
  private line: number;
  private at = 0;
  /** Where the next ones are, as far as they were looked for: without, each row would be looked through to the end of the text. */
  private nextLineFeed = -1;
  private nextReturn = -1;
  private nextQuote = -1;
  /** The quote at which one of an earlier line fails, and that line. */
  private failing: { at: number; readonly line: number } | undefined;
  /** The beginning of a line that is too long: what was read of it is dropped. */
  private tooLong: string | undefined;

  constructor(separator: string, text: string, line: number) {
    this.separator = separator;
    this.text = text;
    this.line = line;
  }

  append(text: string): void {
    if (this.failing) this.failing.at -= this.at;
    this.text = this.text.slice(this.at) + text;
    this.at = 0;
    this.nextLineFeed = this.nextReturn = this.nextQuote = -1;
  }

  /** Returns undefined at the end of the text, and before the last row, unless nothing follows. */
  next(isLast: boolean): ReadRow | undefined {
    const { at, text } = this;
    if (at >= text.length && this.tooLong === undefined) return undefined;
    const end = this.lineEnd(at);
    if (end - at > maxRowLength || this.tooLong !== undefined) this.tooLong ??= text.slice(at, at + 1_000);
    if (!isLast && mayGoOn(text, end)) {
      // The last character may be the half of a line end.
      if (this.tooLong !== undefined) this.at = text.length - 1;
      return undefined;
    }
    if (this.tooLong !== undefined) return this.takeTooLong(end, this.tooLong);
    const { failing } = this;
    if (failing && failing.at <= end) {
      return this.take(end, [], false, `its quotes and those of line ${failing.line} do not add up: ${quotesHelp}`);
    }
    if (this.nextQuote < at) this.nextQuote = endless(text.indexOf('"', at));
    if (this.nextQuote < end) return this.takeQuoted(isLast);
    const cells = text.slice(at, end).split(this.separator);
    return this.take(
      end,
      cells.map((cell) => cell || null),
      false,
    );
  }

  private takeQuoted(isLast: boolean): ReadRow | undefined {
    const { text, separator } = this;
    const cells: (string | null)[] = [];
    let isQuoted = true;
    let end = this.at - 1;
    do {
      const start = end + 1;
      const open = afterSpace(text, start, separator);
      if (text[open] === '"') {
        const close = closingQuote(text, open);
        end = close === undefined ? text.length : afterSpace(text, close + 1, separator);
        if (end - this.at > maxRowLength) return this.takeBroken(isLast, open);
        if (!isLast && mayGoOn(text, end)) return undefined;
        if (close === undefined) return this.takeBroken(isLast, open);
        if (end < text.length && text[end] !== separator && !isLineBreak(text, end))
          return this.takeBroken(isLast, open, close);
        cells.push(text.slice(open + 1, close).replaceAll('""', '"'));
      } else {
        isQuoted = false;
        end = Math.min(endless(text.indexOf(separator, start)), this.lineEnd(start));
        if (end - this.at > maxRowLength) return this.takeBroken(isLast, this.nextQuote);
        if (!isLast && mayGoOn(text, end)) return undefined;
        cells.push(text.slice(start, end) || null);
      }
    } while (text[end] === separator);
    return this.take(end, cells, isQuoted);
  }

  private takeBroken(isLast: boolean, open: number, failing?: number): ReadRow | undefined {
    this.nextLineFeed = this.nextReturn = -1;
    const first = this.lineEnd(this.at);
    let end = this.lineEnd(open);
    if (!isLast && mayGoOn(this.text, end)) {
      if (end - this.at <= maxRowLength) return undefined;
      // The line with the quote is itself too long: the rows go on below the first line.
      this.nextLineFeed = this.nextReturn = -1;
      end = first;
    }
    const line = this.line + lineBreaksIn(this.text.slice(this.at, open));
    if (failing !== undefined && failing > end) this.failing = { at: failing, line };
    const start = quote(this.text.slice(open + 1, Math.min(end, open + 31)));
    return this.take(end, [], false, `the quote before ${start} is not closed at the end of its cell: ${quotesHelp}`);
  }

  private takeTooLong(end: number, beginning: string): ReadRow {
    this.tooLong = undefined;
    const row = this.take(end, [], false, tooLongProblem);
    return { ...row, text: beginning };
  }

  private take(end: number, cells: readonly (string | null)[], isQuoted: boolean, problem?: string): ReadRow {
    const text = this.text.slice(this.at, end);
    const { line } = this;
    const lineBreaks = isQuoted || text.includes('"') ? lineBreaksIn(text) : 0;
    this.line += lineBreaks + 1;
    if (this.failing && this.failing.at <= end) this.failing = undefined;
    this.at = end + (this.text[end] === '\r' && this.text[end + 1] === '\n' ? 2 : 1);
    return { line, cells, text, lineBreaks, isQuoted, ...(problem !== undefined && { problem }) };
  }

  /** The end of the line, or of the text. Positions are asked for in ascending order. */
  private lineEnd(at: number): number {
    if (this.nextLineFeed < at) this.nextLineFeed = endless(this.text.indexOf('\n', at));
    if (this.nextReturn < at) this.nextReturn = endless(this.text.indexOf('\r', at));
    return Math.min(this.nextLineFeed, this.nextReturn, this.text.length);
  }
}

const nulProblem = 'it has a NUL character: is the file in another encoding, such as --encoding utf-16le?';

const quotesHelp = 'a quote within a quoted cell is written twice';

export const tooLongProblem = `it is longer than ${count(maxRowLength)} characters, and only its beginning is kept`;

const endless = (position: number): number => (position < 0 ? Infinity : position);

const lineBreaksIn = (text: string): number => text.match(/\r\n|\n|\r/g)?.length ?? 0;

const isLineBreak = (text: string, at: number): boolean => text[at] === '\n' || text[at] === '\r';

/** True at the end of the text, and before a last character that may be the half of a line end. */
const mayGoOn = (text: string, at: number): boolean =>
  at >= text.length || (text[at] === '\r' && at === text.length - 1);

function afterSpace(text: string, start: number, separator: string): number {
  let at = start;
  while (' \t\u00A0\uFEFF'.includes(text[at] ?? '"') && text[at] !== separator) at += 1;
  return at;
}

function closingQuote(text: string, open: number): number | undefined {
  let at = text.indexOf('"', open + 1);
  while (at >= 0 && text[at + 1] === '"') at = text.indexOf('"', at + 2);
  return at < 0 ? undefined : at;
}

/**
 * Returns the separator that makes the most names of columns known, else the most rows as wide as the first, else the first row widest; and
 * the number of rows above the header.
 */
function findTable(text: string, { columns, isKnown }: TableOptions) {
  const [declaration = '', declared] = /^(?:"?sep=(.)"?|#TYPE [^\r\n]*)(?:\r\n|\n|\r)/i.exec(text) ?? [];
  const lines = (separator: string) =>
    new LineReader(separator, text.slice(declaration.length), 1 + lineBreaksIn(declaration));
  const tables = (declared === undefined ? separators : [declared]).map((separator) => {
    const rows = firstRows(lines(separator));
    const widths = rows.map(({ cells }) => withoutSurplus(cells, 0).length);
    const known = rows.map(({ cells }) => cells.filter((cell) => cell !== null && isKnown(nameOf(cell))).length);
    const least = widths.every((width) => width <= 1) ? 1 : 2;
    const header = known.findIndex((number) => number >= least);
    const first = rows.findIndex(({ problem, cells }) => problem !== undefined || !isEmpty(cells));
    const at = header >= 0 ? header : Math.max(first, 0);
    const width = columns?.length ?? widths[at] ?? 0;
    const alike = width > 1 ? widths.filter((each) => each === width).length : 0;
    return {
      separator,
      declaration,
      rows,
      lines: () => lines(separator),
      header: at,
      known: known[header] ?? 0,
      alike,
      width,
    };
  });
  return tables.reduce((best, other) => {
    const [difference = 0] = [other.known - best.known, other.alike - best.alike, other.width - best.width].filter(
      Boolean,
    );
    return difference > 0 ? other : best;
  });
}

function firstRows(lines: LineReader): ReadRow[] {
  const rows: ReadRow[] = [];
  for (let row = lines.next(true); row && rows.length < beginningRows; row = lines.next(true)) rows.push(row);
  return rows;
}

const nameOf = (cell: Cell): string => (typeof cell === 'string' ? cell.trim().replace(/\s/g, ' ') : '');

const isEmpty = (cells: readonly (string | null)[]): boolean =>
  cells.every((cell) => cell === null || cell.trim() === '');

/** Without the empty cells at the end that are more than this. */
function withoutSurplus<T extends Cell>(cells: readonly T[], width: number): readonly T[] {
  let length = cells.length;
  while (length > width && !cells[length - 1]) length -= 1;
  return length === cells.length ? cells : cells.slice(0, length);
}
