/** The history of single records, records as they were, and pages of the feed. query-model.test.ts has what feed and histories return. */
import { describe, expect, test } from 'vitest';
import { assetCategory, project as projectKind } from '../../src/records/index.ts';
import { plantCreations } from '../support/changes.ts';
import { deleteDocument } from '../support/mutations.ts';
import { unknownId } from '../support/records.ts';
import { useWorkspaces } from '../support/service.ts';

const service = useWorkspaces();

async function renamedProject(names: readonly string[]) {
  const [first, ...others] = names;
  const [project] = await service.create('/projects', { name: first });
  for (const name of others) await service.patch(`/projects/${project.id}`, { name });
  return project;
}

describe('history', () => {
  test('of any record is found by its ID alone, also after it was deleted', async () => {
    const { id } = await renamedProject(['Wall', 'Harbour wall']);
    await service.data(deleteDocument(projectKind), { ids: [id] });
    const query = `query ($id: ID!, $unknown: ID!) {
      deleted: history(id: $id, first: 2) { nodes { action record { id } fields { before after } } endCursor hasMore }
      created: history(id: $id, after: "2") { nodes { cursor } hasMore }
      none: history(id: $unknown) { nodes { cursor } endCursor hasMore }
      noId: history(id: "x", after: "7") { nodes { cursor } endCursor hasMore }
    }`;

    expect(await service.data(query, { id, unknown: unknownId(projectKind) })).toEqual({
      deleted: {
        nodes: [
          { action: 'DELETED', record: null, fields: [{ before: 'Harbour wall', after: null }] },
          { action: 'UPDATED', record: null, fields: [{ before: 'Wall', after: 'Harbour wall' }] },
        ],
        ...{ endCursor: '2', hasMore: true },
      },
      created: { nodes: [{ cursor: '1' }], hasMore: false },
      none: { nodes: [], endCursor: '0', hasMore: false },
      noId: { nodes: [], endCursor: '7', hasMore: false },
    });
  });

  test('has a change without fields if all were sent with the values they had, external IDs in whatever order', async () => {
    const [{ id }] = await service.create('/projects', { name: 'Harbour wall', externalIds: { erp: '1', sap: '2' } });
    await service.patch(`/projects/${id}`, { name: 'Harbour wall', externalIds: { sap: '2', erp: '1' } });
    const { project } = await service.data(
      `{ project(id: "${id}") { history { nodes { action fields { field } } } } }`,
    );
    expect(project.history.nodes[0]).toEqual({ action: 'UPDATED', fields: [] });
  });
});

test('a feed of kinds whose changes are far apart has empty pages in between, which read at most 100,000 rows each', async () => {
  await service.create('/locations', { name: 'North yard' });
  await plantCreations(service, assetCategory, 110_000);
  await service.create('/locations', { name: 'South yard' });
  await plantCreations(service, assetCategory, 10);

  const query = `query ($after: String) {
    changes(first: 5, after: $after, kinds: [LOCATION, LOCATION, ASSET]) { nodes { cursor } endCursor hasMore } }`;
  const pages: string[][] = [];
  let page = { endCursor: '0', hasMore: true };
  while (page.hasMore) {
    const { changes } = await service.data(query, { after: page.endCursor });
    pages.push(changes.nodes.map(({ cursor }: { cursor: string }) => cursor));
    page = changes;
  }

  expect(pages).toEqual([['1'], ['110002']]);
  expect(page.endCursor).toBe('110012');
});
