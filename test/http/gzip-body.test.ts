/** Bodies that are inflated: broken ones, and those that inflate to more than was sent. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { listen, useSharedService } from '../support/service.ts';

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
  ['damaged in its data', damaged(15)],
  ['damaged in its checksum', damaged(-5)],
  ['followed by text', Buffer.concat([body, Buffer.from('[]')])],
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
  expect((await post(gzipSync('{ not JSON'))).body.error).toMatch(/^the body is not valid JSON: /);
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
    const socket = connect(Number(new URL(await listen(service.app)).port), '127.0.0.1');
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
