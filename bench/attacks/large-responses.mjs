/** Attacks that read large amounts of stored data. Clients may read as often as they like. */
import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { create } from './client.mjs';
import { idOf, numberOf, series } from './database.mjs';

const now = '2026-01-02T03:04:05.000Z';
/** The number of records of each kind, and the IDs of the projects, which `idOf` gives them. */
const recordCount = 1_000;
const projectIds = Array.from(
  { length: recordCount },
  (_, n) => `project_00000000${100_000_000_000_000_001n + BigInt(n)}`,
);

/** Stores 1,000 assets and projects with the largest accepted external IDs, and a work order per project. */
export async function fillExternalIds({ database, serve, note }) {
  await serve(async (port) => {
    const { id, size } = await createLargest(port, database.key);
    note(`external ids of ${size.toLocaleString('en-US')} characters in each record`);
    await database.direct(async ({ query }) => {
      await query('begin');
      for (const [table, prefix] of [
        ['projects', 'project'],
        ['assets', 'asset'],
      ]) {
        for (let n = 1; n <= recordCount; n += 1) {
          await query(`insert into ${table} (workspace_id, id, name, external_ids, created_at, updated_at)
            select workspace_id, ${idOf(prefix, n)}, name, external_ids, created_at, updated_at
              from assets where workspace_id = ${numberOf('acme')} and id = '${id}'`);
        }
      }
      await query('commit');
    });
    await create(
      port,
      database.key,
      '/work-orders',
      projectIds.map((projectId) => ({ projectId })),
    );
  });
}

/** Creates an asset with the longest external IDs. */
async function createLargest(port, key) {
  const entries = Array.from({ length: 100 }, (_, n) => [String(n).padStart(500, 'k'), 'v'.repeat(500)]);
  const [{ id }] = await create(port, key, '/assets', [{ name: 'Pump', externalIds: Object.fromEntries(entries) }]);
  return { id, size: 100_000 };
}

const pageOfExternalIds = (name, query, variables) => ({
  name: `external ids ${name}`,
  fill: fillExternalIds,
  run: ({ send }) => send('POST', '/graphql', JSON.stringify({ query, variables })),
});

/** As long as a response may be, without a page that is too long. */
export const longest = JSON.stringify({ query: '{ assets(first: 490) { nodes { externalIds } } }' });

/** Requests the longest responses on connections of their own, and reads nothing for ten seconds. */
async function leaveUnread({ port, key, signal, count }) {
  const head = `POST /graphql HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\n`;
  const sockets = Array.from({ length: 100 }, () => {
    const socket = connect({ host: '127.0.0.1', port, signal });
    socket.on('error', () => {});
    socket.pause();
    socket.write(`${head}content-length: ${longest.length}\r\n\r\n${longest}`);
    return socket;
  });
  await setTimeout(10_000, undefined, { signal });
  for (const socket of sockets) {
    count('left unread');
    socket.destroy();
  }
}

const longResponses = [
  {
    name: 'the longest responses, a hundred at a time',
    run: ({ send }) => Promise.all(Array.from({ length: 100 }, () => send('POST', '/graphql', longest))),
  },
  { name: 'the longest responses, a hundred left unread', run: leaveUnread },
].map((attack) => ({ ...attack, fill: fillExternalIds }));

/** Fills the list of categories with rows of equal length. */
const fillCategories =
  (rows, descriptionLength) =>
  async ({ database }) => {
    const description = 'd'.repeat(descriptionLength);
    await database.direct(({ query }) =>
      query(`insert into asset_categories (workspace_id, id, name, description, created_at, updated_at)
      ${series(rows)} select ${numberOf('acme')}, ${idOf('category')}, 'Pumps', '${description}', '${now}', '${now}' from series`),
    );
    const id = `category_${'0'.repeat(26)}`;
    const row = JSON.stringify({ id, name: 'Pumps', description, createdAt: now, updatedAt: now, workspaceId: 'acme' });
    return { rows, bytes: rows * (row.length + 1) + 1 };
  };

/** Reads the whole list, and reports a response that is not complete. */
async function readList({ send, filled, problem }) {
  const { status, ids, bytes, start, end } = await send('GET', '/asset-categories');
  if (status !== '200') return;
  const isComplete = ids === filled.rows && bytes === filled.bytes && start.startsWith('[{"') && end === '}]';
  if (!isComplete) problem(`a list of ${ids} rows and ${bytes} bytes instead of ${filled.rows} and ${filled.bytes}`);
}

/** Reads 64 KB per second for ten seconds, and then disconnects. */
async function readSlowly({ port, key, signal, count }) {
  const socket = connect({ host: '127.0.0.1', port, readableHighWaterMark: 65_536, signal });
  socket.on('error', () => {});
  socket.write(`GET /asset-categories HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${key}\r\n\r\n`);
  socket.pause();
  let bytes = 0;
  for (let second = 0; second < 10; second += 1) {
    await setTimeout(1_000, undefined, { signal });
    bytes += (socket.read(65_536) ?? socket.read())?.length ?? 0;
  }
  socket.destroy();
  count(`disconnected after ${Math.round(bytes / 1_024)} KB`);
  await setTimeout(1_000, undefined, { signal });
}

const lists = (name, fill) => [
  { name: `${name}, once`, fill, run: readList },
  {
    name: `${name}, eight at a time`,
    fill,
    run: (attack) => Promise.all(Array.from({ length: 8 }, () => readList(attack))),
  },
  { name: `${name}, read slowly`, fill, run: readSlowly },
];

export const largeResponses = [
  pageOfExternalIds('of a page', '{ assets(first: 1000) { nodes { externalIds } } }'),
  pageOfExternalIds('of linked records', '{ workOrders(first: 1000) { nodes { project { externalIds } } } }'),
  pageOfExternalIds('of nodes', 'query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Project { externalIds } } }', {
    ids: projectIds,
  }),
  ...longResponses,
  ...lists('500,000 short rows', fillCategories(500_000, 20)),
  ...lists('55,000 long rows', fillCategories(55_000, 9_800)),
];
