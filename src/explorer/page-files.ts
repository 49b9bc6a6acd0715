/**
 * The pages of GraphiQL and the REST reference: the files of a library and our own, below a bar that asks for the API key once for both.
 * They load nothing from other servers. Their URLs are relative: a proxy may serve the service under a path of its own.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import {
  type Asset,
  contentSecurityPolicy,
  createAsset,
  createPage,
  loadLate,
  pageHead,
  type Send,
  serveAssets,
} from '../http/pages.ts';

const readOwnFile = (name: string): Promise<string> => readFile(join(__dirname, 'browser', name), 'utf8');

/** Reads the styles of a page that has them in itself, and runs no script. */
export async function readStyles(name: string): Promise<{ styles: string; policy: string }> {
  const styles = await readOwnFile(name);
  const hash = createHash('sha256').update(styles).digest('base64');
  return { styles, policy: contentSecurityPolicy(`script-src 'none'; style-src 'sha256-${hash}'`) };
}

interface Library {
  readonly styles: Asset;
  readonly script: Asset;
  /** Files that its script loads. */
  readonly others?: readonly Asset[];
  /** Elements for the head of the page. */
  readonly head?: string;
}

interface KeyPage {
  /** The name of our own files in the folder `browser`. */
  readonly name: 'graphiql' | 'reference';
  readonly title: string;
  /** The path of the page, and of the folder of its files. */
  readonly path: string;
  readonly folder: string;
  readonly policy: string;
  readonly load: () => Promise<Library>;
  /** True if our script runs before the library's, which is large; otherwise it finds the library's globals. */
  readonly isOwnScriptFirst: boolean;
  readonly body: string;
}

/** Files are loaded for the first browser, and kept. */
export function keyPage({ name, title, path, folder, policy, load, isOwnScriptFirst, body }: KeyPage) {
  const urlOf = ({ fileName }: Asset) => `${folder}/${fileName}`;
  const files = loadLate(async () => {
    const library = await load();
    const keyBar = createAsset('key-bar', 'js', await readOwnFile('key-bar.js'));
    const ownStyles = createAsset(
      'page',
      'css',
      (await readOwnFile('key-bar.css')) + (await readOwnFile(`${name}.css`)),
    );
    // Its name changes with its content.
    const script = (await readOwnFile(`${name}.js`)).replace('key-bar.js', keyBar.fileName);
    const ownScript = createAsset('page', 'js', script);
    const scripts = [
      `<script type="module" src="${urlOf(ownScript)}"></script>`,
      `<script defer src="${urlOf(library.script)}"></script>`,
    ];
    return {
      assets: [library.styles, library.script, ...(library.others ?? []), keyBar, ownStyles, ownScript],
      head: [
        pageHead(`${title} – Yardgraph`),
        ...[library.styles, ownStyles].map((style) => `<link rel="stylesheet" href="${urlOf(style)}">`),
        library.head ?? '',
        `<link rel="modulepreload" href="${urlOf(keyBar)}">`,
        ...(isOwnScriptFirst ? scripts : scripts.toReversed()),
      ].join('\n'),
    };
  });
  return {
    serveFiles: (app: FastifyInstance) => serveAssets(app, `/${folder}`, async () => (await files()).assets),
    sender(hasGraphiql: boolean): Send {
      const page = loadLate(async () => {
        const { head } = await files();
        return createPage(`${head}\n</head>\n<body>\n${barHtml(path, hasGraphiql)}\n${body}\n</body>\n</html>\n`);
      });
      return async (request, reply) => (await page())(request, reply.header('content-security-policy', policy));
    },
  };
}

function barHtml(current: string, hasGraphiql: boolean): string {
  const links = [
    ...(hasGraphiql ? [['graphql', 'GraphiQL']] : []),
    ['reference', 'REST reference'],
    ['documentation/README.md', 'Documentation'],
  ].map(([href, name]) => `<a href="${href}"${href === current ? ' aria-current="page"' : ''}>${name}</a>`);
  return `<header id="bar">
<nav aria-label="Yardgraph">
<a href="./">Yardgraph</a>
${links.join('\n')}
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
}
