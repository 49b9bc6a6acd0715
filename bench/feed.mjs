/** Measures a consumer that reads the feed of changes page by page: creations, and updates with what they changed. */
import { asset, project } from './records.mjs';
import { create, post, startService } from './service.mjs';

const updates = 1_000;

const selections = {
  feed: 'cursor action kind recordId at',
  'feed, with records': 'cursor action record { ... on Asset { name uid } ... on Project { projectName: name } }',
  'feed, with fields': 'cursor action fields { field before after }',
};

export async function measureFeed(run, database) {
  const service = await startService(database);
  await create(service, '/assets', run.orders, (n) => asset(n, 'feed'));
  const projects = await create(service, '/projects', updates, (n) => project(n, ['location']));
  for (const [n, id] of projects.entries()) {
    const query = 'mutation ($id: ID!, $name: String!) { updateProject(id: $id, input: { name: $name }) { id } }';
    await post(service, '/graphql', { query, variables: { id, name: `Bridge ${n}` } });
  }
  for (let round = 0; round < run.rounds; round += 1) {
    for (const [workload, selection] of Object.entries(selections)) {
      run.record(workload, { perSecond: await readAll(service, selection, run.seconds, round), isComplete: true });
    }
  }
  await service.stop();
}

/** Changes per second. No page is read twice, so that none comes from a cache: each pass has pages of another size. */
async function readAll(service, selection, seconds, round) {
  const query = `query ($after: String, $first: Int) { changes(after: $after, first: $first) { nodes { ${selection} } endCursor hasMore } }`;
  const start = performance.now();
  let read = 0;
  for (let pass = 0; performance.now() - start < seconds * 1_000; pass += 1) {
    for (let after = '0', hasMore = true; hasMore; ) {
      const variables = { after, first: 1_000 - pass - 200 * round };
      const { changes } = (await post(service, '/graphql', { query, variables })).data;
      read += changes.nodes.length;
      ({ endCursor: after, hasMore } = changes);
    }
  }
  return read / ((performance.now() - start) / 1_000);
}
