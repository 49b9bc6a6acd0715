/** Metrics have an address of their own, which the service's clients need not reach: they need no key. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import Fastify from 'fastify';
import type { Config } from './config.ts';
import { errorCode, StartError } from './errors.ts';
import { cacheLookups, eventLoopLag, followers, histograms, type Metric, metricsText, waits } from './metrics.ts';
import type { Database } from './store/database.ts';

const sizeIntervalMs = 60_000;
const lagIntervalMs = 100;

/** Returns the address. The process may end without closing it. */
export async function serveMetrics(database: Database, { metricsHost: host, metricsPort: port, backupDir }: Config) {
  if (port === undefined) return undefined;
  const app = createMetricsApp(database, backupDir);
  app.server.unref().maxConnections = 20;
  return app.listen({ host, port }).catch((error: unknown) => {
    throw new StartError(`METRICS_PORT: cannot listen on port ${port} of ${host}: ${errorCode(error)}`);
  });
}

/** In seconds; 0 without a backup, so that the alert fires. */
async function timeOfLatestBackup(folder: string): Promise<number> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => /(?:Z\.db|\.dump)$/.test(name));
  let latest = 0;
  for (const name of names) {
    // It may be removed meanwhile. A dump that failed may have left an empty file.
    const file = await stat(join(folder, name)).catch(() => undefined);
    if (file?.isFile() && file.size > 0) latest = Math.max(latest, file.mtimeMs);
  }
  return latest / 1_000;
}

export function createMetricsApp(
  { read, dialect, pools }: Pick<Database, 'read' | 'dialect' | 'pools'>,
  backupDir?: string,
) {
  let sizes: Readonly<Record<string, unknown>> = {};
  // Not for each scrape, which would wait for an unavailable database.
  const readSizes = async () => {
    const backup = backupDir === undefined ? undefined : await timeOfLatestBackup(backupDir);
    const [row] = await read(dialect.sizes).catch(() => []);
    sizes = { ...row, backup };
  };
  const size = (name: string) => (sizes[name] === undefined ? [] : ([['', Number(sizes[name])]] as const));
  let last = performance.now();
  const measureLag = () => {
    const now = performance.now();
    eventLoopLag.observe(Math.max(0, now - last - lagIntervalMs) / 1_000);
    last = now;
  };
  void readSizes();
  setInterval(readSizes, sizeIntervalMs).unref();
  setInterval(measureLag, lagIntervalMs).unref();
  const lag = () =>
    Math.max(0, ...[...followers].map(({ unsentSince = Date.now() }) => (Date.now() - unsentSince) / 1_000));
  const lookups = () => Object.entries(cacheLookups).map(([result, count]) => [`{result="${result}"}`, count] as const);
  const connections = () =>
    Object.entries(pools).flatMap(([name, { client }]) => [
      [`{pool="${name}",state="used"}`, Number(client.pool.numUsed())] as const,
      [`{pool="${name}",state="free"}`, Number(client.pool.numFree())] as const,
    ]);
  const waiting = () =>
    Object.values(pools).reduce((sum, { client }) => sum + client.pool.numPendingAcquires(), waits.size);
  const metrics: readonly Metric[] = [
    ...histograms,
    ['counter', 'cache_lookups_total', 'Lookups of responses in the cache.', lookups],
    ['gauge', 'database_connections', 'Connections to the database.', connections],
    ['gauge', 'waiting_requests', 'Waits for a connection, or for a turn.', () => [['', waiting()]]],
    ['gauge', 'followers', 'Open subscriptions.', () => [['', followers.size]]],
    ['gauge', 'follower_lag_seconds', 'Age of the oldest change that is read and not sent.', () => [['', lag()]]],
    ['gauge', 'database_size_bytes', 'Size of the database.', () => size('database')],
    ['gauge', 'log_size_bytes', 'Size of the log of changes, on Postgres.', () => size('log')],
    ['gauge', 'log_changes', 'Changes in the log.', () => size('changes')],
    ['gauge', 'last_backup_timestamp_seconds', 'Time of the latest backup.', () => size('backup')],
  ];
  const app = Fastify();
  const mediaType = 'text/plain; version=0.0.4; charset=utf-8';
  app.get('/metrics', async (_request, reply) => reply.type(mediaType).send(metricsText(metrics)));
  return app;
}
