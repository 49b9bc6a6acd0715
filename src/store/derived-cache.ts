/** Values derived from a workspace's records, cached until the next write to the database; recomputed where it reports no version. */
import { LRUCache } from 'lru-cache';
import type { Driver, Run } from './driver.ts';

/** Bytes of all values of a database. */
const maxSize = 16 * 1_048_576;

/** A derived value takes `length` bytes of memory; one that is not in memory is never cached. */
export interface Sized {
  readonly length: number;
  readonly isInMemory: boolean;
}

interface Cached {
  readonly version: string;
  readonly value: Sized;
}

export interface DerivedCache {
  /**
   * The value of a name, as of a state of the database that is no older than the call. A name always has the same `make`.
   * Calls that arrive while a value is made share the next one, so that a name never takes more than one connection.
   */
  derive<T extends Sized>(run: Run, name: string, make: () => Promise<T>): Promise<T>;
}

/** A value that is being made, and the one after it. */
interface Turns {
  running?: Promise<Sized> | undefined;
  next?: Promise<Sized> | undefined;
}

export function createDerivedCache({ readVersion }: Pick<Driver, 'readVersion'>): DerivedCache {
  const cache = new LRUCache<string, Cached>({ maxSize, sizeCalculation: ({ value }) => Math.max(1, value.length) });
  const turnsByName = new Map<string, Turns>();

  async function remake(run: Run, name: string, make: () => Promise<Sized>): Promise<Sized> {
    // Before anything is read, so that a write in the meantime makes the value out of date.
    const current = await readVersion?.(run);
    const cached = cache.get(name);
    if (cached && cached.version === current) return cached.value;
    const value = await make();
    if (current !== undefined && value.isInMemory) cache.set(name, { version: current, value });
    return value;
  }

  function inTurn(name: string, make: () => Promise<Sized>): Promise<Sized> {
    const turns = turnsByName.get(name) ?? {};
    turnsByName.set(name, turns);
    if (turns.next) return turns.next;
    const begin = async () => {
      turns.next = undefined;
      turns.running = make();
      const { running } = turns;
      try {
        return await running;
      } finally {
        turns.running = undefined;
        if (!turns.next) turnsByName.delete(name);
      }
    };
    if (!turns.running) return begin();
    turns.next = turns.running.then(begin, begin);
    return turns.next;
  }

  return {
    async derive<T extends Sized>(run: Run, name: string, make: () => Promise<T>) {
      const cached = cache.get(name);
      // Sound because a name always has the same `make`.
      if (cached && cached.version === (await readVersion?.(run))) return cached.value as T;
      return (await inTurn(name, () => remake(run, name, make))) as T;
    },
  };
}
