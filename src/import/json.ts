/** Reads records from JSON: an object in each line, or an array of objects. Numbers keep the digits that they are written with. */
import { isLosslessNumber, parse } from 'lossless-json';
import { StartError } from '../errors.ts';
import { expected, formatCount, isObject, quote } from '../model/issues.ts';
import { kindCalled } from './columns.ts';
import { lineBreaks, requireLines } from './csv.ts';
import type { ImportFile } from './file.ts';
import { type Cell, type SourceRow, textOf } from './row.ts';

/** The most characters of an array, because it is read as a whole. */
const maxArrayLength = 64_000_000;

/** The member with the text of a refused line that cannot be read: it is read in place of the object. */
export const lineName = 'refused line';

type Text = readonly [text: string, line: number];

/** Takes text in pieces, and returns the rows that end within it. The first character shows which of the two forms it has. */
export class JsonParser {
  private readonly file: Pick<ImportFile, 'name' | 'kind'>;
  /** What is not returned yet, and the number of its first line. */
  private text = '';
  private firstLine = 1;
  private isArray: boolean | undefined;
  private names: readonly string[] = [];

  constructor(file: Pick<ImportFile, 'name' | 'kind'>) {
    this.file = file;
  }

  read(piece: string, isLast: boolean): SourceRow[] {
    this.text += piece;
    // Only white space so far.
    if (this.isArray === undefined && this.text.trim() === '') {
      requireLines(this.text, this.firstLine, this.file.name);
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
    requireLines(this.text, this.firstLine, this.file.name);
    return lines.map((line, index) => [line, firstLine + index]);
  }

  private elements(isLast: boolean): Text[] {
    const { name } = this.file;
    if (this.text.length > maxArrayLength) {
      const most = `it is an array of more than ${formatCount(maxArrayLength)} characters`;
      const help = `make a line of each element, such as by jq -c '.[]' ${name} > all.ndjson`;
      throw new StartError(`${name}: ${most}: ${help}`);
    }
    return isLast ? elementsOf(this.text, this.firstLine, name) : [];
  }

  private rowOf(text: string, line: number): SourceRow {
    const { name: file } = this.file;
    if (text.trim() === '{') {
      const help = `make a line of each, such as by jq -c . ${file} > all.ndjson`;
      throw new StartError(`${file}: line ${line}: an object goes on in the next lines: ${help}`);
    }
    const refused = (problem: string) => ({ line, names: [], cells: [], text, problem });
    const values = readObject(text);
    if (typeof values === 'string') return refused(values);
    const within = values[lineName];
    if (typeof within === 'string') return this.rowOf(within, line);
    const { kind: said, ...others } = values;
    const kind = typeof said === 'string' ? kindCalled(said) : undefined;
    if (kind === undefined && (said !== undefined || !this.file.kind)) {
      return refused(`kind: ${expected('one such as "ASSET"', textOf(said) ?? said)}`);
    }
    const names = Object.keys(others);
    const isAlike = names.length === this.names.length && names.every((name, index) => name === this.names[index]);
    if (!isAlike) this.names = names;
    return { line, kind, names: this.names, cells: Object.values(others), text };
  }
}

/** Splits an array by its commas and brackets alone, so that most of what is wrong within an element refuses only this one. */
function elementsOf(array: string, firstLine: number, fileName: string): Text[] {
  const elements: Text[] = [];
  let start = array.indexOf('[') + 1;
  let line = firstLine + lineBreaks(array.slice(0, start));
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
      line += lineBreaks(text);
      start = index + 1;
    }
    if (isEnd && array.slice(start).trim() === '') return elements;
    if (depth === 0) break;
  }
  const problem =
    'the array does not end properly after this: is the file whole, and are its brackets and quotes closed?';
  throw new StartError(`${fileName}: line ${line + breaksAbove(array.slice(start))}: ${problem}`);
}

const breaksAbove = (text: string): number => lineBreaks(text) - lineBreaks(text.trimStart());

/** Returns the members of the object, or why there are none. */
export function readObject(text: string): Record<string, Cell> | string {
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
