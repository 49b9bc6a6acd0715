/** Attacks with many simultaneous requests. */
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { create } from './client.mjs';
import { idOf, numberOf, series } from './database.mjs';
import { fillExternalIds, longest } from './large-responses.mjs';

const times = (count, work) => Promise.all(Array.from({ length: count }, (_, n) => work(n)));

const shuffled = (items) =>
  items
    .map((item) => [Math.random(), item])
    .toSorted(([a], [b]) => a - b)
    .map(([, item]) => item);

/** Sends batches with the same uids, of which only one may be stored. */
async function sendSameUids({ send, signal, problem }) {
  for (let round = 0; round < 5; round += 1) {
    const records = Array.from({ length: 300 }, (_, n) => ({ name: 'Pump', uid: `round ${round}, ${n}` }));
    const bodies = Array.from({ length: 64 }, () => JSON.stringify(shuffled(records)));
    const responses = await Promise.all(bodies.map((body) => send('POST', '/assets', body)));
    signal.throwIfAborted();
    const created = responses.filter(({ status }) => status === '201').length;
    if (created !== 1) problem(`${created} batches with the same uids created in round ${round + 1}`);
  }
}

/** A well-formed key that does not exist. */
const unknownKey = (n) =>
  `yardgraph_w${n % 3_000}_${randomBytes(4).toString('hex')}_${randomBytes(32).toString('base64url')}`;

const smallQuery = JSON.stringify({ query: '{ assets(first: 1) { nodes { id } } }' });
const smallBatch = JSON.stringify([{ name: 'Pump' }]);

const fillLinkedRecords = ({ database, serve }) =>
  serve(async (port) => {
    const [{ id: locationId }] = await create(port, database.key, '/locations', [{ name: 'Yard', city: 'Bremen' }]);
    const [{ id: projectId }] = await create(port, database.key, '/projects', [{ name: 'Harbour wall', locationId }]);
    const orders = Array.from({ length: 1_000 }, (_, n) => ({ name: `Order ${n}`, projectId, locationId }));
    await create(port, database.key, '/work-orders', orders);
  });

/** About 490 fields for each of 1,000 records; the cost limit is 500,000. */
const costlyPage = JSON.stringify({
  query: `{ workOrders(first: 1000) { nodes { ${Array.from(
    { length: 9 },
    (_, n) => `project${n}: project {
      id name reference startDate endDate notes statusId companyId locationId externalIds createdAt updatedAt
      location { id name latitude longitude address1 address2 city state postalCode country externalIds createdAt updatedAt }
      again: location { id name latitude longitude address1 city state postalCode country createdAt updatedAt }
    }`,
  ).join(' ')} } } }`,
});

/** A tree that is 20,000 deep. */
async function fillDeepTrees({ database }) {
  const now = "'2026-01-01T00:00:00.000Z'";
  await database.direct(({ query }) =>
    query(`insert into asset_categories (workspace_id, id, name, parent_id, created_at, updated_at)
      ${series(20_000)} select ${numberOf('acme')}, ${idOf('category')}, 'Level ' || n,
      case when n > 1 then ${idOf('category', '(n - 1)')} end, ${now}, ${now} from series`),
  );
}

/** Visits 200 million ancestors. */
const slowFilter = JSON.stringify({
  query: '{ assetCategories(where: { ancestors: { some: { name: { contains: "none" } } } }) { nodes { id } } }',
});

/** Everything at once for a minute: long responses, half of them unread, streams, large batches, and slow filters. */
async function spendWorstMinute({ send, port, key, count, signal }) {
  const batch = JSON.stringify(
    Array.from({ length: 1_000 }, (_, n) => ({ name: `Yard ${n}`, address1: 'x'.repeat(9_900) })),
  );
  const subscription = JSON.stringify({
    query: 'subscription { changes(after: "0") { changes { record { __typename } } } }',
  });
  const head = `POST /graphql HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\n`;
  const sockets = new Set();
  const leaveUnread = (body, accept) => {
    const socket = connect({ host: '127.0.0.1', port, signal });
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
    socket.pause();
    socket.write(`${head}accept: ${accept}\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    count('left unread');
  };
  const end = performance.now() + 60_000;
  const repeat = async (work) => {
    while (performance.now() < end && !signal.aborted) await work();
  };
  await Promise.all([
    ...Array.from({ length: 20 }, () => repeat(() => send('POST', '/graphql', longest))),
    ...Array.from({ length: 10 }, () => repeat(() => send('POST', '/locations', batch))),
    ...Array.from({ length: 10 }, () => repeat(() => send('POST', '/graphql', slowFilter))),
    ...Array.from({ length: 10 }, () => repeat(() => send('GET', '/asset-categories'))),
    repeat(async () => {
      leaveUnread(longest, 'application/json');
      leaveUnread(subscription, 'text/event-stream');
      await setTimeout(100);
    }),
  ]);
  for (const socket of sockets) socket.destroy();
}

export const floods = [
  {
    name: 'a query at the cost limit',
    fill: fillLinkedRecords,
    run: ({ send }) => send('POST', '/graphql', costlyPage),
  },
  { name: 'batches with the same uids', run: sendSameUids },
  {
    name: 'unknown keys',
    connections: 1_000,
    run: ({ send }) =>
      times(12_000, (n) =>
        n % 2 === 0
          ? send('POST', '/graphql', smallQuery, unknownKey(n))
          : send('POST', '/assets', smallBatch, unknownKey(n)),
      ),
  },
  {
    name: 'the worst minute of one client',
    timeout: 90_000,
    async fill(context) {
      await fillExternalIds(context);
      await fillDeepTrees(context);
    },
    run: spendWorstMinute,
  },
];
