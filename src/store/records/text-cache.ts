/** Texts made from a workspace's records, such as responses, cached until the next change in the workspace. */
import { LRUCache } from 'lru-cache';
import type { WorkspaceId } from '../query/tables.ts';

/** Bytes of all texts together. Each character takes two if one of them is beyond Latin-1. */
const maxSize = 32 * 1_048_576;

const maxNames = 10_000;

interface Source {
  readonly workspace: WorkspaceId;
  lastChange(): Promise<number>;
}

/** Bytes where a response is nothing but the text: to encode 500 records each time takes a third of their response. Undefined is cached, too. */
export type Text = string | Buffer | undefined;

/** In an object, because a cache does not keep undefined. */
interface Cached {
  readonly text: Text;
}

const sizeOf = ({ text = '' }: Cached): number => 1 + (typeof text === 'string' ? 2 * text.length : text.length);

export function createTextCache() {
  /** By workspace, name and change. All who wait for a text share it, or the error of the one for whom it is written. */
  const cache = new LRUCache<string, Cached, () => Promise<Text>>({
    maxSize,
    sizeCalculation: sizeOf,
    fetchMethod: async (_key, _stale, { context }) => ({ text: await context() }),
    // A text that has lost its place in the cache meanwhile is still wanted.
    ignoreFetchAbort: true,
  });
  const requested = new LRUCache<string, true>({ max: maxNames });
  const reading = new Map<number, Promise<number>>();
  const nextReading = new Map<number, Promise<number>>();

  /** A read in progress may miss a commit from before this request arrived, so the request waits for the next read, with all others. */
  function lastChange(source: Source): Promise<number> {
    const { number } = source.workspace;
    const begin = () => {
      nextReading.delete(number);
      const own = source.lastChange().finally(() => reading.delete(number));
      reading.set(number, own);
      return own;
    };
    const next = nextReading.get(number) ?? reading.get(number)?.then(begin, begin);
    if (!next) return begin();
    nextReading.set(number, next);
    return next;
  }

  async function derive(source: Source, name: string, write: () => Promise<Text>, sent?: number): Promise<Text> {
    // The texts contain the name of the workspace, which may change.
    const key = `${source.workspace.number} ${source.workspace.name} ${name}`;
    // A text that was not requested before is written at once: to look for a cached one takes a statement.
    if (!requested.has(key) && sent === undefined) {
      requested.set(key, true);
      return write();
    }
    // Read before the records, so that a write in the meantime makes the text out of date.
    const change = sent ?? (await lastChange(source));
    return (await cache.fetch(`${key} ${change}`, { context: write }))?.text;
  }

  return { lastChange, derive };
}
