/** Bodies that are rejected: nested too deeply, no UTF-8, too many at a time, not valid gzip, or inflated to more than may be sent. */
import { once } from 'node:events';
import { type ClientRequest, request } from 'node:http';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import type { ServiceError } from '../../src/errors.ts';
import { requireSmallJson } from '../../src/http/request.ts';
import { listen, useSharedService } from '../support/service.ts';

const { limits } = loadConfig({});

/** The status and message with which a text is rejected; undefined if it is not. */
function refusal(json: string): unknown {
  try {
    requireSmallJson(Buffer.from(json), { ...limits, maxNesting: 3 });
    return undefined;
  } catch (error) {
    const { status, message } = error as ServiceError;
    return [status, message];
  }
}

const children = (value: unknown): unknown[] =>
  typeof value === 'object' && value !== null ? Object.values(value) : [];

const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null ? 1 + Math.max(0, ...children(value).map(depthOf)) : 0;

const isTooDeep = [400, 'expected JSON nested at most 3 levels deep'];

/** Texts that look like JSON, as keys and values. */
const tricky = fc.string({ unit: fc.constantFrom('"', '\\', '[', ']', '{', '}', ':', ',', 'u', 'é', '𝄞', '\n') });
const anything = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    tricky,
    fc.jsonValue({ maxDepth: 0 }),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(tricky, tie('value'), { maxKeys: 4 }),
  ),
})).value;

describe('nesting', () => {
  test('of valid JSON is rejected exactly if the parsed value is too deep', () => {
    let deep = 0;
    fc.assert(
      fc.property(anything, fc.constantFrom('', '\t', ' '), (value, space) => {
        const json = JSON.stringify(value, null, space);
        const isDeep = depthOf(value) > 3;
        if (isDeep) deep += 1;
        expect(refusal(json)).toEqual(isDeep ? isTooDeep : undefined);
      }),
      { numRuns: 2_000 },
    );
    expect(deep).toBeGreaterThan(50);
  });

  test.each(['', '}}}}', '"\\', '[[[', '::::', '\0'])('of invalid JSON is left to the parser: %j', (text) => {
    expect(refusal(text)).toBeUndefined();
  });
});

const limited = useSharedService({ MAX_BODY_BYTES: '20000' });

test('bodies in use at a time have at most five times the bytes of the largest: further ones get 503 until others are done', async () => {
  const { hostname, port } = new URL(await listen(limited.app));
  const open = new Set<ClientRequest>();
  const begin = () => {
    const options = { hostname, port, method: 'POST', path: '/locations', agent: false };
    const sent = request({ ...options, headers: { 'content-type': 'application/json', 'content-length': 20_000 } });
    open.add(sent);
    sent.on('error', () => {});
    // Refused while a request of this test was in use.
    sent.on('response', () => open.delete(sent) && begin());
    sent.write('[');
  };
  for (let n = 0; n < 5; n += 1) begin();
  const close = (sent: ClientRequest) => open.delete(sent) && sent.destroy();
  onTestFinished(() => open.forEach(close));

  await expect.poll(async () => (await limited.post('/locations', [{}])).status).toBe(503);
  const { headers, body } = await limited.post('/locations', [{}]);
  expect([headers['retry-after'], body.error]).toEqual(['1', 'too many large bodies are being read, try again']);
  expect((await limited.get('/asset-categories')).status).toBe(200);

  [...open].slice(0, 1).forEach(close);
  await expect.poll(async () => (await limited.post('/locations', [{}])).status).toBe(201);
});

describe('the bytes of a body', () => {
  const service = useSharedService();
  const post = (bytes: Buffer) =>
    service.inject({
      method: 'POST',
      url: '/locations',
      headers: { 'content-type': 'application/json' },
      payload: bytes,
    });

  test('may begin with one byte order mark', async () => {
    const mark = Buffer.from('\ufeff');
    const json = Buffer.from('[{"name":"Höfe"}]');
    expect((await post(Buffer.concat([mark, json]))).body).toMatchObject([{ name: 'Höfe' }]);
    expect((await post(Buffer.concat([mark, mark, json]))).body.error).toMatch(
      /^the body is not valid JSON: Unexpected token/,
    );
  });

  test.each(['c328', 'eda080', 'f4908080', 'c0af', 'e282'])('are 400 when they are not UTF-8: %s', async (hex) => {
    const invalid = Buffer.concat([Buffer.from('[{"name":"'), Buffer.from(hex, 'hex'), Buffer.from('"}]')]);
    expect((await post(invalid)).body).toEqual({ error: 'the body is not valid UTF-8', code: '400' });
  });
});

const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
const postGzip = (payload: Buffer, url = '/locations') => limited.inject({ method: 'POST', url, headers, payload });
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
  ['damaged in its checksum', damaged(-5)],
  ['followed by text', Buffer.concat([body, Buffer.from('[]')])],
  ['followed by zeros', Buffer.concat([body, Buffer.alloc(8)])],
])('a body that is %s is 400', async (name, payload) => {
  const error = name.endsWith('zeros')
    ? 'the body has bytes after the end of its gzip data'
    : 'the body is not valid gzip';
  expect((await postGzip(payload)).body).toEqual({ error, code: '400' });
  const { status, body } = await postGzip(payload, '/graphql');
  expect([status, body.errors[0].message]).toEqual([400, error]);
});

test('a body may consist of several compressed parts', async () => {
  const { status, body } = await postGzip(Buffer.concat([gzipSync(text.slice(0, 7)), gzipSync(text.slice(7))]));
  expect([status, body[0].name]).toEqual([201, 'North yard']);
});

test('what a compressed body contains is checked like a plain one', async () => {
  expect((await postGzip(gzipSync('{ not JSON'))).body.error).toMatch(/^the body is not valid JSON: /);
  expect((await postGzip(gzipSync(Buffer.from([0x22, 0xc3, 0x28, 0x22])))).body.error).toBe(
    'the body is not valid UTF-8',
  );
  expect((await postGzip(gzipSync('['.repeat(100)))).body.error).toBe('expected JSON nested at most 32 levels deep');
});

describe('MAX_BODY_BYTES', () => {
  const tooLarge = { error: 'expected a body of at most 20,000 bytes: split it into several requests', code: '413' };
  const ofLength = (length: number) => text.padEnd(length);

  test('limits what a body inflates to', async () => {
    expect((await postGzip(gzipSync(ofLength(20_000)))).status).toBe(201);
    expect((await postGzip(gzipSync(ofLength(20_001)))).body).toEqual(tooLarge);
    expect((await postGzip(gzipSync(Buffer.alloc(100_000_000, ' ')).subarray(0, 20_000))).body).toEqual(tooLarge);
    expect((await postGzip(gzipSync(ofLength(20_001)), '/graphql')).body.errors[0]).toMatchObject({
      message: tooLarge.error,
    });
  });

  test('limits what is sent, too', async () => {
    const empty = gzipSync('');
    const parts = (count: number) => Buffer.concat([...Array(count).fill(empty), body]);
    const most = Math.floor((20_000 - body.length) / empty.length);
    expect((await postGzip(parts(most))).status).toBe(201);
    expect((await postGzip(parts(most + 1))).body).toEqual(tooLarge);
  });

  test('keeps the connection of a body that inflates to more', async () => {
    const socket = connect(Number(new URL(await listen(limited.app)).port), '127.0.0.1');
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
