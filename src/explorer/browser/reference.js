/**
 * The REST reference in the browser: Swagger UI on the OpenAPI document. The key is shared with GraphiQL, and the ID of the newest
 * project is filled in where an ID is needed.
 */
import { changeKey, post, readKey, showKey } from './key-bar.js';

/** @param {string} selector */
const element = (selector) => /** @type {HTMLElement} */ (document.querySelector(selector));
const notice = element('#key-notice');
const noticeText = element('#key-notice span');
const noticeButton = element('#key-notice button');

const dark = matchMedia('(prefers-color-scheme: dark)');
const applyColorScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', applyColorScheme);
applyColorScheme();

/** There is only this server, which a proxy may serve under a path of its own. */
const onlyThisServer = () => ({
  wrapComponents: { ServersContainer: () => () => null },
  statePlugins: {
    spec: {
      wrapActions: {
        /** @param {(document: object) => unknown} update */
        updateJsonSpec: (update) => (/** @type {object} */ document) =>
          update({ ...document, servers: [{ url: new URL('.', location.href).pathname }] }),
      },
    },
  },
});

/** The bar has the key: Swagger UI's own buttons would be a second way to enter it, which checks nothing. */
const noOwnKeys = () => ({
  wrapComponents: { authorizeBtn: () => () => null, authorizeOperationBtn: () => () => null },
});

// Swagger UI has no types.
// @ts-expect-error
const ui = window.SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  plugins: [onlyThisServer, noOwnKeys],
  responseInterceptor: (/** @type {{ status: number, url: string }} */ response) => {
    if (response.status === 401) askForKey();
    if (response.status === 201 && new URL(response.url).pathname.endsWith('/projects')) fillInProject();
    return response;
  },
  onComplete: useKey,
});

showKey();

function useKey() {
  const key = readKey();
  if (key !== undefined) ui.preauthorizeApiKey('bearer', key);
  fillInProject();
}

/** Fills in the ID of the newest project, and finds out at the same time whether the service accepts the key. */
function fillInProject() {
  // Without a connection, people enter the ID themselves.
  readNewestProject().catch(() => undefined);
}

async function readNewestProject() {
  const key = readKey();
  const response = await post({ query: '{ projects(last: 1) { nodes { id } } }' }, key);
  // Meanwhile, another key may have been entered.
  if (readKey() !== key) return;
  if (response.status === 401) return askForKey();
  if (!response.ok) return;
  notice.hidden = true;
  const { data } = await response.json();
  const id = data?.projects.nodes[0]?.id;
  if (id !== undefined) ui.specActions.changeParam(['/projects/{id}', 'patch'], 'id', 'path', id, false);
}

function askForKey() {
  if (readKey() === undefined) notify('This service needs an API key.', 'Enter the key');
  else notify('The service does not accept this API key. It may have expired or been revoked.', 'Enter another key');
}

/** @param {string} text @param {string} action */
function notify(text, action) {
  noticeText.textContent = text;
  noticeButton.textContent = action;
  notice.hidden = false;
}

for (const button of [noticeButton, element('#change')]) {
  button.onclick = async () => {
    if (await changeKey()) useKey();
  };
}
