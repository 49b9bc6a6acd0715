/** Subscriptions over a real connection: by the client of graphql-sse, and by one that stops reading. */
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { createClient } from 'graphql-sse';
import { describe, expect, test } from 'vitest';
import { listen, startService, useWorkspaces } from '../support/service.ts';

const service = useWorkspaces();

const query = 'subscription ($after: String) { changes(after: $after) { nodes { cursor recordId } endCursor } }';

describe('the client of graphql-sse', () => {
  const open = async () => {
    const url = `${await listen(service.app)}/graphql`;
    return createClient({ url, headers: service.headers, retryAttempts: 0 });
  };

  test('gets each change, until it ends the subscription', async () => {
    const client = await open();
    const events = client.iterate<{ changes: { endCursor: string } }>({ query });

    const cursors: (string | undefined)[] = [];
    const reading = (async () => {
      for await (const { data } of events) {
        cursors.push(data?.changes.endCursor);
        if (cursors.length === 3) break;
        await service.create('/assets', { name: 'Crane' });
      }
    })();
    // Until the subscription has begun, nothing is sent for what is created.
    while (cursors.length === 0) {
      await service.create('/assets', { name: 'Pump' });
      await pause(50);
    }
    await reading;

    expect(cursors.map(Number)).toEqual(cursors.map(Number).toSorted((a, b) => a - b));
    expect(new Set(cursors).size).toBe(3);
    client.dispose();
  });

  test('learns that its key is not valid', async () => {
    const client = createClient({ url: `${await listen(service.app)}/graphql`, retryAttempts: 0 });

    await expect(client.iterate({ query }).next()).rejects.toMatchObject({ response: { status: 401 } });
    client.dispose();
  });
});

/** Connections that have asked for the subscription, and read nothing of it. */
async function openUnread(app: typeof service.app, count: number, subscription: string): Promise<Socket[]> {
  const { hostname, port, host } = new URL(await listen(app));
  const path = `/graphql?query=${encodeURIComponent(subscription)}`;
  return Array.from({ length: count }, () => {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => {});
    socket.pause();
    socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAccept: text/event-stream\r\n\r\n`);
    return socket;
  });
}

describe('a client that does not read', () => {
  test('makes the service read no further than it can send, and is disconnected', async () => {
    const slow = await startService({ REQUEST_TIMEOUT: '100', LOG_LEVEL: 'info' });
    const notes = 'x'.repeat(9_000);
    for (let batch = 0; batch < 2; batch += 1) {
      await slow.create('/projects', ...Array.from({ length: 1_000 }, () => ({ name: 'Wall', notes })));
    }
    let pages = 0;
    slow.database.knex.on('query', ({ sql }: { sql: string }) => {
      if (/ from changes where .* and number <= /.test(sql)) pages += 1;
    });
    const sockets = await openUnread(
      slow.app,
      1,
      'subscription { changes(after: "0") { nodes { fields { after } } } }',
    );

    // 2,000 changes are 40 pages and 18 MB, more than all buffers of a connection hold.
    await expect
      .poll(() => slow.logs.filter((line) => line.includes('connection closed')), { timeout: 30_000 })
      .toHaveLength(1);

    expect(pages).toBeGreaterThan(0);
    expect(pages).toBeLessThan(36);
    for (const socket of sockets) socket.destroy();
    await slow.stop();
  });
});
