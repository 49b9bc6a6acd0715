/** Reads CSV as spreadsheets and other systems write it: any separator, quoted line breaks, UTF-8 or another encoding. */
import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { CsvError, type Options, parse } from 'csv-parse';
import { parse as parseSync } from 'csv-parse/sync';
import { StartError } from '../errors.ts';
import { expected } from '../model/issues.ts';

/** A row of a CSV file. A cell without a value is null; an empty text is quoted. */
export interface CsvRow {
  /** The line of the file at which it begins, from 1. */
  readonly line: number;
  readonly cells: readonly (string | null)[];
  readonly separator: string;
  /** The line above the header in which Excel names the separator; mostly empty. */
  readonly declaration: string;
  readonly isQuoted: boolean;
}

/** The most characters of a row: beyond it, a quote was not closed. */
const maxRowLength = 2_000_000;

/** Reads the rows, of which the first is the header. Throws a StartError if the file is not CSV, or not in this encoding. */
export async function* readCsv(path: string, encoding: string | undefined): AsyncGenerator<CsvRow> {
  const text = readText(path, encoding);
  const { value: first = '' } = await text.next();
  // Excel reads and writes such a line above the header.
  const [declaration = '', declared] = /^sep=(.)(?:\r\n|\n|\r)/i.exec(first) ?? [];
  const start = first.slice(declaration.length);
  const separator = declared ?? separatorIn(start);
  const form = {
    delimiter: separator,
    relax_column_count: true,
    relax_quotes: true,
    max_record_size: maxRowLength,
    skip_empty_lines: true,
  };
  const parser = parse({ ...form, raw: true });
  const rows: AsyncIterable<{ readonly raw: string; readonly record: readonly string[] }> = parser;
  async function* whole() {
    yield start;
    yield* text;
  }
  // Its error ends the iteration below, too.
  pipeline(Readable.from(whole()), parser).catch(() => {});
  let line = 1 + lineBreaksIn(declaration);
  try {
    for await (const { raw, record } of rows) {
      // To be told which cells are quoted takes ten times as long, so only rows are read again where it matters.
      const cells =
        raw.includes('""') && record.includes('') ? withQuotes(raw, form) : record.map((cell) => cell || null);
      // The text of a row begins with the empty lines that were skipped before it.
      const text = raw.trimStart();
      line += lineBreaksIn(raw.slice(0, raw.length - text.length));
      yield { line, cells, separator, declaration, isQuoted: text.startsWith('"') };
      line += lineBreaksIn(text);
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new StartError(`${basename(path)}, line ${line}: a quoted cell is not closed`);
  }
}

const lineBreaksIn = (text: string): number => text.match(/\r\n|\n|\r/g)?.length ?? 0;

function withQuotes(raw: string, form: Options): readonly (string | null)[] {
  const [cells = []] = parseSync(raw, {
    ...form,
    cast: (value, { quoting }) => (value === '' && !quoting ? null : value),
  });
  return cells;
}

/** Yields the text of a file. The first part begins with a whole line, unless that is longer than 64 KiB. */
export async function* readText(path: string, encoding: string | undefined): AsyncGenerator<string, undefined> {
  let decoder: TextDecoder | undefined;
  let lines = 1;
  const chunks: AsyncIterable<Buffer> = createReadStream(path);
  for await (const chunk of chunks) {
    decoder ??= new TextDecoder(encodingOf(path, chunk) ?? encoding ?? likelyEncoding(chunk), { fatal: true });
    const text = decode(decoder, chunk);
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines += 1;
    yield text;
  }
  if (decoder) yield decode(decoder);

  function decode(reader: TextDecoder, chunk?: Buffer): string {
    try {
      return reader.decode(chunk, { stream: chunk !== undefined });
    } catch {
      throw new StartError(
        `${basename(path)}, after line ${lines}: the text is not ${reader.encoding.toUpperCase()}. Save it as UTF-8, or name its encoding: --encoding windows-1252`,
      );
    }
  }
}

export const workbookError = (name: string): StartError =>
  new StartError(
    `${name} is a workbook, which is not read. In the spreadsheet program, choose File, Save as, and the type CSV UTF-8`,
  );

function encodingOf(path: string, start: Buffer): string | undefined {
  if (start[0] === 0xef && start[1] === 0xbb && start[2] === 0xbf) return 'utf-8';
  if (start[0] === 0xff && start[1] === 0xfe) return 'utf-16le';
  if (start[0] === 0xfe && start[1] === 0xff) return 'utf-16be';
  if (start.subarray(0, 4).equals(Buffer.from('PK\x03\x04'))) throw workbookError(basename(path));
  return undefined;
}

/** Returns UTF-16 without a byte order mark, if every second byte is zero in most of the text, and else UTF-8. */
function likelyEncoding(start: Buffer): string {
  const sample = start.subarray(0, 1_000);
  const zeros = (parity: number) => sample.filter((byte, index) => byte === 0 && index % 2 === parity).length;
  const [most, encoding] = zeros(1) > zeros(0) ? [zeros(1), 'utf-16le'] : [zeros(0), 'utf-16be'];
  return most > sample.length / 4 ? encoding : 'utf-8';
}

export function requireEncoding(encoding: string): void {
  try {
    new TextDecoder(encoding);
  } catch {
    throw new StartError(`--encoding: ${expected('one such as windows-1252 or utf-16le', encoding)}`);
  }
}

function separatorIn(start: string): string {
  const unquoted = start.split('"').filter((_, index) => index % 2 === 0);
  const [header = ''] = unquoted.join('').split(/[\r\n]/, 1);
  const [most = ','] = [',', ';', '\t', '|'].toSorted((a, b) => header.split(b).length - header.split(a).length);
  return most;
}
