/** Writes log lines to standard error in pieces. Must never fail, block, or keep the process from ending. */
import { writeSync } from 'node:fs';
import pino from 'pino';

/** A destination of log lines. */
export interface Logs {
  write(line: string): void;
}

/** Characters per write: one write per line would cost a tenth of a small request. */
const pieceLength = 4_096;

/** Milliseconds a line may wait for the next write. */
const flushInterval = 100;

/** Characters of lines kept while they cannot be written; further lines are lost. */
export const maxWaiting = 1_048_576;

/** `write` returns how many bytes it took, and throws if it takes none: the disk is full, or nothing reads the pipe. */
export function createLogs(write: (bytes: Buffer) => number): Logs & { flush(): void } {
  let rest: Buffer = Buffer.alloc(0);
  let waiting = '';
  /** Characters since the last attempt to write. */
  let untried = 0;
  let lost = 0;

  const logs = {
    write(line: string): void {
      // Once a line is lost, all lines are until there is room, so that one line in their place can report it.
      if (lost > 0 || rest.length + waiting.length >= maxWaiting) lost += 1;
      else waiting += line;
      untried += line.length;
      if (untried >= pieceLength) logs.flush();
    },

    /** Tries once; what is not taken waits for the next attempt. */
    flush(): void {
      untried = 0;
      try {
        while (rest.length + waiting.length > 0) {
          if (rest.length === 0) [rest, waiting] = [Buffer.from(waiting), ''];
          rest = rest.subarray(write(rest));
          if (lost > 0 && rest.length + waiting.length <= maxWaiting / 2) reportLost();
        }
      } catch {
        // There is no place to report it: log lines cannot be written.
      }
    },
  };

  /** Writes in the same form as other lines, at every log level. */
  const report = pino({}, logs);

  function reportLost(): void {
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
