/** Runs commands in the process of the tests, which takes a tenth of the time of a process of their own. */
import { format } from 'node:util';
import { vi } from 'vitest';
import { runCommand as runInProcess } from '../../src/command-line.ts';

// Each has listeners to the end of the process: of more than ten, Node would warn in what a command prints.
for (const emitter of [process, process.stdout, process.stderr]) emitter.setMaxListeners(0);

/** Runs a command with these settings and no others, one at a time. Returns what it has printed, and its exit code. */
export async function runCommand(settings: Record<string, string>, ...command: string[]) {
  const said = { out: '', err: '' };
  const collect = (stream: 'out' | 'err') => (text: unknown, callback?: unknown) => {
    said[stream] += text;
    if (typeof callback === 'function') callback();
    return true;
  };
  const collectLine =
    (stream: 'out' | 'err') =>
    (...parts: unknown[]) => {
      said[stream] += `${format(...parts)}\n`;
    };
  const spies = [
    vi.spyOn(process.stdout, 'write').mockImplementation(collect('out')),
    vi.spyOn(process.stderr, 'write').mockImplementation(collect('err')),
    vi.spyOn(console, 'log').mockImplementation(collectLine('out')),
    vi.spyOn(console, 'error').mockImplementation(collectLine('err')),
  ];
  try {
    const code = await runInProcess(command, settings);
    return { code, out: said.out.trimEnd(), err: said.err.trimEnd() };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}
