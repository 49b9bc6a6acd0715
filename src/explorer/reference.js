/**
 * The reference: Swagger UI on /openapi.json. The key is kept for the browser session, in the entry that GraphiQL reads and
 * writes too, and the ID of the newest project is filled in where an ID is needed.
 */
const keyEntry = 'yardgraph.key';
/** @param {string} selector */
const element = (selector) => /** @type {HTMLElement} */ (document.querySelector(selector));
const notice = element('#key-notice');
const noticeText = element('#key-notice span');
const noticeButton = element('#key-notice button');
const readKey = () => sessionStorage.getItem(keyEntry) ?? '';

const dark = matchMedia('(prefers-color-scheme: dark)');
const applyColorScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', applyColorScheme);
applyColorScheme();

/** There is only this server. */
const withoutServers = () => ({ wrapComponents: { ServersContainer: () => () => null } });

/** @typedef {{ bearer: { value: string } }} Authorizations */

/** Keeps the key whenever Swagger UI is authorized, and forgets it when it is logged out. */
const keepKey = () => ({
  statePlugins: {
    auth: {
      wrapActions: {
        /** @param {(authorizations: Authorizations) => unknown} authorize */
        authorize: (authorize) => (/** @type {Authorizations} */ authorizations) => {
          const { bearer } = authorizations;
          const key = bearer.value.trim().replace(/^bearer +/i, '');
          if (key === '') return undefined;
          sessionStorage.setItem(keyEntry, key);
          fillInProject();
          return authorize({ bearer: { ...bearer, value: key } });
        },
        /** @param {(names: string[]) => unknown} logout */
        logout: (logout) => (/** @type {string[]} */ names) => {
          sessionStorage.removeItem(keyEntry);
          fillInProject();
          return logout(names);
        },
      },
    },
  },
});

// Swagger UI has no types.
// @ts-expect-error
const ui = window.SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  plugins: [withoutServers, keepKey],
  responseInterceptor: (/** @type {{ status: number, url: string }} */ response) => {
    if (response.status === 401) askForKey();
    if (response.status === 201 && new URL(response.url).pathname === '/projects') fillInProject();
    return response;
  },
  onComplete: () => {
    if (readKey() !== '') ui.preauthorizeApiKey('bearer', readKey());
    fillInProject();
  },
});

/** Fills in the ID of the newest project, and finds out at the same time whether the service accepts the key. */
function fillInProject() {
  // Without a connection, people enter the ID themselves.
  readNewestProject().catch(() => undefined);
}

async function readNewestProject() {
  const key = readKey();
  const response = await fetch('/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(key !== '' && { authorization: `Bearer ${key}` }) },
    body: JSON.stringify({ query: '{ projects(last: 1) { nodes { id } } }' }),
  });
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
  const [text = '', action = ''] =
    readKey() === ''
      ? ['This service needs an API key.', 'Enter the key']
      : ['The service does not accept this API key. It may have expired or been revoked.', 'Enter another key'];
  noticeText.textContent = text;
  noticeButton.textContent = action;
  notice.hidden = false;
}

noticeButton.addEventListener('click', () => {
  if (readKey() !== '') ui.authActions.logout(['bearer']);
  ui.authActions.showDefinitions(ui.authSelectors.definitionsToAuthorize());
});
