/** Values derived from a workspace's records, cached until the next write to the database. Without a version nothing is cached. */
import { LRUCache } from 'lru-cache';
import type { Driver, Run } from './driver.ts';

/** Bytes of all values of a cache together. */
const maxSize = 16 * 1_048_576;

/** A derived value. It takes `length` bytes, and is cached only if it is in memory. */
export interface Sized {
  readonly length: number;
  readonly isInMemory: boolean;
}

interface Cached {
  readonly version: string;
  readonly value: Sized;
}

interface DerivedCache {
  /**
   * Returns the value with this name, which includes every write committed before the call. All calls with the same name must
   * pass an equivalent `make`. Calls that arrive while the value is being made share the next one, so that a name never takes
   * more than one connection.
   */
  derive<T extends Sized>(run: Run, name: string, make: () => Promise<T>): Promise<T>;
}

/** The value that is being made or read, and the next one, which is begun after it. */
interface Turns {
  running?: Promise<unknown> | undefined;
  next?: Promise<unknown> | undefined;
}

/** No value has this name: those of values begin with a workspace. */
const versionName = '';

export function createDerivedCache({ readVersion }: Pick<Driver, 'readVersion'>): DerivedCache {
  const cache = new LRUCache<string, Cached>({ maxSize, sizeCalculation: ({ value }) => Math.max(1, value.length) });
  const turnsByName = new Map<string, Turns>();
  /** Where the database reports no version once, it never does. */
  let hasVersion = true;

  async function remake(run: Run, name: string, make: () => Promise<Sized>): Promise<Sized> {
    // Read before the records, so that a write in the meantime makes the value out of date.
    const version = await currentVersion(run);
    const cached = cache.get(name);
    if (cached && cached.version === version) return cached.value;
    const value = await make();
    if (version !== undefined && value.isInMemory) cache.set(name, { version, value });
    return value;
  }

  /** Shared by the requests that arrive while it is read: each gets one whose reading began after the request. */
  async function currentVersion(run: Run): Promise<string | undefined> {
    if (!hasVersion) return undefined;
    const version = await inTurn(versionName, () => readVersion(run));
    hasVersion = version !== undefined;
    return version;
  }

  /**
   * Runs one at a time per name; callers that arrive meanwhile share the next run. The cast is safe: all calls with the same name
   * pass an equivalent `make`.
   */
  function inTurn<T>(name: string, make: () => Promise<T>): Promise<T> {
    const turns = turnsByName.get(name) ?? {};
    turnsByName.set(name, turns);
    if (turns.next) return turns.next as Promise<T>;
    const begin = async () => {
      turns.next = undefined;
      const running = make();
      turns.running = running;
      try {
        return await running;
      } finally {
        turns.running = undefined;
        if (!turns.next) turnsByName.delete(name);
      }
    };
    if (!turns.running) return begin();
    const next = turns.running.then(begin, begin);
    turns.next = next;
    return next;
  }

  return {
    async derive<T extends Sized>(run: Run, name: string, make: () => Promise<T>) {
      const cached = cache.get(name);
      // The cast is safe: all calls with the same name pass an equivalent `make`.
      if (cached && cached.version === (await currentVersion(run))) return cached.value as T;
      return (await inTurn(name, () => remake(run, name, make))) as T;
    },
  };
}

/** The names that are known to have been requested. */
const maxNames = 10_000;

/** Texts like derived values, in a cache of their own: however many texts there are, they leave other values alone. */
export function createTextCache(driver: Pick<Driver, 'readVersion'>) {
  const cache = createDerivedCache(driver);
  const names = new LRUCache<string, true>({ max: maxNames });

  return {
    /** A text that was not requested before is written at once: to look for a cached one takes a statement. */
    async derive(run: Run, name: string, write: () => Promise<string>): Promise<string> {
      if (!names.has(name)) {
        names.set(name, true);
        return write();
      }
      const { text } = await cache.derive(run, name, async () => sizedText(await write()));
      return text;
    },
  };
}

/** Each character of a text takes two bytes if one of them is beyond Latin-1. */
const sizedText = (text: string) => ({ text, length: 2 * text.length, isInMemory: true });
