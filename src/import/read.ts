/** Reads the rows of a file as they stand in it: of any size, compressed or not, in any encoding. */
import { StartError } from '../errors.ts';
import { expected } from '../model/issues.ts';
import { CsvParser, type Table, type TableOptions } from './csv.ts';
import { type ImportFile, workbookError } from './file.ts';
import { JsonParser } from './json.ts';
import { LineSplitter } from './lines.ts';
import type { SourceRow } from './row.ts';

export interface ReadOptions extends TableOptions {
  readonly encoding?: string | undefined;
}

/**
 * Yields all rows but the empty ones; those that cannot be read have a problem. Throws a StartError if nothing more can be read: a header that
 * is not one, another encoding, a compressed file that is damaged.
 */
export async function* readRows(file: ImportFile, options: ReadOptions): AsyncGenerator<SourceRow> {
  const parser = file.format === 'csv' ? new CsvParser(file.name, options) : new JsonParser(file);
  // Rows pass this one generator, because each takes as long as to split a line.
  for await (const { text, isLast } of readText(file, options.encoding)) {
    for (const row of parser.read(text, isLast)) yield row;
  }
}

/** How the file is written, and the names of its columns, whatever characters follow. */
export async function tableOf(file: ImportFile, options: ReadOptions): Promise<Table> {
  const parser = new CsvParser(file.name, { ...options, warn: () => {} });
  for await (const { text, isLast } of readText(file, options.encoding, false)) {
    parser.read(text, isLast);
    if (parser.table) break;
  }
  return parser.table ?? { separator: ',', declaration: '', names: [] };
}

async function* readText(file: ImportFile, named: string | undefined, fatal = true) {
  // The option is for all files of an import, of which some may be UTF-8.
  const other = named !== undefined && (await isKnownUtf8(file)) ? undefined : named;
  let decoder: TextDecoder | undefined;
  for await (const bytes of file.bytes()) {
    decoder ??= new TextDecoder(encodingOf(file, bytes, other), { fatal });
    yield { text: decoded(decoder, bytes) ?? (await refuseEncoding(file, decoder)), isLast: false };
  }
  yield { text: decoder ? (decoded(decoder) ?? (await refuseEncoding(file, decoder))) : '', isLast: true };
}

/** Returns undefined for bytes that this encoding does not have. */
function decoded(decoder: TextDecoder, bytes?: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes, { stream: bytes !== undefined });
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

async function refuseEncoding(file: ImportFile, { encoding }: TextDecoder): Promise<never> {
  const line = await firstUndecodedLine(file, encoding);
  throw new StartError(
    `${file.name}, line ${line}: the text is not ${encoding.toUpperCase()}. Save it as UTF-8, or name its encoding: --encoding windows-1252, or macintosh`,
  );
}

const utf8Files = new WeakMap<ImportFile, Promise<boolean>>();

/** Found out once for all passes: a file that changes meanwhile ends the import. */
function isKnownUtf8(file: ImportFile): Promise<boolean> {
  const known = utf8Files.get(file) ?? isUtf8(file);
  utf8Files.set(file, known);
  return known;
}

/** True if all of it is, without NUL, which text in UTF-16 has. What was written in an encoding with one byte for each letter never is, but for A to Z. */
async function isUtf8(file: ImportFile): Promise<boolean> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for await (const bytes of file.bytes()) if (decoded(decoder, bytes)?.includes('\0') ?? true) return false;
  return decoded(decoder) !== undefined;
}

/** Reads the file once more, because to look at all lines always would take longer. */
async function firstUndecodedLine(file: ImportFile, encoding: string): Promise<number> {
  const decoder = new TextDecoder(encoding);
  const lines = new LineSplitter(file.name);
  for await (const bytes of file.bytes()) {
    const found = lines
      .split(decoder.decode(bytes, { stream: true }), false)
      .find(({ text }) => text.includes('\uFFFD'));
    if (found) return found.number;
  }
  return lines.number;
}

function encodingOf({ name }: ImportFile, start: Uint8Array, named: string | undefined): string {
  const begins = (...bytes: readonly number[]) => bytes.every((byte, at) => start[at] === byte);
  if (begins(0xef, 0xbb, 0xbf)) return 'utf-8';
  if (begins(0xff, 0xfe)) return 'utf-16le';
  if (begins(0xfe, 0xff)) return 'utf-16be';
  if (begins(0x50, 0x4b, 3, 4) || begins(0xd0, 0xcf, 0x11, 0xe0)) throw workbookError(name);
  const text = new TextDecoder('latin1').decode(start.subarray(0, 100));
  if (/^\s{0,50}<[!?a-z]/i.test(text)) {
    throw new StartError(`${name} is a page of HTML or XML, not CSV or JSON: was it downloaded without signing in?`);
  }
  const found = utf16In(start.subarray(0, 1_000));
  if (found && !named)
    throw new StartError(`${name} is probably UTF-16 without a byte order mark: --encoding ${found}`);
  return named ?? 'utf-8';
}

/** Most letters of UTF-16 are A to Z and the like, which have a NUL behind or before them. */
function utf16In(bytes: Uint8Array): string | undefined {
  const [before = 0, behind = 0] = [0, 1].map(
    (half) => bytes.filter((byte, at) => byte === 0 && at % 2 === half).length,
  );
  if (before + behind <= bytes.length / 4 || Math.min(before, behind) > 0) return undefined;
  return before > 0 ? 'utf-16be' : 'utf-16le';
}

export function requireEncoding(encoding: string): void {
  try {
    new TextDecoder(encoding);
  } catch {
    throw new StartError(`--encoding: ${expected('one such as windows-1252 or utf-16le', encoding)}`);
  }
}
