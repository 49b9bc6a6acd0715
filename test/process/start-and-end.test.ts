/** What the process says and takes at its start, logs, and finishes at its end, whatever its database. */
import { once } from 'node:events';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { runCommand } from '../support/command.ts';
import { createFile } from '../support/database.ts';
import { eventReader } from '../support/event-stream.ts';
import { largeBatch, linesOf, post, postAround, useSharedProcesses } from '../support/process.ts';

const processes = useSharedProcesses();

test.concurrent('metrics have a port of their own, without a key, and only if it is set', async () => {
  const settings = { DATABASE_URL: 'sqlite::memory:', ALLOW_OPEN_ACCESS: 'loopback' };
  const [on, off] = [processes.start({ ...settings, METRICS_PORT: '0' }), processes.start(settings)];
  const service = await on.ready();
  await off.ready();
  const [, metrics = ''] = /"metrics":"(http:\/\/127\.0\.0\.1:\d+)"/.exec(on.said.out) ?? [];
  expect(off.said.out).not.toContain('"metrics"');

  const status = async (url: string) => (await fetch(url)).status;
  expect(await Promise.all([`${metrics}/metrics`, `${metrics}/assets`, `${service}/metrics`].map(status))).toEqual([
    200, 404, 404,
  ]);
  on.child.kill('SIGTERM');
  expect(await on.exited).toBe(0);
});

test.concurrent('a start takes options before settings, is open where a setting says so, warns of misspelt settings, and says if it ends by an unexpected error', async () => {
  const usual =
    `CI COLORTERM DATABASE_HOST DATABASE_NAME DATABASE_PORT DATABASE_USER DEBUG DISPLAY EDITOR HOSTNAME HOSTTYPE INIT_CWD
    INVOCATION_ID JOURNAL_STREAM KUBERNETES_PORT KUBERNETES_SERVICE_HOST LANG LC_ALL LISTEN_FDS LOGNAME LS_COLORS MACHTYPE MAIL
    NODE_PATH NODE_VERSION NO_COLOR NOTIFY_SOCKET NPM_CONFIG_CACHE OLDPWD OSTYPE PGHOST PGPORT POSTGRES_PORT PWD REDIS_HOST SHELL SHLVL
    SSH_CONNECTION TERM TEST TMPDIR TZ USER XDG_DATA_DIRS YARDGRAPH_API_KEY YARDGRAPH_URL`.split(/\s+/);
  const preload = join(processes.folder, 'fail.cjs');
  writeFileSync(preload, "process.on('SIGUSR2', () => { throw new TypeError('not expected'); });");
  const settings = {
    ...Object.fromEntries(usual.map((name) => [name, ''])),
    ...{ RATE_LIMITT: '600', MAX_BATCHES: '5' },
    SLOW_REQUEST: '86400000',
    ...{ DATABASE_URL: 'sqlite::memory:', HOST: '127.0.0.2', PORT: '1', LOG_LEVEL: 'debug' },
    ALLOW_OPEN_ACCESS: 'yes-anyone-who-can-reach-this-port',
    NODE_OPTIONS: `--require ${preload}`,
  };
  const service = processes.start(settings, 'serve', '--host', '0.0.0.0', '--port', '0');
  const address = await service.ready();
  const { port, hostname } = new URL(address);
  const headers = { host: 'yard.example' };
  const { status } = await fetch(`http://127.0.0.1:${port}/asset-categories`, { headers });
  service.child.kill('SIGUSR2');

  expect(await service.exited).toBe(1);
  expect([hostname, status]).toEqual(['127.0.0.1', 200]);
  expect(service.said.out).toContain('memory only');
  expect(service.said.out).toContain('OPEN TO ANYONE WHO CAN REACH THIS PORT');
  const lines = linesOf(service.said.err);
  expect(lines.filter(({ level }) => level === 40).map(({ msg }) => msg)).toEqual([
    'unknown setting RATE_LIMITT, did you mean RATE_LIMIT?',
    'unknown setting MAX_BATCHES, did you mean MAX_BATCH?',
  ]);
  expect(lines).toContainEqual(expect.objectContaining({ route: '/asset-categories', status: 200 }));
  expect(lines).toContainEqual(expect.objectContaining({ level: 60, msg: 'stopped', error: 'TypeError' }));
});

test.concurrent('an end by SIGINT, sent twice as npm does, finishes what is in flight and waits for slow readers, but for nobody else', async () => {
  const service = processes.start({
    DATABASE_URL: 'sqlite::memory:',
    MAX_EXTERNAL_IDS: '1000',
    REQUEST_TIMEOUT: '300000',
  });
  const address = await service.ready();
  const { port, hostname } = new URL(address);
  const open = async (request = '') => {
    const socket = connect(Number(port), hostname).setEncoding('utf8');
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    socket.write(request);
    return socket;
  };
  const stream = (query: string) =>
    `GET /graphql?${new URLSearchParams({ query })} HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n\r\n`;
  // Nobody sends a complete request on these.
  await open();
  await open('GET /healthz HTTP/1.1\r\nhost: loc');
  // One reads the feed, and one does not read what it has asked for: far more than the buffers of a connection hold.
  const following = await fetch(`${address}/graphql?query=subscription{changes{nodes{cursor}}}`, {
    headers: { accept: 'text/event-stream' },
  });
  if (!following.body) throw new Error('there is no body');
  const events = eventReader(following.body);
  const externalIds = Object.fromEntries(Array.from({ length: 380 }, (_, n) => [`system ${n}`, 'x'.repeat(500)]));
  for (let batch = 0; batch < 8; batch += 1)
    await post(`${address}/assets`, Array(12).fill({ name: 'Crane', externalIds }));
  expect((await events.next())?.id).toBe('12');
  const ignoring = await open(
    stream('subscription { changes(after: "0") { nodes { record { ... on Asset { externalIds } } } } }'),
  );
  for await (const chunk of ignoring.iterator({ destroyOnReturn: false })) if (chunk.includes('next')) break;
  ignoring.pause();
  const reading = await open(`GET /pages/yoga-graphiql.js HTTP/1.1\r\nhost: localhost\r\n\r\n`);
  await once(reading, 'readable');

  const large = await postAround(`${address}/locations`, largeBatch, () => {
    service.child.kill('SIGINT');
    service.child.kill('SIGINT');
  });
  const received = await text(reading);

  expect(large.status).toBe(201);
  expect(large.body).toHaveLength(largeBatch.length);
  const length = Number(/content-length: (\d+)/.exec(received)?.[1]);
  expect(length).toBeGreaterThan(5_000_000);
  expect(Buffer.byteLength(received.slice(received.indexOf('\r\n\r\n') + 4))).toBe(length);
  while (await events.next());
  expect(events.text()).not.toContain('complete');
  expect(await service.exited).toBe(0);
});

describe('without a key, on an address that others reach', () => {
  const create = ['keys', 'create', '--workspace', 'acme', '--user', 'erp-sync'];
  const refusal = (host: string) => ({
    ...{ code: 1, out: '' },
    err: expect.stringContaining(`without a key the service would be open to anyone who can reach ${host}`),
  });

  test('a start is refused, and is made once there is one, which alone is accepted', async () => {
    const { url, remove } = await createFile();
    const settings = { DATABASE_URL: url, HOST: '0.0.0.0', PORT: '0' };
    expect(await runCommand(settings, 'serve')).toEqual(refusal('0.0.0.0'));
    expect(await runCommand({ ...settings, HOST: '127.0.0.1', ALLOW_OPEN_ACCESS: 'no' }, 'serve')).toEqual(
      refusal('127.0.0.1'),
    );
    expect(await runCommand({ ...settings, ALLOW_OPEN_ACCESS: 'yes' }, 'serve')).toMatchObject({
      err: 'ALLOW_OPEN_ACCESS: expected one of loopback, no, yes-anyone-who-can-reach-this-port',
    });
    const { out: key } = await runCommand({ DATABASE_URL: url }, ...create);

    const service = processes.start(settings);
    const { port } = new URL(await service.ready());

    expect(JSON.parse(service.said.out)).toMatchObject({ level: 30, msg: 'started', isOpen: false });
    const statuses = ['wrong', key].map(async (authorization) => {
      return (await fetch(`http://127.0.0.1:${port}/asset-categories`, { headers: { authorization } })).status;
    });
    expect(await Promise.all(statuses)).toEqual([401, 200]);
    service.child.kill('SIGKILL');
    await service.exited;
    await remove();
  });

  test('a key is not created if it cannot be written to standard output', async () => {
    const { url, remove } = await createFile();
    await runCommand({ DATABASE_URL: url }, ...create);
    const list = async () => (await runCommand({ DATABASE_URL: url }, 'keys', 'list', '--json')).out;
    const before = await list();
    const full = openSync('/dev/full', 'w');

    const options = { streams: [full, 'pipe'] as const, command: create };
    const { code, err } = await processes.startUnder(options, { DATABASE_URL: url }).ended();
    expect([code, err.split('\n').at(-1)]).toEqual([
      1,
      'the key cannot be written to standard output: nothing was changed',
    ]);

    closeSync(full);
    expect(await list()).toBe(before);
    await remove();
  });
});
