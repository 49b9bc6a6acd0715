/**
 * The process is killed amid every kind of write, again and again: what was acknowledged is there with its history, everything else whole
 * or not at all, and the log has no gaps and agrees with the records. A repeat with a key gets what was stored, or stores it.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { kindNamed, recordKinds } from '../../src/records/index.ts';
import { openDatabase } from '../../src/store/database.ts';
import type { LoggedChange } from '../../src/store/log.ts';
import { requireConsistentLog } from '../support/consistent-log.ts';
import { createDatabase, isPostgres } from '../support/database.ts';
import { byEffort } from '../support/effort.ts';
import { storeOpener } from '../support/open-store.ts';
import { patiently, useProcesses } from '../support/process.ts';
import { listen, startOn, stopServices } from '../support/service.ts';

const processes = useProcesses();

const lives = byEffort({ small: 1, long: 60 });
const writersPerLife = 6;

/** What a request changes, as `ACTION KIND` for each record. */
type Effect = readonly string[];

interface Sent {
  readonly effect: Effect;
  /** With an Idempotency-Key, which every second request has. */
  readonly hasKey: boolean;
  send(address: string): Promise<Response>;
  text?: string;
}

const times = (count: number, change: string): Effect => Array(count).fill(change);

/** Writes in its own records, one kind of write after the other, until the service is gone. */
async function write(address: string, name: string, sent: Map<string, Sent>): Promise<void> {
  let requests = 0;

  /** The response's records; undefined once the service is gone. */
  async function send(effect: Effect, method: string, path: string, body: unknown) {
    requests += 1;
    const id = `${name}-${requests}`;
    const hasKey = requests % 2 === 0;
    const headers = {
      ...{ 'content-type': 'application/json', 'x-request-id': id },
      ...(hasKey && { 'idempotency-key': id }),
    };
    const options = { method, headers, body: JSON.stringify(body) };
    const request: Sent = { effect, hasKey, send: (to) => patiently(() => fetch(`${to}${path}`, options)) };
    sent.set(id, request);
    const response = await request.send(address).catch(() => undefined);
    const text = await response?.text().catch(() => undefined);
    if (!response || text === undefined) return undefined;
    const result = JSON.parse(text);
    if (!response.ok || result.errors) throw new Error(`${response.status}: ${text}`);
    request.text = text;
    return path === '/graphql' ? (Object.values(result.data)[0] as never) : result;
  }

  const mutate = (effect: Effect, query: string) =>
    send(effect, 'POST', '/graphql', { query: `mutation { ${query} }` });
  const list = (items: readonly string[]) => `[${items.join(', ')}]`;

  for (let round = 0; ; round += 1) {
    const size = [1, 3, 50][round % 3] ?? 1;
    const uid = (n: number) => `${name}-${round}-${n}`;
    const items = Array.from({ length: size }, (_, n) => ({ name: 'Crane', uid: uid(n) }));
    const created: { id: string }[] | undefined = await send(times(size, 'created Asset'), 'POST', '/assets', items);
    const [project] = (await send(['created Project'], 'POST', '/projects', [{ name: 'Harbour wall' }])) ?? [];
    if (!created || !project) return;
    const steps = [
      () => send(['updated Project'], 'PATCH', `/projects/${project.id}`, { name: `Quay ${round}` }),
      () =>
        mutate(
          times(size, 'updated Asset'),
          `updateAssets(input: ${list(created.map(({ id }) => `{ id: "${id}", name: "Excavator" }`))}) { id }`,
        ),
      () =>
        mutate(
          [...times(size, 'updated Asset'), ...times(size, 'created Asset')],
          `upsertAssets(by: { field: UID }, input: ${list(
            Array.from({ length: 2 * size }, (_, n) => `{ uid: "${uid(n)}", name: "Pump" }`),
          )}) { outcome }`,
        ),
      () =>
        mutate(
          ['created Location', 'created Project', ...times(size, 'created WorkOrder')],
          `importRecords(input: {
            locations: [{ ref: "yard", name: "North yard" }]
            projects: [{ ref: "wall", name: "Harbour wall", location: { ref: "yard" } }]
            workOrders: ${list(times(size, '{ name: "Set up the crane", project: { ref: "wall" } }'))}
          }) { locations { id } }`,
        ),
      () =>
        mutate(
          times(size, 'deleted Asset'),
          `deleteAssets(ids: ${JSON.stringify(created.map(({ id }) => id))}) { id }`,
        ),
    ];
    for (const step of steps) if (!(await step())) return;
  }
}

test(`kill -9 amid every kind of write loses no acknowledged write and leaves none half stored, ${lives} of ${lives} times`, async () => {
  const { url, remove } = await createDatabase({ empty: true });
  // However slow the machine is, no write waits for too long.
  const patient = { DATABASE_CONNECTION_TIMEOUT: '120000', DATABASE_STATEMENT_TIMEOUT: '120000' };
  const settings = { ...patient, DATABASE_URL: url, LOG_LEVEL: 'silent' };
  const sent = new Map<string, Sent>();
  const acknowledged = () => [...sent.values()].filter(({ text }) => text !== undefined).length;
  for (let life = 0; life < lives; life += 1) {
    const service = processes.start(settings);
    const address = await service.ready();
    const before = acknowledged();
    const writers = Array.from({ length: writersPerLife }, (_, n) => write(address, `${life}-${n}`, sent));
    while (acknowledged() < before + 10 * writersPerLife) await pause(5);
    service.child.kill('SIGKILL');
    await Promise.all([service.exited, ...writers]);
  }

  const address = await listen((await startOn(url)).app);
  for (const [id, request] of sent) {
    if (!request.hasKey) continue;
    const response = await request.send(address);
    const text = await response.text();
    expect([id, response.ok || text]).toEqual([id, true]);
    if (request.text !== undefined) {
      expect([text, response.headers.get('idempotency-replayed')]).toEqual([request.text, 'true']);
    }
    request.text = text;
  }
  await stopServices();

  const database = await openDatabase(url);
  const health = isPostgres ? [] : await database.run('pragma integrity_check');
  const store = storeOpener(database)('default');
  const changes = await store.changes({ after: 0, limit: 1_000_000, withBefore: false });
  await requireConsistentLog(store, recordKinds);
  await database.close();
  await remove();

  const byRequest = new Map<string | null, LoggedChange[]>();
  for (const change of changes) byRequest.set(change.requestId, [...(byRequest.get(change.requestId) ?? []), change]);
  expect(health).toEqual(isPostgres ? [] : [{ integrity_check: 'ok' }]);
  for (const [id, { effect, text }] of sent) {
    const found = (byRequest.get(id) ?? []).map(({ action, kind }) => `${action} ${kind}`);
    if (text !== undefined || found.length > 0) expect([id, found.toSorted()]).toEqual([id, effect.toSorted()]);
  }
  expect(new Set(changes.map(({ kind }) => kindNamed(kind).name)).size).toBe(4);
}, 240_000);
