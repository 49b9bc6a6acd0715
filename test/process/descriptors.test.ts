/** Modules that are loaded late, while no file can be opened: requests get a 503 until the modules can be loaded. */
import { writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test } from 'vitest';
import { useProcesses } from '../support/process.ts';

const processes = useProcesses();
/** One connection, opened before there are no descriptors left. */
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

afterEach(() => agent.destroy());

/** Runs in the service: takes all descriptors, or frees them, as a header of a request says. */
const taker = `
const { closeSync, openSync } = require('node:fs');
const taken = [];
const take = () => { try { for (;;) taken.push(openSync('/dev/null')); } catch {} };
const free = (count) => { for (const descriptor of taken.splice(0, count)) closeSync(descriptor); };
require('node:diagnostics_channel').subscribe('http.server.request.start', ({ request }) => {
  if (request.headers['x-descriptors'] === 'none') take();
  if (request.headers['x-descriptors'] === 'free') free(taken.length);
});
if (process.env.CONNECTIONS) {
  const { Server } = require('node:net');
  const { listen } = Server.prototype;
  Server.prototype.listen = function (...options) {
    this.once('listening', () => { take(); free(Number(process.env.CONNECTIONS)); });
    return listen.apply(this, options);
  };
}`;

async function start(settings: Record<string, string> = {}): Promise<string> {
  const path = join(processes.folder, 'taker.cjs');
  writeFileSync(path, taker);
  const preloaded = { DATABASE_URL: 'sqlite::memory:', NODE_OPTIONS: `--require ${path}`, ...settings };
  return processes.startUnder({ descriptors: 200 }, preloaded).ready();
}

/** Status and body of a response, with these descriptors while the request is served. */
function send(url: string, descriptors: 'none' | 'free', body?: object, headers: Record<string, string> = {}) {
  return new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
    const sent = request(url, {
      agent,
      method: body ? 'POST' : 'GET',
      headers: { 'content-type': 'application/json', 'x-descriptors': descriptors, ...headers },
    });
    sent.once('error', reject);
    sent.once('response', async (response) => resolve({ status: response.statusCode, body: await text(response) }));
    sent.end(body && JSON.stringify(body));
  });
}

test('a repeated query gets the same response, whether or not it can be compiled; GraphiQL is 503 until it can be loaded', async () => {
  const url = `${await start()}/graphql`;
  const query = { query: '{ locations { totalCount } }' };
  const first = await send(url, 'free', query);

  const others = [];
  for (const descriptors of ['none', 'none', 'free', 'free', 'free'] as const) {
    others.push(await send(url, descriptors, query));
  }

  expect(first).toMatchObject({ status: 200, body: expect.stringContaining('{"data":{"locations":{"totalCount":0}}') });
  expect(others).toEqual(Array(5).fill(first));
  const page = { accept: 'text/html' };
  const pages = [await send(url, 'none', undefined, page), await send(url, 'free', undefined, page)];
  expect(pages.map(({ status }) => status)).toEqual([503, 200]);
  expect(pages[1]?.body.trimEnd()).toMatch(/<\/html>$/);
});

test('GraphQL is 503 while it cannot be loaded, and is there afterwards', async () => {
  const url = `${await start({ CONNECTIONS: '1' })}/graphql`;
  const query = { query: '{ locations { totalCount } }' };

  const responses = [await send(url, 'none', query), await send(url, 'none', query), await send(url, 'free', query)];

  expect(responses.map(({ status }) => status)).toEqual([503, 503, 200]);
});
