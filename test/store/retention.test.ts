/** Deleting old changes, and erasing records: what the log still says, and that it is never wrong. */
import { expect, test } from 'vitest';
import { ServiceError } from '../../src/errors.ts';
import { project } from '../../src/records/index.ts';
import { pruneLogs } from '../../src/store/admin/log.ts';
import type { Run } from '../../src/store/connections/driver.ts';
import { openDatabase } from '../../src/store/database.ts';
import { type ChangeReads, createChangeReads, readLastChange } from '../../src/store/log.ts';
import { runCommand } from '../support/command.ts';
import { isPostgres } from '../support/database.ts';
import { listen, useService } from '../support/service.ts';

const service = useService();

const run = (...command: string[]) => runCommand({ DATABASE_URL: service.url }, ...command);

/** Makes the changes up to this number old, and deletes them. */
async function prune(upTo: number, dryRun = false) {
  const other = await openDatabase(service.url);
  await other.knex('changes').where('number', '<=', upTo).update({ at: '2025-01-01T00:00:00.000Z' });
  const pruned = [];
  for await (const log of pruneLogs(other, '2025-06-01T00:00:00.000Z', { dryRun })) pruned.push(log);
  await other.close();
  return pruned;
}

const errorOf = async (query: string, variables = {}) => {
  const { body } = await service.graphql(query, variables);
  const [{ message, extensions } = { message: 'none', extensions: {} }] = body.errors ?? [];
  return [extensions.code, extensions.type, message];
};

const gone = (horizon: number) => [
  'GONE',
  'urn:yardgraph:log-pruned',
  `the log begins after the change "${horizon}", of 2025-01-01T00:00:00.000Z: earlier ones were deleted`,
];

/** A project with the changes 1 to 5, and another one with 6. */
async function projects() {
  const [{ id }] = await service.create('/projects', { name: 'v1' });
  for (const name of ['v2', 'v3', 'v4', 'v5']) await service.patch(`/projects/${id}`, { name });
  await service.create('/projects', { name: 'other' });
  return id as string;
}

const feed =
  'query ($after: String, $kinds: [RecordKind!]) { changes(after: $after, kinds: $kinds) { nodes { cursor } endCursor } }';
const revert =
  'mutation ($a: String!, $b: String!) { revertChanges(after: $a, upTo: $b) { reversed notReversed { outcome message } } }';
const asOf = 'query ($id: ID!, $at: DateTime!) { project(id: $id, asOf: $at) { name } }';

test('what reaches before the horizon is an error that names it; what does not is as before', async () => {
  const id = await projects();
  const early = '2024-12-31T00:00:00Z';
  expect(await service.data(asOf, { id, at: early })).toEqual({ project: null });

  const at = '2025-01-01T00:00:00.000Z';
  expect(await prune(3, true)).toEqual([{ workspace: 'default', deleted: 3, horizon: 3, at }]);
  expect((await service.data(feed)).changes.nodes).toHaveLength(6);
  expect((await run('log', 'prune', '--older-than', '30d', '--dry-run')).out).toBe(
    `default: would delete 3 changes, up to change 3, of ${at}`,
  );
  expect(await prune(3)).toEqual([{ workspace: 'default', deleted: 3, horizon: 3, at }]);
  // Its part is in the file already: no later write has to write it back.
  const [wal] = isPostgres ? [] : await service.database.run('pragma wal_checkpoint(noop)');
  expect(wal?.checkpointed).toBe(wal?.log);

  expect(await errorOf(feed)).toEqual(gone(3));
  expect(await errorOf(feed, { after: '2', kinds: ['ASSET'] })).toEqual(gone(3));
  expect((await service.data(feed, { after: '3' })).changes.nodes).toHaveLength(3);
  expect((await service.data(feed, { after: '3', kinds: ['ASSET'] })).changes).toEqual({ nodes: [], endCursor: '6' });
  expect(await errorOf(revert, { a: '2', b: '6' })).toEqual(gone(3));
  expect(await errorOf(asOf, { id, at: early })).toEqual(gone(3));
  expect(await service.data(asOf, { id, at: '2025-01-01T00:00:00Z' })).toEqual({ project: { name: 'v3' } });
  expect(
    await service.data('query ($id: ID!) { history(id: $id) { nodes { fields { before after } } } changeHorizon }', {
      id,
    }),
  ).toEqual({
    history: { nodes: [{ fields: [{ before: 'v4', after: 'v5' }] }, { fields: [{ before: 'v3', after: 'v4' }] }] },
    changeHorizon: '3',
  });
  expect((await service.data(revert, { a: '3', b: '5' })).revertChanges.reversed).toBe(2);
  expect(await service.data('query ($id: ID!) { project(id: $id) { name } }', { id })).toEqual({
    project: { name: 'v3' },
  });
});

test('a repeated query is not served from before the prune, and a subscription ends with the error', async () => {
  await projects();
  for (let time = 0; time < 3; time += 1) await service.data(feed, { after: '0' });
  await prune(6);
  expect(await errorOf(feed, { after: '0' })).toEqual(gone(6));
  expect((await service.data(feed, { after: '6' })).changes).toEqual({ nodes: [], endCursor: '6' });
  const payload = JSON.stringify({ query: 'subscription { changes(after: "1") { endCursor } }' });
  const headers = { 'content-type': 'application/json', accept: 'text/event-stream' };
  const { text } = await service.inject({ method: 'POST', url: '/graphql', headers, payload });
  expect(text).toContain('urn:yardgraph:log-pruned');
});

test('imports stay listed, and their undo is refused', async () => {
  const headers = { 'x-import-run': 'erp' };
  await service.post('/projects', [{ name: 'a' }, { name: 'b' }], headers);
  await prune(1);
  const { importRun } = await service.data('{ importRun(id: "erp") { created after upTo } }');
  expect(importRun).toEqual({ created: 2, after: '0', upTo: '2' });
  expect(await errorOf(revert, { a: importRun.after, b: importRun.upTo })).toEqual(gone(1));
  const { code, err } = await run('undo', '--url', await listen(service.app), '--from', '1', '--to', '2', '--yes');
  expect([code, err.split('\n').at(-1)]).toEqual([1, `${gone(1)[2]}. Nothing was reversed.`]);
});

test('erased values are nowhere: history says so, and a feed goes on', async () => {
  await projects();
  const key = { 'idempotency-key': 'k' };
  const response = await service.post('/projects', [{ name: 'result', notes: 'secret' }], key);
  const [{ id: other }] = response.body;
  await service.data('mutation ($ids: [ID!]!) { deleteProjects(ids: $ids) { id } }', { ids: [other] });
  const history = 'query ($id: ID!) { history(id: $id) { nodes { action erased fields { before } } } }';
  for (let time = 0; time < 3; time += 1) await service.data(history, { id: other });

  const { code, out } = await run('erase', other, '--workspace', 'default');

  expect([code, out.split('\n')[0]]).toEqual([0, 'Erased the values of 2 changes and 1 stored results.']);
  expect((await service.data(history, { id: other })).history.nodes).toEqual([
    { action: 'DELETED', erased: true, fields: [] },
    { action: 'CREATED', erased: true, fields: [] },
  ]);
  expect(await service.data(asOf, { id: other, at: new Date().toISOString() })).toEqual({ project: null });
  expect((await service.data(revert, { a: '7', b: '8' })).revertChanges).toEqual({
    reversed: 0,
    notReversed: [{ outcome: 'FAILED', message: 'the earlier values of this project have been erased' }],
  });
  expect((await service.data(feed, { after: '6' })).changes).toMatchObject({ endCursor: '8' });
  expect((await service.post('/projects', [{ name: 'result', notes: 'secret' }], key)).status).toBe(409);
  const stored = await Promise.all(['changes', 'idempotency_keys'].map((table) => service.database.knex(table)));
  expect(JSON.stringify(stored)).not.toContain('secret');
});

const unknownId = 'asset_01h455vb4pex5vsknk084sn02q';

test.each([
  [['log', 'prune'], '--older-than: required, unless LOG_RETENTION is set'],
  [
    ['log', 'prune', '--older-than', 'long'],
    '--older-than: expected a duration greater than zero, such as 90d, 12h or 30m',
  ],
  [['erase', 'crane', '--workspace', 'default'], '<record-id>: expected the ID of a record'],
  [['erase', unknownId, '--workspace', 'acme'], 'there is no workspace acme'],
  [['erase', unknownId, '--workspace', 'default'], `the log of the workspace default has no asset ${unknownId}`],
])('%j is refused', async (command, line) => {
  const { code, err } = await run(...command);
  expect([code, err.split('\n').at(-1)]).toEqual([1, line]);
});

test('a record that exists is not erased', async () => {
  const id = await projects();
  const { code, err } = await run('erase', id, '--workspace', 'default');
  expect([code, err.split('\n').at(-1)]).toEqual([1, `${id} exists: delete it first`]);
  expect(JSON.stringify(await service.database.knex('changes'))).toContain('v4');
});

test('a read during a prune returns what it would without, or the error; workspaces with the same IDs are apart', async () => {
  const id = await projects();
  const other = await openDatabase(service.url);
  const { dialect, knex, read } = other;
  const timeOf = (number: number, hour = '00') => `2025-01-0${number}T${hour}:00:00.000Z`;
  let workspaceId = 1;
  /** A workspace with the same records and changes, made on the first days of 2025. */
  const copyWorkspace = async () => {
    workspaceId += 1;
    await knex('workspaces').insert({ number: workspaceId, name: `copy-${workspaceId}` });
    const copied = { workspace_id: workspaceId };
    await knex('change_numbers').insert({ ...copied, number: 6 });
    for (const row of await knex('changes').where('workspace_id', 1))
      await knex('changes').insert({ ...row, ...copied, before: asText(row.before), at: timeOf(Number(row.number)) });
    for (const row of await knex('projects').where('workspace_id', 1))
      await knex('projects').insert({ ...row, ...copied, external_ids: asText(row.external_ids) });
  };
  const asText = (json: unknown) => (typeof json === 'object' && json !== null ? JSON.stringify(json) : json);
  const page = { after: 1, limit: 2, withBefore: true };
  const keys = [2, 4].map((number) => ({ id, number }));
  const reads: readonly ((log: ChangeReads) => Promise<unknown>)[] = [
    (log) => log.changePage(page),
    (log) => log.changePage({ ...page, kinds: ['Project'] }),
    (log) => log.changePage({ ...page, kinds: ['Asset'] }),
    (log) => log.versions(project, keys),
    (log) => log.versionAt(project, id, timeOf(3)),
  ];
  const counts = { same: 0, error: 0 };
  const cases = [1, 2, 4, 6].flatMap((horizon) => [1, 2, 3, 4].map((nth) => [horizon, nth] as const));
  for (const readLog of reads) {
    for (const [horizon, nth] of cases) {
      await copyWorkspace();
      const scope = { dialect, run: read, workspaceId, workspaceName: 'default' };
      const expected = await readLog(createChangeReads(scope));
      let statements = 0;
      const run: Run = async (sql, values) => {
        statements += 1;
        if (statements === nth) for await (const _ of pruneLogs(other, timeOf(horizon, '12')));
        return read(sql, values);
      };
      const found = await readLog(createChangeReads({ ...scope, run })).catch((error: unknown) => error);
      const isError = found instanceof ServiceError;
      counts[isError ? 'error' : 'same'] += 1;
      expect(isError ? found.type : found).toEqual(isError ? 'urn:yardgraph:log-pruned' : expected);
    }
  }
  expect(Math.min(counts.same, counts.error)).toBeGreaterThan(20);
  const { horizon, number } = await readLastChange({ dialect, run: read, workspaceId: 1 });
  expect([horizon, number, (await service.data(feed)).changes.nodes.length]).toEqual([0, 6, 6]);
  await other.close();
});
