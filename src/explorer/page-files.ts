/** What the pages share: the files in the folder `browser`, and the bar above GraphiQL and the REST reference. Knows no page. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Asset, createAsset } from '../http/pages.ts';

export const readOwnFile = (name: string): Promise<string> => readFile(join(__dirname, 'browser', name), 'utf8');

export interface OwnAssets {
  readonly styles: Asset;
  readonly script: Asset;
  readonly modules: readonly Asset[];
}

export const allOf = ({ styles, script, modules }: OwnAssets): Asset[] => [styles, script, ...modules];

export async function loadOwnAssets(page: 'graphiql' | 'reference'): Promise<OwnAssets> {
  const sessionKey = createAsset('session-key', 'js', await readOwnFile('session-key.js'));
  const keyBar = createAsset('key-bar', 'js', withNames(await readOwnFile('key-bar.js'), [sessionKey]));
  const modules = [sessionKey, keyBar];
  return {
    styles: createAsset('page', 'css', (await readOwnFile('key-bar.css')) + (await readOwnFile(`${page}.css`))),
    script: createAsset('page', 'js', withNames(await readOwnFile(`${page}.js`), modules)),
    modules,
  };
}

/** Imports these modules by the names under which they are served, which change with their content. */
const withNames = (script: string, modules: readonly Asset[]): string =>
  modules.reduce(
    (text, { fileName }) => text.replace(`./${fileName.replace(/-[\w-]{16}\.js$/, '.js')}`, `./${fileName}`),
    script,
  );

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
