/** GraphQL over HTTP, and the requests that yoga's defaults would allow. */
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { serverAudits } from 'graphql-http';
import { describe, expect, test } from 'vitest';
import { useSharedService } from '../support/service.ts';

// More aliases than by default, so that the tests reach the other limits.
const service = useSharedService({ MAX_QUERY_ALIASES: '2000' });

const nothing = '{ locations(first: 1) { nodes { id } } }';

test('all audits of graphql-http pass', async () => {
  await service.app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = service.app.server.address() as AddressInfo;

  const audits = serverAudits({ url: `http://127.0.0.1:${port}/graphql` });
  const failed = [];
  for (const audit of audits) {
    const result = await audit.fn();
    if (result.status !== 'ok') failed.push(`${audit.name}: ${'reason' in result ? result.reason : ''}`);
  }

  expect(failed).toEqual([]);
  expect(audits.length).toBeGreaterThanOrEqual(61);
});

describe('requests', () => {
  test.each([
    ['text/plain', nothing],
    [
      'application/x-www-form-urlencoded',
      `query=${encodeURIComponent('mutation { createLocations(input: [{}]) { id } }')}`,
    ],
    [
      'multipart/form-data; boundary=x',
      '--x\r\ncontent-disposition: form-data; name="operations"\r\n\r\n{"query":"{ __typename }"}\r\n--x--\r\n',
    ],
  ])('of the type %s are 415', async (type, body) => {
    const response = await service.send('POST', '/graphql', body, { 'content-type': type });

    expect(response.status).toBe(415);
    expect(response.body.errors).toMatchObject([{ message: 'expected the header Content-Type: application/json' }]);
  });

  const noQuery = 'query: required, a document such as { assets { nodes { name } } }';
  const notOne = 'expected one operation as a JSON object such as {"query":"{ assets { nodes { name } } }"}, received';
  const known = 'query, variables, operationName, extensions';

  test.each<[object | string, string]>([
    ['[]', `${notOne} an array`],
    ['"x"', `${notOne} "x"`],
    ['', `${notOne} nothing`],
    [{}, noQuery],
    [{ query: null }, 'query: expected text, received null'],
    [{ query: nothing, getReader: 1 }, `getReader: unknown parameter, expected one of ${known}`],
    [{ query: nothing, variables: '{}' }, 'variables: expected an object, received "{}"'],
    [{ query: nothing, extensions: 'x' }, 'extensions: expected an object, received "x"'],
    [{ query: nothing, operationName: 5 }, 'operationName: expected text, received 5'],
  ])('that are not an operation of GraphQL over HTTP are 400: %j', async (sent, message) => {
    const { status, body } = await service.post('/graphql', sent);

    expect([status, body.errors]).toEqual([400, [{ message, extensions: { code: 'BAD_USER_INPUT' } }]]);
  });

  test.each([
    ['', noQuery],
    ['query=', noQuery],
    ['query={__typename}&variables=[1]', 'variables: expected an object, received an array'],
    [
      'query={__typename}&variables=nope',
      'variables: not valid JSON: line 1, column 1: expected a value, found "nope"',
    ],
    [
      `query={__typename}&variables={"a":${'['.repeat(32)}${']'.repeat(32)}}`,
      'expected JSON nested at most 32 levels deep',
    ],
  ])('by GET are checked alike: %s', async (parameters, message) => {
    const { status, body } = await service.get(`/graphql?${parameters}`);

    expect([status, body.errors[0].message]).toEqual([400, message]);
  });

  test('may set what they do not use to null', async () => {
    const body = { query: nothing, variables: null, operationName: null, extensions: null };

    expect((await service.post('/graphql', body)).body.errors).toBeUndefined();
    expect((await service.get(`/graphql?query=${encodeURIComponent(nothing)}&variables=null`)).status).toBe(200);
  });

  test('over the limit are 413', async () => {
    expect((await service.post('/graphql', { query: `#${'x'.repeat(11 * 1024 * 1024)}` })).status).toBe(413);
  });

  test('by GET may read, but not write', async () => {
    const read = await service.get(`/graphql?query=${encodeURIComponent(nothing)}`);
    const write = await service.get(
      `/graphql?query=${encodeURIComponent('mutation { createLocations(input: [{}]) { id } }')}`,
    );

    expect(read.body.data).toEqual({ locations: { nodes: [] } });
    expect(write.status).toBe(405);
  });

  test.each(['text/html', 'multipart/mixed'])('that accept %s only are 406, and not executed', async (accept) => {
    const before = await service.data('{ locations { totalCount } }');
    const query = 'mutation { createLocations(input: [{}]) { id } }';

    const { status, body } = await service.post('/graphql', { query }, { accept });

    expect([status, body.errors[0].message]).toEqual([
      406,
      'expected an Accept header that allows application/graphql-response+json, application/json or text/event-stream',
    ]);
    expect(await service.data('{ locations { totalCount } }')).toEqual(before);
  });

  test.each(['*/*', 'text/event-stream, application/json', 'APPLICATION/JSON; charset=utf-8'])(
    'that accept %s get JSON',
    async (accept) => {
      const { status, headers } = await service.post('/graphql', { query: nothing }, { accept });

      expect([status, headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
    },
  );

  test('name a parameter of the address once', async () => {
    expect((await service.get('/graphql?query={__typename}&query={__typename}')).status).toBe(400);
  });
});

describe('which operation is executed', () => {
  const read = 'query Read { __typename }';
  const names = Array.from({ length: 50 }, (_, index) => `Read${index}`);
  const long = names.map((name) => `query ${name} { __typename }`).join(' ');

  test.each([
    [`${read} query Count { __typename }`, 'Count'],
    [read, undefined],
  ])('is clear from %j and the operationName %j', async (query, operationName) => {
    expect((await service.post('/graphql', { query, operationName })).body.errors).toBeUndefined();
  });

  test.each([
    [
      `${read} query Count { __typename }`,
      undefined,
      'required, because the document has several operations: Read, Count',
    ],
    [`${read} { __typename }`, undefined, 'required, because the document has several operations: Read'],
    [
      `${read} query Count { __typename }`,
      'Raed',
      'expected one of the operations in the document (Read, Count), received "Raed"',
    ],
    ['{ __typename }', 'Read', 'expected none, because the operation has no name, received "Read"'],
    [
      long,
      'Raed',
      `expected one of the operations in the document (${names.join(', ').slice(0, 100)}…), received "Raed"`,
    ],
  ])('is not clear from %j and the operationName %j', async (query, operationName, problem) => {
    const { status, body } = await service.post('/graphql', { query, operationName });

    expect([status, body.errors]).toEqual([
      400,
      [{ message: `operationName: ${problem}`, extensions: { code: 'OPERATION_RESOLUTION_FAILURE' } }],
    ]);
  });

  test('is not clear from a document without any', async () => {
    const { status, body } = await service.post('/graphql', { query: 'fragment Name on Asset { name }' });

    expect([status, body.errors[0].message]).toEqual([400, 'the document has no operation to execute']);
  });
});

describe('a document', () => {
  test('that is invalid is repeated in messages with at most 100 characters of a value', async () => {
    const long = 'y'.repeat(3_000);
    const create = 'mutation ($input: [CreateLocationInput!]!) { createLocations(input: $input) { id } }';

    for (const [query, variables] of [
      [`{ ${long} }`, {}],
      [`{ node(id: "x") { id ${long}: ${long} } }`, {}],
      [create, { input: [{ latitude: long }] }],
      [create, { input: [{ name: [long] }] }],
      [create, { input: [{ [long]: 1 }] }],
      [create, { input: long }],
      [`query ($x: Int = "${long}") { __typename }`, {}],
      [`{ locations(first: { ${Array.from({ length: 400 }, (_, i) => `k${i}: v`).join(' ')} }) { totalCount } }`, {}],
      ['query ($first: Int) { locations(first: $first) { totalCount } }', { first: { [long]: long, b: long } }],
      [create, { input: [{ externalIds: { ['y'.repeat(400)]: 1 } }] }],
    ] as const) {
      const { status, text } = await service.graphql(query, variables);
      expect(status).toBeLessThan(500);
      expect(text).toContain('errors');
      expect(text).not.toContain('y'.repeat(101));
      expect(JSON.parse(text).errors[0].message.length).toBeLessThan(300);
    }
  });

  test('that gives a batch to many mutations is refused before any is run', async () => {
    const input = Array.from({ length: 10_000 }, () => ({}));
    const aliases = Array.from({ length: 30 }, (_, i) => `a${i}: createLocations(input: $input) { id }`);

    const { body } = await service.graphql(`mutation ($input: [CreateLocationInput!]!) { ${aliases.join(' ')} }`, {
      input,
    });

    expect(body.errors[0].message).toMatch(/costs more than 500,000/);
    expect((await service.data('{ locations { totalCount } }')).locations.totalCount).toBe(0);
  });

  test('with a long text under many names is refused', async () => {
    const aliases = Array.from({ length: 12 }, (_, i) => `a${i}: notes`).join(' ');

    const { body } = await service.graphql(`{ workOrders(first: 1000) { nodes { ${aliases} } } }`);

    expect(body.errors[0].message).toMatch(/costs more than 500,000/);
  });

  test('of introspection is within the limits', async () => {
    const { getIntrospectionQuery } = await import('graphql');

    const options = { descriptions: true, schemaDescription: true, specifiedByUrl: true, inputValueDeprecation: true };
    const query = getIntrospectionQuery({ ...options, directiveIsRepeatable: true, oneOf: true });
    const withTypenames = query
      .replaceAll(/\{(?=\s*\w)/g, '{ __typename ')
      .replace('query IntrospectionQuery { __typename', 'query {');

    for (const text of [query, withTypenames]) {
      const { __schema } = await service.data(text);
      expect(__schema.types.length).toBeGreaterThan(30);
    }
  });
});

describe('what is rejected before GraphQL runs', () => {
  const closed = useSharedService({ RATE_LIMIT: '1' }, { closed: true });

  test.each([
    ['application/graphql-response+json', 'application/graphql-response+json; charset=utf-8'],
    ['application/graphql-response+json, application/json', 'application/graphql-response+json; charset=utf-8'],
    ['application/json', 'application/json; charset=utf-8'],
    ['*/*', 'application/json; charset=utf-8'],
  ])('is a GraphQL response in the type that the client accepts: %s', async (accept, type) => {
    const key = closed.as(await closed.key());
    await key.get('/asset-categories');
    const send = (client: typeof key) => client.post('/graphql', { query: nothing }, { accept });

    for (const { status, headers, body } of [await send(closed.as('wrong')), await send(key)]) {
      const code = status === 401 ? 'UNAUTHENTICATED' : 'TOO_MANY_REQUESTS';
      expect([headers['content-type'], body.errors[0].extensions.code]).toEqual([type, code]);
    }
  });
});

describe('GET /schema.graphql', () => {
  const production = useSharedService({ NODE_ENV: 'production' }, { closed: true });

  test('is the schema as text, with a key, also where introspection is off', async () => {
    const withKey = production.as(await production.key());
    const { status, headers, text } = await withKey.get('/schema.graphql');

    expect([status, headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8']);
    expect(text).toBe(readFileSync('schema.graphql', 'utf8'));
    expect((await production.get('/schema.graphql')).status).toBe(401);
    const again = await withKey.get('/schema.graphql', { 'if-none-match': String(headers.etag) });
    expect([again.status, again.text]).toEqual([304, '']);
  });
});
