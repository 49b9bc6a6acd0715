/** The bar above GraphiQL and the REST reference: where else to go, and the API key, which one dialog asks for. */

interface KeyBar {
  readonly current: 'graphql' | 'reference';
  readonly graphiql: boolean;
}

/** URLs are relative: a proxy may serve the service under a path of its own. */
export const keyBar = ({ current, graphiql }: KeyBar): string => `<header id="bar">
<nav aria-label="Yardgraph">
<a href="./">Yardgraph</a>
${graphiql ? link('graphql', 'GraphiQL', current) : ''}
${link('reference', 'REST reference', current)}
${link('documentation/README.md', 'Documentation', current)}
</nav>
<span id="key-in-use"></span>
<button id="change" type="button" aria-label="Change key" hidden>Change</button>
<button id="forget" type="button" aria-label="Forget key" hidden>Forget</button>
</header>
<dialog id="login" aria-labelledby="login-title">
<form id="login-form">
<h1 id="login-title">This service needs an API key</h1>
<p id="login-message" role="alert"></p>
<div id="login-key">
<label for="key">API key</label>
<input id="key" type="password" autocomplete="off" spellcheck="false" aria-describedby="key-hint" autofocus>
<p id="key-hint">It is sent only to this service, and kept until you close this browser tab.</p>
</div>
<button id="submit">Use this key</button>
<button id="cancel" type="button" hidden>Cancel</button>
</form>
</dialog>`;

const link = (href: string, name: string, current: string): string =>
  `<a href="${href}"${href === current ? ' aria-current="page"' : ''}>${name}</a>`;
