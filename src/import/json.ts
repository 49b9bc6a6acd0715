/** Reads records from JSON: an object in each line, or an array of objects. Numbers keep the digits that they are written with. */
import { expected, quote } from '../model/issues.ts';
import { maxRowLength, tooLongProblem } from './csv.ts';
import { kindCalled } from './find.ts';
import { type Cell, JsonNumber, type SourceRow } from './row.ts';

const maxDepth = 50;

/** Takes text in pieces, and returns the rows that end within it. The first character shows which of the two forms it has. */
export class JsonParser {
  private readonly hasKind: boolean;
  private splitter: Lines | Elements = new Lines();
  private hasBegun = false;
  private names: readonly string[] = [];

  /** If the file has a kind, rows may leave out theirs. */
  constructor(hasKind: boolean) {
    this.hasKind = hasKind;
  }

  read(text: string, isLast: boolean): SourceRow[] {
    if (!this.hasBegun && text.trim() !== '') {
      this.hasBegun = true;
      if (text.trim().startsWith('[')) this.splitter = new Elements(this.splitter.line);
    }
    return this.splitter.split(text, isLast).flatMap((part) => this.rowOf(part));
  }

  private rowOf({ line, text, problem }: Part): SourceRow[] {
    if (problem === undefined && text.trim() === '') return [];
    const refused = (reason: string) => [{ line, names: [], cells: [], text, problem: reason }];
    if (problem !== undefined) return refused(problem);
    let values: Map<string, Cell>;
    try {
      values = readObject(text);
    } catch (error) {
      if (!(error instanceof NotJson)) throw error;
      return refused(error.message);
    }
    const said = values.get('kind');
    const kind = typeof said === 'string' ? kindCalled(said)?.name : undefined;
    if (kind === undefined && (values.has('kind') || !this.hasKind)) {
      return refused(`kind: ${expected('one such as "ASSET"', said instanceof JsonNumber ? said.text : said)}`);
    }
    values.delete('kind');
    const names = [...values.keys()];
    if (names.length !== this.names.length || names.some((name, index) => name !== this.names[index]))
      this.names = names;
    return [{ line, kind, names: this.names, cells: [...values.values()], text }];
  }
}

interface Part {
  readonly line: number;
  readonly text: string;
  readonly problem?: string;
}

class Lines {
  line = 1;
  private rest = '';
  private tooLong: string | undefined;

  split(text: string, isLast: boolean): Part[] {
    const whole = this.rest + text;
    // It may be the first half of a line end.
    const end = !isLast && whole.endsWith('\r') ? whole.length - 1 : whole.length;
    const lines = whole.slice(0, end).split(/\r\n|\n|\r/);
    this.rest = isLast ? '' : `${lines.pop()}${whole.slice(end)}`;
    const parts = lines.map((content) => this.partOf(content));
    if (this.rest.length > maxRowLength) {
      this.tooLong ??= this.rest.slice(0, 1_000);
      this.rest = this.rest.endsWith('\r') ? '\r' : '';
    }
    return parts;
  }

  private partOf(content: string): Part {
    const { line } = this;
    this.line += 1;
    const beginning = this.tooLong ?? (content.length > maxRowLength ? content.slice(0, 1_000) : undefined);
    this.tooLong = undefined;
    return beginning === undefined ? { line, text: content } : { line, text: beginning, problem: tooLongProblem };
  }
}

/** Splits an array into its elements by its brackets, so that what is wrong within one does not end the others. */
class Elements {
  line: number;
  private text = '';
  private at = 0;
  /** Where the present element begins, if it has begun. */
  private start: number | undefined;
  private startLine = 1;
  private tooLong: string | undefined;
  private depth = 0;
  private isString = false;
  private isClosed = false;

  constructor(line: number) {
    this.line = line;
  }

  split(text: string, isLast: boolean): Part[] {
    const parts: Part[] = [];
    this.text += text;
    // What the last character means may depend on the next one.
    const end = !isLast && /[\r\\]$/.test(this.text.slice(-1)) ? this.text.length - 1 : this.text.length;
    for (; this.at < end; this.at += 1) {
      const character = this.text.charAt(this.at);
      if (character === '\n' || character === '\r') this.endLine(character);
      else if (this.isString) this.readString(character);
      else if (this.endsElement(character)) parts.push(...this.take());
      else if (character !== ' ' && character !== '\t') this.readOther(character);
    }
    if (this.start !== undefined && this.at - this.start > maxRowLength) {
      this.tooLong ??= this.text.slice(this.start, this.start + 1_000);
      this.start = this.at;
    }
    const read = Math.min(this.start ?? this.at, this.text.length);
    this.text = this.text.slice(read);
    this.at -= read;
    if (this.start !== undefined) this.start -= read;
    return isLast ? [...parts, ...this.end()] : parts;
  }

  private endLine(character: string): void {
    // A text of JSON has no line end: the next line may be read again.
    this.isString = false;
    if (character === '\n' || this.text[this.at + 1] !== '\n') this.line += 1;
  }

  private readString(character: string): void {
    if (character === '"') this.isString = false;
    else if (character === '\\' && this.text[this.at + 1] !== '\n' && this.text[this.at + 1] !== '\r') this.at += 1;
  }

  private endsElement(character: string): boolean {
    return this.depth === 1 && (character === ',' || character === ']');
  }

  private readOther(character: string): void {
    if (this.depth === 0 && !this.isClosed) {
      this.depth = 1;
      return;
    }
    if (this.start === undefined) [this.start, this.startLine] = [this.at, this.line];
    if (this.isClosed) return;
    if (character === '"') this.isString = true;
    else if (character === '{' || character === '[') this.depth += 1;
    // One that closes nothing does not end the array: only its element is no JSON.
    else if (this.depth > 1 && (character === '}' || character === ']')) this.depth -= 1;
  }

  private take(): Part[] {
    if (this.text[this.at] !== ',') [this.depth, this.isClosed] = [0, true];
    const { start, startLine: line, tooLong } = this;
    [this.start, this.tooLong] = [undefined, undefined];
    if (tooLong !== undefined) return [{ line, text: tooLong, problem: tooLongProblem }];
    return start === undefined ? [] : [{ line, text: this.text.slice(start, this.at).trimEnd() }];
  }

  private end(): Part[] {
    if (this.start === undefined && this.isClosed) return [];
    const line = this.start === undefined ? this.line : this.startLine;
    const problem = this.isClosed
      ? 'it is after the end of the array'
      : 'the array is not closed: is the file whole, and are all brackets of this record closed?';
    return [{ line, text: (this.tooLong ?? this.text).trimEnd(), problem }];
  }
}

class NotJson extends Error {}

/** Returns the members of the object by their names, any names. Throws a NotJson with what was expected where. */
function readObject(text: string): Map<string, Cell> {
  let at = 0;
  let depth = 0;

  const next = (): string => {
    while (' \t\n\r'.includes(text[at] ?? '"')) at += 1;
    return text[at] ?? '';
  };
  const failed = (what: string): NotJson => {
    const received = at < text.length ? quote(text.slice(at, at + 30)) : 'the end';
    return new NotJson(`it is not JSON: expected ${what} at character ${at + 1}, received ${received}`);
  };
  const skip = (character: string): boolean => {
    if (next() !== character) return false;
    at += 1;
    return true;
  };
  const require = (character: string): void => {
    if (!skip(character)) throw failed(character);
  };

  const readString = (): string => {
    if (next() !== '"') throw failed('a text in double quotes');
    let end = text.indexOf('"', at + 1);
    while (end >= 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
    const read = end < 0 ? undefined : parseString(text.slice(at, end + 1));
    if (read === undefined) throw failed('a text that is closed, without line ends and unknown escapes');
    at = end + 1;
    return read;
  };
  const readMembers = (): Map<string, Cell> => {
    const members = new Map<string, Cell>();
    require('{');
    if (skip('}')) return members;
    do {
      const name = readString();
      if (members.has(name)) throw new NotJson(`it has the name ${quote(name)} twice`);
      require(':');
      members.set(name, readValue());
    } while (skip(','));
    require('}');
    return members;
  };
  const readArray = (): Cell[] => {
    const values: Cell[] = [];
    require('[');
    if (skip(']')) return values;
    do values.push(readValue());
    while (skip(','));
    require(']');
    return values;
  };
  const nested = <T>(read: () => T): T => {
    depth += 1;
    if (depth > maxDepth) throw new NotJson(`it is nested more than ${maxDepth} deep`);
    const value = read();
    depth -= 1;
    return value;
  };
  const readValue = (): Cell => {
    const first = next();
    if (first === '"') return readString();
    if (first === '{') return Object.fromEntries(nested(readMembers));
    if (first === '[') return nested(readArray);
    literal.lastIndex = at;
    const [found] = literal.exec(text) ?? [];
    if (found === undefined) throw failed('a value');
    at += found.length;
    return literals.has(found) ? (literals.get(found) ?? null) : new JsonNumber(found);
  };

  if (next() !== '{') throw new NotJson(`expected a JSON object, received ${quote(text.slice(at, at + 30))}`);
  const members = readMembers();
  if (next() !== '') throw failed('the end');
  return members;
}

const literal = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

const literals = new Map<string, boolean | null>([
  ['true', true],
  ['false', false],
  ['null', null],
]);

function isEscaped(text: string, at: number): boolean {
  let start = at;
  while (text[start - 1] === '\\') start -= 1;
  return (at - start) % 2 === 1;
}

function parseString(text: string): string | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
