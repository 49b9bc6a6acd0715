/**
 * Executes the Containerfile without a container engine: its COPY and RUN steps in an empty folder that stands for the root of the image,
 * then what it starts, as its user and with its settings. Requires root, Node and npm. It does not test the base images, volumes, and what an
 * engine does. Two things differ: SQLite's driver is the one that is already compiled in node_modules, and the service listens on
 * loopback once it has been seen to refuse all other addresses without a key.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { argumentOf, environmentOf, stagesOf } from './containerfile.mjs';

const [build = [], image = []] = stagesOf(readFileSync('container/Containerfile', 'utf8'));
const root = mkdtempSync(join(tmpdir(), 'yardgraph-image-'));
chmodSync(root, 0o755);
// Debian has this one.
mkdirSync(join(root, 'opt'));

/** Puts the folders of the image below the root. @param {string} text */
const inRoot = (text) => text.replaceAll(/(?<![\w.])\/(?=(?:source|opt|data)\b)/g, `${root}/`);
const path = '/usr/local/bin:/usr/bin:/bin';

/** @param {string} command @param {string} cwd */
function run(command, cwd) {
  const start = performance.now();
  const isInstallation = command === 'npm ci';
  const env = { PATH: path, HOME: root, npm_config_cache: process.env.npm_config_cache ?? `${process.env.HOME}/.npm` };
  const offline = { npm_config_prefer_offline: 'true', ...(isInstallation && { npm_config_ignore_scripts: 'true' }) };
  execFileSync('/bin/sh', ['-ec', inRoot(command)], {
    cwd,
    env: { ...env, ...offline },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  if (isInstallation)
    cpSync('node_modules/sqlite3/build', join(cwd, 'node_modules/sqlite3/build'), { recursive: true });
  console.log(`${command} (${Math.round((performance.now() - start) / 100) / 10} s)`);
}

/** @param {string} argument @param {string} folder */
function copy(argument, folder) {
  // What another stage has made is below the root already.
  if (argument.startsWith('--from=')) {
    const [, from, to] = argument.split(' ');
    assert.equal(from, to);
    return assert.ok(existsSync(inRoot(String(from))));
  }
  const names = argument.split(' ');
  const target = names.pop() ?? '';
  // As committed: a checkout may have what a clone has not.
  const files = execFileSync('git', ['ls-files', '--', ...names], { encoding: 'utf8' })
    .trim()
    .split('\n');
  for (const name of names)
    assert.ok(
      files.some((file) => file === name || file.startsWith(`${name}/`)),
      `no ${name}`,
    );
  assert.ok(target === './' || names.length === 1);
  for (const file of files)
    cpSync(file, join(folder, target === './' ? basename(file) : file.replace(names[0] ?? '', target)));
}

/** @param {{ instruction: string, argument: string }[]} stage */
function execute(stage) {
  let folder = root;
  for (const { instruction, argument } of stage) {
    if (instruction === 'WORKDIR') {
      folder = inRoot(argument);
      mkdirSync(folder, { recursive: true });
    }
    if (instruction === 'COPY') copy(argument, folder);
    if (instruction === 'RUN') run(argument, folder);
  }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return String(typeof address === 'object' ? address?.port : undefined);
}

async function start() {
  const environment = environmentOf(image);
  assert.deepEqual([environment.HOST, argumentOf(image, 'EXPOSE')], ['0.0.0.0', environment.PORT]);
  const user = Number(argumentOf(image, 'USER'));
  assert.ok(user > 0);
  const env = {
    PATH: path,
    ...environment,
    PORT: await freePort(),
    DATABASE_URL: inRoot(environment.DATABASE_URL ?? ''),
  };
  const options = { cwd: inRoot(argumentOf(image, 'WORKDIR')), uid: user, gid: user, env };
  const [program = '', ...entry] = JSON.parse(inRoot(argumentOf(image, 'ENTRYPOINT')));
  const command = [...entry, ...JSON.parse(argumentOf(image, 'CMD'))];
  const [, check] = /^CMD (.*)$/.exec(argumentOf(image, 'HEALTHCHECK')) ?? [];
  const [checker = '', ...checks] = JSON.parse(check ?? '');
  const isHealthy = () => spawnSync(checker, checks, options).status === 0;

  const refused = spawnSync(program, command, { ...options, encoding: 'utf8', timeout: 20_000 });
  assert.equal(refused.status, 1);
  assert.match(refused.stderr, /without a key the service would be open to anyone who can reach 0\.0\.0\.0/);

  const made = spawnSync(program, [...entry, 'keys', 'create', '--workspace', 'acme', '--user', 'ci'], {
    ...options,
    encoding: 'utf8',
  });
  assert.equal(made.status, 0, made.stderr);
  assert.equal(isHealthy(), false);
  const service = spawn(program, command, {
    ...options,
    env: { ...env, HOST: '127.0.0.1', LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  try {
    for (let attempt = 0; !isHealthy(); attempt += 1) assert.ok(attempt < 50, 'the service does not become healthy');
    const locations = `http://127.0.0.1:${env.PORT}/locations`;
    const headers = { 'content-type': 'application/json' };
    const request = { method: 'POST', body: '[{"name":"North yard"}]' };
    assert.equal((await fetch(locations, { ...request, headers })).status, 401);
    const authorization = `Bearer ${made.stdout.trim()}`;
    assert.equal((await fetch(locations, { ...request, headers: { ...headers, authorization } })).status, 201);
    assert.equal((await fetch(`http://127.0.0.1:${env.PORT}/documentation/docs/install.md`)).status, 200);
  } finally {
    service.kill(/** @type {NodeJS.Signals} */ (argumentOf(image, 'STOPSIGNAL')));
  }
  assert.deepEqual(await once(service, 'close'), [0, null]);
}

try {
  execute(build);
  execute(image);
  await start();
  console.log('the Containerfile installs a service that starts, is healthy, and stops');
} finally {
  rmSync(root, { recursive: true });
}
