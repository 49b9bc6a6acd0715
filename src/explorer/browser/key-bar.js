/**
 * The bar above GraphiQL and the REST reference: shows which API key is in use, and asks for one in a dialog. Only a key that the
 * service accepts is kept, where both pages find it. It must not get into a URL, nor into a storage that outlives the browser tab.
 */
const entry = 'yardgraph.key';

/** Returns the key in a text that was typed or pasted; undefined if it cannot be one. @param {string} text */
function keyIn(text) {
  const key = text.trim().replace(/^bearer +/i, '');
  // Others cannot be sent in a header.
  return /^[\x21-\x7e]+$/.test(key) ? key : undefined;
}

export const readKey = () => keyIn(sessionStorage.getItem(entry) ?? '');

/** @typedef {{ verdict: 'accepted' | 'refused' | 'unavailable', message: string }} Check */

/** @param {string} id */
const element = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
const input = /** @type {HTMLInputElement} */ (element('key'));
const submit = /** @type {HTMLButtonElement} */ (element('submit'));
const dialog = /** @type {HTMLDialogElement} */ (element('login'));

/** Sends a GraphQL request. @param {object} body @param {string | undefined} key @param {Record<string, string>} headers */
export const post = (body, key, headers = {}) =>
  fetch('graphql', {
    method: 'POST',
    headers: {
      accept: 'application/graphql-response+json, application/json, text/event-stream',
      'content-type': 'application/json',
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...headers,
    },
    body: JSON.stringify(body),
  });

export const noLongerValid = 'Your key is no longer valid.';

/**
 * Checks if requests with this key, or without one, are executed.
 * @param {string | undefined} key @returns {Promise<Check>}
 */
export async function check(key) {
  try {
    const response = await post({ query: '{ __typename }' }, key);
    if (response.ok) return { verdict: 'accepted', message: '' };
    const body = await response.json().catch(() => undefined);
    const message = body?.errors?.[0]?.message ?? `the service responded with the status ${response.status}`;
    return {
      verdict: response.status === 401 ? 'refused' : 'unavailable',
      message: `${message.charAt(0).toUpperCase()}${message.slice(1)}.`,
    };
  } catch {
    return { verdict: 'unavailable', message: 'The service cannot be reached.' };
  }
}

/** @param {string} message @param {boolean} needsKey */
function show(message, needsKey) {
  element('login-title').textContent = needsKey ? 'This service needs an API key' : 'The service cannot be used now';
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
export function connect(message, { needsKey = true, mayCancel = false } = {}) {
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
      if (needsKey && key === undefined) return show('This is not an API key.', true);
      submit.disabled = true;
      const result = await check(key);
      submit.disabled = false;
      if (!dialog.open) return;
      if (result.verdict === 'accepted') {
        if (key !== undefined) sessionStorage.setItem(entry, key);
        return end(true);
      }
      needsKey ||= result.verdict === 'refused';
      show(result.message, needsKey);
    };
  });
}

export function showKey() {
  const key = readKey();
  const prefix = /^(\w+_[0-9a-f]{8})_/.exec(key ?? '')?.[1];
  element('key-in-use').textContent = key === undefined ? '' : (prefix ?? 'API key');
  for (const id of ['change', 'forget']) element(id).hidden = key === undefined;
}

/** Asks for a key, also instead of the one in use, and returns whether the service has accepted it. */
export const changeKey = () => connect('', { mayCancel: true });

element('change').onclick = changeKey;
element('forget').onclick = () => {
  sessionStorage.removeItem(entry);
  location.reload();
};
