/** Where log lines go: to standard error, in pieces. Must never fail, block or keep the process from ending. */
import { writeSync } from 'node:fs';
import pino from 'pino';

/** Where log lines go. */
export interface Logs {
  write(line: string): void;
}

/** Written at this many characters: a write for each line would take a tenth of what a small request takes. */
const pieceLength = 4_096;

/** Milliseconds that a line is late at most. */
const flushInterval = 100;

/** Characters of lines that wait while they cannot be written; more are lost. */
export const maxWaiting = 1_048_576;

/** `write` returns how many of the bytes it took, and throws where it takes none: no space, or nobody reads. */
export function createLogs(write: (bytes: Buffer) => number): Logs & { flush(): void } {
  let rest: Buffer = Buffer.alloc(0);
  let waiting = '';
  /** Characters since the last attempt to write. */
  let untried = 0;
  let lost = 0;

  const logs = {
    write(line: string): void {
      // Once lines are lost, all are until there is room, so that it can be said where they would be.
      if (lost > 0 || rest.length + waiting.length >= maxWaiting) lost += 1;
      else waiting += line;
      untried += line.length;
      if (untried >= pieceLength) logs.flush();
    },

    /** One attempt; what is not taken waits for the next. */
    flush(): void {
      untried = 0;
      try {
        while (rest.length + waiting.length > 0) {
          if (rest.length === 0) [rest, waiting] = [Buffer.from(waiting), ''];
          rest = rest.subarray(write(rest));
          if (lost > 0 && rest.length + waiting.length <= maxWaiting / 2) sayLost();
        }
      } catch {
        // The reason cannot be told where lines cannot be written.
      }
    },
  };

  /** In the form of all lines, at every log level. */
  const report = pino({}, logs);

  function sayLost(): void {
    const lines = lost;
    lost = 0;
    report.warn({ lines }, 'log lines were lost');
  }

  return logs;
}

/** Lines to standard error. */
export function standardError(): Logs {
  // Opening its stream makes a pipe or socket non-blocking: without a reader, a write fails instead of waiting for one.
  const { fd } = process.stderr;
  const logs = createLogs((bytes) => writeSync(fd, bytes));
  setInterval(logs.flush, flushInterval).unref();
  process.once('exit', logs.flush);
  return logs;
}
