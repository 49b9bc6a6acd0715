/** What the process says and takes at its start, logs, and finishes at its end, whatever its database. Runs the compiled service. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { version } from '../../package.json';
import { createDatabase } from '../support/database.ts';
import { largeBatch, post, postAround, useProcesses } from '../support/process.ts';

const processes = useProcesses();
let database: Awaited<ReturnType<typeof createDatabase>>;

beforeEach(async () => {
  database = await createDatabase();
});

afterEach(() => database.remove());

const run = (settings: Record<string, string> = {}, command = 'serve') =>
  processes.start({ DATABASE_URL: database.url, ...settings }, command);

describe('a start', () => {
  test('has its version and that of its schema in /healthz', async () => {
    const health = await (await fetch(`${await run().ready()}/healthz`)).json();

    expect(health).toMatchObject({ status: 'ok', version, schema: expect.stringMatching(/^\d{4}_\w+$/) });
    expect((await processes.start({}, '--version').ended()).out).toBe(`${version} (schema ${health.schema})`);
  });

  test('warns of variables that are called almost like a setting', async () => {
    const service = run({
      LOG_LEVEL: 'warn',
      RATELIMIT: '5',
      DATABASE_URI: 'x',
      MAX_BATCH_SIZE: '5',
      HOSTNAME: 'yard',
      PORTS: '1',
    });
    await service.ready();
    service.child.kill('SIGTERM');
    await service.exited;

    const warnings = service.said.err
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).msg);
    expect(warnings.toSorted()).toEqual([
      'DATABASE_URI is no setting, did you mean DATABASE_URL?',
      'MAX_BATCH_SIZE is no setting, did you mean MAX_BATCH?',
      'RATELIMIT is no setting, did you mean RATE_LIMIT?',
    ]);
  });

  test('logs probes only at the level debug, unless they fail', async () => {
    const lines = async (LOG_LEVEL: string) => {
      const service = run({ LOG_LEVEL });
      const address = await service.ready();
      for (const path of ['/healthz', '/readyz', '/nowhere']) await fetch(address + path);
      service.child.kill('SIGTERM');
      await service.exited;
      const logged = service.said.err
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      return logged.filter(({ msg }) => msg === 'request completed').map(({ route, status }) => [route, status]);
    };

    expect(await lines('info')).toEqual([[undefined, 404]]);
    expect(await lines('debug')).toEqual([
      ['/healthz', 200],
      ['/readyz', 200],
      [undefined, 404],
    ]);
  });

  test('takes --host and --port instead of HOST and PORT', async () => {
    const service = processes.start(
      { DATABASE_URL: database.url, HOST: 'localhost', PORT: '1' },
      ...['serve', '--host', '127.0.0.2', '--port', '0'],
    );

    expect(await service.ready()).toMatch(/^http:\/\/127\.0\.0\.2:\d+$/);
  });

  test('that ends by an unexpected error says so in the log', async () => {
    const preload = join(processes.folder, 'fail.cjs');
    writeFileSync(preload, "process.on('SIGUSR2', () => { throw new TypeError('not expected'); });");
    const service = run({ LOG_LEVEL: 'info', NODE_OPTIONS: `--require ${preload}` });
    await service.ready();
    service.child.kill('SIGUSR2');

    expect(await service.exited).toBe(1);
    const stopped = service.said.err.split('\n').find((line) => line.includes('"stopped"'));
    expect(JSON.parse(stopped ?? '{}')).toMatchObject({
      level: 60,
      error: 'TypeError',
      uptimeSeconds: expect.any(Number),
    });
  });
});

test('SIGINT finishes what is in flight, closes the database and ends with 0', async () => {
  const service = run();
  const address = await service.ready();

  const response = await postAround(`${address}/locations`, largeBatch, () => service.child.kill('SIGINT'));

  expect(response.status).toBe(201);
  expect(response.body).toHaveLength(largeBatch.length);
  expect(await service.exited).toBe(0);
});

describe('an end', () => {
  test('is not hastened by a second signal: npm passes on what the terminal has sent already', async () => {
    const service = run();
    const address = await service.ready();

    const response = await postAround(`${address}/locations`, largeBatch, () => {
      service.child.kill('SIGINT');
      service.child.kill('SIGINT');
    });

    expect(response.status).toBe(201);
    expect(await service.exited).toBe(0);
  });

  test('does not wait for connections without a complete request', async () => {
    const service = run({ REQUEST_TIMEOUT: '300000' });
    const { port } = new URL(await service.ready());
    const silent = connect(Number(port), '127.0.0.1');
    const stalled = connect(Number(port), '127.0.0.1');
    for (const socket of [silent, stalled]) socket.on('error', () => undefined);
    stalled.write('GET /healthz HTTP/1.1\r\nhost: loc');
    await Promise.all([once(silent, 'connect'), once(stalled, 'connect')]);

    service.child.kill('SIGTERM');

    expect(await service.exited).toBe(0);
  });

  test('waits for a client that reads its response slowly', async () => {
    const service = run();
    const { port } = new URL(await service.ready());
    const client = connect(Number(port), '127.0.0.1').setEncoding('utf8');
    const page = await fetch(`http://127.0.0.1:${port}/graphql`, { headers: { accept: 'text/html' } });
    const [file] = /explorer\/graphiql-[\w-]+\.js/.exec(await page.text()) ?? [];
    client.write(`GET /${file} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
    await once(client, 'readable');
    service.child.kill('SIGTERM');
    await new Promise((resolve) => setTimeout(resolve, 500));

    let received = '';
    for await (const chunk of client) received += chunk;

    const length = /content-length: (\d+)/.exec(received)?.[1];
    expect(Number(length)).toBeGreaterThan(5_000_000);
    expect(Buffer.byteLength(received.slice(received.indexOf('\r\n\r\n') + 4))).toBe(Number(length));
    expect(await service.exited).toBe(0);
  });
});

test('what is logged is one line a request, with its route and status, and nothing that was sent', async () => {
  const service = run({ LOG_LEVEL: 'info' });
  const address = await service.ready();

  await post(`${address}/assets`, [{ name: 'secret-name', startDate: 'secret-field' }]);
  await fetch(`${address}/graphql?query=${encodeURIComponent('{ node(id: "secret-id") { id } }')}`);
  service.child.kill('SIGTERM');
  await service.exited;

  const lines = service.said.err
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.filter(({ msg }) => msg === 'request completed')).toMatchObject([
    { method: 'POST', route: '/assets', status: 400 },
    { method: 'GET', route: '/graphql', status: 200 },
  ]);
  expect(service.said.err).not.toContain('secret');
});

test('the demo links everything it can', async () => {
  const address = await run({}, 'demo').ready();

  const query = `{
      assets(first: 1000) { nodes { currentLocation { id } } }
      workOrders(first: 1000) { nodes { project { location { id } } location { id } } }
      transportOrders(first: 1000) { nodes { project { id } } }
      assetCategories(first: 1000) { nodes { parentId parent { id } } }
    }`;
  const { data } = await (await post(`${address}/graphql`, { query })).json();

  for (const { currentLocation } of data.assets.nodes) expect(currentLocation).not.toBeNull();
  for (const { project, location } of data.workOrders.nodes) expect(project.location && location).not.toBeNull();
  for (const { project } of data.transportOrders.nodes) expect(project).not.toBeNull();
  for (const { parentId, parent } of data.assetCategories.nodes) expect(parent?.id).toBe(parentId ?? undefined);
});
