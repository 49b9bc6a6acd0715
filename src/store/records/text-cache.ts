/** Texts made from a workspace's records, such as responses, cached until the next change in the workspace. */
import { LRUCache } from 'lru-cache';
import { isTimeout } from '../connections/database-error.ts';
import type { WorkspaceId } from '../query/tables.ts';

/** Bytes of all texts together. Each character takes two if one of them is beyond Latin-1. */
const maxSize = 32 * 1_048_576;

const maxNames = 10_000;

interface TextSource {
  readonly workspace: WorkspaceId;
  version(): Promise<string>;
}

/** Bytes where a response is nothing but the text: to encode 500 records each time takes a third of their response. Undefined is cached, too. */
export type DerivedText = string | Buffer | undefined;

/** A text of this version of the workspace, or of a later one. */
type Cached = { readonly version: string; readonly text: DerivedText };

const byteSize = ({ text = '' }: Cached): number => 1 + (typeof text === 'string' ? 2 * text.length : text.length);

export function createTextCache() {
  const cache = new LRUCache<string, Cached>({ maxSize, sizeCalculation: byteSize });
  const requested = new LRUCache<string, true>({ max: maxNames });
  const making = new Map<string, Promise<DerivedText>>();
  const reading = new Map<number, Promise<string>>();
  const nextReading = new Map<number, Promise<string>>();

  /** A read in progress may miss a commit from before this request arrived, so the request waits for the next read, with all others. */
  function readVersion(source: TextSource): Promise<string> {
    const { number } = source.workspace;
    const begin = () => {
      nextReading.delete(number);
      const own = source.version().finally(() => reading.delete(number));
      reading.set(number, own);
      return own;
    };
    const next = nextReading.get(number) ?? reading.get(number)?.then(begin, begin);
    if (!next) return begin();
    nextReading.set(number, next);
    return next;
  }

  async function derive(
    source: TextSource,
    name: string,
    write: () => Promise<DerivedText>,
    sent?: string,
  ): Promise<DerivedText> {
    // The texts contain the name of the workspace, which may change.
    const key = `${source.workspace.number} ${source.workspace.name} ${name}`;
    // A text that was not requested before is written at once: to look for a cached one takes a statement.
    if (!requested.has(key) && sent === undefined) {
      requested.set(key, true);
      return write();
    }
    // Read before the records, so that a write in the meantime makes the text out of date.
    const version = sent ?? (await readVersion(source));
    const current = cache.get(key);
    if (current?.version === version) return current.text;
    const work = `${key} ${version}`;
    // If it fails, each tries for itself: the client for which it was written may have left. A statement that takes too long would take
    // too long for each of them: eight alike held both readers of a workspace for 8 seconds instead of 1.
    const shared = making.get(work)?.catch((error) => {
      if (isTimeout(error)) throw error;
      return write();
    });
    if (shared) return shared;
    const made = write().finally(() => making.delete(work));
    making.set(work, made);
    const text = await made;
    // One that took longer may be older.
    if (cache.get(key) === current) cache.set(key, { version, text });
    return text;
  }

  return { readVersion, derive };
}
