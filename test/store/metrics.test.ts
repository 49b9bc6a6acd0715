/** The metrics of the process. Its counts are those of all tests in it: each test looks at what is added. */
import { mkdtempSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { unavailable } from '../../src/errors.ts';
import { eventLoopLag } from '../../src/metrics.ts';
import { createMetricsApp } from '../../src/serve-metrics.ts';
import { eventually } from '../support/clock.ts';
import { openEvents } from '../support/event-stream.ts';
import { useService } from '../support/service.ts';

const service = useService();

type Database = Parameters<typeof createMetricsApp>[0];

function startMetrics(database: Database = service.database, backupDir?: string) {
  const app = createMetricsApp(database, backupDir);
  onTestFinished(() => app.close());
  const scrape = async () => (await app.inject('/metrics')).body;
  const value = async (series: string) => Number(valuesIn(await scrape()).get(`yardgraph_${series}`) ?? 0);
  return { app, scrape, value };
}

/** By series. Throws unless each line is in Prometheus' text format. */
function valuesIn(text: string): Map<string, number> {
  const line = /^(yardgraph_[a-z_]+(?:\{(?:[a-z]+="[^"\\]*",?)*\})?) (\d+(?:\.\d+)?(?:e[+-]\d+)?)$/;
  const entries = text
    .trimEnd()
    .split('\n')
    .flatMap((text): [string, number][] => {
      if (/^# (?:HELP yardgraph_[a-z_]+ \S|TYPE yardgraph_[a-z_]+ (?:counter|gauge|histogram)$)/.test(text)) return [];
      const [, series, value] = line.exec(text) ?? [];
      if (series === undefined) throw new Error(`not a metric: ${text}`);
      return [[series, Number(value)]];
    });
  return new Map(entries);
}

const requests = (labels: string) => `http_request_duration_seconds_count{${labels},}`;

test('requests count by method, route and status, all unknown paths as one route, and no text of a client is a label', async () => {
  const { scrape, value } = startMetrics();
  const created = requests('method="POST",route="/assets",status="201"');
  const updated = requests('method="PATCH",route="/projects/:id",status="404"');
  const unknown = requests('method="",route="unknown",status="404"');
  const before = [await value(created), await value(updated), await value(unknown)] as const;

  await service.create('/assets', { name: 'Crane secret' });
  await service.patch('/projects/secret-1', {});
  for (const path of ['/secret-2', '/secret-3?x="}', '/secret/4']) await service.get(path);

  expect([await value(created), await value(updated), await value(unknown)]).toEqual([
    before[0] + 1,
    before[1] + 1,
    before[2] + 3,
  ]);
  expect(await scrape()).not.toContain('secret');
});

test('a histogram has buckets that add up to its count', async () => {
  const { scrape } = startMetrics();
  await service.create('/assets', { name: 'Crane' });
  eventLoopLag.observe(60);
  const values = valuesIn(await scrape());
  const [most, all] = ['bucket{le="30"}', 'count{}'].map((end) =>
    values.get(`yardgraph_event_loop_lag_seconds_${end}`),
  );
  expect(most).toBeLessThan(all ?? 0);
  const counts = [...values].filter(([series]) => /_count\{/.test(series));
  expect(counts.length).toBeGreaterThan(3);
  for (const [series, count] of counts) {
    const start = series.replace('_count', '_bucket').slice(0, -1);
    const buckets = [...values].filter(([name]) => name.startsWith(`${start}le=`)).map(([, value]) => value);
    expect(buckets.toSorted((a, b) => a - b)).toEqual(buckets);
    expect(buckets.at(-1)).toBe(count);
  }
});

test('statements, commits with their writes, and lookups in the cache count', async () => {
  const { value } = startMetrics();
  const series = [
    'sql_statement_duration_seconds_count{}',
    'write_group_size_count{}',
    'write_group_size_sum{}',
    'cache_lookups_total{result="miss"}',
    'cache_lookups_total{result="hit"}',
  ];
  const all = () => Promise.all(series.map(value));
  const [statements = 0, groups = 0, writes = 0, misses = 0, hits = 0] = await all();

  await Promise.all([1, 2, 3].map((number) => service.create('/locations', { name: `Yard ${number}` })));
  for (let count = 0; count < 3; count += 1) await service.data('{ locations { nodes { name } } }');

  const [laterStatements = 0, laterGroups = 0, laterWrites, laterMisses, laterHits] = await all();
  expect(laterStatements - statements).toBeGreaterThan(3);
  expect(laterGroups).toBeGreaterThan(groups);
  expect(laterWrites).toBe(writes + 3);
  expect([laterMisses, laterHits]).toEqual([misses + 2, hits + 1]);
});

test('a follower counts until it leaves, and is behind by the age of the change that its client does not read', async () => {
  const { value } = startMetrics();
  const before = await value('followers');
  await service.create('/assets', ...Array.from({ length: 1_000 }, (_, n) => ({ name: `${n} ${'x'.repeat(400)}` })));
  const query = 'subscription { changes(after: "0") { nodes { record { ... on Asset { name } } } } }';
  const events = await openEvents(service.app, query);

  await eventually(async () => expect(await value('follower_lag_seconds')).toBeGreaterThan(0));
  expect(await value('followers')).toBe(before + 1);
  for (let event = 0; event < 20; event += 1) await events.next();
  await eventually(async () => expect(await value('follower_lag_seconds')).toBe(0));

  events.close();
  await eventually(async () => expect(await value('followers')).toBe(before));
});

test('the database has a size and the log its changes; without the database both are absent, and all else is there', async () => {
  await service.create('/assets', { name: 'Crane' }, { name: 'Digger' });
  const { value } = startMetrics();
  await eventually(async () => expect(await value('log_changes')).toBe(2));
  await service.database.knex('change_numbers').update({ horizon: 1 });
  const pruned = startMetrics();
  await eventually(async () => expect(await pruned.value('log_changes')).toBe(1));
  expect(await value('database_size_bytes')).toBeGreaterThan(10_000);
  if (service.database.driver.name === 'Postgres') expect(await value('log_size_bytes')).toBeGreaterThan(8_000);

  const read = async () => Promise.reject(unavailable('the database is unavailable', 'TEST'));
  const without = await startMetrics({ ...service.database, read }).scrape();
  expect(without).not.toMatch(/^yardgraph_(?:database_size_bytes|log_changes) /m);
  expect(without).toMatch(/^yardgraph_waiting_requests 0$/m);
});

test('the latest backup has its time, 0 without one, and no time without a folder', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'yardgraph-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const timeIn = async (backupDir?: string) => {
    const { scrape } = startMetrics(service.database, backupDir);
    const values = () => scrape().then(valuesIn);
    await eventually(async () => expect((await values()).has('yardgraph_database_size_bytes')).toBe(true));
    return (await values()).get('yardgraph_last_backup_timestamp_seconds');
  };
  expect([await timeIn(), await timeIn(folder), await timeIn(join(folder, 'none'))]).toEqual([undefined, 0, 0]);
  for (const [index, name] of [
    'yardgraph-2026-11-28T03-00-00.000Z.db',
    'new.dump',
    'unfinished.dump.part',
    'yardgraph.db',
    'failed.dump',
  ].entries()) {
    writeFileSync(join(folder, name), name === 'failed.dump' ? '' : 'backup');
    utimesSync(join(folder, name), 0, 1_000.5 + index);
  }
  symlinkSync('removed', join(folder, 'removed.dump'));
  expect(await timeIn(folder)).toBe(1_001.5);
});

test('connections that are in use, and requests that wait for one, count', async () => {
  const { value } = startMetrics();
  await eventually(async () => expect(await value('database_size_bytes')).toBeGreaterThan(0));
  const { pools, driver } = service.database;
  const used = 'database_connections{pool="writes",state="used"}';
  const held = await Promise.all(
    Array.from({ length: driver.name === 'SQLite' ? 1 : 10 }, () => pools.writes.client.acquireConnection()),
  );
  expect(await value(used)).toBe(held.length);
  const created = service.create('/assets', { name: 'Crane' });
  await eventually(async () => expect(await value('waiting_requests')).toBeGreaterThan(1));
  await Promise.all(held.map((connection) => pools.writes.client.releaseConnection(connection)));
  await created;
  expect([await value(used), await value('waiting_requests')]).toEqual([0, 0]);
});

test('the page has every metric, and the alerts use no other', async () => {
  const names = (text: string) => new Set(text.match(/yardgraph_[a-z_]+/g));
  const { scrape } = startMetrics();
  const all = new Set([...(await scrape()).matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name));
  expect(names(readFileSync('docs/what-to-watch.md', 'utf8'))).toEqual(all);
  for (const file of ['docs/alerts.yml', 'test/docs/alerts.test.yml'])
    for (const name of names(readFileSync(file, 'utf8'))) expect(all).toContain(name.replace(/_(?:count|bucket)$/, ''));
});
