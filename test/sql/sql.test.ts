/**
 * The SQL of fifteen requests, in the files beside this one: whoever changes it sees by the difference what each of them costs now.
 * `npm run sql` writes them. Lists of values are shortened to the first row.
 */
import { beforeAll, expect, test } from 'vitest';
import { isPostgres } from '../support/database.ts';
import { createLinkedRecords } from '../support/linked-records.ts';
import { useSharedService } from '../support/service.ts';

const service = useSharedService();

let location: { id: string };
let project: { id: string };
let asset: { id: string };

beforeAll(async () => {
  const linked = await createLinkedRecords(service, 20);
  [location, project] = [linked.locations[0], linked.projects[0]];
  [asset] = await service.create('/assets', { name: 'Crane', uid: 'C-1', externalIds: { erp: '4711' } });
});

const requests: Readonly<Record<string, () => Promise<unknown>>> = {
  'list-of-categories': () => service.get('/asset-categories'),
  'create-one': () => service.create('/assets', { name: 'Drill' }),
  'create-batch-with-references': () =>
    service.create('/work-orders', { projectId: project.id, locationId: location.id }, { projectId: project.id }),
  'create-with-unique-uid': () => service.create('/assets', { name: 'Drill', uid: 'D-1' }),
  'patch-one': () => service.send('PATCH', `/projects/${project.id}`, { name: 'Bridge' }),
  'linked-list': () =>
    service.data(
      '{ workOrders(first: 10) { nodes { id name project { name location { city } } location { name } } } }',
    ),
  'filtered-list': () =>
    service.data(`{
      workOrders(
        first: 10
        where: { project: { name: { startsWith: "project" } }, startDate: { gte: "2026-01-01T00:00:00Z" } }
        orderBy: [{ startDate: DESC }]
      ) { nodes { name } }
    }`),
  'reverse-links-with-counts': () =>
    service.data('{ projects { nodes { name workOrders(first: 2) { totalCount nodes { name } } } } }'),
  'record-by-id': () => service.data('query ($id: ID!) { asset(id: $id) { name } }', { id: asset.id }),
  summary: () => service.data('{ workOrdersSummary(groupBy: [STATUS]) { groups { count } } }'),
  'history-of-a-record': () =>
    service.data('query ($id: ID!) { asset(id: $id) { history(first: 5) { nodes { action } } } }', { id: asset.id }),
  'feed-of-changes': () => service.data('{ changes(first: 5) { nodes { action record { id } } } }'),
  'update-batch': () =>
    service.data('mutation ($input: [AssetPatch!]!) { updateAssets(input: $input) { id } }', {
      input: [{ id: asset.id, name: 'Tower crane' }],
    }),
  'upsert-by-external-id': () =>
    service.data(
      'mutation ($input: [UpsertAssetInput!]!) { upsertAssets(by: { externalId: "erp" }, input: $input) { outcome } }',
      {
        input: [
          { name: 'Crane', externalIds: { erp: '4711' } },
          { name: 'Saw', externalIds: { erp: '4712' } },
        ],
      },
    ),
  'delete-by-id': () =>
    service.data('mutation ($ids: [ID!]!) { deleteLocations(ids: $ids, references: CLEAR) { id } }', {
      ids: [location.id],
    }),
};

test.each(Object.entries(requests))('%s', async (name, request) => {
  const statements = await service.statements(request);
  const file = `./${name}.${isPostgres ? 'postgres' : 'sqlite'}.sql`;
  await expect(statements.map(lines).join('\n')).toMatchFileSnapshot(file);
});

/** A statement with each of its clauses in a line, indented by the parentheses around it. */
function lines(sql: string): string {
  let depth = 0;
  const clauses = sql.trim().split(clause);
  const indented = clauses.map((text, index) => {
    const line = `${'  '.repeat(depth + Math.min(index, 1))}${text.replaceAll(/\s+/g, ' ')}`;
    depth += text.split('(').length - text.split(')').length;
    return line;
  });
  return `${indented.join('\n')};\n`;
}

const clause =
  /(?<!left|cross|delete)\s+(?=(?:from|where|left join|cross join|join|order by|group by|values|union all|returning|on conflict)\b)/;
