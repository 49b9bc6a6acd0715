/** Runs the bare loops: the floors of creates on SQLite. Both write with one connection, and sync each commit to disk. */
import { copyFileSync } from 'node:fs';
import { runModule } from '../processes.mjs';

const run = async (module, ...args) => Number(await runModule(`bare-loop/${module}`, args));

/** Copies the file of a database before a service writes to it; `thisLayout` needs both. */
export function copyOf({ url }) {
  const file = url.replace('sqlite:', '');
  const copy = `${file}.copy`;
  copyFileSync(file, copy);
  return { file, copy };
}

/** Records per second in a table with one index, which has at least `existing` records before. */
export const oneIndex = (file, { size, seconds, existing = 0 }) => run('one-index.mjs', file, size, seconds, existing);

/** Records per second of the same assets in the same tables, indexes and triggers as the service has. */
export const thisLayout = ({ file, copy }, { size, seconds }) => run('this-layout.mjs', copy, size, seconds, file);
