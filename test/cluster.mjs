/**
 * Runs the tests that use Postgres on a server, or on a cluster of Citus, whose databases it creates and drops:
 * `npm run test:cluster -- COORDINATOR_URL WORKER_URL… [FILE…]`. Users are superusers, and each server accepts the
 * others' connections; Citus is installed and in `shared_preload_libraries`.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import pg from 'pg';

const isUrl = (argument) => /^postgres(?:ql)?:/.test(argument);
const [coordinator, ...workers] = process.argv.slice(2).filter(isUrl);
if (!coordinator) throw new Error('expected the URL of a Postgres server, and those of its workers in a cluster');

/** New databases then have the extension. */
async function addExtension(url) {
  const client = new pg.Client({ connectionString: Object.assign(new URL(url), { pathname: '/template1' }).href });
  await client.connect();
  await client.query('create extension if not exists citus');
  await client.end();
}

const add = (url) => {
  const { hostname, port } = new URL(url);
  return `'${hostname}', ${port || 5432}`;
};

const cluster = {};
if (workers.length > 0) {
  for (const url of [coordinator, ...workers]) await addExtension(url);
  const page = readFileSync(new URL('../docs/several-processes.md', import.meta.url), 'utf8');
  const [, distribution] = /printed: distribution -->\s+```sql elsewhere\n(.*?)```/s.exec(page);
  cluster.TEST_DATABASE_NODES = workers.join(',');
  cluster.TEST_DATABASE_SQL = [
    `select citus_set_coordinator_host(${add(coordinator)})`,
    ...workers.map((url) => `select citus_add_node(${add(url)})`),
    distribution,
  ].join(';');
}
const files = process.argv.slice(2).filter((argument) => !isUrl(argument));
const env = { ...process.env, TEST_DATABASE_URL: coordinator, ...cluster };
const { status } = spawnSync('npx', ['vitest', 'run', '--project', 'postgres', ...files], { env, stdio: 'inherit' });
process.exit(status ?? 1);
