/** Writes log lines to standard error in pieces. Must never fail, block, or keep the process from ending. */
import { writeSync } from 'node:fs';
import pino from 'pino';

export interface Logs {
  write(line: string): void;
}

/** Characters per write: one write per line would cost a tenth of a small request. */
const pieceLength = 4_096;

/** Milliseconds a line may wait for the next write. */
const flushInterval = 100;

/** Characters of lines kept while they cannot be written; further lines are lost. */
const maxWaiting = 1_048_576;

export const openLogs = async (): Promise<Logs> =>
  standardError(process.stderr.isTTY ? await readableForm() : undefined);

/**
 * Prints to standard output: on a terminal the text, elsewhere one line of JSON in the form of the log. Both at any log level, because
 * without them nobody would know the address of a port that the system has chosen.
 */
export function announce(level: 'info' | 'warn', message: string, fields: object, text: string): void {
  if (process.stdout.isTTY) console.log(text);
  else pino({}, { write: (line) => console.log(line.trimEnd()) })[level](fields, message);
}

/**
 * Pino's own destination would not do: at the end of the process it waits for as long as its lines cannot be written. Here they are tried
 * once. `format` gives a line the form in which it is written.
 */
export function standardError(format = (line: string): string => line): Logs {
  // Opening its stream makes a pipe or socket non-blocking: without a reader, a write fails instead of waiting for one.
  const stderr: typeof process.stderr & { readonly _handle?: { setBlocking?(isBlocking: boolean): void } } =
    process.stderr;
  // Node makes terminals blocking: one stopped with Ctrl-S would stop the service.
  if (stderr.isTTY) stderr._handle?.setBlocking?.(false);

  let rest: Buffer = Buffer.alloc(0);
  let waiting = '';
  /** Characters since the last attempt to write. */
  let untried = 0;
  let lost = 0;

  const logs = {
    write(line: string): void {
      // Once a line is lost, all lines are until there is room, so that one line in their place can report it.
      if (lost > 0 || rest.length + waiting.length >= maxWaiting) lost += 1;
      else waiting += format(line);
      untried += line.length;
      if (untried >= pieceLength) flush();
    },
  };
  /** Writes in the same form as other lines, at every log level. */
  const report = pino({}, logs);

  /** Tries once; what is not taken waits for the next attempt. */
  function flush(): void {
    untried = 0;
    try {
      while (rest.length + waiting.length > 0) {
        if (rest.length === 0) [rest, waiting] = [Buffer.from(waiting), ''];
        rest = rest.subarray(writeSync(stderr.fd, rest));
        if (lost > 0 && rest.length + waiting.length <= maxWaiting / 2) {
          const lines = lost;
          lost = 0;
          report.warn({ lines }, 'log lines were lost');
        }
      }
    } catch {
      // The disk is full, or nothing reads the pipe. There is no place to report it: log lines cannot be written.
    }
  }

  setInterval(flush, flushInterval).unref();
  process.once('exit', flush);
  return logs;
}

/** Converts a line of JSON to `07:30:12 INFO: POST /assets 201, 3 ms {…}`, with colours unless NO_COLOR is set. */
async function readableForm(): Promise<(line: string) => string> {
  const { prettyFactory } = await import('pino-pretty');
  return prettyFactory({
    colorize: process.stderr.hasColors(),
    singleLine: true,
    translateTime: 'SYS:HH:MM:ss',
    ignore: 'pid,hostname,method,route,status,milliseconds',
    messageFormat: ({ method, route = '-', status, milliseconds = 0, msg }) => {
      if (method === undefined) return status === undefined ? String(msg) : `${msg}, ${status}`;
      return `${method} ${route} ${status ?? msg}, ${milliseconds} ms`;
    },
  });
}
