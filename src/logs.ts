/** Logging must never fail, block, or keep the process from ending. */
import { writeSync } from 'node:fs';
import pino from 'pino';

export interface Logs {
  write(line: string): void;
}

/** Characters per write: a write for each line would cost a tenth of a small request. */
const chunkLength = 4_096;

const flushIntervalMs = 100;

/** Characters buffered while standard error cannot be written; further lines are lost. */
const maxBuffered = 1_048_576;

export const openLogs = async (): Promise<Logs> =>
  standardError(process.stderr.isTTY ? await createPrettyFormat() : undefined);

/** Prints at any log level, on a terminal the text: the system may have chosen the port. */
export function announce(level: 'info' | 'warn', message: string, fields: object, text: string): void {
  if (process.stdout.isTTY) console.log(text);
  else pino({}, { write: (line) => console.log(line.trimEnd()) })[level](fields, message);
}

/** Tries once at the end of the process, where Pino's destination would wait for its reader. */
export function standardError(format = (line: string): string => line): Logs {
  // Opening the stream makes a pipe or socket non-blocking: without a reader, a write fails at once.
  const stderr: typeof process.stderr & { readonly _handle?: { setBlocking?(isBlocking: boolean): void } } =
    process.stderr;
  // Node makes terminals blocking: Ctrl-S would stop the service.
  if (stderr.isTTY) stderr._handle?.setBlocking?.(false);

  let rest: Buffer = Buffer.alloc(0);
  let waiting = '';
  let untried = 0;
  let lost = 0;

  const logs = {
    write(line: string): void {
      // Once a line is lost, so are all further lines until there is room: one line then reports their number.
      if (lost > 0 || rest.length + waiting.length >= maxBuffered) lost += 1;
      else waiting += format(line);
      untried += line.length;
      if (untried >= chunkLength) flush();
    },
  };
  const report = pino({}, logs);

  function flush(): void {
    untried = 0;
    try {
      while (rest.length + waiting.length > 0) {
        if (rest.length === 0) {
          rest = Buffer.from(waiting);
          waiting = '';
        }
        rest = rest.subarray(writeSync(stderr.fd, rest));
        if (lost > 0 && rest.length + waiting.length <= maxBuffered / 2) {
          const lines = lost;
          lost = 0;
          report.warn({ lines }, 'log lines were lost');
        }
      }
    } catch {
      // The disk is full, or nothing reads the pipe: the next flush tries again.
    }
  }

  setInterval(flush, flushIntervalMs).unref();
  process.once('exit', flush);
  return logs;
}

/** Converts a line of JSON to `07:30:12 INFO: POST /assets 201, 3 ms {…}`, in colour unless NO_COLOR is set. */
async function createPrettyFormat(): Promise<(line: string) => string> {
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
