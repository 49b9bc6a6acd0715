/** Starts the compiled service in its own process, and measures its peak memory. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** Milliseconds in which the service must listen. */
const maxStart = 15_000;

const cli = fileURLToPath(new URL('../../dist/src/cli.js', import.meta.url));

/** Resolves when the service listens. `openLog` opens the destination of its log, and returns the file descriptor. */
export async function startService(databaseUrl, { settings, log }, openLog) {
  const stderr = openLog(log);
  const child = spawn(process.execPath, [cli, 'serve'], {
    env: { PATH: process.env.PATH, PORT: '0', LOG_LEVEL: 'error', DATABASE_URL: databaseUrl, ...settings },
    stdio: ['ignore', 'pipe', stderr],
  });
  let end;
  const ended = once(child, 'exit').then(([code, signal]) => {
    closeSync(stderr);
    end = signal ?? `code ${code}`;
    return end;
  });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  ended.then(() => process.off('exit', kill));
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    printed += text;
  });
  const portOf = () => /"address":"http:\/\/127\.0\.0\.1:(\d+)"/.exec(printed)?.[1];
  const deadline = performance.now() + maxStart;
  while (!portOf()) {
    if (end) throw new Error(`the service ended with ${end} before it listened`);
    if (performance.now() > deadline) {
      child.kill('SIGKILL');
      throw new Error(`the service did not listen within ${maxStart} ms`);
    }
    await setTimeout(20);
  }

  // Read repeatedly, because the figure is gone when the process has ended.
  let peak;
  const readPeak = () => {
    peak = peakMegabytes(child.pid) ?? peak;
    return peak;
  };
  const timer = setInterval(readPeak, 200);
  ended.then(() => clearInterval(timer));

  return {
    port: Number(portOf()),
    peakMegabytes: readPeak,
    /** The signal or exit code that ended the process; undefined while it runs. */
    end: () => end,
    ended,
    kill: (signal) => child.kill(signal),
  };
}

/** Undefined on systems other than Linux, and for a process that has ended. */
function peakMegabytes(pid) {
  try {
    const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kilobytes && Number(kilobytes) / 1024;
  } catch {
    return undefined;
  }
}
