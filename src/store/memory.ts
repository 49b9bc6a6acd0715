/** What was made from the records of a database, as long as nothing has been stored since. */
import { LRUCache } from 'lru-cache';
import type { Database } from './database.ts';
import type { Run } from './engine.ts';

/** Bytes of all that is remembered of a database. */
const maxSize = 16 * 1_048_576;

/** `size` is in bytes. */
export interface Sized {
  readonly size: number;
}

interface Remembered {
  readonly version: string;
  readonly made: Sized;
}

const memories = new WeakMap<Database, LRUCache<string, Remembered>>();

/** What was made under this name, or what is made now: a name stands for one thing. */
export async function remember<T extends Sized>(
  database: Database,
  run: Run,
  name: string,
  make: () => Promise<T>,
): Promise<T> {
  // Before anything is read: what is stored meanwhile makes it out of date.
  const version = await database.engine.version?.(run);
  if (version === undefined) return make();
  const memory =
    memories.get(database) ??
    new LRUCache<string, Remembered>({ maxSize, sizeCalculation: ({ made }) => Math.max(1, made.size) });
  memories.set(database, memory);
  const known = memory.get(name);
  if (known?.version === version) return known.made as T;
  const made = await make();
  memory.set(name, { version, made });
  return made;
}
