/** Bodies are rejected before they are parsed: those that are nested too deeply, those that are no UTF-8, and too many at a time. */
import { type ClientRequest, request } from 'node:http';
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
