/** The service: queries, exports, and the feed of changes. The key is sent by pages/key.js, which asks for it when it is needed. */
import { Yardgraph } from '../../client/index.ts';
import type { View } from './address.ts';

// biome-ignore lint/suspicious/noExplicitAny: what a query returns is what it asks for.
export type Data = Record<string, any>;

/** What the views do with the page that they are on. */
export interface Page {
  readonly mayWrite: boolean;
  redraw(): void;
  /** Reads the view again, and draws it. */
  refresh(): Promise<void>;
}

/** One for each sort of view. */
export interface Viewer {
  /** What can be copied to read the same. They are read in turn, and each result is drawn with those before it. */
  queries(view: View): readonly string[];
  /** What is read instead, where the queries alone do not do. */
  read?(view: View): AsyncGenerator<Data>;
  /** Draws what has been read so far: at least the first, but for a table, whose filters may be what is refused. */
  draw(view: View, data: Data, page: Page): unknown;
}

export const yardgraph = new Yardgraph({ serverURL: new URL('./', location.href), retries: 1 });

/** Without the client's retries, which are silent. */
const reader = new Yardgraph({ serverURL: new URL('./', location.href), retries: 0 });

/** How often a busy service is asked: as long as somebody may wait for it. */
const maxAttempts = 10;

/** Tells the document that the service is asked again after so many seconds, or is not busy any more. */
const sayBusy = (seconds?: number) => document.dispatchEvent(new CustomEvent('busy', { detail: seconds }));

/** Reads. A service that is busy is asked again when it says; after a lost connection, once. */
export async function read(query: string, variables: object = {}): Promise<Data> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const data = await reader.graphql(query, variables);
      if (attempt > 1) sayBusy();
      return data;
    } catch (error) {
      const { status, retryAfter } = error as Data;
      const isBusy = retryAfter !== undefined && (status === 429 || status === 503);
      if (isBusy ? attempt === maxAttempts : status !== undefined || attempt > 1) {
        sayBusy();
        throw error;
      }
      const seconds = isBusy ? Math.max(1, Math.ceil(retryAfter)) : 1;
      if (isBusy) sayBusy(seconds);
      await wait(seconds * 1_000);
    }
  }
}

/** Downloads all records of a table as CSV, as `yardgraph export` writes it. */
export async function download(list: string, where: object | undefined): Promise<void> {
  const { body } = await yardgraph.exportFile(list as 'assets', 'csv', { where, names: true });
  const link = document.createElement('a');
  link.href = URL.createObjectURL(await new Response(body).blob());
  link.download = `${list}.csv`;
  link.click();
  URL.revokeObjectURL(link.href);
}

const wait = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** The longest wait between two attempts to connect, in milliseconds. */
const maxPause = 30_000;

/** Milliseconds without a byte after which a connection is taken for lost: the service sends one each 3 seconds. */
const maxSilence = 15_000;

const isShown = (): boolean => document.visibilityState === 'visible';

async function untilShown(): Promise<void> {
  while (!isShown())
    await new Promise((resolve) => document.addEventListener('visibilitychange', resolve, { once: true }));
}

interface Following {
  /** Called before each attempt, which it can fail. */
  readonly begin: () => Promise<void>;
  readonly onConnected: (isConnected: boolean) => void;
  readonly onChange: () => void;
  readonly onError: (error: Error) => void;
}

/**
 * Follows the feed of changes while the page is open, and says whether it is connected. A page that is hidden is not: a browser has six
 * connections to a server, for all its tabs.
 */
export async function follow(following: Following): Promise<void> {
  for (let failures = 0; ; failures += 1) {
    await untilShown();
    try {
      await following.begin();
      await connect(following);
      failures = 0;
    } catch (error) {
      following.onError(error as Error);
      // Nobody wants to be asked for the key again and again: with another one, the page is loaded anew.
      if ((error as Data).status === 401) return;
    }
    await wait(Math.min(1_000 * 2 ** failures, maxPause));
  }
}

/** Until the connection ends. Throws if there is none. */
async function connect({ onConnected, onChange }: Following): Promise<void> {
  const stop = new AbortController();
  const hide = () => isShown() || stop.abort();
  let silence = setTimeout(() => stop.abort(), maxSilence);
  let wasConnected = false;
  document.addEventListener('visibilitychange', hide);
  try {
    const response = await fetch('graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ query: 'subscription { changes { endCursor } }' }),
      signal: stop.signal,
    });
    const { ok, status, body } = response;
    if (!ok || !body) throw Object.assign(new Error('the feed is not there'), { status });
    wasConnected = true;
    onConnected(true);
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      clearTimeout(silence);
      silence = setTimeout(() => stop.abort(), maxSilence);
      if (read.value.includes('event: next')) onChange();
    }
  } catch (error) {
    if (!wasConnected) throw error;
  } finally {
    clearTimeout(silence);
    document.removeEventListener('visibilitychange', hide);
    onConnected(false);
  }
}
