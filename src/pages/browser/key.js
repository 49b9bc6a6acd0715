/**
 * Sends the API key with the requests of a page, and asks for one when the service refuses a request: GraphiQL and Swagger UI call
 * `fetch`, and know nothing of it. The key must not get into a URL, and outlives the browser tab only if somebody wants it to.
 */
const entry = 'yardgraph.key';
/** Of this page: the key of another tab may be of another workspace. */
let pageKey = sessionStorage.getItem(entry) ?? localStorage.getItem(entry);
let hadKey = pageKey !== null;

/** @param {string} id */
const element = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
const dialog = /** @type {HTMLDialogElement} */ (element('key-dialog'));
const input = /** @type {HTMLInputElement} */ (element('key'));
const stay = /** @type {HTMLInputElement} */ (element('stay'));

/** One dialog for all requests that are refused meanwhile. @type {Promise<void> | undefined} */
let asking;

const send = window.fetch;
window.fetch = async (resource, init) => {
  const request = new Request(resource, init);
  // The key is for this service alone, not for a tile server.
  if (new URL(request.url).origin !== location.origin) return send(request);
  // Such as one in the headers of a tab of GraphiQL.
  const hasOwnKey = request.headers.has('authorization') || request.headers.has('x-api-key');
  for (;;) {
    const key = pageKey;
    // A request is sent again with the first key of the page. A later one may be of another workspace.
    const mayRepeat = !hadKey;
    const attempt = request.clone();
    if (key !== null && !hasOwnKey) attempt.headers.set('authorization', `Bearer ${key}`);
    const response = await send(attempt);
    if (response.status !== 401 || hasOwnKey) return response;
    if (mayRepeat && pageKey !== null) continue;
    const reason = key === null ? 'This service needs an API key.' : 'The service does not accept this API key.';
    asking ??= ask(reason).finally(() => {
      asking = undefined;
    });
    await asking;
    if (dialog.returnValue !== 'use' || !mayRepeat) return response;
  }
};

/** @param {string} reason @returns {Promise<void>} */
function ask(reason) {
  element('key-reason').textContent = reason;
  dialog.returnValue = '';
  stay.checked = localStorage.getItem(entry) !== null;
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.onclose = () => {
      const storage = stay.checked ? localStorage : sessionStorage;
      if (['use', 'forget'].includes(dialog.returnValue)) {
        for (const kept of [sessionStorage, localStorage]) kept.removeItem(entry);
        if (dialog.returnValue === 'use') storage.setItem(entry, input.value.trim().replace(/^bearer +/i, ''));
        pageKey = storage.getItem(entry);
        hadKey ||= pageKey !== null;
      }
      input.value = '';
      showKey();
      resolve();
    };
  });
}

/** Shows which key is in use by its prefix, which is no secret. */
function showKey() {
  const [prefix] = /^\w+_[\w-]+_[0-9a-f]{8}(?=_)/.exec(pageKey ?? '') ?? [];
  element('change-key').textContent = prefix ? `API key: ${prefix}` : 'API key';
}

// Another tab has forgotten the key of all tabs, or has another one.
addEventListener('storage', ({ key }) => {
  if (key === entry) pageKey = sessionStorage.getItem(entry);
  showKey();
});
element('change-key').onclick = () => ask('');
showKey();
