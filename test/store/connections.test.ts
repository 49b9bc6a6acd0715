/** The connections of workspaces on a machine that hangs, and of all others. The database's driver is scripted. */
import { Client, knex } from 'knex';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Connections } from '../../src/store/connections/connections.ts';
import type { Driver } from '../../src/store/connections/driver.ts';

const [poolSize, connectionTimeout, statementTimeout] = [10, 10_000, 5_000];
const hung = Array.from({ length: poolSize }, (_, index) => index + 1);
const healthy = 100;

/** By connection, what ends its statement that gets no response. */
const held = new Map<unknown, { resolve(rows: []): void; reject(reason: Error): void }>();
const outcomes: ('read' | 'failed')[] = [];
let isDown: boolean;
let connections: Connections;

class ScriptedClient extends Client {
  override acquireRawConnection = async () => ({});
  override destroyRawConnection = async () => {};
  override validateConnection = async () => true;
}

const driver = {
  query(connection: unknown, sql: string, [workspaceId]: readonly unknown[]) {
    if (!isDown || sql !== 'read' || workspaceId === healthy) return Promise.resolve([]);
    return new Promise((resolve, reject) => held.set(connection, { resolve, reject }));
  },
  cancel(connection: unknown) {
    held.get(connection)?.reject(Object.assign(new Error('cancelled'), { code: '57014' }));
    held.delete(connection);
  },
  isIdle: async () => true,
  destroy() {},
} as Partial<Driver> as Driver;

beforeEach(() => {
  vi.useFakeTimers();
  held.clear();
  outcomes.length = 0;
  isDown = true;
  const pool = knex({
    client: ScriptedClient,
    pool: { min: 0, max: poolSize },
    acquireConnectionTimeout: connectionTimeout,
  });
  // By itself, Knex does so only for a client that loads a library.
  pool.client.initializePool();
  connections = new Connections(
    { writes: pool },
    driver,
    { beginSnapshot: 'begin' },
    { connectionTimeout, statementTimeout },
  );
});

afterEach(() => vi.useRealTimers());

/** Each takes a connection for a workspace, and reads it. */
const uses = {
  'a statement': (workspaceId: number) => connections.forWorkspace(workspaceId).read('read', [workspaceId]),
  'a snapshot': (workspaceId: number) =>
    connections.forWorkspace(workspaceId).snapshot((run) => run('read', [workspaceId])),
  'a write': (workspaceId: number) =>
    connections.useToWrite(workspaceId, async ({ send }) => {
      await send('begin');
      await send('read', [workspaceId]);
    }),
};

const start = (work: Promise<unknown>) =>
  void work.then(
    () => outcomes.push('read'),
    () => outcomes.push('failed'),
  );

const pass = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds);

test.each(Object.entries(uses))(
  'workspaces whose last statement timed out share two connections, until one succeeds: %s',
  async (_, use) => {
    const startAll = async () => {
      for (const workspaceId of hung) start(use(workspaceId));
      await pass(0);
    };
    await startAll();
    expect(held.size).toBe(poolSize);
    await pass(statementTimeout);
    // These send nothing, so nobody knows more of the machine.
    for (const workspaceId of hung) await connections.useToWrite(workspaceId, async () => {});
    await startAll();
    await startAll();
    expect(held.size).toBe(2);

    start(use(healthy));
    await pass(0);
    expect(outcomes.splice(0)).toEqual([...Array(poolSize).fill('failed'), 'read']);

    isDown = false;
    for (const { resolve } of held.values()) resolve([]);
    held.clear();
    await pass(0);
    expect(outcomes).toEqual(Array(2 * poolSize).fill('read'));
    isDown = true;
    await startAll();
    expect(held.size).toBe(poolSize);
  },
);
