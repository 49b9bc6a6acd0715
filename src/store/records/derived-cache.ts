/** Values derived from a workspace's records, cached until the next change in the workspace. */

import { LRUCache } from 'lru-cache';
import type { WorkspaceId } from '../query/tables.ts';

/** Bytes of all values of a cache together. */
const maxSize = 16 * 1_048_576;

/** A derived value. It takes `length` bytes, and is cached only if it is in memory. */
export interface Sized {
  readonly length: number;
  readonly isInMemory: boolean;
}

interface Cached {
  /** The number of the workspace's last change when it was made. */
  readonly version: number;
  readonly value: Sized;
}

/** A workspace, and how the number of its last change is read. */
interface Source {
  readonly workspace: WorkspaceId;
  lastChange(): Promise<number>;
}

interface DerivedCache {
  /**
   * Returns the value with this name, which includes every write committed before the call. All calls with the same workspace and name
   * must pass an equivalent `make`. Calls that arrive while the value is being made share the next one, so that a name never takes
   * more than one connection.
   */
  derive<T extends Sized>(source: Source, name: string, make: () => Promise<T>): Promise<T>;
}

/** The value that is being made or read, and the next one, which is begun after it. */
interface Turns {
  running?: Promise<unknown> | undefined;
  next?: Promise<unknown> | undefined;
}

/** Derived values contain the name of the workspace, which may change. Names have no spaces. */
const keyOf = ({ workspace }: Source, name: string): string => `${workspace.number} ${workspace.name} ${name}`;

export function createDerivedCache(): DerivedCache {
  const cache = new LRUCache<string, Cached>({ maxSize, sizeCalculation: ({ value }) => Math.max(1, value.length) });
  const turnsByName = new Map<string, Turns>();

  async function remake(source: Source, key: string, make: () => Promise<Sized>): Promise<Sized> {
    // Read before the records, so that a write in the meantime makes the value out of date.
    const version = await currentVersion(source);
    const cached = cache.get(key);
    if (cached && cached.version === version) return cached.value;
    const value = await make();
    if (value.isInMemory) cache.set(key, { version, value });
    return value;
  }

  /** Shared by the requests that arrive while it is read: each gets one whose reading began after the request. */
  const currentVersion = (source: Source): Promise<number> =>
    inTurn(String(source.workspace.number), () => source.lastChange());

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
    async derive<T extends Sized>(source: Source, name: string, make: () => Promise<T>) {
      const key = keyOf(source, name);
      const cached = cache.get(key);
      // The cast is safe: all calls with the same name pass an equivalent `make`.
      if (cached && cached.version === (await currentVersion(source))) return cached.value as T;
      return (await inTurn(key, () => remake(source, key, make))) as T;
    },
  };
}

/** The names that are known to have been requested. */
const maxNames = 10_000;

/** Texts like derived values, in a cache of their own: however many texts there are, they leave other values alone. */
export function createTextCache() {
  const cache = createDerivedCache();
  const names = new LRUCache<string, true>({ max: maxNames });

  return {
    /** A text that was not requested before is written at once: to look for a cached one takes a statement. */
    async derive(source: Source, name: string, write: () => Promise<string>): Promise<string> {
      const key = keyOf(source, name);
      if (!names.has(key)) {
        names.set(key, true);
        return write();
      }
      const { text } = await cache.derive(source, name, async () => sizedText(await write()));
      return text;
    },
  };
}

/** Each character of a text takes two bytes if one of them is beyond Latin-1. */
const sizedText = (text: string) => ({ text, length: 2 * text.length, isInMemory: true });
