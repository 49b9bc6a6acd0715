/** A program that follows the changes survives restarts of the service. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  ConnectionError,
  GraphqlError,
  type Reconnect,
  UnexpectedResponseError,
  Yardgraph,
} from '../../client/index.ts';
import { hangUp, json, page, problem, type Reply, useScriptedServer } from '../support/scripted-server.ts';

const server = useScriptedServer();

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

const changePage = (...cursors: string[]): Reply =>
  json(200, {
    data: { changes: { nodes: cursors.map((cursor) => ({ cursor })), endCursor: cursors.at(-1), hasMore: false } },
  });
const cursorsSent = () => server.received.map(({ body }) => JSON.parse(body).variables.after);

/** Follows until so many changes have come, without waiting for any timer. */
async function follow(count: number, { retries = 0, follow = true } = {}) {
  const reconnects: Reconnect[] = [];
  const read: string[] = [];
  const changes = new Yardgraph({ serverURL: server.url, retries }).changes({
    after: '3',
    follow,
    onReconnect: (reconnect) => reconnects.push(reconnect),
  });
  const timers = setInterval(() => void vi.advanceTimersToNextTimer(), 1);
  try {
    for await (const { nodes } of changes) {
      read.push(...nodes.map(({ cursor }) => cursor));
      if (read.length >= count) break;
    }
  } finally {
    clearInterval(timers);
  }
  return { read, reconnects };
}

describe('a follower', () => {
  test('asks again with its cursor until the service is back, and says so', async () => {
    const away = [hangUp, page(502), page(504), problem(503, 'stopping'), problem(429, 'slowly')];
    server.replies = [changePage('4', '5'), ...away, changePage('6'), hangUp, changePage('7')];

    const { read, reconnects } = await follow(4);

    expect(read).toEqual(['4', '5', '6', '7']);
    expect(cursorsSent()).toEqual(['3', '5', '5', '5', '5', '5', '5', '6', '6']);
    expect(reconnects.map(({ failures }) => failures)).toEqual([1, 2, 3, 4, 5, 1]);
    expect(reconnects[0]?.error).toBeInstanceOf(ConnectionError);
    expect(reconnects[1]?.error).toBeInstanceOf(UnexpectedResponseError);
    for (const [index, { delay }] of reconnects.slice(0, 5).entries()) {
      expect(delay).toBeGreaterThanOrEqual(250 * 2 ** index);
      expect(delay).toBeLessThanOrEqual(500 * 2 ** index);
    }
  });

  test('waits at most half a minute between attempts, and at least as long as the service says', async () => {
    const busy = problem(429, 'slowly', { headers: { 'retry-after': '90' } });
    server.replies = [...Array(12).fill(hangUp), busy, changePage('4')];

    const { reconnects } = await follow(1);

    const delays = reconnects.map(({ delay }) => delay);
    expect(Math.max(...delays.slice(0, 12))).toBeLessThanOrEqual(30_000);
    expect(delays[11]).toBeGreaterThanOrEqual(15_000);
    expect(delays[12]).toBeGreaterThanOrEqual(90_000);
  });

  test.each([
    ['a revoked key', problem(401, 'unknown key')],
    ['an invalid cursor', json(200, { errors: [{ message: 'expected a cursor' }], data: null })],
    ['a page that is not of the service', page(200)],
  ])('ends with the error for %s', async (_, reply) => {
    server.replies = [changePage('4'), reply];
    await expect(follow(2)).rejects.toMatchObject({ mayBeStored: false });
    expect(server.received).toHaveLength(2);
  });

  test('ends when the signal is aborted while it waits to ask again', async () => {
    server.replies = [hangUp];
    const controller = new AbortController();
    const changes = new Yardgraph({ serverURL: server.url, retries: 0 }).changes({
      signal: controller.signal,
      onReconnect: () => controller.abort(),
    });

    expect(await changes.next()).toEqual({ done: true, value: undefined });
  });
});

test('a program that reads only what there is gets the error', async () => {
  server.replies = [hangUp];
  await expect(follow(1, { follow: false })).rejects.toThrow(ConnectionError);
  server.replies = [json(200, { errors: [{ message: 'no' }], data: null })];
  await expect(follow(1)).rejects.toThrow(GraphqlError);
});
