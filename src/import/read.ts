import { StartError } from '../errors.ts';
import { expected } from '../model/issues.ts';
import { CsvParser, type CsvTable, type TableOptions } from './csv.ts';
import { type ImportFile, requireText, webPageError, workbookError } from './file.ts';
import { JsonParser } from './json.ts';
import type { SourceRow } from './row.ts';

export interface ReadOptions extends TableOptions {
  readonly encoding?: string | undefined;
}

/**
 * Skips empty rows. An unreadable row has a `problem`. Throws a StartError at an invalid header, another encoding or a
 * damaged archive.
 */
export async function* readRows(file: ImportFile, options: ReadOptions): AsyncGenerator<SourceRow> {
  const parser = file.format === 'csv' ? new CsvParser(file.name, options) : new JsonParser(file);
  // A generator costs a row as much as splitting a line: this is the only one.
  for await (const rows of readPieces(file, parser, options)) for (const row of rows) yield row;
}

export async function readTable(file: ImportFile, options: ReadOptions): Promise<CsvTable> {
  const parser = new CsvParser(file.name, { ...options, warn: () => {} });
  for await (const _ of readPieces(file, parser, options)) if (parser.table) break;
  return parser.table ?? { separator: ',', names: [] };
}

async function* readPieces(file: ImportFile, parser: CsvParser | JsonParser, { encoding = 'utf-8' }: ReadOptions) {
  let decoder: TextDecoder | undefined;
  let line = 1;
  let hasText = false;
  const decode = (bytes?: Uint8Array): string => {
    try {
      const text = decoder?.decode(bytes, { stream: bytes !== undefined }) ?? '';
      if (!hasText && /^\s*<(?:!doctype html|html)\b/i.test(text.slice(0, 1_000))) throw webPageError(file.name);
      hasText ||= text.trim() !== '';
      line += countLineBreaks(text);
      return text;
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      const { encoding: tried = encoding } = decoder ?? {};
      const [decoded = ''] = new TextDecoder(tried).decode(bytes).split('\uFFFD', 1);
      const where = `${file.name}, line ${line + countLineBreaks(decoded)}: the text is not ${tried.toUpperCase()}`;
      throw new StartError(`${where}. Save it as UTF-8, or name its encoding: --encoding windows-1252`);
    }
  };
  for await (const bytes of file.bytes()) {
    if (!decoder) {
      decoder = new TextDecoder(detectEncoding(file, bytes) ?? encoding, { fatal: true });
      if (!decoder.encoding.startsWith('utf-16')) requireText(file.name, bytes);
    }
    yield parser.read(decode(bytes), false);
  }
  yield parser.read(decode(), true);
}

/** Counts the line breaks of a piece. A carriage return at its end may be the first half of one. */
const countLineBreaks = (piece: string): number => piece.match(/\n|\r(?!\n|$)/g)?.length ?? 0;

function detectEncoding({ name }: ImportFile, start: Uint8Array): string | undefined {
  const begins = (...bytes: readonly number[]) => bytes.every((byte, at) => start[at] === byte);
  if (begins(0xef, 0xbb, 0xbf)) return 'utf-8';
  if (begins(0xff, 0xfe)) return 'utf-16le';
  if (begins(0xfe, 0xff)) return 'utf-16be';
  if (begins(0x50, 0x4b, 3, 4) || begins(0xd0, 0xcf, 0x11, 0xe0)) throw workbookError(name);
  return undefined;
}

export function requireEncoding(encoding: string): void {
  try {
    new TextDecoder(encoding);
  } catch {
    throw new StartError(`--encoding: ${expected('one such as windows-1252 or utf-16le', encoding)}`);
  }
}
