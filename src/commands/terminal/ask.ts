/** Asks in the terminal. */
import { createInterface } from 'node:readline/promises';
import { StartError } from '../../errors.ts';

/** Throws a StartError unless the answer is yes: its message ends with `otherwise`, such as `nothing was stored`. */
export async function confirm(question: string, otherwise: string): Promise<void> {
  const entered = await ask(`${question} [y/N] `);
  if (!/^y(es)?$/i.test(entered?.trim() ?? '')) throw new StartError(`not confirmed: ${otherwise}`);
}

/** Returns what is typed; undefined after Ctrl-C and Ctrl-D. Throws a StartError where there is no terminal. */
export async function ask(question: string): Promise<string | undefined> {
  if (!process.stdin.isTTY) throw new StartError('not confirmed: in a script, confirm with --yes');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // Ctrl-C and Ctrl-D close it.
  const closed = new Promise<undefined>((resolve) => terminal.once('close', () => resolve(undefined)));
  const entered = await Promise.race([terminal.question(question), closed]);
  terminal.close();
  return entered;
}
