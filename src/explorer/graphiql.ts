/** GraphiQL, at the path of GraphQL, and the operations in its tabs. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { addVary } from '../http/compression.ts';
import { contentSecurityPolicy, createAsset, type Send } from '../http/pages.ts';
import { keyPage } from './page-files.ts';

const page = keyPage({
  name: 'graphiql',
  title: 'GraphiQL',
  path: 'graphql',
  folder: 'explorer',
  // The editor sets inline styles, and its own styles contain fonts.
  policy: contentSecurityPolicy(
    "script-src 'self'; worker-src 'self'; style-src 'self' 'unsafe-inline'; font-src data:",
  ),
  load: loadGraphiql,
  isOwnScriptFirst: true,
  body: '<noscript>GraphiQL needs JavaScript.</noscript>\n<main id="root"></main>',
});

export const serveGraphiqlFiles = page.serveFiles;

const sendPage = page.sender(true);

export const sendGraphiql: Send = (request, reply) => {
  addVary(reply, 'Accept');
  return sendPage(request, reply);
};

/** The tabs that GraphiQL opens with: operations that run unchanged on any workspace, explained by their comments. */
export function readTabs(): { query: string; variables: string }[] {
  const folder = join(__dirname, 'tabs');
  const names = readdirSync(folder).toSorted();
  const contentOf = (name: string) => readFileSync(join(folder, name), 'utf8');
  return names.flatMap((name) => {
    if (!name.endsWith('.graphql')) return [];
    const variables = name.replace('.graphql', '.json');
    // As GraphiQL would format them.
    const json = names.includes(variables) ? JSON.stringify(JSON.parse(contentOf(variables)), null, 2) : '';
    return [{ query: contentOf(name), variables: json }];
  });
}

async function loadGraphiql() {
  const library = await import('@graphql-yoga/render-graphiql/graphiql');
  /** Keyed by the editor's names for them. */
  const workers = {
    editorWorkerService: createAsset('editor-worker', 'js', library.editorWorkerService),
    graphql: createAsset('graphql-worker', 'js', library.graphqlWorker),
    json: createAsset('json-worker', 'js', library.jsonWorker),
  };
  const urls = Object.entries(workers).map(([name, { fileName }]) => [name, `explorer/${fileName}`]);
  const options = JSON.stringify({ tabs: readTabs(), workers: Object.fromEntries(urls) }).replaceAll('<', '\\u003c');
  return {
    styles: createAsset('graphiql', 'css', library.css),
    script: createAsset('graphiql', 'js', library.js),
    others: Object.values(workers),
    head: `<script id="options" type="application/json">${options}</script>`,
  };
}
