/** Imports follow the layers and never point back: the architecture, checked by the import lines. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';

/** What each folder or file of src may import, besides its own. */
const mayImport: Record<string, string[]> = {
  model: [],
  records: ['model'],
  errors: ['model'],
  metrics: [],
  store: ['model', 'errors', 'metrics', 'program', '../migrations'],
  program: [],
  services: ['model', 'records', 'store', 'errors'],
  config: ['model', 'store', 'errors'],
  auth: ['model', 'services', 'store', 'config', 'errors', 'http', 'program'],
  http: ['model', 'config', 'errors', 'logs', 'metrics'],
  rest: ['model', 'records', 'services', 'store', 'config', 'errors', 'http'],
  graphql: ['model', 'records', 'services', 'store', 'config', 'errors', 'http', 'metrics'],
  logs: [],
  export: ['config', 'errors', 'http', 'model', 'records', 'store'],
  pages: ['config', 'errors', 'http', 'program', '../package.json'],
  // Browser code, a client of the service: what it imports besides runs wherever a client does.
  explorer: ['client', 'import', 'model', 'records'],
  app: ['auth', 'config', 'export', 'graphql', 'http', 'logs', 'pages', 'rest', 'store', '../package.json'],
  serve: ['app', 'config', 'errors', 'logs', 'serve-metrics', 'store', 'program', '../package.json'],
  'serve-metrics': ['config', 'errors', 'metrics', 'store'],
  // A client of a running service.
  import: ['client', 'errors', 'model', 'records'],
  commands: ['auth', 'client', 'config', 'errors', 'import', 'model', 'records', 'store', 'program'],
  'command-line': ['commands', 'config', 'demo', 'errors', 'serve', 'store', '../package.json'],
  cli: ['command-line'],
  demo: ['auth', 'errors', 'import', 'model', 'records', 'services', 'store'],
  // It is sent to other machines and to browsers: nothing of the service goes with it, and the service does without it.
  client: [],
  // They are frozen: what they do must not depend on code that changes. Of the model, the key of a text never does.
  '../migrations': ['model'],
};

const layerOf = (path: string): string => {
  const [folder = '', inside = ''] = path.split('/');
  return (folder === 'src' ? inside : folder === 'client' ? folder : `../${folder}`).replace(/\.[jt]s$/, '');
};

const files = ['src', 'client', 'migrations']
  .flatMap((folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path)))
  .filter((path) => /\.ts$|^src\/pages\/browser\/.*\.js$/.test(path) && !path.startsWith('client/dist/'));

const imports = files.flatMap((file) =>
  [
    ...readFileSync(file, 'utf8').matchAll(
      /(?:^(?:import|export)[^;]*?from |^import |\bimport\(\s*)['`](\.[^'`]+)['`]/gms,
    ),
  ].map(([, path = '']) => ({
    file,
    path,
    from: layerOf(file),
    to: layerOf(normalize(join(dirname(file), path))),
  })),
);

test('every layer imports only what is below it', () => {
  expect(imports.length).toBeGreaterThan(100);
  const wrong = imports.filter(({ from, to }) => from !== to && !mayImport[from]?.includes(to));
  expect(wrong.map(({ file, path }) => `${file} imports ${path}`)).toEqual([]);
});

test('no file imports itself through others, not even its types', () => {
  const importedBy = new Map<string, string[]>();
  for (const { file, path } of imports) {
    importedBy.set(file, [...(importedBy.get(file) ?? []), normalize(join(dirname(file), path))]);
  }
  const done = new Set<string>();
  const circles: string[] = [];
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' -> '));
    if (done.has(file) || path.includes(file)) return;
    for (const imported of importedBy.get(file) ?? []) visit(imported, [...path, file]);
    done.add(file);
  };
  for (const file of files) visit(file, []);

  expect(circles).toEqual([]);
});

test('the store is used through its front door', () => {
  const door =
    /^src\/store\/(?:workspace-store|database|database-settings|log|query\/record-query|writes\/tx|admin\/.*)\.ts$/;
  const behind = imports
    .filter(({ from, to }) => from !== 'store' && to === 'store')
    .filter(({ file, path }) => !door.test(normalize(join(dirname(file), path))));

  expect(behind.map(({ file, path }) => `${file} imports ${path}`)).toEqual([]);
});

test('only the store knows Knex, and only the adapters know HTTP and GraphQL', () => {
  const users = (library: string) =>
    files.filter((file) => new RegExp(`from '${library}[/']`).test(readFileSync(file, 'utf8'))).map(layerOf);

  expect(new Set(users('knex'))).toEqual(new Set(['store', '../migrations']));
  expect(new Set(users('graphql'))).toEqual(new Set(['graphql']));
  expect(new Set(users('fastify'))).toEqual(
    new Set(['app', 'auth', 'export', 'graphql', 'http', 'pages', 'rest', 'serve', 'serve-metrics']),
  );
});

test('the client is its own files and nothing else: no packages, nothing of Node', () => {
  const specifiers = files
    .filter((file) => layerOf(file) === 'client')
    .flatMap((file) => [
      ...readFileSync(file, 'utf8').matchAll(/(?<!')\b(?:from|import|require)\b[ (]*['"]([^'"]+)['"]/g),
    ])
    .map(([, specifier]) => specifier);

  expect(specifiers.length).toBeGreaterThan(10);
  for (const specifier of specifiers) expect(specifier).toMatch(/^\.\.?\/(operations\/)?[\w-]+\.ts$/);
});

test('a store is bound to a workspace in one place', () => {
  const callers = files.filter((file) => /(?<!function )createStoreOpener\(/.test(readFileSync(file, 'utf8')));

  expect(callers.toSorted()).toEqual(['src/auth/authenticate.ts']);
});
