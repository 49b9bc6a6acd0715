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

/** A text of the workspace as it was after this change, or later; undefined if there is none to be cached. */
type Cached = { readonly change: number; readonly text: Text };

/** Bytes where a response is nothing but the text: to encode 500 records each time takes a third of their response. */
export type Text = string | Buffer | undefined;

const sizeOf = ({ text = '' }: Cached): number => 1 + (typeof text === 'string' ? 2 * text.length : text.length);

export function createTextCache() {
  const cache = new LRUCache<string, Cached>({ maxSize, sizeCalculation: sizeOf });
  const names = new LRUCache<string, true>({ max: maxNames });
  /** What is being made or read, and the next one, which begins after it. */
  const turnsByName = new Map<
    string,
    { running?: Promise<unknown> | undefined; next?: Promise<unknown> | undefined }
  >();

  /** Callers that arrive meanwhile share the next run. The cast is safe: all calls with a name pass an equivalent `make`. */
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

  /** Returns the number of the last change. Requests that arrive while it is read share the next reading. */
  const lastChange = (source: Source): Promise<number> =>
    inTurn(String(source.workspace.number), () => source.lastChange());

  async function derive(source: Source, name: string, write: () => Promise<Text>, sent?: number) {
    // The texts contain the name of the workspace, which may change.
    const key = `${source.workspace.number} ${source.workspace.name} ${name}`;
    // A text that was not requested before is written at once: to look for a cached one takes a statement.
    if (!names.has(key) && sent === undefined) {
      names.set(key, true);
      return write();
    }
    // Read before the records, so that a write in the meantime makes the text out of date.
    const change = sent ?? (await lastChange(source));
    const current = cache.get(key);
    if (current?.change === change) return current.text;
    // With the number: a request that shared the turn of one from before a write could get the text from before it.
    return inTurn(`${key} ${change}`, async () => {
      const made = cache.get(key);
      if (made?.change === change) return made.text;
      const text = await write();
      cache.set(key, { change, text });
      return text;
    });
  }

  return { lastChange, derive };
}
