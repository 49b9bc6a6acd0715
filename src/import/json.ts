/** Numbers keep their digits. */
import { isLosslessNumber, parse } from 'lossless-json';
import { StartError } from '../errors.ts';
import { expected, formatCount, isObject, quote } from '../model/issues.ts';
import { parseKindName } from './columns.ts';
import { lineBreaksIn, requireLineEnds } from './csv.ts';
import type { ImportFile } from './file.ts';
import { type Cell, cellText, type SourceRow } from './row.ts';

/** The most characters of an array, which is held in memory. */
const maxArrayLength = 64_000_000;

/** The member for an unreadable line in a file of refused rows. An import reads the line instead of the object. */
export const lineName = 'refused line';

type Text = readonly [text: string, line: number];

/** Takes text in pieces. The first character tells an array from lines. */
export class JsonParser {
  private readonly file: Pick<ImportFile, 'name' | 'kind'>;
  private text = '';
  private firstLine = 1;
  private isArray: boolean | undefined;
  private names: readonly string[] = [];

  constructor(file: Pick<ImportFile, 'name' | 'kind'>) {
    this.file = file;
  }

  read(piece: string, isLast: boolean): SourceRow[] {
    this.text += piece;
    if (this.isArray === undefined && this.text.trim() === '') {
      requireLineEnds(this.text, this.firstLine, this.file.name);
      return [];
    }
    this.isArray ??= this.text.trimStart().startsWith('[');
    const texts = this.isArray ? this.elements(isLast) : this.lines(isLast);
    return texts.flatMap(([text, line]) => (text.trim() === '' ? [] : this.rowOf(text, line)));
  }

  private lines(isLast: boolean): Text[] {
    const { firstLine } = this;
    const lines = this.text.split('\n');
    this.text = isLast ? '' : (lines.pop() ?? '');
    this.firstLine += lines.length;
    requireLineEnds(this.text, this.firstLine, this.file.name);
    return lines.map((line, index) => [line, firstLine + index]);
  }

  private elements(isLast: boolean): Text[] {
    const { name } = this.file;
    if (this.text.length > maxArrayLength) {
      const most = `it is an array of more than ${formatCount(maxArrayLength)} characters`;
      const help = `make a line of each element, such as by jq -c '.[]' ${name} > all.ndjson`;
      throw new StartError(`${name}: ${most}: ${help}`);
    }
    return isLast ? splitArray(this.text, this.firstLine, name) : [];
  }

  private rowOf(text: string, line: number): SourceRow {
    const { name: file } = this.file;
    if (text.trim() === '{') {
      const help = `make a line of each, such as by jq -c . ${file} > all.ndjson`;
      throw new StartError(`${file}: line ${line}: an object goes on in the next lines: ${help}`);
    }
    const refused = (problem: string) => ({ line, names: [], cells: [], text, problem });
    const values = parseObject(text);
    if (typeof values === 'string') return refused(values);
    const refusedLine = values[lineName];
    if (typeof refusedLine === 'string') return this.rowOf(refusedLine, line);
    const { kind: kindName, ...cells } = values;
    const kind = typeof kindName === 'string' ? parseKindName(kindName) : undefined;
    if (kind === undefined && (kindName !== undefined || !this.file.kind)) {
      return refused(`kind: ${expected('one such as "ASSET"', cellText(kindName) ?? kindName)}`);
    }
    const names = Object.keys(cells);
    const isAlike = names.length === this.names.length && names.every((name, index) => name === this.names[index]);
    if (!isAlike) this.names = names;
    return { line, kind, names: this.names, cells: Object.values(cells), text };
  }
}

/** By commas and brackets alone: an invalid element is refused alone. */
function splitArray(array: string, firstLine: number, fileName: string): Text[] {
  const elements: Text[] = [];
  let start = array.indexOf('[') + 1;
  let line = firstLine + lineBreaksIn(array.slice(0, start));
  let depth = 0;
  let isString = false;
  for (const { 0: token, index } of array.matchAll(/\\.|["[\]{},]/g)) {
    if (token === '"') isString = !isString;
    else if (isString) continue;
    else if (token === '[' || token === '{') depth += 1;
    else if (token === ']' || token === '}') depth -= 1;
    const isEnd = depth === 0 && token === ']';
    if (isEnd || (depth === 1 && token === ',')) {
      const text = array.slice(start, index);
      elements.push([text.trim(), line + breaksAbove(text)]);
      line += lineBreaksIn(text);
      start = index + 1;
    }
    if (isEnd && array.slice(start).trim() === '') return elements;
    if (depth === 0) break;
  }
  const problem =
    'the array does not end properly after this: is the file whole, and are its brackets and quotes closed?';
  throw new StartError(`${fileName}: line ${line + breaksAbove(array.slice(start))}: ${problem}`);
}

const breaksAbove = (text: string): number => lineBreaksIn(text) - lineBreaksIn(text.trimStart());

export function parseObject(text: string): Record<string, Cell> | string {
  let twice: string | undefined;
  try {
    const value = parse(text, null, {
      onDuplicateKey: ({ key }) => {
        twice ??= key;
      },
    });
    if (twice !== undefined) return `it has the name ${quote(twice)} twice`;
    if (isObject(value) && !isLosslessNumber(value)) return value as Record<string, Cell>;
    return `expected a JSON object, received ${quote(text.slice(0, 30))}`;
  } catch (error) {
    if (error instanceof RangeError) return 'it is nested too deep';
    if (error instanceof SyntaxError) return `it is not JSON: ${quote(error.message)}`;
    throw error;
  }
}
