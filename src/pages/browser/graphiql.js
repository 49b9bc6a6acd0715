/** GraphiQL, with examples in its tabs. Its editor has workers, which are files of their own. */
Object.assign(globalThis, {
  MonacoEnvironment: {
    globalAPI: false,
    getWorkerUrl: (/** @type {string} */ _module, /** @type {string} */ label) => `pages/${label}-worker.js`,
  },
});

const linkedQuery = new URLSearchParams(location.search).get('query');
const tabs = await (await fetch('pages/tabs.json')).json();

// @ts-expect-error: a global of the library's own script.
YogaGraphiQL.renderYogaGraphiQL(document.getElementById('graphiql'), {
  title: 'Yardgraph',
  defaultTabs: tabs,
  // Otherwise it adds an empty tab on the second visit.
  query: linkedQuery ?? localStorage.getItem('graphiql:query') ?? tabs[0].query,
  // Headers may contain keys.
  shouldPersistHeaders: false,
});
