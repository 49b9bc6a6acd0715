/** The page on packages and containers, and the files that it is about. */
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { version } from '../../package.json';
import { loadConfig, settingNames } from '../../src/config.ts';
import { readPage } from '../support/docs.ts';

const page = readPage('docs/install.md');
const compose = (name: string) => parse(readFileSync(`container/${name}`, 'utf8'));
const service = compose('compose.yaml').services.yardgraph;
const onPostgres = compose('compose.postgres.yaml');
const [, build = '', image = ''] = readFileSync('container/Containerfile', 'utf8').split(/^FROM .*$/m);

const argumentsOf = (stage: string, instruction: string) =>
  [...stage.matchAll(new RegExp(`^${instruction} (.*)$`, 'gm'))].map(([, argument = '']) => argument);

const environment = Object.fromEntries(
  argumentsOf(image, 'ENV').flatMap((pairs) => pairs.split(' ').map((pair) => pair.split(/=(.*)/s, 2))),
);

test('the Containerfile copies what exists', () => {
  const sources = argumentsOf(build, 'COPY').flatMap((argument) => argument.split(' ').slice(0, -1));
  expect(sources).toContain('src');
  expect(sources.filter((source) => !existsSync(source))).toEqual([]);
});

test('the page installs the file that npm pack makes of this version', () => {
  const files = [...page.matchAll(/yardgraph-[\d.]+\.tgz/g)].map(([file]) => file);
  expect(files.length).toBeGreaterThan(1);
  expect(new Set(files)).toEqual(new Set([`yardgraph-${version}.tgz`]));
});

test('the image sets only settings that exist, and starts no service that is open to the network', () => {
  for (const name of Object.keys(environment)) expect(settingNames).toContain(name);
  expect(loadConfig(environment)).toMatchObject({ host: '0.0.0.0', openAccess: 'no', graphiql: false });
});

test('it runs as a user who is not root, and keeps its database in its volume', () => {
  expect(Number(argumentsOf(image, 'USER'))).toBeGreaterThan(0);
  expect(environment.DATABASE_URL).toBe(`sqlite:${argumentsOf(image, 'VOLUME')}/yardgraph.db`);
});

test('Compose builds it, keeps its volume, and gives it the time it needs to stop', () => {
  expect(service.build).toEqual({ context: '..', dockerfile: 'container/Containerfile' });
  expect(service.volumes).toEqual([`data:${argumentsOf(image, 'VOLUME')}`]);
  expect(Object.keys(compose('compose.yaml').volumes)).toEqual(['data']);
  expect(service.ports).toEqual([`127.0.0.1:${environment.PORT}:${argumentsOf(image, 'EXPOSE')}`]);
  // In flight, a request has 30 seconds.
  expect(Number.parseInt(service.stop_grace_period, 10)).toBeGreaterThan(30);
});

test('with Postgres, it gets the URL of that database, and waits for it', () => {
  const { yardgraph, postgres } = onPostgres.services;
  const url = new URL(yardgraph.environment.DATABASE_URL.replace(/\$\{POSTGRES_PASSWORD:[^}]*\}/, 'secret'));

  expect([url.protocol, url.hostname, url.port]).toEqual(['postgres:', 'postgres', '5432']);
  expect([url.username, url.pathname]).toEqual([
    postgres.environment.POSTGRES_USER,
    `/${postgres.environment.POSTGRES_DB}`,
  ]);
  expect(postgres.environment.POSTGRES_PASSWORD).toContain('${POSTGRES_PASSWORD:?');
  expect(yardgraph.depends_on).toEqual({ postgres: { condition: 'service_healthy' } });
  expect(Object.keys(onPostgres.volumes)).toEqual(['postgres']);
});
