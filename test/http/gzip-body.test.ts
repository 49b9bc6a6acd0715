/** Bodies that are inflated: broken ones, and many that inflate to more than was sent. */
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { FastifyRequest } from 'fastify';
import { describe, expect, test } from 'vitest';
import { createGunzip } from '../../src/http/gzip-body.ts';
import { workspaceNamed } from '../support/open-store.ts';
import { useSharedService } from '../support/service.ts';

const service = useSharedService({ MAX_BODY_BYTES: '20000' });
const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
const post = (payload: Buffer, url = '/locations') => service.inject({ method: 'POST', url, headers, payload });
const text = '[{"name":"North yard"}]';
const body = gzipSync(text);

const damaged = (at: number) => {
  const copy = Buffer.from(body);
  copy.writeUInt8((copy.at(at) ?? 0) ^ 0xff, at < 0 ? copy.length + at : at);
  return copy;
};

test.each<[string, Buffer]>([
  ['not compressed', Buffer.from(text)],
  ['truncated', body.subarray(0, -1)],
  ['only a header', body.subarray(0, 10)],
  ['damaged in its data', damaged(15)],
  ['damaged in its checksum', damaged(-5)],
  ['followed by text', Buffer.concat([body, Buffer.from('[]')])],
  ['followed by the start of another file', Buffer.concat([body, body.subarray(0, 5)])],
])('a body that is %s is 400', async (_, payload) => {
  const error = 'the body is not valid gzip';

  expect((await post(payload)).body).toEqual({ error, code: '400' });
  const { status, body } = await post(payload, '/graphql');
  expect([status, body.errors[0].message]).toEqual([400, error]);
});

test('a body followed by zeros is 400', async () => {
  const { body: response } = await post(Buffer.concat([body, Buffer.alloc(8)]));

  expect(response).toEqual({ error: 'the body has bytes after the end of its gzip data', code: '400' });
});

test('a body may consist of several compressed parts', async () => {
  const { status, body } = await post(Buffer.concat([gzipSync(text.slice(0, 7)), gzipSync(text.slice(7))]));

  expect([status, body[0].name]).toEqual([201, 'North yard']);
});

test('what a compressed body contains is checked like a plain one', async () => {
  expect((await post(gzipSync('{ not JSON'))).body.error).toMatch(/^the body is not valid JSON: line 1, /);
  expect((await post(gzipSync(Buffer.from([0x22, 0xc3, 0x28, 0x22])))).body.error).toBe('the body is not valid UTF-8');
  expect((await post(gzipSync('['.repeat(100)))).body.error).toBe('expected JSON nested at most 32 levels deep');
});

describe('MAX_BODY_BYTES', () => {
  const tooLarge = { error: 'expected a body of at most 20,000 bytes: split it into several requests', code: '413' };
  const ofLength = (length: number) => text.padEnd(length);

  test('limits what a body inflates to', async () => {
    expect((await post(gzipSync(ofLength(20_000)))).status).toBe(201);
    expect((await post(gzipSync(ofLength(20_001)))).body).toEqual(tooLarge);
    expect((await post(gzipSync(Buffer.alloc(100_000_000, ' ')).subarray(0, 20_000))).body).toEqual(tooLarge);
    expect((await post(gzipSync(ofLength(20_001)), '/graphql')).body.errors[0]).toMatchObject({
      message: tooLarge.error,
    });
  });

  test('limits what is sent, too', async () => {
    const empty = gzipSync('');
    const parts = (count: number) => Buffer.concat([...Array(count).fill(empty), body]);
    const most = Math.floor((20_000 - body.length) / empty.length);

    expect((await post(parts(most))).status).toBe(201);
    expect((await post(parts(most + 1))).body).toEqual(tooLarge);
  });

  test('keeps the connection of a body that inflates to more', async () => {
    await service.app.listen({ port: 0, host: '127.0.0.1' });
    const socket = connect((service.app.server.address() as AddressInfo).port, '127.0.0.1');
    const payload = gzipSync(ofLength(1_000_000));
    const head = `POST /locations HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n`;

    socket.write(`${head}content-encoding: gzip\r\ncontent-length: ${payload.length}\r\n\r\n`);
    socket.write(payload);
    const [first] = await once(socket, 'data');
    socket.write(`${head}content-length: ${text.length}\r\n\r\n${text}`);
    const [second] = await once(socket, 'data');
    socket.destroy();

    expect([first, second].map((response) => String(response).split('\r\n')[0])).toEqual([
      'HTTP/1.1 413 Payload Too Large',
      'HTTP/1.1 201 Created',
    ]);
  });
});

describe('of many bodies that inflate to much', () => {
  const maxBytes = 100_000;
  const bomb = gzipSync(Buffer.alloc(maxBytes, ' '));
  const request = (workspace = 'acme', socket = { destroyed: false }) =>
    ({ identity: { workspace: workspaceNamed(workspace) }, raw: { socket } }) as FastifyRequest;
  /** Until nothing is left to be done but by others. */
  const settled = async (promises: readonly Promise<unknown>[]) => {
    let count = 0;
    for (const promise of promises)
      promise.then(
        () => count++,
        () => {},
      );
    for (let previous = -1; previous !== count || count === 0; ) {
      previous = count;
      await setTimeout(100);
    }
    return count;
  };

  test('only eight are in use at a time, and the next follows when one is released', async () => {
    const { gunzip, release } = createGunzip(maxBytes);
    const requests = Array.from({ length: 12 }, () => request());
    const inflated = requests.map((each) => gunzip(each, bomb));

    expect(await settled(inflated)).toBe(8);

    for (const each of requests.slice(0, 8)) release(each);
    expect((await Promise.all(inflated)).map(({ length }) => length)).toEqual(Array(12).fill(maxBytes));
  });

  test('a small one does not wait for them', async () => {
    const { gunzip } = createGunzip(maxBytes);
    const inflated = Array.from({ length: 12 }, () => gunzip(request(), bomb));
    await settled(inflated);

    expect(String(await gunzip(request(), body))).toBe(text);
  });

  test('workspaces take turns, so that one with many delays no other', async () => {
    const { gunzip, release } = createGunzip(maxBytes);
    const order: string[] = [];
    const use = async (workspaceId: string) => {
      const each = request(workspaceId);
      await gunzip(each, bomb);
      order.push(workspaceId);
      release(each);
    };

    await Promise.all([...Array<string>(60).fill('acme'), 'other'].map(use));

    expect(order.indexOf('other')).toBeLessThan(50);
  });

  test('those of clients that have left are not inflated', async () => {
    const { gunzip, release } = createGunzip(maxBytes);
    const requests = Array.from({ length: 8 }, () => request());
    await Promise.all(requests.map((each) => gunzip(each, bomb)));
    const socket = { destroyed: false };
    const left = request('acme', socket);
    const waiting = gunzip(left, bomb);
    socket.destroyed = true;
    for (const each of requests) release(each);

    await expect(waiting).rejects.toThrow('the connection was closed');
    release(left);
    expect(await gunzip(request(), bomb)).toHaveLength(maxBytes);
  });

  test('broken and too large ones are released too, however often they are', async () => {
    const { gunzip, release } = createGunzip(maxBytes);
    for (let round = 0; round < 30; round += 1) {
      const [broken, tooLarge] = [request(), request()];
      await expect(gunzip(broken, Buffer.from('x'))).rejects.toThrow();
      await expect(gunzip(tooLarge, gzipSync(Buffer.alloc(maxBytes + 1)))).rejects.toThrow();
      for (const each of [broken, tooLarge, tooLarge, request()]) release(each);
    }

    expect(await gunzip(request(), bomb)).toHaveLength(maxBytes);
  });

  test('small ones do not wait, and all are executed', async () => {
    const statuses = await Promise.all(Array.from({ length: 50 }, async () => (await post(body)).status));

    expect(statuses).toEqual(Array(50).fill(201));
  });
});

describe('a service that needs a key', () => {
  const closed = useSharedService({}, { closed: true });

  test('refuses a request without one before its body is inflated', async () => {
    const { status } = await closed.inject({ method: 'POST', url: '/locations', headers, payload: Buffer.from('x') });

    expect(status).toBe(401);
  });
});
