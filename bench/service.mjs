/** The measured service: its databases, its processes, what the benchmarks store in it, and the load on it. */
import { fileURLToPath } from 'node:url';
import { freePort, runModule, startServer } from './processes.mjs';
import { location, project, workOrder } from './records.mjs';

/** This folder of the project. Others can be compared with it, if they are built. */
export const here = fileURLToPath(new URL('..', import.meta.url));

const cli = (folder) => `${folder.replace(/\/$/, '')}/dist/src/cli.js`;

/** Creates the service's tables in a database, and two keys. */
export async function prepareDatabase(url, folder = here) {
  const createKey = async (workspace) => {
    const args = ['keys', 'create', '--workspace', workspace, '--user', 'bench'];
    const printed = await runModule(cli(folder), args, { DATABASE_URL: url });
    return /yardgraph_\S+/.exec(printed)?.[0];
  };
  return { url, key: await createKey('acme'), otherKey: await createKey('other') };
}

export async function startService({ url, key, otherKey }, folder = here) {
  const settings = { DATABASE_URL: url, PORT: String(await freePort()) };
  return { ...(await startServer(cli(folder), ['serve'], settings)), key, otherKey };
}

/** Creates records in batches, and returns their IDs. */
export async function create(server, path, total, newRecord) {
  const ids = [];
  while (ids.length < total) {
    const size = Math.min(10_000, total - ids.length);
    const batch = Array.from({ length: size }, (_, n) => newRecord(ids.length + n));
    const records = await post(server, path, batch);
    ids.push(...records.map(({ id }) => id));
  }
  return ids;
}

/** Creates work orders with what they link to: as many locations as projects. */
export async function createWorkOrders(server, orders, linked) {
  const locations = await create(server, '/locations', linked, location);
  const projects = await create(server, '/projects', linked, (n) => project(n, locations));
  await create(server, '/work-orders', orders, (n) => workOrder(n, projects, locations));
}

export async function count(server, list) {
  const { data } = await post(server, '/graphql', { query: `{ ${list} { totalCount } }` });
  return data[list].totalCount;
}

/**
 * The cursors before about a hundred pages of a hundred records: the first page, the last, and some in between. `everywhere`, a page
 * after each record instead, in an order in which neighbours are far apart.
 */
export async function pageCursors(server, { list, type, everywhere = false }) {
  const query = `query ($after: ${type}) { list: ${list}(first: 1000, after: $after) { edges { cursor } } }`;
  const cursors = [];
  for (let size = 1_000; size === 1_000; ) {
    const { data } = await post(server, '/graphql', { query, variables: { after: cursors.at(-1) } });
    cursors.push(...data.list.edges.map(({ cursor }) => cursor));
    size = data.list.edges.length;
  }
  if (everywhere) {
    const complete = cursors.length - 100;
    return Array.from({ length: complete }, (_, n) => cursors[(n * 7_919) % complete]);
  }
  const pages = Math.floor(cursors.length / 100);
  const step = Math.max(1, Math.floor(pages / 100));
  const between = Array.from({ length: Math.ceil(pages / step) }, (_, n) => n * step).filter(
    (n) => 0 < n && n < pages - 1,
  );
  const last = pages > 1 ? [pages - 1] : [];
  return [null, ...[...between, ...last].map((page) => cursors[page * 100 - 1])];
}

export async function post({ url, key }, path, body) {
  const headers = { 'content-type': 'application/json', ...(key && { authorization: `Bearer ${key}` }) };
  const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  const text = await response.text();
  const { errors } = response.ok ? JSON.parse(text) : {};
  if (!response.ok || errors) throw new Error(`${path}: ${response.status} ${text.slice(0, 1_000)}`);
  return JSON.parse(text);
}

/** Runs load on a server for some seconds, and returns its figures; see load.mjs. */
export async function runLoad({ url, key }, load) {
  return JSON.parse(await runModule('load.mjs', [], {}, JSON.stringify({ url, key, ...load })));
}

/**
 * Warms the server up, and then returns the figures of the load, with the CPU that the server needed for each response, and that
 * `postgres` needed, if there is one.
 */
export async function measure(server, load, postgres) {
  await runLoad(server, { ...load, seconds: load.seconds / 2 });
  return measureWarm(server, load, postgres);
}

export async function measureWarm(server, load, postgres) {
  await server.cost();
  const before = postgres?.cpuSeconds();
  const figures = await runLoad(server, load);
  const databaseCpu = postgres?.cpuSeconds() - before;
  const { cpuSeconds, peakBytes } = await server.cost();
  return {
    ...figures,
    cpuMicroseconds: (cpuSeconds * 1e6) / figures.responses,
    databaseCpuMicroseconds: (databaseCpu * 1e6) / figures.responses,
    peakMegabytes: peakBytes / 1e6,
  };
}
