/** Splits text that arrives in pieces into lines, with any mixture of line ends: the same in whatever pieces. */
import { StartError } from '../errors.ts';
import { count } from '../model/issues.ts';

/** The most characters of a line, and of a quoted cell. */
export const maxRowLength = 2_000_000;

export interface Line {
  /** From 1. */
  readonly number: number;
  readonly text: string;
  /** The line end; empty at the end of the file. */
  readonly end: string;
}

export const lineBreaks = (text: string): number => text.match(/\r\n|\n|\r/g)?.length ?? 0;

export class LineSplitter {
  /** The number of the next line, and what was read of it. */
  number = 1;
  rest = '';
  private readonly fileName: string;

  constructor(fileName: string) {
    this.fileName = fileName;
  }

  split(text: string, isLast: boolean): Line[] {
    // A carriage return at the end of a piece may be the first half of a line end.
    const parts = (this.rest + text).split(isLast ? /(\r\n|\n|\r)/ : /(\r\n|\n|\r(?!$))/);
    const lines: Line[] = [];
    for (let at = 0; at < parts.length; at += 2) {
      const line = { number: this.number, text: parts[at] ?? '', end: parts[at + 1] ?? '' };
      if (line.text.length > maxRowLength + 1) {
        const most = count(maxRowLength);
        throw new StartError(`${this.fileName}: line ${line.number} is longer than ${most} characters: is it a table?`);
      }
      lines.push(line);
      this.number += 1;
    }
    if (isLast) return lines;
    this.rest = lines.pop()?.text ?? '';
    this.number -= 1;
    return lines;
  }
}
