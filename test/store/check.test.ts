/** `yardgraph check` finds each fault that is planted in a healthy database, and no other. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RecordKind } from '../../src/model/record-kind.ts';
import { allocation, asset, label, location, project, recordKinds, workOrder } from '../../src/records/index.ts';
import { checkDatabase } from '../../src/store/admin/check.ts';
import { eraseRecord } from '../../src/store/admin/log.ts';
import type { Run } from '../../src/store/connections/driver.ts';
import { connectDatabase, type Database } from '../../src/store/database.ts';
import { isPostgres } from '../support/database.ts';
import { createDocument, updateDocument } from '../support/mutations.ts';
import { useSharedService } from '../support/service.ts';

/** The lines of a fault, and the SQL that plants it. */
const faults = `
WorkOrder {W}: change 9 has an unknown action <- update changes set action = 'renamed' where number = 9
Asset {W}: it is of another kind than in change 9; WorkOrder {W}: it is of another kind than in change 10 <- update changes set kind = 'Asset' where number = 10
WorkOrder {W}: change 8 creates it, and has a state before <- update changes set before = (select before from changes where number = 9) where number = 8
WorkOrder {W}: change 10 lacks its state before <- update changes set before = null where number = 10
WorkOrder {W}: change 10 lacks its state before <- update changes set before = '{}' where number = 10
WorkOrder {W}: change 10 lacks its state before <- sqlite: update changes set before = '{"id"' where number = 10
WorkOrder {W}: change 10 lacks its state before; WorkOrder {W}: its createdAt is another one after change 10 <- update changes set before = (select before from changes where number = 12) where number = 10
WorkOrder {W}: change 9 creates it again after change 8 <- update changes set action = 'created', before = null where number = 9
WorkOrder {W}: it exists, although its last change, 10, deleted it <- update changes set action = 'deleted' where number = 10
WorkOrder {W}: change 10 follows its deletion by 9 <- update changes set action = 'deleted' where number = 9
Project project_x: it has no change in the log <- insert into projects (workspace_id, id, name, name_key, created_at, updated_at) select 1, 'project_x', 'x', 'x', created_at, updated_at from projects
WorkOrder {W}: its first change, 8, does not create it <- update changes set action = 'updated', before = (select before from changes where number = 9) where number = 8
WorkOrder {W}: its updatedAt is TIME, its last change, 10, was at TIME <- update work_orders set updated_at = '2030-01-01T00:00:00.000Z'
WorkOrder {W}: its updatedAt is TIME, its last change, 10, was at TIME <- update changes set at = '2030-01-01T00:00:00.000Z' where number = 10
WorkOrder {W}: the state before change 10 is not the one that change 9 left <- update changes set at = '2030-01-01T00:00:00.000Z' where number = 9
WorkOrder {W}: its createdAt is another one after change 10 <- update work_orders set created_at = '2020-01-01T00:00:00.000Z'
WorkOrder {W}: change 9 is not later than change 8 <- update changes set at = (select at from changes where number = 9) where number = 8; update changes set before = (select before from changes where number = 10) where number = 9
WorkOrder {W}: it does not exist, and change 10 did not delete it <- delete from work_orders
Project {Q}: it does not exist, and change 14 did not delete it; change 14: it is the last one, and the last number is 15 <- delete from changes where number = 15
change 6: the one before it is 4; Label {S}: it has no change in the log <- delete from changes where number = 5
change 15: it is the last one, and the last number is 20 <- update change_numbers set number = 20
change 15: it is the last one, and the last number is 14 <- update change_numbers set number = 14
change 15: it is the last one, and the last number is 0; import run run: it counts 3 of the changes 8 to 10, and the last number is 0 <- delete from change_numbers
import run run: it counts 3 of the changes 8 to 16, and the last number is 15 <- update import_runs set last_change = 16
import run run: it counts 3 of the changes 0 to 10, and the last number is 15 <- update import_runs set first_change = 0
import run run: it counts 0 of the changes 8 to 10, and the last number is 15 <- update import_runs set created = 0, updated = 0
Label {T}: key: the same as of {S} <- sqlite: alter table labels rename to others; create table labels as select * from others; update labels set key = 'STATUS:1'
Label {T}: key: the same as of {S} <- postgres: alter table labels drop constraint labels_workspace_id_key_key; update labels set key = 'STATUS:1'
WorkOrder {W}: projectId: there is no {Q} <- update work_orders set project_id = '{Q}'
Allocation {R}: assetId: there is no asset_1 <- update allocations set asset_id = 'asset_1'
Asset {B}: parentId: there is no asset_1 <- sqlite: update assets set parent_id = 'asset_1' where id = '{B}'
Asset {B}: parentId: there is no asset_1 <- postgres: set constraints all deferred; update assets set parent_id = 'asset_1' where id = '{B}'
Location {L}: name_key: it is not computed from name <- update locations set name_key = null where id = '{L}'
WorkOrder {W}: reference_key: it is not computed from reference <- update work_orders set reference = 'WO 8'
Location {L}: point_y: it is not computed from latitude, longitude <- update locations set point_y = 0 where id = '{L}'
Asset {A}: externalIds: the index lacks crm <- sqlite: delete from assets_external_ids where key = 'crm'
Asset {A}: externalIds: the index has another x <- sqlite: insert into assets_external_ids (workspace_id, key, value, id) values (1, 'x', '1', '{A}')
Asset {A}: externalIds: the index lacks erp; Asset {A}: externalIds: the index has another erp <- sqlite: update assets_external_ids set value = '2' where key = 'erp'
Asset {A}: externalIds: the index has another crm; Asset {A}: externalIds: the index has another erp <- sqlite: drop trigger assets_external_ids_update; update assets set external_ids = null where id = '{A}'
number 1: it does not exist, and has rows in assets; number 1: it does not exist, and has rows in work_orders; number 1: it does not exist, and has rows in locations; number 1: it does not exist, and has rows in allocations; number 1: it does not exist, and has rows in labels; number 1: it does not exist, and has rows in projects; number 1: it does not exist, and has rows in changes; number 1: it does not exist, and has rows in import_runs <- update workspaces set name = null
number 7: it does not exist, and has rows in labels <- insert into labels (workspace_id, id, created_at, updated_at) select 7, id, created_at, updated_at from labels
number 7: it does not exist, and has rows in changes <- insert into changes (workspace_id, number, kind, action, record_id, at) select 7, number, kind, action, record_id, at from changes
number 7: it does not exist, and has rows in import_runs <- insert into import_runs select 7, 'other', started_at, updated_at, user_id, message, 1, 1, 1, 0, 0 from import_runs
number 7: it does not exist, and has rows in idempotency_keys <- insert into idempotency_keys (workspace_id, operation, key, request_hash, created_at, result) select 7, 'x', 'x', 'x', at, 'x' from changes where number = 1
number 7: it does not exist, and has rows in api_keys <- insert into api_keys (workspace_id, id, user_id, read_only, secret_hash, created_at) select 7, 'x', 'x', track_utilization, 'x', created_at from assets where id = '{A}'
`;

const service = useSharedService();
let database: Database;
const ids: Record<string, string> = {};

beforeAll(async () => {
  database = await connectDatabase(service.url);
  const send = async (query: string, values: object, headers = {}): Promise<string> => {
    const { body } = await service.post('/graphql', { query, variables: { input: [values] } }, headers);
    return body.data.result[0].id;
  };
  const [crm, run] = [{ erp: '1', crm: '2' }, { 'x-import-run': 'run' }];
  const create = (kind: RecordKind, values: object, headers = {}) => send(createDocument(kind), values, headers);
  ids.L = await create(location, { name: 'Yard', latitude: 53.5, longitude: 10, externalIds: { erp: '1' } });
  ids.C = await create(location, { name: 'Shed', parentId: ids.L });
  ids.A = await create(asset, { name: 'Crane', uid: 'U-1', trackUtilization: true, externalIds: crm });
  ids.B = await create(asset, { name: 'Hook', parentId: ids.A, currentLocationId: 'location_of another system' });
  ids.S = await create(label, { name: 'In use', key: 'STATUS:1' });
  ids.T = await create(label, { name: 'Broken', key: 'STATUS:2' });
  ids.R = await create(allocation, { assetId: ids.A });
  ids.W = await create(workOrder, { name: 'Lift', reference: 'WO 7', assetId: ids.A }, run);
  for (const notes of ['1', '2']) await send(updateDocument(workOrder), { id: ids.W, notes }, run);
  const remove = (id: string) => service.data(`mutation { deleteProjects(ids: ["${id}"]) { id } }`);
  ids.P = await create(project, { name: 'Quay' });
  await remove(ids.P);
  await service.data('mutation { revertChanges(after: "11", upTo: "12") { made } }');
  ids.Q = await create(project, { name: 'Pier' });
  await remove(ids.Q);
});
afterAll(() => database.close());

/** Checks the database in a transaction, which is rolled back. */
async function checkAfter(plant: (run: Run) => Promise<unknown>): Promise<readonly string[]> {
  let problems: readonly string[] = [];
  const undone = database.transaction(async (run) => {
    await plant(run);
    const inTransaction = { read: run, longSnapshot: <T>(_: number, work: (run: Run) => Promise<T>) => work(run) };
    problems = await checkDatabase({ ...database, ...inTransaction }, recordKinds);
    throw new Error('rolled back');
  });
  await expect(undone).rejects.toThrow('rolled back');
  return problems.map((line) => line.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME'));
}

const engine = isPostgres ? 'postgres' : 'sqlite';
const planted = [...faults.matchAll(/^(.*) <- (?:(sqlite|postgres): )?(.*)$/gm)].flatMap(
  ([, found = '', only, sql = '']) => ((only ?? engine) === engine ? { found, sql } : []),
);

test('a healthy database has no problems, and 43 faults are planted on SQLite', async () => {
  expect(await checkDatabase(database, recordKinds)).toEqual([]);
  expect(planted).toHaveLength(isPostgres ? 38 : 43);
});

test.each(planted)('$found, after $sql', async ({ found, sql }) => {
  const withIds = (text: string) => text.replaceAll(/\{([A-Z])\}/g, (_, letter) => ids[letter] ?? '');
  const problems = await checkAfter(async (run) => {
    for (const statement of withIds(sql).split('; ')) await run(statement);
  });
  const workspace = found.startsWith('number') ? 'workspaces' : 'default';
  const expected = found.split('; ').map((line) => `${workspace}: ${withIds(line)}`);
  expect(problems.toSorted()).toEqual(expected.toSorted());
});

test('of many problems, 20 are listed, and the others counted', async () => {
  const labels = "select 1, 'label_' || a.number || '_' || b.number, a.at, a.at from changes as a, changes as b";
  const problems = await checkAfter((run) =>
    run(`insert into labels (workspace_id, id, created_at, updated_at) ${labels}`),
  );
  expect(problems.slice(0, 20).filter((line) => line.endsWith(': it has no change in the log'))).toHaveLength(20);
  expect(problems.slice(20)).toEqual(['and 205 more']);
});

test('changes up to the horizon may be missing, and later ones may not; those of an erased record have no values', async () => {
  const pruned = (horizon: number) => async (run: Run) => {
    await run('delete from changes where number <= 9');
    await run(`update change_numbers set horizon = ${horizon}`);
  };
  expect(await checkAfter(pruned(9))).toEqual([]);
  expect(await checkAfter(pruned(8))).toEqual(['default: change 10: the one before it is 8']);
  const { changes } = await eraseRecord(database, { number: 1, name: 'default' }, project, ids.Q ?? '');
  expect([changes, await checkDatabase(database, recordKinds)]).toEqual([2, []]);
});
