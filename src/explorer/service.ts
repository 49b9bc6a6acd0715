/** The service: queries, exports and the feed of changes. pages/key.js asks for the key, and sends it. */
import { Yardgraph } from '../../client/index.ts';
import type { View } from './address.ts';
import { timeZone } from './clock.ts';
import { documentOf } from './queries.ts';

// biome-ignore lint/suspicious/noExplicitAny: the type of a result depends on its query.
export type Data = Record<string, any>;

/** The page that shows a view. */
export interface Page {
  /** Whether the key may write records of the kind, or labels of the type, or anything. */
  mayWrite(kind?: string): boolean;
  /** Reads the view again and draws it. */
  refresh(): Promise<void>;
}

/** The page of a view, as far as it has been read. */
interface Drawing {
  readonly title: string;
  /** The line above the title, the text beside it, and the buttons. */
  readonly crumb?: unknown;
  readonly note?: string;
  readonly actions?: unknown;
  readonly content?: unknown;
}

/** Reads and draws the views of one sort: overview, table, record, map or tree. */
export interface Viewer {
  /** Read in turn; each result is drawn with those before it, on which a query may depend. People can copy them. */
  queries(view: View, data: Data): readonly string[];
  /** Reads the data instead, where it is not read in turn. Gets the data that is shown. */
  read?(view: View, data: Data): AsyncGenerator<Data>;
  /** `data.problem` is the error that ended the reading. */
  draw(view: View, data: Data, page: Page): Drawing;
}

/** The client repeats requests while the service is busy or away. */
export const yardgraph = new Yardgraph({ serverURL: new URL('./', location.href) });

export const read = (...queries: readonly string[]): Promise<Data> => yardgraph.graphql(documentOf(queries));

/** Downloads all records of a table as CSV, as `yardgraph export` writes it; for Excel in the browser's language. */
export async function download(list: string, where: object | undefined, isForExcel: boolean): Promise<void> {
  const form = isForExcel ? { excel: navigator.language, timeZone } : {};
  const { body } = await yardgraph.exportFile(list as 'assets', 'csv', { where, names: true, ...form });
  const href = URL.createObjectURL(await new Response(body).blob());
  Object.assign(document.createElement('a'), { href, download: `${list}.csv` }).click();
  URL.revokeObjectURL(href);
}

const live = document.getElementById('live') as HTMLElement;

function setConnected(isConnected: boolean): void {
  live.textContent = isConnected ? 'live' : 'not connected';
  live.title = isConnected ? '' : 'What is shown may be out of date';
  live.classList.toggle('error', !isConnected);
}

/** Changes are collected for this time before the page shows them. */
const collectingMs = 500;

/** The longest wait between two attempts to connect. */
const maxPauseMs = 30_000;

/** A connection without a byte for this time is lost: the service sends one every 2.5 seconds. */
const maxSilenceMs = 15_000;

export const wait = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** A hidden page does not connect: a browser has six connections to a server, for all its tabs. */
const isHidden = (): boolean => document.visibilityState === 'hidden';

/** Follows the feed of changes while the page is open. `start` is called before each attempt to connect. */
export async function follow(start: () => Promise<void>, onChange: () => Promise<void>): Promise<void> {
  for (let failures = 0; ; failures += 1) {
    while (isHidden())
      await new Promise((resolve) => document.addEventListener('visibilitychange', resolve, { once: true }));
    try {
      await start();
      for await (const _ of changes()) {
        failures = 0;
        await wait(collectingMs);
        await onChange();
      }
    } catch (error) {
      // Without a key, the page does not ask again and again. Another key reloads the page.
      if ((error as Data).status === 401) return;
    } finally {
      setConnected(false);
    }
    await wait(Math.min(1_000 * 2 ** failures, maxPauseMs));
  }
}

/** Yields after it has connected and after each change. Ends, or throws, when the connection ends. */
async function* changes(): AsyncGenerator<void> {
  const stop = new AbortController();
  document.addEventListener('visibilitychange', () => isHidden() && stop.abort(), { signal: stop.signal });
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
    for (;;) {
      const silence = setTimeout(() => stop.abort(), maxSilenceMs);
      const { done, value } = await reader.read().finally(() => clearTimeout(silence));
      if (done) return;
      // A colon alone keeps the connection.
      if (/[^:\s]/.test(value)) yield;
    }
  } finally {
    stop.abort();
  }
}
