/** Attacks with many simultaneous requests, each of which is harmless. */
import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { asset } from '../records.mjs';
import { create } from './client.mjs';
import { idOf, numberOf, series } from './database.mjs';

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

const fillProject = ({ database, serve }) =>
  serve(async (port) => {
    const [{ id }] = await create(port, database.key, '/projects', [{ name: 'Harbour wall' }]);
    return { id };
  });

const fillAssets = ({ database, serve }) =>
  serve(async (port) => {
    const assets = Array.from({ length: 1_000 }, (_, n) => asset(n, 'flood'));
    await create(port, database.key, '/assets', assets);
  });

const fullPage = JSON.stringify({
  query: `{ assets(first: 1000) {
    nodes { id name uid statusId assetTypeId trackUtilization acquiredAt ownerId externalIds createdAt updatedAt }
  } }`,
});

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

/** In both attacking workspaces a tree that is 20,000 deep. */
async function fillDeepTrees({ database }) {
  const now = "'2026-01-01T00:00:00.000Z'";
  for (const workspace of ['acme', 'accomplice']) {
    await database.direct(({ query }) =>
      query(`insert into asset_categories (workspace_id, id, name, parent_id, created_at, updated_at)
        ${series(20_000)} select ${numberOf(workspace)}, ${idOf('category')}, 'Level ' || n,
        case when n > 1 then ${idOf('category', '(n - 1)')} end, ${now}, ${now} from series`),
    );
  }
}

/** Visits 200 million ancestors. */
const slowFilter = JSON.stringify({
  query: '{ assetCategories(where: { ancestors: { some: { name: { contains: "none" } } } }) { nodes { id } } }',
});

/** Locations, to each of which nine assets refer. */
const fillReferences = ({ database, serve }) =>
  serve(async (port) => {
    const locations = await create(port, database.key, '/locations', Array(1_000).fill({}));
    const ids = locations.map(({ id }) => id);
    for (let n = 0; n < 9; n += 1) {
      const assets = ids.map((id) => ({ name: 'Pump', currentLocationId: id }));
      await create(port, database.key, '/assets', assets);
    }
    return { ids };
  });

/** Deletes the locations, while creates that refer to them wait for the deletion. */
async function createWhileDeleting({ send, filled: { ids } }) {
  const query = 'mutation ($ids: [ID!]!) { deleteLocations(ids: $ids, references: CLEAR) { __typename } }';
  const deletion = send('POST', '/graphql', JSON.stringify({ query, variables: { ids } }));
  // It reads what it deletes before it locks anything.
  await setTimeout(200);
  const creates = ids
    .slice(0, 50)
    .map((id) => send('POST', '/assets', JSON.stringify([{ name: 'Pump', currentLocationId: id }])));
  await Promise.all([deletion, ...creates]);
}

export const floods = [
  {
    name: 'a query at the cost limit',
    isSingle: true,
    fill: fillLinkedRecords,
    run: ({ send }) => send('POST', '/graphql', costlyPage),
  },
  {
    name: 'slow reads of two workspaces',
    fill: fillDeepTrees,
    maxWait: 1_000,
    run: ({ send, key, database }) =>
      times(30, (n) => send('POST', '/graphql', slowFilter, n % 2 === 0 ? key : database.accompliceKey)),
  },
  { name: 'batches with the same uids', run: sendSameUids },
  { name: 'creates that wait for a deletion', maxWait: 1_000, fill: fillReferences, run: createWhileDeleting },
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
    name: 'changes to one project',
    connections: 200,
    fill: fillProject,
    run: ({ send, filled }) =>
      times(200, (n) => send('PATCH', `/projects/${filled.id}`, JSON.stringify({ name: `Harbour wall ${n}` }))),
  },
  {
    name: 'pages at once',
    connections: 200,
    fill: fillAssets,
    run: ({ send }) => times(200, () => send('POST', '/graphql', fullPage)),
  },
];
