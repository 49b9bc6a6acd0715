/** Records that refer to each other before they have IDs: imports of several kinds at once, and links by external IDs. */
import { expect, test } from 'vitest';
import { workOrder } from '../../src/records/index.ts';
import { createDocument, importDocument } from '../support/mutations.ts';
import { startService, useWorkspaces } from '../support/service.ts';

const service = useWorkspaces();

const everything = `locations { id name } assetCategories { id name parent { name } } projects { id name location { name } }
  assets { name currentLocation { name } } workOrders { name project { name } location { name } }
  transportOrders { name project { name } }`;

const erp = (value: string) => ({ externalId: { key: 'erp', value } });

const lastChange = async () => (await service.data('{ changeCursor }')).changeCursor;

const issuesOf = async (document: string, variables: object) => {
  const before = await lastChange();
  const { body } = await service.graphql(document, variables);
  expect(await lastChange()).toBe(before);
  return body.errors[0].extensions.issues;
};

test('every issue of every kind is listed, with its path', async () => {
  const input = {
    locations: [{ ref: 'yard', latitude: 91 }, { ref: 'yard' }],
    projects: [{ ref: 'wall', name: 'Harbour wall', location: { ref: 'crane' } }, { name: ' ' }],
    assets: [{ ref: 'crane', name: 'Crane', currentLocationId: 'x', currentLocation: { ref: 'yard' } }],
    workOrders: [{ project: { ref: '' } }, { project: erp('P-7') }],
  };

  const issues = await issuesOf(importDocument(), { input });

  expect(issues.toSorted(byList)).toEqual([
    { path: ['input', 'locations', 0, 'latitude'], message: 'expected a number from -90 to 90, received 91' },
    { path: ['input', 'locations', 1, 'ref'], message: 'another record of this mutation has the ref "yard"' },
    {
      path: ['input', 'projects', 0, 'location', 'ref'],
      message: 'expected the ref of a location, "crane" is the ref of an asset',
    },
    {
      path: ['input', 'projects', 1, 'name'],
      message: 'expected text with at least one character that is not white space, received " "',
    },
    {
      path: ['input', 'assets', 0, 'currentLocation'],
      message: 'expected currentLocationId or currentLocation, received both',
    },
    {
      path: ['input', 'workOrders', 0, 'project', 'ref'],
      message: 'expected a text of 1 to 255 characters, received ""',
    },
    {
      path: ['input', 'workOrders', 1, 'project', 'externalId'],
      message: 'there is no project with the external ID "P-7" of "erp" in this workspace',
    },
  ]);
});

/** In the order of the lists above. */
const byList = (a: { path: [string, string] }, b: { path: [string, string] }): number => {
  const lists = ['locations', 'projects', 'assets', 'workOrders'];
  return lists.indexOf(a.path[1]) - lists.indexOf(b.path[1]);
};

test('a link by an external ID that several records have is refused', async () => {
  const externalIds = { erp: 'twice' };
  const [a, b] = await service.create('/projects', { name: 'a', externalIds }, { name: 'b', externalIds });

  expect(await issuesOf(createDocument(workOrder), { input: [{ project: erp('twice') }] })).toEqual([
    {
      path: ['input', 0, 'project', 'externalId'],
      message: `2 projects have the external ID "twice" of "erp": ${a.id}, ${b.id}`,
    },
  ]);
});

test('an import has at most as many records as a batch, in all lists together', async () => {
  const small = await startService({ MAX_BATCH: '3' });
  const response = (input: object) => small.graphql(importDocument(), { input });
  const literal = await small.graphql(
    'mutation { importRecords(input: { locations: [{}, {}], projects: [{ name: "a" }, { name: "b" }] }) { locations { id } } }',
  );

  const { body } = await response({ locations: [{}, {}], assets: [{ name: 'a' }, { name: 'b' }] });
  const allowed = await response({ locations: [{}, {}], assets: [{ name: 'a' }] });

  const message = 'expected at most 3 records, received 4: send them in several batches';
  expect(body.errors).toMatchObject([{ message }]);
  expect(literal.body.errors).toMatchObject([{ message }]);
  expect(allowed.body.errors).toBeUndefined();
  await small.stop();
});

test('each list of an import costs as much as was sent for it', async () => {
  const input = { locations: Array.from({ length: 999 }, () => ({})), projects: [{ name: 'Harbour wall' }] };

  const { body, headers } = await service.graphql(importDocument(everything), { input });

  expect(body.errors).toBeUndefined();
  expect(body.data.result.locations).toHaveLength(999);
  // 10 for each record, 2 for `id name` of each location, 8 for `id name location { name }` of the project, and 1 for each object.
  expect(headers['query-cost']).toBe(String(10 * 1_000 + 2 * 999 + (2 + 5 + 1) + 7 * 5));
});
