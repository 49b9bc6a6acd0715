/** Interface: "Errors". */
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { useSharedService } from '../support/service.ts';

const service = useSharedService();

const paths: [string, string][] = [
  ['/assets', 'POST'],
  ['/work-orders', 'POST'],
  ['/projects', 'POST'],
  ['/projects/x', 'PATCH'],
  ['/locations', 'POST'],
  ['/transport-orders', 'POST'],
  ['/asset-categories', 'POST, GET, HEAD'],
  ['/graphql', 'GET, HEAD, POST'],
  ['/healthz', 'GET, HEAD'],
];

const methods = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE', 'OPTIONS', 'PROPFIND'];
const refused = paths.flatMap(([path, allow]) =>
  methods.filter((method) => !allow.split(', ').includes(method)).map((method) => ({ method, path, allow })),
);

test.each(refused)('$method $path is 405 with Allow: $allow', async ({ method, path, allow }) => {
  const { status, headers, body } = await service.inject({ method: method as 'PUT', url: path });

  expect(status).toBe(405);
  expect(String(headers.allow).split(', ').toSorted()).toEqual(allow.split(', ').toSorted());
  expect(body).toEqual({ error: `this path answers to ${headers.allow} only`, code: '405' });
});

test.each(['/', '/assets/', '/asset', '/assets/1', '/projects/a/b', '/ASSETS', '/%61ssets2'])(
  '%s is 404',
  async (path) => {
    const { status, body } = await service.get(path);

    expect([status, body]).toEqual([404, { error: 'there is nothing at this path', code: '404' }]);
  },
);

test('a path that is not a URL is 400', async () => {
  const { status, body } = await service.get('/projects/%zz');

  expect([status, body.code]).toEqual([400, '400']);
});

describe('the content type', () => {
  test.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON;charset=UTF-8'])(
    '%s is taken',
    async (type) => {
      expect((await service.post('/locations', [], { 'content-type': type })).status).toBe(201);
    },
  );

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonx',
    'application/ld+json',
    'application/xml',
    'nonsense',
  ])('%s is 415', async (type) => {
    const { status, body } = await service.post('/locations', [], { 'content-type': type });

    expect([status, body]).toEqual([415, { error: 'expected the content type application/json', code: '415' }]);
  });

  test('none with a body is 415', async () => {
    const { status } = await service.inject({ method: 'POST', url: '/locations', payload: Buffer.from('[]') });

    expect(status).toBe(415);
  });

  test.each(['gzip', 'identity', 'br'])('a Content-Encoding of %s is 415', async (encoding) => {
    const { status, body } = await service.post('/locations', [], { 'content-encoding': encoding });

    expect([status, body]).toEqual([415, { error: 'expected a body without Content-Encoding', code: '415' }]);
  });
});

describe('the form of RFC 9457', () => {
  test.each(['application/problem+json', 'application/json, application/problem+json;q=0.9'])(
    'is for who asks: %s',
    async (accept) => {
      const { status, headers, body } = await service.get('/nowhere', { accept });

      expect(status).toBe(404);
      expect(headers['content-type']).toBe('application/problem+json');
      expect(body).toEqual({
        type: 'about:blank',
        title: 'Not Found',
        status: 404,
        detail: 'there is nothing at this path',
      });
    },
  );

  test.each([undefined, '*/*', 'application/json'])('is not for others: %s', async (accept) => {
    const { headers, body } = await service.get('/nowhere', accept ? { accept } : {});

    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    expect(Object.keys(body)).toEqual(['error', 'code']);
  });
});

test('a 500 tells nothing of the inside but its request id', async () => {
  await service.database.knex.schema.renameTable('locations', 'gone');
  const { status, headers, body } = await service.post('/locations', [{ name: 'secret' }]);
  await service.database.knex.schema.renameTable('gone', 'locations');

  expect(status).toBe(500);
  expect(body).toEqual({ error: `unexpected error, request ${headers['x-request-id']}`, code: '500' });
});

test.each([
  ['not HTTP', 'hello\r\n\r\n', 400],
  ['headers too large', `GET / HTTP/1.1\r\nhost: a\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`, 431],
])('%s is answered in the form of all errors', async (_, sent, status) => {
  if (!service.app.server.listening) await service.app.listen({ port: 0, host: '127.0.0.1' });
  const socket = connect((service.app.server.address() as AddressInfo).port, '127.0.0.1');
  let answer = '';
  socket.on('data', (data) => {
    answer += data;
  });
  socket.write(sent);
  await once(socket, 'close');

  expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toEqual({ error: expect.any(String), code: String(status) });
});
