/** The process: its start, its output and its end. Runs the compiled service, as a user does. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { version } from '../../package.json';
import { createDatabase } from '../support/database.ts';
import { post, useProcesses } from '../support/process.ts';

const processes = useProcesses();
let database: Awaited<ReturnType<typeof createDatabase>>;

beforeEach(async () => {
  database = await createDatabase();
});

afterEach(() => database.remove());

const run = (settings: Record<string, string> = {}, command = 'serve') =>
  processes.start({ DATABASE_URL: database.url, ...settings }, command);

const largeBatch = Array.from({ length: 10_000 }, (_, index) => ({ name: `location ${index}` }));

/** Posts in two steps: when the service has the headers, `between` runs, and only then the body is sent. */
async function postAround(url: string, body: unknown, between: () => void) {
  const payload = JSON.stringify(body);
  const length = Buffer.byteLength(payload);
  const headers = { 'content-type': 'application/json', 'content-length': length, expect: '100-continue' };
  const sent = request(url, { method: 'POST', headers });
  sent.flushHeaders();
  await once(sent, 'continue');
  between();
  sent.end(payload);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: response.statusCode, body: await json(response) };
}

describe('a start', () => {
  test('says in one line of JSON where it is, where its data are, and that it is open', async () => {
    const service = run({ LOG_LEVEL: 'silent' });
    const address = await service.ready();

    expect(JSON.parse(service.said.out)).toMatchObject({
      level: 40,
      msg: 'started, open to everybody on this machine until there is an API key',
      version,
      address,
      location: database.url.replace(/sqlite:|\w+:\w+@/, ''),
      isOpen: true,
      pid: service.child.pid,
    });
    expect((await fetch(`${address}/readyz`)).status).toBe(200);
  });

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

  test('and its end are one line each, with the version and the address, and with the signal', async () => {
    const service = run({ LOG_LEVEL: 'info' });
    const address = await service.ready();
    service.child.kill('SIGINT');
    await service.exited;

    const lines = [service.said.out, ...service.said.err.trim().split('\n')].map((line) => JSON.parse(line));
    const kind = database.url.startsWith('sqlite') ? 'SQLite' : 'Postgres';
    const { pid } = service.child;
    expect(lines.filter(({ version }) => version)).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      ...{ version, node: process.version, database: kind, address, pid },
    });
    expect(lines.at(-1)).toMatchObject({ msg: 'stopped', signal: 'SIGINT', uptimeSeconds: expect.any(Number), pid });
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

  test('finds what an earlier one stored', async () => {
    const first = run();
    const [created] = await (await post(`${await first.ready()}/projects`, [{ name: 'Bridge' }])).json();
    first.child.kill('SIGKILL');
    await first.exited;

    const second = run();
    const query = { query: `{ project(id: "${created.id}") { name } }` };
    const { data } = await (await post(`${await second.ready()}/graphql`, query)).json();

    expect(data.project.name).toBe('Bridge');
  });

  test('accepts the greatest HEADER_TIMEOUT, even if REQUEST_TIMEOUT is less', async () => {
    const address = await run({ HEADER_TIMEOUT: '3600000' }).ready();

    expect((await fetch(`${address}/healthz`)).status).toBe(200);
  });
});

describe.each(['SIGTERM', 'SIGINT'] as const)('%s', (signal) => {
  test('finishes what is in flight, closes the database and ends with 0', async () => {
    const service = run();
    const address = await service.ready();

    const response = await postAround(`${address}/locations`, largeBatch, () => service.child.kill(signal));

    expect(response.status).toBe(201);
    expect(response.body).toHaveLength(largeBatch.length);
    expect(await service.exited).toBe(0);
  });
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

  test('does not wait for clients that keep sending, and loses nothing it has acknowledged', async () => {
    const service = run();
    const address = await service.ready();
    let acknowledged = 0;
    let failed = 0;
    const client = async () => {
      for (;;) {
        const response = await post(
          `${address}/locations`,
          Array.from({ length: 100 }, () => ({})),
        ).catch(() => undefined);
        if (!response) return;
        const created = await response.json().catch(() => undefined);
        if (response.status === 201 && created) acknowledged += created.length;
        else failed += 1;
      }
    };
    const clients = Array.from({ length: 4 }, client);
    await new Promise((resolve) => setTimeout(resolve, 500));

    // Otherwise this would never end.
    service.child.kill('SIGTERM');
    expect(await service.exited).toBe(0);
    await Promise.all(clients);

    const again = run();
    const query = { query: '{ locations { totalCount } }' };
    const { data } = await (await post(`${await again.ready()}/graphql`, query)).json();
    expect([data.locations.totalCount, failed]).toEqual([acknowledged, 0]);
    expect(acknowledged).toBeGreaterThan(0);
  });

  test('does not wait for connections without a complete request', async () => {
    const service = run({ HEADER_TIMEOUT: '300000', REQUEST_TIMEOUT: '300000' });
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

describe('the demo', () => {
  const counts = async (address: string) => {
    const kinds = ['assets', 'assetCategories', 'locations', 'projects', 'workOrders', 'transportOrders'];
    const query = `{ ${kinds.map((kind) => `${kind} { totalCount }`).join(' ')} }`;
    const { data } = await (await post(`${address}/graphql`, { query })).json();
    return kinds.map((kind) => data[kind].totalCount as number);
  };

  test('is filled once, with some hundred records of all six kinds', async () => {
    const first = run({}, 'demo');
    const filled = await counts(await first.ready());
    first.child.kill('SIGTERM');
    await first.exited;
    const second = run({}, 'demo');

    expect(await counts(await second.ready())).toEqual(filled);
    expect(Math.min(...filled)).toBeGreaterThan(10);
    expect(filled.reduce((sum, count) => sum + count)).toBeGreaterThan(100);
  });

  test('is filled once also when two start at once', async () => {
    const both = [run({}, 'demo'), run({}, 'demo')];
    const [one, other] = await Promise.all(both.map(async ({ ready }) => counts(await ready())));

    expect(one).toEqual(other);
    expect(one?.[2]).toBe(14);
  });

  test('links everything it can', async () => {
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
});
