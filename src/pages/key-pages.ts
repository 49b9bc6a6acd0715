/** URLs are relative, because a proxy may add a path. */
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../config.ts';
import { errorCode, notFound, StartError } from '../errors.ts';
import { addVary } from '../http/compression.ts';
import { contentSecurityPolicy, createPage, pageHead, type SendPage } from '../http/pages.ts';

const bar = `<header id="bar">
<a href="./">Yardgraph</a>
<a href="reference">REST reference</a>
<a href="documentation/README.md">Documentation</a>
<button id="change-key" type="button">API key</button>
</header>`;

const keyDialog = `<dialog id="key-dialog" class="floats pad" aria-labelledby="key-label" aria-describedby="key-reason">
<form method="dialog" class="field">
<p id="key-reason"></p>
<label id="key-label" for="key">API key</label>
<input id="key" type="password" autocomplete="off" required pattern="[ -~]+" title="An API key has only ASCII characters.">
<p>It is sent only to this service, and kept until you close this browser tab, unless you stay signed in.</p>
<p><label class="row"><input id="stay" type="checkbox"> Stay signed in on this computer, in all tabs</label></p>
<p class="row">
<button class="primary" value="use">Use this key</button>
<button value="forget" formnovalidate>Forget the key</button>
<button value="cancel" formnovalidate>Cancel</button>
</p>
</form>
</dialog>`;

interface KeyPage {
  readonly title: string;
  /** Names the files of a library started by `script`. */
  readonly library?: string;
  readonly script: string;
  /** Follows the bar, or stands in place of it, with the button that changes the key. */
  readonly body: string;
  readonly hasBar?: boolean;
  readonly settings?: Readonly<Record<string, string>>;
}

/** key.js comes first: a library's first request has the key. */
function createKeyPage({ title, library, script, body, hasBar = true, settings = {} }: KeyPage): SendPage {
  const data = Object.entries(settings).map(([name, value]) => ` data-${name}="${escaped(value)}"`);
  return createPage(`${pageHead(`${title} – Yardgraph`)}
<link rel="stylesheet" href="pages/${library ?? script}.css">
${hasBar ? '<link rel="stylesheet" href="pages/key-page.css">\n' : ''}<script type="module" src="pages/key.js"></script>
${library === undefined ? '' : `<script defer src="pages/${library}.js"></script>\n`}<script type="module" src="pages/${script}.js"></script>
</head>
<body${data.join('')}>
${hasBar ? bar : ''}
${keyDialog}
${body}
</body>
</html>
`);
}

const escaped = (text: string): string => text.replace(/[&"<>]/g, (character) => `&#${character.charCodeAt(0)};`);

const graphiql = createKeyPage({
  title: 'GraphiQL',
  library: 'yoga-graphiql',
  script: 'graphiql',
  body: '<main id="graphiql"><noscript>GraphiQL needs JavaScript.</noscript></main>',
});

/** The editor sets inline styles, and its own styles contain fonts. */
const graphiqlPolicy = contentSecurityPolicy(
  "script-src 'self'; worker-src 'self'; style-src 'self' 'unsafe-inline'; font-src data:",
);

export const sendGraphiql: SendPage = (request, reply) => {
  addVary(reply, 'Accept');
  return graphiql(request, reply.header('content-security-policy', graphiqlPolicy));
};

/** The explorer fills in the side bar, the search and the content. */
const explorerBody = `<nav id="side" class="nav side" popover aria-label="Yardgraph">
<a class="skip" href="#main">Skip to the content</a>
<button class="bare narrow" type="button" popovertarget="side">Close</button>
<button id="change-key" class="bare" type="button">API key</button>
</nav>
<div>
<header class="top">
<button class="bare narrow" type="button" popovertarget="side" aria-label="Menu">
<svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true"><path d="M1 3.5h14M1 8h14M1 12.5h14" stroke="currentColor" stroke-width="1.6"/></svg>
</button>
<div id="everywhere"></div>
<small id="live" class="end" role="status"></small>
</header>
<div id="message"></div>
<main id="main" tabindex="-1" autofocus aria-busy="true"><noscript>The explorer needs JavaScript.</noscript></main>
</div>`;

export function serveExplorer(
  app: FastifyInstance,
  { graphiql, mapTiles, limits }: Pick<Config, 'graphiql' | 'mapTiles' | 'limits'>,
): void {
  const { source = '', credit = '' } = mapTiles ?? {};
  const tileServer = /^https?:/.test(source) ? new URL(source).origin : undefined;
  const hasOwnTiles = mapTiles !== undefined && tileServer === undefined;
  if (hasOwnTiles) serveTiles(app, resolve(source));
  const policy = contentSecurityPolicy("script-src 'self'; style-src 'self'", tileServer && ` ${tileServer}`);
  const send = createKeyPage({
    title: 'Explorer',
    script: 'explorer',
    hasBar: false,
    body: explorerBody,
    settings: {
      graphiql: graphiql ? 'on' : 'off',
      'max-page-size': String(limits.maxPageSize),
      'map-tiles': hasOwnTiles ? tilesPath : source,
      'map-credit': credit,
    },
  });
  app.get('/explore', (request, reply) => {
    reply.header('content-security-policy', policy);
    // Public tile servers require a referrer.
    if (tileServer) reply.header('referrer-policy', 'origin');
    return send(request, reply);
  });
  app.get('/explore/', async (_request, reply) => reply.redirect('../explore', 308));
}

const tilesPath = 'pages/map.pmtiles';

/**
 * Browsers request ranges of the PMTiles file, which the operator may replace while the service runs: the ETag tells
 * them that their directories are outdated. They must not cache ranges: they would send If-Range, which the library
 * compares wrongly. Throws a StartError for another format.
 */
function serveTiles(app: FastifyInstance, path: string): void {
  requirePmtiles(path);
  void app.register(import('@fastify/static'), {
    serve: false,
    root: dirname(path),
    cacheControl: false,
    setHeaders: (reply, _path, { size, mtimeMs }) => {
      reply.headers({ 'cache-control': 'no-store', etag: `"${size}-${mtimeMs}"` });
    },
  });
  app.get(`/${tilesPath}`, (request, reply) => {
    // A suffix longer than the file means the whole file (RFC 9110, 14.1.2); the library would refuse it.
    const [, suffix] = /^ *bytes=-(\d+)$/.exec(request.headers.range ?? '') ?? [];
    const size = suffix === undefined ? undefined : statSync(path, { throwIfNoEntry: false })?.size;
    if (Number(suffix) > Number(size)) request.headers.range = 'bytes=0-';
    return reply.sendFile(basename(path));
  });
  // `rejectUnknownRoutes` has refused other unknown paths.
  app.setNotFoundHandler(() => {
    throw notFound('the file of the tiles is missing', 'no file of tiles');
  });
}

const pmtilesVersion3 = 'PMTiles\u0003';

function requirePmtiles(path: string): void {
  const begin = Buffer.alloc(pmtilesVersion3.length);
  try {
    // Opening a pipe would wait for its writer.
    if (!statSync(path).isFile()) throw new StartError(`MAP_TILES: ${path} is not a file`);
    const file = openSync(path, 'r');
    readSync(file, begin);
    closeSync(file);
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(`MAP_TILES: ${path} cannot be read (${errorCode(error)})`);
  }
  if (begin.toString() !== pmtilesVersion3)
    throw new StartError(`MAP_TILES: ${path} is not a PMTiles file of version 3`);
}

const reference = createKeyPage({
  title: 'REST reference',
  library: 'swagger-ui',
  script: 'reference',
  body: '<div id="reference"></div>',
});

const referencePolicy = contentSecurityPolicy("script-src 'self'; style-src 'self'");

export function serveReference(app: FastifyInstance): void {
  app.get('/reference', (request, reply) =>
    reference(request, reply.header('content-security-policy', referencePolicy)),
  );
  // Below this path, the page's relative URLs would be wrong.
  app.get('/reference/', async (_request, reply) => reply.redirect('../reference', 308));
}
