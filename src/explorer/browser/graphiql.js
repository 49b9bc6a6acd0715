/** GraphiQL in the browser. If the service needs an API key, the page asks for it once and sends it with the requests of every tab. */

import { forgetKey, headersWith, keepKey, keyIn, notAKey, readKey } from './session-key.js';

/** @typedef {{ verdict: 'accepted' | 'refused' | 'unavailable', message: string }} Check */
/** @typedef {{ headers?: Record<string, string> }} FetcherOptions */

/** @param {string} id */
const element = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
const input = /** @type {HTMLInputElement} */ (element('key'));
const submit = /** @type {HTMLButtonElement} */ (element('submit'));
const dialog = /** @type {HTMLDialogElement} */ (element('login'));

/** @param {object} body @param {string | undefined} key @param {Record<string, string>} headers */
const post = (body, key, headers = {}) =>
  fetch(location.pathname, {
    method: 'POST',
    headers: {
      accept: 'application/graphql-response+json, application/json, text/event-stream',
      'content-type': 'application/json',
      ...headersWith(key),
      ...headers,
    },
    body: JSON.stringify(body),
  });

/** Returns the service's message about a failed request. @param {Response} response */
async function messageOf(response) {
  const body = await response.json().catch(() => undefined);
  return body?.errors?.[0]?.message ?? `the service responded with the status ${response.status}`;
}

const noLongerValid = 'Your key is no longer valid.';

/** @param {string} message */
const sentence = (message) => `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;

/**
 * Checks if requests with this key, or without one, are executed.
 * @param {string | undefined} key @returns {Promise<Check>}
 */
async function check(key) {
  try {
    const response = await post({ query: '{ __typename }' }, key);
    if (response.ok) return { verdict: 'accepted', message: '' };
    const message = await messageOf(response);
    if (response.status === 401) return { verdict: 'refused', message: sentence(message) };
    return { verdict: 'unavailable', message: sentence(message) };
  } catch {
    return { verdict: 'unavailable', message: 'The service cannot be reached.' };
  }
}

/** @param {string} message @param {boolean} needsKey */
function show(message, needsKey) {
  element('login-title').textContent = needsKey ? 'This service needs an API key' : 'GraphiQL cannot be used now';
  element('login-key').hidden = !needsKey;
  submit.textContent = needsKey ? 'Use this key' : 'Try again';
  if (!dialog.open) dialog.showModal();
  // Screen readers announce only what changes while it is visible.
  element('login-message').textContent = message;
  if (needsKey) input.select();
}

/**
 * Shows the dialog until the service accepts a key (true) or the dialog is cancelled (false).
 * @param {string} message @param {{ needsKey?: boolean, mayCancel?: boolean }} options @returns {Promise<boolean>}
 */
function connect(message, { needsKey = true, mayCancel = false } = {}) {
  return new Promise((resolve) => {
    element('cancel').hidden = !mayCancel;
    show(message, needsKey);

    /** @param {boolean} isConnected */
    const end = (isConnected) => {
      dialog.onclose = null;
      dialog.close();
      input.value = '';
      showKey();
      resolve(isConnected);
    };
    // A browser closes any dialog when Escape is pressed twice.
    dialog.onclose = () => (mayCancel ? end(false) : dialog.showModal());
    element('cancel').onclick = () => end(false);
    element('login-form').onsubmit = async (event) => {
      event.preventDefault();
      const key = needsKey ? keyIn(input.value) : readKey();
      if (needsKey && key === undefined) return show(notAKey, true);
      submit.disabled = true;
      const result = await check(key);
      submit.disabled = false;
      if (!dialog.open) return;
      if (result.verdict === 'accepted') {
        if (key !== undefined) keepKey(key);
        return end(true);
      }
      needsKey ||= result.verdict === 'refused';
      show(result.message, needsKey);
    };
  });
}

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

/** Shows which key is in use, by the part of it that is not secret. */
function showKey() {
  const key = readKey();
  const prefix = /^(\w+_[0-9a-f]{8})_/.exec(key ?? '')?.[1];
  element('key-in-use').textContent = key === undefined ? '' : (prefix ?? 'API key');
  for (const id of ['change', 'forget']) element(id).hidden = key === undefined;
}

element('change').onclick = () => connect('', { mayCancel: true });
element('forget').onclick = () => {
  forgetKey();
  location.reload();
};

const options = JSON.parse(element('options').textContent ?? '');
Object.assign(globalThis, {
  MonacoEnvironment: {
    globalAPI: false,
    getWorkerUrl: (/** @type {string} */ _module, /** @type {string} */ label) => options.workers[label],
  },
});

/** Returns the tabs of the last visit, as GraphiQL has stored them. Nothing else keeps them from being damaged. */
function storedTabs() {
  try {
    const { tabs, activeTabIndex } = JSON.parse(localStorage.getItem('graphiql:tabState') ?? '');
    if (Array.isArray(tabs)) return { tabs, activeTabIndex };
  } catch {
    // There are none yet, or they cannot be read.
  }
  return { tabs: [], activeTabIndex: 0 };
}

/**
 * Returns the tab that was open before the page was reloaded: without it, GraphiQL would open an empty one. Undefined
 * on the first visit, and for a link with another query, which gets a tab of its own.
 */
function openTab() {
  const { tabs, activeTabIndex } = storedTabs();
  const linked = new URLSearchParams(location.search).get('query');
  const isKnown = linked === null || tabs.some((/** @type {{ query: string }} */ { query }) => query === linked);
  return isKnown ? tabs[activeTabIndex] : undefined;
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
YogaGraphiQL.renderYogaGraphiQL(element('root'), {
  title: 'Yardgraph',
  logo: '<img src="favicon.ico" alt="" width="32" height="32">',
  fetcher,
  defaultTabs: options.tabs,
  ...(tab && { initialQuery: tab.query ?? '', initialVariables: tab.variables ?? '' }),
  // Headers may contain keys.
  shouldPersistHeaders: false,
});
