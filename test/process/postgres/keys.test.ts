/** Keys on a database of which a part is unavailable, so that it is unknown whether there are any. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createDatabase } from '../../support/database.ts';
import { useProcesses } from '../../support/process.ts';

const processes = useProcesses();
let database: Awaited<ReturnType<typeof createDatabase>>;
/** Settings of a process whose driver fails the statements that read keys of all workspaces, as on Citus. */
let settings: Record<string, string>;

beforeEach(async () => {
  database = await createDatabase();
  const preload = join(processes.folder, 'partly-away.cjs');
  writeFileSync(
    preload,
    `const { Client } = require(${JSON.stringify(join(process.cwd(), 'node_modules/pg'))});
    const { query } = Client.prototype;
    Client.prototype.query = function (sql, ...rest) {
      if (!/from api_keys (?!where workspace_id)/.test(sql)) return query.call(this, sql, ...rest);
      return Promise.reject(Object.assign(new Error('connection to the remote node failed'), { code: '08006' }));
    };`,
  );
  settings = { DATABASE_URL: database.url, NODE_OPTIONS: `--require ${preload}` };
});

afterEach(() => database.remove());

const create = async () => processes.start(settings, 'keys', 'create', '--workspace', 'acme', '--user', 'erp').ended();

const statusOf = async (address: string, headers: Record<string, string> = {}) =>
  (await fetch(`${address}/asset-categories`, { headers })).status;

test('keys create works, and does not say whether it is the first', async () => {
  const { code, out, err } = await create();

  expect([code, out]).toEqual([0, expect.stringMatching(/^yardgraph_acme_[0-9a-f]{8}_[\w-]{43}$/)]);
  expect(err).not.toContain('first key');
  const { err: list } = await processes.start(settings, 'keys', 'list').ended();
  expect(list).toMatch(/^database: .*\nthe database is not available, try again$/);
});

test('the service starts closed on every address: only a valid key is accepted', async () => {
  const key = (await create()).out;

  for (const HOST of ['127.0.0.1', '0.0.0.0']) {
    const service = processes.start({ ...settings, HOST });
    const { port } = new URL(await service.ready());
    const address = `http://127.0.0.1:${port}`;

    expect(service.said.out).toContain('is ready, for requests with an API key');
    expect(await statusOf(address)).toBe(HOST === '0.0.0.0' ? 401 : 503);
    expect(await statusOf(address, { authorization: `Bearer ${key}` })).toBe(200);
    expect(await statusOf(address)).toBe(401);
  }
});
