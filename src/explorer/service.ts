/** The service: queries, exports, and the feed of changes. The key is sent by pages/key.js, which asks for it when it is needed. */
import { Yardgraph } from '../../client/index.ts';
import type { View } from './address.ts';
import { documentOf } from './queries.ts';

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

/** A service that is busy, or away for a moment, is asked again by the client. */
export const yardgraph = new Yardgraph({ serverURL: new URL('./', location.href) });

export const read = (...queries: readonly string[]): Promise<Data> => yardgraph.graphql(documentOf(queries));

/** Downloads all records of a table as CSV, as `yardgraph export` writes it. */
export async function download(list: string, where: object | undefined): Promise<void> {
  const { body } = await yardgraph.exportFile(list as 'assets', 'csv', { where, names: true });
  const href = URL.createObjectURL(await new Response(body).blob());
  Object.assign(document.createElement('a'), { href, download: `${list}.csv` }).click();
  URL.revokeObjectURL(href);
}

const live = document.getElementById('live') as HTMLElement;

function setConnected(isConnected: boolean): void {
  live.textContent = isConnected ? 'live' : 'not connected: what is shown may be out of date';
  live.classList.toggle('off', !isConnected);
}

/**
 * In milliseconds: for how long changes are collected before they are shown, the longest wait between two attempts to connect, and after which
 * time without a byte a connection is taken for lost: the service sends one each 3 seconds.
 */
const [collecting, maxPause, maxSilence] = [500, 30_000, 15_000];

const wait = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** A page that is hidden is not connected: a browser has six connections to a server, for all its tabs. */
const isHidden = (): boolean => document.visibilityState === 'hidden';

/**
 * Follows the feed of changes while the page is open; `start` is called before each attempt to connect, and what has changed before it is no
 * event of the connection.
 */
export async function follow(start: () => Promise<void>, onChange: () => Promise<void>): Promise<void> {
  for (let failures = 0; ; failures += 1) {
    while (isHidden())
      await new Promise((resolve) => document.addEventListener('visibilitychange', resolve, { once: true }));
    try {
      await start();
      for await (const _ of changes()) {
        failures = 0;
        await wait(collecting);
        await onChange();
      }
    } catch (error) {
      // Nobody wants to be asked for the key again and again: with another one, the page is loaded anew.
      if ((error as Data).status === 401) return;
    } finally {
      setConnected(false);
    }
    await wait(Math.min(1_000 * 2 ** failures, maxPause));
  }
}

/** Yields once it is connected, and when something has changed, until the connection ends, which it does by an error, too. */
async function* changes(): AsyncGenerator<void> {
  const stop = new AbortController();
  const hide = () => isHidden() && stop.abort();
  document.addEventListener('visibilitychange', hide, { signal: stop.signal });
  try {
    const { ok, status, body } = await fetch('graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ query: 'subscription { changes { endCursor } }' }),
      signal: stop.signal,
    });
    if (!ok || !body) throw Object.assign(new Error('the feed is not there'), { status });
    setConnected(true);
    yield;
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    for (let rest = ''; ; ) {
      const silence = setTimeout(() => stop.abort(), maxSilence);
      const { done, value } = await reader.read().finally(() => clearTimeout(silence));
      if (done) return;
      rest += value;
      if (rest.includes('event: next')) yield;
      // An event may come in two pieces.
      rest = rest.slice(rest.lastIndexOf('\n') + 1);
    }
  } finally {
    stop.abort();
  }
}
