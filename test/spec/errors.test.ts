/** Interface: "Errors". */
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { listen, useSharedService } from '../support/service.ts';

const service = useSharedService();

const paths: [string, string][] = [
  ['/', 'GET, HEAD'],
  ['/assets', 'POST'],
  ['/work-orders', 'POST'],
  ['/projects', 'POST'],
  ['/projects/x', 'PATCH'],
  ['/locations', 'POST'],
  ['/transport-orders', 'POST'],
  ['/asset-categories', 'POST, GET, HEAD'],
  ['/graphql', 'GET, POST'],
  ['/healthz', 'GET, HEAD'],
  ['/openapi.json', 'GET, HEAD'],
  ['/reference', 'GET, HEAD'],
];

const methods = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE', 'PROPFIND'];
const notAllowed = paths.flatMap(([path, allow]) =>
  methods.filter((method) => !allow.split(', ').includes(method)).map((method) => ({ method, path, allow })),
);

test.each(notAllowed)('$method $path is 405 with Allow: $allow', async ({ method, path, allow }) => {
  const { status, headers, body } = await service.inject({ method: method as 'PUT', url: path });

  expect([status, body.code]).toEqual([405, '405']);
  expect(String(headers.allow).split(', ').toSorted()).toEqual(allow.split(', ').toSorted());
  expect(body.error).toMatch(`this path supports ${headers.allow} only`);
  if (/assets|projects|categories/.test(path))
    expect(body.error).toMatch(/ only: \/graphql reads, updates and deletes records$/);
});

test.each(paths)('OPTIONS %s is 204 with the methods of the path', async (path, allow) => {
  const { status, headers, text } = await service.inject({ method: 'OPTIONS', url: path });
  expect([status, text]).toEqual([204, '']);
  expect(String(headers.allow).split(', ').toSorted()).toEqual([...allow.split(', '), 'OPTIONS'].toSorted());
});

const unknown = [
  '//',
  '/:a(()/',
  '/assets/:x(^(a+)+$)/',
  '/asset',
  '/assets/1',
  '/projects/a/b',
  '/ASSETS',
  '/%61ssets2',
];
const withSlash = ['/assets/', '/projects/', '/graphql/', '/projects/project_01h455vb4pex5vsknk084sn02q/'];

test.each([...unknown, ...withSlash])('%s is 404 for every method, whatever the body', async (url) => {
  for (const method of ['GET', 'POST', 'PATCH', 'OPTIONS'] as const) {
    for (const type of ['application/json', 'text/plain']) {
      const { status, body } = await service.inject({ method, url, headers: { 'content-type': type }, payload: '[{' });
      expect([method, status, body]).toEqual([method, 404, { error: 'there is nothing at this path', code: '404' }]);
    }
  }
});

test.each(['/assets', '/graphql'])(
  'a client that sends all of a too large body to %s before it reads gets 413',
  async (path) => {
    const { port } = new URL(await listen(service.app));
    const chunk = 'x'.repeat(1024 * 1024);
    const socket = connect(Number(port), '127.0.0.1');
    socket.pause();
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${30 * chunk.length}\r\n\r\n`,
    );
    for (let sent = 0; sent < 30; sent += 1) {
      await new Promise<void>((resolve, reject) => socket.write(chunk, (error) => (error ? reject(error) : resolve())));
      await new Promise((resolve) => setTimeout(resolve, 2));
    }

    socket.resume();
    const [response] = await once(socket, 'data');
    socket.destroy();

    expect(String(response)).toMatch(
      /^HTTP\/1.1 413 .*"expected a body of at most 10,485,760 bytes: split it into several requests"/s,
    );
  },
);

test('an invalid path is 400, with the headers of every response', async () => {
  const { status, headers, body } = await service.get('/projects/%zz');
  expect([status, body]).toEqual([
    400,
    { error: 'the path is not valid: expected UTF-8, percent-encoded', code: '400' },
  ]);
  expect([headers['api-version'], headers['x-request-id']]).toEqual(['1.0.0', expect.stringMatching(/^[\w-]{36}$/)]);
});

const expectedType = 'expected the header Content-Type: application/json';
const expectedCharset = /^expected the charset utf-8, received "[^"]+": send the body in UTF-8$/;

test.each<[type: string, status: number, error?: string | RegExp]>([
  ['application/json', 201],
  ['application/json; charset="UTF-8"', 201],
  ['Application/JSON;charset=UTF-8', 201],
  ['application/json;charset=UTF8', 201],
  ['text/plain', 415, expectedType],
  ['application/jsonx', 415, expectedType],
  ['nonsense', 415, expectedType],
  ['application/json; charset=utf-16', 415, expectedCharset],
  ['application/json; charset=utf-8; charset=latin1', 415, expectedCharset],
])('a body of the content type %s is %i', async (type, expected, error) => {
  const { status, body } = await service.post('/locations', [], { 'content-type': type });
  expect([status, body]).toEqual([expected, error ? { error: expect.stringMatching(error), code: '415' } : []]);
});

test('a body without a content type is 415', async () => {
  expect((await service.inject({ method: 'POST', url: '/locations', payload: Buffer.from('[]') })).status).toBe(415);
});

test.each(['br', 'deflate', 'zstd', 'gzip, gzip', 'identity, gzip', 'gzip;q=1', ''])(
  'a body with a Content-Encoding of %s is 415, and the response names the accepted one',
  async (encoding) => {
    const { headers, body } = await service.post('/locations', [], { 'content-encoding': encoding });
    expect(body).toEqual({ error: 'expected the Content-Encoding gzip, or none', code: '415' });
    expect(headers['accept-encoding']).toBe('gzip');
  },
);

const nowhere = 'there is nothing at this path';
const json = ['application/json; charset=utf-8', { error: nowhere, code: '404' }];
const problem = ['application/problem+json', { type: 'about:blank', title: 'Not Found', status: 404, detail: nowhere }];

test.each<[accept: string | undefined, expected: readonly unknown[]]>([
  ['application/problem+json', problem],
  ['application/json, Application/Problem+JSON;q=0.9', problem],
  [undefined, json],
  ['application/json', json],
  ['application/problem+json;q=0.0', json],
  ['application/problem+json-seq', json],
])('a problem (RFC 9457) is returned to a client that accepts it, and to no other: %s', async (accept, expected) => {
  const { status, headers, body } = await service.get('/nowhere', accept ? { accept } : {});
  expect([status, headers['content-type'], body]).toEqual([404, ...expected]);
});

test('a 500 of GraphQL contains no internal details except its request ID', async () => {
  await service.database.knex.schema.renameTable('projects', 'gone');
  const { body } = await service.graphql(
    'mutation { updateProject(id: "project_01h455vb4pex5vsknk084sn02q", input: { name: "secret" }) { id } }',
  );
  await service.database.knex.schema.renameTable('gone', 'projects');

  expect(body).toEqual({
    data: { updateProject: null },
    errors: [
      {
        message: expect.stringMatching(/^unexpected error, request [\w-]{36}$/),
        locations: expect.anything(),
        path: ['updateProject'],
        extensions: { code: 'INTERNAL_SERVER_ERROR' },
      },
    ],
  });
});

test.each([
  ['not HTTP', 'hello\r\n\r\n', 400],
  ['a path without a slash', 'GET *x HTTP/1.1\r\nhost: a\r\naccept: text/html\r\nconnection: close\r\n\r\n', 404],
  ['headers too large', `GET / HTTP/1.1\r\nhost: a\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`, 431],
])('%s gets an error response like all others', async (_, sent, status) => {
  const socket = connect(Number(new URL(await listen(service.app)).port), '127.0.0.1');
  socket.write(sent);
  const response = await text(socket);

  expect(response).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(JSON.parse(/\{.*\}/.exec(response)?.[0] ?? '')).toEqual({ error: expect.any(String), code: String(status) });
});
