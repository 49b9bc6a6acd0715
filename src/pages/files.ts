/** Pages load nothing from other servers, not even for GraphiQL and Swagger UI. */
import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../config.ts';
import { notFound } from '../errors.ts';
import { createPage, loadOnce } from '../http/pages.ts';

/** The scripts and styles in a folder, and the countries of the map. */
function filesIn(path: string): Readonly<Record<string, () => Promise<string>>> {
  const folder = join(__dirname, path);
  const names = readdirSync(folder).filter((name) => /\.(css|js)$|^countries/.test(name));
  return Object.fromEntries(names.map((name) => [name, () => readFile(join(folder, name), 'utf8')]));
}

const graphiql = () => import('@graphql-yoga/render-graphiql/graphiql');

/** Swagger UI's official package reports its installations. This one has the same files, and does not. */
const swaggerUi = (name: string) => readFile(require.resolve(`@fastify/swagger-ui/static/${name}`), 'utf8');

/** No path of a request reaches the file system. */
const files = (): ReturnType<typeof filesIn> => ({
  ...filesIn('browser'),
  'tabs.json': async () => JSON.stringify(readTabs()),
  'yoga-graphiql.css': async () => (await graphiql()).css,
  'yoga-graphiql.js': async () => (await graphiql()).js,
  // The editor chooses the names of its workers.
  'editorWorkerService-worker.js': async () => (await graphiql()).editorWorkerService,
  'graphql-worker.js': async () => (await graphiql()).graphqlWorker,
  'json-worker.js': async () => (await graphiql()).jsonWorker,
  'swagger-ui.css': () => swaggerUi('swagger-ui.css'),
  'swagger-ui.js': () => swaggerUi('swagger-ui-bundle.js'),
});

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
};

/** Browsers keep a file, and ask each time whether it has changed. */
export function servePageFiles(app: FastifyInstance, { explorer }: Pick<Config, 'explorer'>): void {
  const loaders = new Map(
    Object.entries({ ...files(), ...(explorer && filesIn('../explorer/dist')) }).map(([name, load]) => [
      name,
      loadOnce(async () => createPage(await load(), types[extname(name)])),
    ]),
  );
  app.get<{ Params: { file: string } }>('/pages/:file', async (request, reply) => {
    const load = loaders.get(request.params.file);
    if (!load) throw notFound('there is nothing at this path', 'unknown path');
    const send = await load();
    return send(request, reply);
  });
}

/** Operations that run unchanged on any workspace. */
export function readTabs(): { query: string; variables: string }[] {
  const folder = join(__dirname, 'tabs');
  const names = readdirSync(folder).toSorted();
  const readTab = (name: string) => readFileSync(join(folder, name), 'utf8');
  return names.flatMap((name) => {
    if (!name.endsWith('.graphql')) return [];
    const variables = name.replace('.graphql', '.json');
    const json = names.includes(variables) ? JSON.stringify(JSON.parse(readTab(variables)), null, 2) : '';
    return [{ query: readTab(name), variables: json }];
  });
}
