/** Interface: "Imports". Writes with the same X-Import-Run header are listed as one import, with the range of their changes. */
import { expect, test } from 'vitest';
import { useWorkspaces } from '../support/service.ts';

const service = useWorkspaces();

const run = (id: string, more: object = {}) => ({ 'x-import-run': id, ...more });

const fields = 'id startedAt updatedAt user { id } message created updated deleted after upTo';
const runs = async (args = '') =>
  (await service.data(`{ importRuns${args} { nodes { ${fields} } pageInfo { hasNextPage endCursor } } }`)).importRuns;

const mutate = (query: string, headers: object) =>
  service.post('/graphql', { query: `mutation { ${query} }` }, headers);

test('an import counts creates, updates, upserts and deletions over REST and GraphQL, from the first change to the last', async () => {
  await service.create('/assets', { name: 'Old' });
  const headers = run('import_1-A', { 'x-change-message': 'assets.csv' });
  const { body } = await service.post('/assets', [{ name: 'Crane' }, { name: 'Pump' }], headers);
  const [crane, pump] = body.map(({ id }: { id: string }) => id);
  await service.create('/assets', { name: 'Of somebody else' });
  const upserts = `upsertAssets(input: [{ name: "New", uid: "1" }, { name: "New", uid: "2" }], by: { field: UID }) { outcome }`;
  await mutate(upserts, run('import_1-A', { 'x-change-message': 'of a later request' }));
  await mutate(upserts, headers);
  await mutate(`updateAssets(input: [{ id: "${crane}", name: "Big crane" }]) { id }`, headers);
  await mutate(`deleteAssets(ids: ["${pump}"]) { id }`, headers);
  const { body: project } = await service.post('/projects', [{ name: 'Quay' }], headers);
  await service.patch(`/projects/${project[0].id}`, { name: 'Pier' }, headers);

  const { changes } = await service.data('{ changes { nodes { at } } }');
  expect(await runs()).toEqual({
    nodes: [
      {
        ...{ id: 'import_1-A', startedAt: changes.nodes[1].at, updatedAt: changes.nodes.at(-1).at },
        ...{ user: { id: 'erp-sync' }, message: 'assets.csv', created: 5, updated: 2, deleted: 1 },
        ...{ after: '1', upTo: '10' },
      },
    ],
    pageInfo: { hasNextPage: false, endCursor: '1' },
  });
  expect((await service.data('{ importRun(id: "import_1-A") { upTo } }')).importRun).toEqual({ upTo: '10' });
});

test('imports are listed page by page, the latest first, and no other workspace sees them', async () => {
  for (const id of ['a', 'b', 'c']) await service.post('/assets', [{ name: 'Crane' }], run(id));
  const { nodes, pageInfo } = await runs('(first: 2)');
  expect([nodes, pageInfo]).toMatchObject([[{ id: 'c' }, { id: 'b' }], { hasNextPage: true }]);
  const last = await runs(`(first: 2, after: "${pageInfo.endCursor}")`);
  expect(last).toMatchObject({ nodes: [{ id: 'a' }], pageInfo: { hasNextPage: false } });

  const other = service.as(await service.key({ workspace: 'other' }));
  await other.post('/assets', [{ name: 'Crane' }], run('a'));
  expect((await other.data('{ importRuns { nodes { id after upTo } } }')).importRuns.nodes).toEqual([
    { id: 'a', after: '0', upTo: '1' },
  ]);
  expect((await service.data('{ importRun(id: "a") { created } }')).importRun).toEqual({ created: 1 });
  expect((await other.data('{ importRun(id: "b") { id } }')).importRun).toBeNull();

  for (const [args, error] of [
    ['(first: 1001)', 'first: expected a whole number from 0 to 1000, received 1001'],
    ['(after: "a")', 'after: expected a cursor of a change, such as "4711", received "a"'],
  ])
    expect((await service.graphql(`{ importRuns${args} { nodes { id } } }`)).body.errors[0].message).toBe(error);
});

test('a dry run, a repeat of a request, a rejected batch and a write without a change count nothing', async () => {
  const keyed = run('keyed', { 'idempotency-key': 'once' });
  for (const _ of ['first', 'repeat']) await service.post('/assets', [{ name: 'Crane', uid: '1' }], keyed);
  await mutate('createAssets(dryRun: true, input: [{ name: "Pump" }]) { id }', run('dry'));
  await service.post('/assets', [{ name: 'Drill', uid: '1' }], run('taken'));
  await mutate('upsertAssets(input: [{ name: "Crane", uid: "1" }], by: { field: UID }) { outcome }', run('unchanged'));

  expect((await runs()).nodes).toMatchObject([{ id: 'keyed', created: 1, after: '0', upTo: '1' }]);
});

test('writes of an import at the same time are all counted, and its user and message stay those of the first', async () => {
  await service.post('/assets', [{ name: 'First' }], run('shared', { 'x-change-message': 'first' }));
  const jo = service.as(await service.key({ user: 'jo' }));
  const write = (name: number) => jo.post('/assets', [{ name: `${name}` }, { name: `${name}b` }], run('shared'));
  await Promise.all(Array.from({ length: 30 }, (_, index) => write(index)));

  const all = { created: 61, after: '0', upTo: '61', user: { id: 'erp-sync' }, message: 'first' };
  expect((await runs()).nodes).toMatchObject([all]);
});

test.each(['', 'a b', 'ä', 'a,b', 'x'.repeat(65)])('%j is no ID of an import: nothing is stored', async (id) => {
  const { status, body } = await service.post('/assets', [{ name: 'Crane' }], run(Buffer.from(id).toString('latin1')));

  const error = expect.stringMatching(/^X-Import-Run: expected 1 to 64 letters, digits, _ or -, received "/);
  expect([status, body]).toEqual([400, { error, code: '400' }]);
  expect((await service.data('{ changeCursor }')).changeCursor).toBe('0');
});

test('a write without the header takes no more statements', async () => {
  const statements = (headers: object) =>
    service.statements(() => mutate('createLocations(input: [{ name: "Yard" }]) { id }', headers));
  await statements({});

  expect((await statements({})).join('\n')).not.toContain('import_runs');
  expect((await statements(run('a'))).filter((sql) => sql.includes('import_runs'))).toHaveLength(1);
});
