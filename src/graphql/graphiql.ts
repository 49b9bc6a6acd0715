/** The GraphiQL page and its files: loaded for the first browser, and kept. It loads nothing from other servers. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fresh from 'fresh';
import { type Asset, byFileName, createAsset, serveAssets } from '../http/assets.ts';
import { addVary } from '../http/compression.ts';
import { contentSecurityPolicy } from '../http/page.ts';
import { loadLate } from '../load-late.ts';
import { graphiqlTabs } from './graphiql-tabs.ts';

/** The editor sets inline styles, and its own styles contain fonts. */
const policy = contentSecurityPolicy({
  scripts: "'self'",
  styles: "'self' 'unsafe-inline'",
  workers: "'self'",
  fonts: 'data:',
});

const page = loadLate(renderPage);

/** Serves the page's files. The page itself has the path of GraphQL. */
export function serveGraphiqlFiles(app: FastifyInstance): void {
  serveAssets(app, '/explorer', async () => (await page()).assets);
}

export async function sendGraphiql(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { html, etag } = await page();
  addVary(reply.headers({ etag, 'content-security-policy': policy }), 'Accept');
  if (fresh(request.headers, { etag })) return reply.code(304).send();
  return reply.type('text/html; charset=utf-8').send(html);
}

async function renderPage() {
  const { js, css, editorWorkerService, graphqlWorker, jsonWorker } = await import(
    '@graphql-yoga/render-graphiql/graphiql'
  );
  const script = createAsset('graphiql', 'js', js);
  const styles = createAsset('graphiql', 'css', css);
  const pageScript = createAsset('page', 'js', await readFile(join(__dirname, '../explorer/graphiql.js'), 'utf8'));
  const pageStyles = createAsset('page', 'css', ownStyles);
  /** By the editor's names for them. */
  const workers = {
    editorWorkerService: createAsset('editor-worker', 'js', editorWorkerService),
    graphql: createAsset('graphql-worker', 'js', graphqlWorker),
    json: createAsset('json-worker', 'js', jsonWorker),
  };
  const urls = Object.entries(workers).map(([name, { fileName }]) => [name, `explorer/${fileName}`]);
  const options = JSON.stringify({ tabs: graphiqlTabs, workers: Object.fromEntries(urls) }).replaceAll('<', '\\u003c');
  const html = pageHtml({ styles: [styles, pageStyles], script, pageScript, options });
  const assets = [script, styles, pageScript, pageStyles, ...Object.values(workers)];
  return {
    html,
    etag: `"${createHash('sha256').update(html).digest('base64url')}"`,
    assets: byFileName(assets),
  };
}

interface PageParts {
  readonly styles: readonly Asset[];
  readonly script: Asset;
  readonly pageScript: Asset;
  readonly options: string;
}

/** URLs are relative: a proxy may serve the service under a path of its own. */
const pageHtml = ({ styles, script, pageScript, options }: PageParts): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>GraphiQL – Yardgraph</title>
<link rel="icon" href="favicon.ico" type="image/svg+xml">
${styles.map(({ fileName }) => `<link rel="stylesheet" href="explorer/${fileName}">`).join('\n')}
<script id="options" type="application/json">${options}</script>
<script type="module" src="explorer/${pageScript.fileName}"></script>
<script defer src="explorer/${script.fileName}"></script>
</head>
<body>
<header id="bar">
<a href="./">Yardgraph</a>
<a href="reference">REST reference</a>
<span id="key-in-use"></span>
<button id="change" type="button" aria-label="Change key" hidden>Change</button>
<button id="forget" type="button" aria-label="Forget key" hidden>Forget</button>
</header>
<noscript>GraphiQL needs JavaScript.</noscript>
<main id="root"></main>
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
</dialog>
</body>
</html>
`;

/** Animations leave GraphiQL's tabs out of place, and the first press would move them away from under the pointer. */
const ownStyles = `
body { display: flex; flex-direction: column; height: 100dvh; margin: 0; color-scheme: light dark; background: light-dark(#fff, #1c2530); }
body.graphiql-dark { color-scheme: dark; }
body.graphiql-light { color-scheme: light; }
#root { flex: 1; min-height: 0; }
#root .graphiql-container { height: 100%; }
.graphiql-tab { transform: none !important; }
#bar, #login { font: 14px/1.5 system-ui, sans-serif; color: light-dark(#1b2733, #e3e9ef); background: light-dark(#fff, #1c2530); }
#bar { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 12px; padding: 6px 16px; border-bottom: 1px solid light-dark(#d5dce3, #3a4653); }
#bar a { color: light-dark(#0b5cad, #7db8f5); }
#key-in-use { margin-left: auto; overflow-wrap: anywhere; }
#bar button, #login button { font: inherit; padding: 2px 10px; cursor: pointer; }
#login { box-sizing: border-box; width: min(420px, 100vw - 32px); padding: 20px 24px; border: 1px solid light-dark(#b8c2cc, #4a5765); border-radius: 8px; }
#login::backdrop { background: rgb(0 0 0 / 40%); }
#login h1 { margin: 0 0 8px; font-size: 18px; }
#login p { margin: 0 0 12px; }
#login-message { color: light-dark(#a3210f, #ff9d8a); overflow-wrap: anywhere; }
#login-message:empty { display: none; }
#login label { display: block; font-weight: 600; }
#login input { box-sizing: border-box; width: 100%; margin: 4px 0 8px; padding: 6px 8px; font: inherit; }
#key-hint { color: light-dark(#4d5a66, #a9b5c1); }
#login button { padding: 5px 14px; }
`;
