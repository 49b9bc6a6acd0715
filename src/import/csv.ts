/**
 * Reads CSV as spreadsheets, databases and people write it, without losing or changing a cell.
 *
 * A quote at the start of a cell must be closed before a separator or the end of a line. Where quotes do not add up, nobody knows which
 * line is to blame, so both are refused: the line with the quote that opens, and the line with the next quote, at which it fails. The lines
 * between are read as rows of their own. They have no quotes or pairs of them, so none opens a cell that goes on: each line is looked at
 * twice at most. Libraries for CSV stop there, or take the text up to some later quote for one cell.
 */
import { StartError } from '../errors.ts';
import { quote } from '../model/issues.ts';
import { type Line, LineSplitter, lineBreaks, maxRowLength } from './lines.ts';
import type { SourceRow, Warning } from './row.ts';

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
  readonly names: readonly string[];
}

/** Takes text in pieces, and returns the rows that end within it. */
export class CsvParser {
  /** Set when the header has been read. */
  table: Table | undefined;
  private readonly fileName: string;
  private readonly options: TableOptions;
  private readonly splitter: LineSplitter;
  private beginning: readonly Line[] = [];
  private rows = new RowReader(',');
  private quotesAll = false;
  /** The last row whose quotes do not add up, while the rows below may be the rest of one of its cells. */
  private broken: { readonly line: number; readonly cells: number } | undefined;

  constructor(fileName: string, options: TableOptions) {
    this.fileName = fileName;
    this.options = options;
    this.splitter = new LineSplitter(fileName);
  }

  /** The number of the next line. */
  get line(): number {
    return this.splitter.number;
  }

  read(text: string, isLast: boolean): SourceRow[] {
    let lines: readonly Line[] = this.splitter.split(text, isLast);
    if (!this.table) {
      this.beginning = [...this.beginning, ...lines];
      if (!isLast && this.beginning.length < beginningLines) return [];
      lines = this.begin(this.beginning);
    }
    const rows: SourceRow[] = [];
    for (const row of this.rows.read(lines, isLast)) {
      const source = this.table && this.sourceOf(row, this.table.names);
      if (source) rows.push(source);
    }
    return rows;
  }

  /** Finds out how the file is written, and returns the lines with its rows. */
  private begin(lines: readonly Line[]): readonly Line[] {
    const { columns, warn } = this.options;
    const { separator, below, header, other } = findTable(lines, this.options);
    this.rows = new RowReader(separator);
    this.beginning = [];
    this.quotesAll = header?.isQuoted ?? false;
    this.table = { separator, names: columns ?? withoutSurplus(header?.cells ?? [], 0).map(nameOf) };
    if (columns) return below;
    if (!header) throw new StartError(`${this.fileName}: it is empty: expected a line with the names of the columns`);
    const problem = header.text.includes('\0') ? nulProblem : header.problem;
    if (problem) throw new StartError(`${this.fileName}: line ${header.line}, the header: ${problem}`);
    if (other && other.line < header.line) {
      const both = `lines ${other.line} and ${header.line} both look like the header`;
      throw new StartError(`${this.fileName}: ${both}: leave one of them out, or make two files`);
    }
    const titles = below.filter(({ number, text }) => number < header.line && text.trim() !== '');
    const message = `the lines above the header are left out: ${quote(titles.map(({ text }) => text).join('\n'))}`;
    if (titles[0]) warn({ line: titles[0].number, column: '', message });
    return below.filter(({ number }) => number > header.line + lineBreaks(header.text));
  }

  /** Returns undefined for an empty row, and for the header once more, as where files were put together. */
  private sourceOf(row: Row, names: readonly string[]): SourceRow | undefined {
    const { line, text } = row;
    if (row.problem !== undefined) {
      this.broken = { line, cells: row.cells.length };
      return { line, names, cells: [], text, problem: row.problem };
    }
    if (isEmpty(row)) return undefined;
    const values = this.quotesAll ? row.cells.map((cell) => cell || null) : row.cells;
    const cells = withoutSurplus(values, names.length);
    const isName = (cell: string | null, at: number) => nameOf(cell).toLowerCase() === names[at]?.toLowerCase();
    if (cells.length > 1 && cells.length === names.length && cells.every(isName)) {
      this.options.warn({ line, column: '', message: 'the header once more: this line is left out' });
      return undefined;
    }
    const problem = this.problemOf(text, cells.length, names.length);
    // The end of the row, or a line break within a cell without quotes.
    if (cells.length < names.length && problem === undefined) {
      this.options.warn({ line, column: '', message: 'the row has fewer cells than the header' });
    }
    return { line, names, cells, text, problem };
  }

  private problemOf(text: string, length: number, width: number): string | undefined {
    if (this.broken && length < Math.min(this.broken.cells, width)) {
      return `it may be the rest of a cell of line ${this.broken.line}, whose quotes do not add up`;
    }
    this.broken = undefined;
    if (text.includes('\0')) return nulProblem;
    if (length <= width) return undefined;
    return `expected ${width} cells, as the header has, received ${length}: a cell with a separator needs quotes`;
  }
}

const nulProblem = 'it has a NUL character: is the file in another encoding, such as --encoding utf-16le?';

/** A row, or lines that are refused together. */
interface Row {
  readonly line: number;
  readonly text: string;
  readonly cells: readonly (string | null)[];
  /** True if every cell is. */
  readonly isQuoted: boolean;
  readonly problem?: string | undefined;
}

/** Joins lines to rows, and splits these into cells. */
class RowReader {
  private readonly separator: string;
  private rows: Row[] = [];
  /** The row that is being read, if it has quotes. */
  private lines: Line[] = [];
  private cells: (string | null)[] = [];
  private isQuoted = true;
  /** The text of its quoted cell that is not closed yet, and where the quote is: the place in `lines`, and the position behind it. */
  private quoted: string | undefined;
  private opensIn = 0;
  private opensAt = 0;

  constructor(separator: string) {
    this.separator = separator;
  }

  /** Returns the rows that end in these lines. */
  read(lines: readonly Line[], isLast: boolean): Row[] {
    for (const line of lines) this.readLine(line);
    if (isLast && this.quoted !== undefined) this.refuse();
    const { rows } = this;
    this.rows = [];
    return rows;
  }

  private readLine(line: Line): void {
    const { number, text } = line;
    if (this.quoted !== undefined || text.includes('"')) this.readQuoted(line);
    else {
      const cells = text.split(this.separator).map((cell) => cell || null);
      this.rows.push({ line: number, text, cells, isQuoted: false });
    }
  }

  private readQuoted(line: Line): void {
    const { text } = line;
    this.lines.push(line);
    let at = 0;
    // A separator at the end has an empty cell behind it.
    while (at <= text.length) {
      if (this.quoted === undefined) {
        const start = this.afterSpace(text, at);
        if (text[start] !== '"') {
          const end = positionOf(this.separator, text, at);
          this.cells.push(text.slice(at, end) || null);
          this.isQuoted = false;
          at = end + 1;
          continue;
        }
        at = start + 1;
        this.quoted = '';
        this.opensIn = this.lines.length - 1;
        this.opensAt = at;
      }
      const close = closingQuote(text, at);
      this.quoted += text.slice(at, close);
      if (close === text.length) {
        this.quoted += line.end;
        if (this.quoted.length > maxRowLength) this.refuse();
        return;
      }
      const end = this.afterSpace(text, close + 1);
      if (end < text.length && text[end] !== this.separator) {
        this.refuse(line);
        return;
      }
      this.cells.push(this.quoted.replaceAll('""', '"'));
      this.quoted = undefined;
      at = end + 1;
    }
    const { lines, cells, isQuoted } = this;
    this.rows.push({ ...textOf(lines), cells, isQuoted });
    this.clear();
  }

  /** Refuses a row with a quoted cell that is not closed properly, and the line at which this fails, unless it is never closed. */
  private refuse(failing?: Line): void {
    const { lines, opensIn, opensAt } = this;
    this.clear();
    const opens = lines[opensIn];
    const start = quote(opens?.text.slice(opensAt, opensAt + 30) ?? '');
    const begun = lines.slice(0, opensIn + 1);
    this.pushBroken(begun, `the quote before ${start} is not closed at the end of its cell: ${quotesHelp}`);
    for (const between of lines.slice(opensIn + 1)) if (between !== failing) this.readLine(between);
    if (!failing || failing === opens) return;
    this.pushBroken([failing], `its quotes and those of line ${opens?.number} do not add up: ${quotesHelp}`);
  }

  private pushBroken(lines: readonly Line[], problem: string): void {
    const joined = textOf(lines);
    this.rows.push({ ...joined, cells: joined.text.split(this.separator), isQuoted: false, problem });
  }

  private clear(): void {
    [this.lines, this.cells, this.isQuoted, this.quoted] = [[], [], true, undefined];
  }

  private afterSpace(text: string, start: number): number {
    let at = start;
    while (' \t\u00A0\uFEFF'.includes(text[at] ?? '"') && text[at] !== this.separator) at += 1;
    return at;
  }
}

const quotesHelp = 'a quote within a quoted cell is written twice';

const textOf = (lines: readonly Line[]): Pick<Row, 'line' | 'text'> => ({
  line: lines[0]?.number ?? 0,
  text: lines.map(({ text, end }, index) => (index < lines.length - 1 ? text + end : text)).join(''),
});

/** The end of the text if it is not found. */
function positionOf(searched: string, text: string, start: number): number {
  const at = text.indexOf(searched, start);
  return at < 0 ? text.length : at;
}

/** Passes over quotes that are written twice. */
function closingQuote(text: string, start: number): number {
  let at = positionOf('"', text, start);
  while (text[at + 1] === '"') at = positionOf('"', text, at + 2);
  return at;
}

const separators = ['\t', '|', ';', ','];

/** The header and the separator are looked for in these. */
const beginningLines = 50;

/**
 * The header is the row with the most known names, or else the first that is not empty; the separator is the one that makes the most names in
 * the header known, or else the most cells in it, or else the one that is rarer in texts. Excel may name it in the first line.
 */
function findTable(lines: readonly Line[], { isKnown }: TableOptions) {
  const declared = /^"?sep=([^"])"?$/i.exec(lines[0]?.text ?? '')?.[1];
  const below = declared === undefined ? lines : lines.slice(1);
  const knownIn = ({ cells }: Row) => cells.filter((cell) => cell && isKnown(nameOf(cell))).length;
  const tables = (declared === undefined ? separators : [declared]).map((separator) => {
    const rows = new RowReader(separator).read(below.slice(0, beginningLines), true).filter((row) => !isEmpty(row));
    const known = Math.max(0, ...rows.map(knownIn));
    const header = rows.find((row) => knownIn(row) === known);
    // Of nothing but names: what is between them would be taken for titles.
    const other = rows.find((row) => row !== header && knownIn(row) === row.cells.filter(Boolean).length);
    return { separator, header, other, known, width: header?.cells.length ?? 0 };
  });
  const [best] = tables.toSorted((one, other) => other.known - one.known || other.width - one.width);
  return { ...(best ?? { separator: ',', header: undefined, other: undefined }), below };
}

const nameOf = (cell: string | null): string => cell?.trim().replace(/\s/g, ' ') ?? '';

/** Also for the end of a file of DOS. */
const isEmpty = ({ cells, problem }: Row): boolean =>
  problem === undefined && cells.every((cell) => cell === null || cell === '\x1A' || cell.trim() === '');

/** Without the empty cells at the end that are more than this. */
function withoutSurplus<T>(cells: readonly T[], width: number): readonly T[] {
  let { length } = cells;
  while (length > width && !cells[length - 1]) length -= 1;
  return length === cells.length ? cells : cells.slice(0, length);
}
