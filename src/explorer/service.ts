/** The service: queries, exports, and the feed of changes. The key is sent by pages/key.js, which asks for it when it is needed. */
import { Yardgraph } from '../../client/index.ts';

// biome-ignore lint/suspicious/noExplicitAny: what a query returns is what it asks for.
export type Data = Record<string, any>;

export const yardgraph = new Yardgraph({ serverURL: new URL('./', location.href), retries: 1 });

export const read = (query: string, variables: object = {}): Promise<Data> => yardgraph.graphql(query, variables);

/** Downloads all records of a table as CSV, as `yardgraph export` writes it. */
export async function download(list: string, where: object | undefined): Promise<void> {
  const { body } = await yardgraph.exportFile(list as 'assets', 'csv', { where, names: true });
  const link = document.createElement('a');
  link.href = URL.createObjectURL(await new Response(body).blob());
  link.download = `${list}.csv`;
  link.click();
  URL.revokeObjectURL(link.href);
}

/** The longest wait between two attempts to connect, in milliseconds. */
const maxPause = 30_000;

/** Follows the feed of changes for as long as the page is open, and says whether it is connected. */
export async function follow(onChange: () => void, onConnected: (isConnected: boolean) => void): Promise<void> {
  for (let failures = 0; ; failures += 1) {
    try {
      const response = await fetch('graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
        body: JSON.stringify({ query: 'subscription { changes { endCursor } }' }),
      });
      if (!response.ok || !response.body) throw new Error(String(response.status));
      onConnected(true);
      failures = 0;
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let read = await reader.read(); !read.done; read = await reader.read()) {
        if (read.value.includes('event: next')) onChange();
      }
    } catch {
      // Tried again below.
    }
    onConnected(false);
    const pause = Math.min(1_000 * 2 ** failures, maxPause);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
