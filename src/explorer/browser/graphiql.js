/** GraphiQL in the browser. If the service needs an API key, the page asks for it once and sends it with the requests of every tab. */
import { check, connect, noLongerValid, post, readKey, showKey } from './key-bar.js';

/** @typedef {{ headers?: Record<string, string> }} FetcherOptions */

/** One dialog for all requests that are refused meanwhile. @type {Promise<boolean> | undefined} */
let connecting;

/**
 * Sends a request for GraphiQL, with the stored key unless the tab's headers have one. If the stored key is refused, the
 * request is sent again with the next one: a refused request was not executed.
 * @param {object} params @param {FetcherOptions} options @returns {Promise<unknown>}
 */
async function fetcher(params, { headers = {} } = {}) {
  const hasOwnKey = Object.keys(headers).some((name) => /^(?:authorization|x-api-key)$/i.test(name));
  for (;;) {
    const key = hasOwnKey ? undefined : readKey();
    const response = await post(params, key, headers);
    if (response.status === 401 && !hasOwnKey) {
      if (readKey() !== key) continue;
      const reason = key === undefined ? 'The first API key has been created: requests need one now.' : noLongerValid;
      connecting ??= connect(reason, { mayCancel: true }).finally(() => {
        connecting = undefined;
      });
      if (await connecting) continue;
    }
    const type = response.headers.get('content-type');
    if (response.body && type?.startsWith('text/event-stream')) return resultsIn(response.body);
    return response.json().catch(() => {
      throw new Error(`The response, with the status ${response.status}, is not JSON.`);
    });
  }
}

/**
 * Yields the results of a subscription, until GraphiQL stops it.
 * @param {ReadableStream<Uint8Array>} body @returns {AsyncIterableIterator<unknown>}
 */
function resultsIn(body) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  async function* read() {
    let unread = '';
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      const events = (unread + decoder.decode(chunk.value, { stream: true })).split('\n\n');
      unread = events.pop() ?? '';
      for (const event of events) {
        const [, data] = /^data: (.+)$/m.exec(event) ?? [];
        if (data !== undefined) yield JSON.parse(data);
      }
    }
  }
  const results = read();
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: () => results.next(),
    // A generator returns only between two results: without this, it would wait for the next one.
    return: async () => {
      await reader.cancel();
      return results.return(undefined);
    },
  };
}

const options = JSON.parse(document.getElementById('options')?.textContent ?? '');
Object.assign(globalThis, {
  MonacoEnvironment: {
    globalAPI: false,
    getWorkerUrl: (/** @type {string} */ _module, /** @type {string} */ label) => options.workers[label],
  },
});

/**
 * Returns the tab that was open before the page was reloaded: without it, GraphiQL would open an empty one. Undefined
 * on the first visit, and for a link with another query, which gets a tab of its own. Nothing keeps stored tabs from being damaged.
 */
function openTab() {
  const linked = new URLSearchParams(location.search).get('query');
  try {
    const { tabs, activeTabIndex } = JSON.parse(localStorage.getItem('graphiql:tabState') ?? '');
    const isLinked = (/** @type {{ query: string }} */ { query }) => query === linked;
    return Array.isArray(tabs) && (linked === null || tabs.some(isLinked)) ? tabs[activeTabIndex] : undefined;
  } catch {
    return undefined;
  }
}

/** GraphiQL's own script, which is large, is still being loaded while the key is checked or asked for. */
const loaded = new Promise((resolve) => document.addEventListener('DOMContentLoaded', resolve));

const { verdict, message } = await check(readKey());
if (verdict === 'refused') {
  await connect(readKey() === undefined ? '' : noLongerValid);
} else if (verdict === 'unavailable') {
  await connect(message, { needsKey: false });
}
showKey();
await loaded;
const tab = openTab();
// @ts-expect-error: a global of GraphiQL's own script.
YogaGraphiQL.renderYogaGraphiQL(document.getElementById('root'), {
  title: 'Yardgraph',
  fetcher,
  defaultTabs: options.tabs,
  ...(tab && { initialQuery: tab.query ?? '', initialVariables: tab.variables ?? '' }),
  // Headers may contain keys.
  shouldPersistHeaders: false,
});
