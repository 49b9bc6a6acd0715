/**
 * Creates PostGraphile's tables, in a schema of their own, with the records of one workspace. They have the service's columns and
 * indexes without the workspace, and foreign keys, from which PostGraphile derives the links.
 */
import pg from 'pg';

const tables = ['locations', 'projects', 'work_orders', 'assets', 'asset_categories'];

const foreignKeys = [
  ['projects', 'location_id', 'locations'],
  ['work_orders', 'project_id', 'projects'],
  ['work_orders', 'location_id', 'locations'],
  ['asset_categories', 'parent_id', 'asset_categories'],
];

export async function createPeerTables(url) {
  const client = new pg.Client(url);
  await client.connect();
  const strings = async (sql, values = []) => (await client.query({ text: sql, values, rowMode: 'array' })).rows.flat();
  await client.query('create schema peer');
  for (const table of tables) {
    const columns = await strings(
      `select column_name::text from information_schema.columns
      where table_schema = 'public' and table_name = $1 and column_name <> 'workspace_id' order by ordinal_position`,
      [table],
    );
    await client.query(`create table peer.${table} as
      select ${columns.join(', ')} from public.${table} where workspace_id = (select number from workspaces where name = 'acme') order by id`);
    await client.query(`alter table peer.${table} add primary key (id),
      alter id set default '${table}_' || uuidv7(),
      alter created_at set default now(),
      alter updated_at set default now()`);
    for (const index of await strings(
      `select indexdef from pg_indexes where schemaname = 'public' and tablename = $1 and indexname not like '%_pkey'`,
      [table],
    )) {
      await client.query(adapted(index, table));
    }
  }
  for (const [table, column, target] of foreignKeys) {
    await client.query(`alter table peer.${table} add foreign key (${column}) references peer.${target}`);
  }
  // As autovacuum does in time, for both.
  await client.query('vacuum analyze');
  await client.end();
}

/**
 * The same index as PostGraphile understands it: it orders by whole columns only, and follows foreign keys only if their indexes
 * have all rows.
 */
function adapted(index, table) {
  const own = index
    .replace('ON public.', 'ON peer.')
    .replace('workspace_id, ', '')
    .replace(/"left"\((\w+), \d+\)/, '$1')
    .replace(/USING gin .*/, 'USING gin ((external_ids::jsonb))');
  const isOfForeignKey = foreignKeys.some(([from, column]) => from === table && own.includes(`(${column},`));
  return isOfForeignKey ? own.replace(/ WHERE .*/, '') : own;
}
