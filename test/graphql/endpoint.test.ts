/** GraphQL over HTTP, and the requests that yoga's defaults would allow. */
import { readFileSync } from 'node:fs';
import { serverAudits } from 'graphql-http';
import { describe, expect, test } from 'vitest';
import { listen, useSharedService } from '../support/service.ts';

const service = useSharedService();

const nothing = '{ locations(first: 1) { nodes { id } } }';

describe('requests', () => {
  test.each(['text/plain', 'multipart/form-data; boundary=x'])('of the type %s are 415', async (type) => {
    const response = await service.send('POST', '/graphql', nothing, { 'content-type': type });
    expect(response.status).toBe(415);
    expect(response.body.errors).toMatchObject([{ message: 'expected the header Content-Type: application/json' }]);
  });

  test.each<[object | string, string]>([
    ['[]', 'Expected params to be an object but given array.'],
    ['', 'Expected params to be an object but given undefined.'],
    [{}, 'Must provide query string.'],
    [{ query: nothing, getReader: 1 }, 'Unexpected parameter "getReader" in the request body.'],
    [{ query: nothing, variables: '{}' }, 'Expected "variables" param to be empty or an object, but given string.'],
    [{ query: { query: nothing } }, 'Expected "query" param to be a string, but given object.'],
  ])('that are not an operation of GraphQL over HTTP are 400: %j', async (sent, message) => {
    const { status, body } = await service.post('/graphql', sent);
    expect([status, body.errors]).toEqual([400, [{ message, extensions: { code: 'BAD_USER_INPUT' } }]]);
  });

  test.each([
    { operationName: '' },
    { operationName: '', variables: '', extensions: '' },
    { operationName: null, variables: null, extensions: null },
  ])('with parameters that say nothing run as without them: %j', async (parameters) => {
    const { status, body } = await service.post('/graphql', { query: 'query A { __typename }', ...parameters });
    expect([status, body]).toEqual([200, { data: { __typename: 'Query' } }]);
  });

  test('with the hash of a document instead of the document are told that none is kept, so that the client sends it', async () => {
    const extensions = {
      persistedQuery: { version: 1, sha256Hash: 'ecf4edb46db40b5132295c0291d62fb65d6759a9eedfa4d5d612dd5ec54a6b38' },
    };
    const errors = [{ message: 'PersistedQueryNotSupported', extensions: { code: 'PERSISTED_QUERY_NOT_SUPPORTED' } }];

    for (const accept of ['*/*', 'application/json', 'application/graphql-response+json, application/json']) {
      const { status, body } = await service.post('/graphql', { operationName: 'A', extensions }, { accept });
      expect([status, body]).toEqual([200, { errors }]);
    }
    const got = await service.get(`/graphql?extensions=${encodeURIComponent(JSON.stringify(extensions))}`);
    expect([got.status, got.body]).toEqual([200, { errors }]);
    const { body } = await service.post('/graphql', { query: '{ __typename }', extensions });
    expect(body).toEqual({ data: { __typename: 'Query' } });
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
});

test('a document of introspection is within the limits', async () => {
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

const closed = useSharedService({ RATE_LIMIT: '1' }, { closed: true });

test.each([
  ['application/graphql-response+json', 'application/graphql-response+json; charset=utf-8'],
  ['application/json', 'application/json; charset=utf-8'],
  ['*/*', 'application/json; charset=utf-8'],
])(
  'what is rejected before GraphQL runs is a GraphQL response in the type that the client accepts: %s',
  async (accept, type) => {
    const key = closed.as(await closed.key());
    await key.get('/asset-categories');
    const send = (client: typeof key) => client.post('/graphql', { query: nothing }, { accept });

    for (const { status, headers, body } of [await send(closed.as('wrong')), await send(key)]) {
      const code = status === 401 ? 'UNAUTHENTICATED' : 'TOO_MANY_REQUESTS';
      expect([headers['content-type'], body.errors[0].extensions.code]).toEqual([type, code]);
    }
  },
);

const production = useSharedService({ NODE_ENV: 'production' }, { closed: true });

test('GET /schema.graphql is the schema as text, with a key, also where introspection is off', async () => {
  const withKey = production.as(await production.key());
  const { status, headers, text } = await withKey.get('/schema.graphql');

  expect([status, headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8']);
  expect(text).toBe(readFileSync('schema.graphql', 'utf8'));
  expect((await production.get('/schema.graphql')).status).toBe(401);
  const again = await withKey.get('/schema.graphql', { 'if-none-match': String(headers.etag) });
  expect([again.status, again.text]).toEqual([304, '']);
});

test.each(['graphql-js', 'graphql-jit, which runs a query that is sent again'])(
  'all audits of graphql-http pass: %s',
  async () => {
    const audits = serverAudits({ url: `${await listen(service.app)}/graphql` });
    const failed = [];
    for (const audit of audits) {
      const result = await audit.fn();
      if (result.status !== 'ok') failed.push(`${audit.name}: ${'reason' in result ? result.reason : ''}`);
    }

    expect(failed).toEqual([]);
    expect(audits.length).toBeGreaterThanOrEqual(61);
  },
);

const more = 'only 10 errors are listed, there are more';
const nodes = 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }';

const names = (count: number) => Array.from({ length: count }, (_, i) => `x${i}`).join(' ');

test.each<[string, string, number, (count: number) => readonly [string, object?], (index: number) => string]>([
  [
    'a document',
    'GRAPHQL_VALIDATION_FAILED',
    3,
    (n) => [`{ ${names(n)} }`],
    (index) => `Cannot query field "x${index}"`,
  ],
  ['variables', 'BAD_USER_INPUT', 8, (n) => [nodes, { ids: Array(n).fill(true) }], (index) => `at "ids[${index}]"`],
])('the first ten errors of %s are listed with their positions, and further ones are one line', async (...row) => {
  const [, code, column, request, message] = row;
  for (const count of [9, 10, 11, 100]) {
    const { errors } = (await service.graphql(...request(count))).body;

    expect(errors).toHaveLength(Math.min(count, 11));
    expect(errors[0].locations).toEqual([{ line: 1, column }]);
    for (const index of [0, Math.min(count, 10) - 1])
      expect(errors[index]).toMatchObject({ message: expect.stringContaining(message(index)), extensions: { code } });
    if (count > 10) expect(errors[10]).toEqual({ message: more, extensions: { code } });
  }
});

test('of mutations that fail, each has an error, however many', async () => {
  const fields = Array.from({ length: 30 }, (_, i) => `a${i}: createLocations(input: [{ latitude: 100 }]) { id }`);
  const { body } = await service.graphql(`mutation { ${fields.join(' ')} }`);
  expect(body.errors.map(({ path }: { path: string[] }) => path)).toEqual(fields.map((_, i) => [`a${i}`]));
});
