/** What the end of a process is to those who follow the feed, whatever the database. */
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { eventReader } from '../support/event-stream.ts';
import { post, useProcesses } from '../support/process.ts';

const processes = useProcesses();

test('at SIGTERM, subscriptions end without complete, and the process ends', async () => {
  const service = processes.start({ DATABASE_URL: 'sqlite::memory:' });
  const address = await service.ready();
  const query = new URLSearchParams({ query: `subscription { changes { nodes { cursor } } }` });
  const response = await fetch(`${address}/graphql?${query}`, { headers: { accept: 'text/event-stream' } });
  if (!response.body) throw new Error('there is no body');
  const events = eventReader(response.body);
  await post(`${address}/assets`, [{ name: 'Crane' }]);
  expect((await events.next())?.id).toBe('1');

  service.child.kill('SIGTERM');

  expect(await events.next()).toBeUndefined();
  expect(events.text()).not.toContain('complete');
  expect(await service.exited).toBe(0);
});

test('at SIGTERM, the process does not wait for a subscription whose client does not read', async () => {
  const service = processes.start({ DATABASE_URL: 'sqlite::memory:', MAX_EXTERNAL_IDS: '1000' });
  const { hostname, port } = new URL(await service.ready());
  const externalIds = Object.fromEntries(Array.from({ length: 380 }, (_, n) => [`system ${n}`, 'x'.repeat(500)]));
  // Far more than the buffers of a connection hold.
  for (let batch = 0; batch < 8; batch += 1)
    await post(`http://${hostname}:${port}/assets`, Array(12).fill({ name: 'Crane', externalIds }));
  const query = new URLSearchParams({
    query: 'subscription { changes(after: "0") { nodes { record { ... on Asset { externalIds } } } } }',
  });
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  socket.write(`GET /graphql?${query} HTTP/1.1\r\nhost: ${hostname}\r\naccept: text/event-stream\r\n\r\n`);
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) if (String(chunk).includes('next')) break;
  socket.pause();

  service.child.kill('SIGTERM');

  expect(await service.exited).toBe(0);
  socket.destroy();
}, 20_000);
