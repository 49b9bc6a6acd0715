/**
 * The service's package: what is packed is what runs, and everything that is installed with it runs on every version of Node that
 * the service runs on. That npm installs it without a warning, `.ci/run` tests with a registry.
 */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

interface LockedPackage {
  readonly dev?: boolean;
  readonly link?: boolean;
  readonly engines?: { readonly node?: string };
  readonly deprecated?: string;
}

const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8'));

/** The packages that `npm install` of the service's package brings, according to the lock file. */
const installed = Object.entries<LockedPackage>(readJson('package-lock.json').packages).filter(
  ([path, { dev }]) => path.startsWith('node_modules/') && !path.startsWith('node_modules/@yardgraph/') && !dev,
);

const { satisfies } = createRequire(resolve('node_modules/fastify/package.json'))('semver');

test('what is packed is what runs, and no more', async () => {
  const { stdout } = await promisify(execFile)('npm', ['pack', '--ignore-scripts', '--dry-run', '--json']);
  const [{ files }] = JSON.parse(stdout);
  const packed: string[] = files.map(({ path }: { path: string }) => path);
  const folders = new Set(packed.map((path) => path.split('/').slice(0, 2).join('/')));

  expect([...folders].toSorted()).toEqual([
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'client/README.md',
    // The client, for the commands that use a running service.
    'dist/client',
    'dist/knexfile.js',
    'dist/migrations',
    'dist/package.json',
    'dist/src',
    ...readdirSync('docs').map((name) => `docs/${name}`),
    'package.json',
    'schema.graphql',
  ]);
  expect(packed).toContain('dist/src/cli.js');
  const sourcesOf = (path: string) => [path, path.replace(/\.js$/, '.ts')].map((name) => name.replace(/^dist\//, ''));
  const built = packed.filter((path) => path.startsWith('dist/'));
  expect(built.filter((path) => !sourcesOf(path).some((source) => existsSync(source)))).toEqual([]);
});

test('the files that browsers get are packed', () => {
  const files = readdirSync('src/pages/browser').filter((name) => name !== 'tsconfig.json');
  expect(files.length).toBeGreaterThan(4);
  expect(readdirSync('dist/src/pages/browser').toSorted()).toEqual(files.toSorted());
  const licenses = readFileSync('dist/src/explorer/dist/LICENSES.txt', 'utf8');
  for (const library of ['lit-html', 'maplibre-gl', 'world-atlas']) expect(licenses).toContain(library);
  expect(licenses).toContain('Redistribution and use in source and binary forms');
});

test.each(['20.19.0', '22.22.0', '24.11.0', '26.0.0'])('every package it installs runs on Node %s', (node) => {
  const tooNew = installed.filter(([, { engines }]) => engines?.node && !satisfies(node, engines.node));
  expect(tooNew.map(([path, { engines }]) => `${path} requires Node ${engines?.node}`)).toEqual([]);
});

test('the package installs none that is deprecated', () => {
  expect(installed.length).toBeGreaterThan(100);
  expect(installed.filter(([, { deprecated }]) => deprecated).map(([path]) => path)).toEqual([]);
});

/**
 * Newer versions of these require a newer Node, and packages that the service uses would accept them. They are pinned as
 * dependencies of the service, because npm applies `overrides` in this repository only.
 */
const pinned = [
  '@fastify/static',
  '@graphql-tools/executor',
  '@graphql-tools/merge',
  '@graphql-tools/schema',
  '@graphql-tools/utils',
  'light-my-request',
];

test('npm installs them elsewhere in the versions of the lock file', () => {
  const { packages } = readJson('package-lock.json');
  const locked = pinned.map((name) => [name, packages[`node_modules/${name}`].version]);
  expect(readJson('package.json').dependencies).toMatchObject(Object.fromEntries(locked));
});
