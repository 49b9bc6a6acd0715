/** The service with the extension citus, which distributes tables over machines. Without a cluster, it is only registered. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { asset, recordKinds } from '../../../src/records/index.ts';
import { createKeyStore } from '../../../src/store/admin/api-keys.ts';
import { copyTables } from '../../../src/store/admin/copy.ts';
import { openDatabase } from '../../../src/store/database.ts';
import { createDatabase, useTestDatabase } from '../../support/database.ts';
import { storeOpener } from '../../support/open-store.ts';
import { query } from '../../support/postgres.ts';
import { startService } from '../../support/service.ts';

const database = useTestDatabase();
let service: Awaited<ReturnType<typeof startService>>;

beforeEach(async () => {
  await query(
    database.url,
    `set allow_system_table_mods = on;
    insert into pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
      select 99999, 'citus', 10, 2200, false, '13.0' where not exists (select from pg_extension where extname = 'citus')`,
  );
  service = await startService({ DATABASE_URL: database.url });
});

afterEach(() => service.stop());

test('every insert returns something, because Citus could run it as a COPY otherwise, and lose records', async () => {
  const statements = await service.statements(async () => {
    const [{ id: projectId }] = await service.create('/projects', { name: 'Harbour wall' });
    await service.create('/work-orders', { projectId });
    await service.create('/assets', ...Array.from({ length: 5_001 }, (_, n) => ({ name: 'Pump', uid: `P-${n}` })));
    const [{ id: parentId }] = await service.create('/asset-categories', { name: 'Pumps' });
    await service.create('/asset-categories', { parentId });
    await service.key();
  });
  const inserts = statements.filter((sql) => /^(?:with .*\) )?insert /s.test(sql));

  expect(inserts.length).toBeGreaterThan(6);
  expect(inserts.filter((sql) => !/ returning (?:1|number)$|^insert into workspaces/.test(sql))).toEqual([]);
});

test('records are found by an external ID only among those of their workspace, which are on one machine', async () => {
  await service.create('/assets', { name: 'Crane', externalIds: { erp: '4711' } });
  const where = { field: 'externalIds', key: 'erp', value: '4711' };
  const found: object[] = [];

  const [sql] = await service.statements(async () => {
    found.push(...(await storeOpener(service.database)('default').list(asset, { where })));
  });

  expect(found).toEqual([expect.objectContaining({ name: 'Crane' })]);
  expect(sql?.match(/\bfrom assets\b/g)).toHaveLength(2);
  expect(sql?.match(/\bworkspace_id = \$\d+/g)).toHaveLength(2);
});

test('no constant is left in a subquery, with which Postgres would fold the filter by workspace that Citus needs', async () => {
  const constants = ['projects: { every: {} }', 'projects: { none: { or: [] } }', 'projects: { some: { not: {} } }'];
  const filters = [...constants, 'not: {}', 'or: []', 'id: { in: [] }', 'createdAt: { isNull: true }'];
  await service.create('/locations', { name: 'North yard' });
  const found: number[] = [];

  const statements = await service.statements(async () => {
    for (const filter of filters) {
      const linked = `projects(first: 5, where: { location: { ${filter} } }) { nodes { id } }`;
      const query = `{ locations(first: 5, where: { ${filter} }) { nodes { id ${linked} } } }`;
      found.push((await service.data(query)).locations.nodes.length);
    }
  });

  expect(found).toEqual([1, 1, 0, 0, 0, 0, 0]);
  expect(statements.filter((sql) => /\b(?:true|false)\)|\bfalse\b|created_at is null/.test(sql))).toEqual([]);
});

test('statements on several workspaces have plain limits, because Citus refuses any others there', async () => {
  const target = await createDatabase();
  const [from, to] = [await openDatabase(database.url), await openDatabase(target.url)];
  const limited: string[] = [];
  from.knex.on('query', ({ sql }: { sql: string }) => sql.includes(' limit ') && limited.push(sql));

  await createKeyStore(from).isEmpty();
  await copyTables(from, to, recordKinds, { start() {}, step() {} });

  expect(limited.length).toBeGreaterThan(6);
  expect(limited.filter((sql) => !/ limit \d+$/.test(sql))).toEqual([]);
  await from.close();
  await to.close();
  await target.remove();
});

/** Lets inserts into a table fail like Citus: at once, or at COMMIT. */
const failWith = (message: string, table: string, at = `before insert on ${table}`, constraint = '') =>
  query(
    database.url,
    `create or replace function fail() returns trigger language plpgsql as
      $$ begin raise exception using message = '${message}', errcode = 'XX000'; end $$;
    create ${constraint} trigger fail ${at} for each row execute function fail()`,
  );

test.each([
  ['server closed the connection unexpectedly\n\tThis probably means the server terminated abnormally', 503],
  ['connection to the remote node 10.0.0.2:5432 failed with the following error: timeout expired', 503],
  ['postmaster was shut down, exiting', 503],
  ['unexpected chunk number', 500],
])(
  'a machine lost before COMMIT is 503, and can be retried, any other internal error 500: %s',
  async (message, status) => {
    const [{ id: projectId }] = await service.create('/projects', { name: 'Harbour wall' });
    await failWith(message, 'work_orders');
    const { headers, ...response } = await service.post('/work-orders', [{ projectId }]);
    expect([response.status, headers['retry-after'] !== undefined]).toEqual([status, status === 503]);
    if (status === 503) expect(response.body.error).toBe('the database is not available, try again');
  },
);

test('an unknown error at COMMIT is 503, and says that records may be stored', async () => {
  const [{ id: projectId }] = await service.create('/projects', { name: 'Harbour wall' });

  for (const [table, path, record] of [
    ['locations', '/locations', {}],
    ['work_orders', '/work-orders', { projectId }],
  ] as const) {
    const deferred = `after insert on ${table} deferrable initially deferred`;
    await failWith('could not commit transaction for shard 102008', table, deferred, 'constraint');
    const { status, body } = await service.post(path, [record], { accept: 'application/problem+json' });
    expect([status, body.type]).toEqual([503, 'urn:yardgraph:may-be-stored']);
  }
});
