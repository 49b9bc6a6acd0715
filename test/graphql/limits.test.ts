/** The limits of GraphQL, each just below, at and above its value, and documents made to be expensive. */
import { EventEmitter } from 'node:events';
import { describe, expect, test } from 'vitest';
import { createResponseBudget } from '../../src/graphql/endpoint.ts';
import { location } from '../../src/records/index.ts';
import { deleteDocument, importDocument } from '../support/mutations.ts';
import { startForTest, useSharedService } from '../support/service.ts';

const numbered = (count: number, text: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => text(index)).join(' ');

const service = useSharedService();
const strict = useSharedService({
  MAX_QUERY_LENGTH: '2000',
  MAX_QUERY_TOKENS: '100',
  MAX_QUERY_ALIASES: '5',
  MAX_NESTING: '8',
  MAX_PAGE_SIZE: '20',
});
const shallow = useSharedService({ MAX_QUERY_DEPTH: '8' });
const short = useSharedService({ MAX_RESPONSE_LENGTH: '1000' });
const cheap = useSharedService({ MAX_QUERY_COST: '1000' });

const parents = (levels: number) =>
  `{ assetCategories { nodes { ${'parent { '.repeat(levels - 3)}id${' }'.repeat(levels - 3)} } } }`;

test.each<[string, typeof service, number, (n: number) => string, RegExp]>([
  ['characters', strict, 2_000, (n) => `{ __typename }${' '.repeat(n - 14)}`, /longer than 2,000 characters/],
  ['tokens', strict, 100, (n) => `{ ${'__typename '.repeat(n - 2)} }`, /more than 100 tokens/],
  ['levels of brackets', strict, 8, parents, /nested more than 8 levels/],
  ['levels of fields', shallow, 8, parents, /more than 8 levels deep/],
  ['aliases', strict, 5, (n) => `{ ${numbered(n, (i) => `a${i}: __typename`)} }`, /more than 5 aliases/],
  ['records of a page', strict, 20, (n) => `{ locations(first: ${n}) { totalCount } }`, /from 0 to 20/],
  ['ids of nodes', strict, 20, (n) => `{ nodes(ids: [${numbered(n, (i) => `"${i}"`)}]) { id } }`, /at most 20 IDs/],
  [
    'cost',
    cheap,
    1_000,
    (n) => `{ locations(first: ${n - 5}) { totalCount } }`,
    /costs more than 1,000 \(it costs 1,001\)/,
  ],
])('%s', async (_, limited, limit, document, refusal) => {
  for (const n of [limit - 1, limit]) {
    const { status, body } = await limited.graphql(document(n));
    expect([status, body.errors]).toEqual([200, undefined]);
  }
  const { status, body } = await limited.graphql(document(limit + 1));

  expect(status).toBeLessThan(500);
  expect(body.errors[0].message).toMatch(refusal);
});

test('a response may have as many characters of text as the limit, as JSON has them, and of more, nothing is sent', async () => {
  const query = '{ projects(last: 1) { nodes { name notes externalIds } } }';
  const externalIds = { key: 'y'.repeat(99) };
  // With the names, which have 36 characters.
  await short.create('/projects', { name: 'n', notes: 'x'.repeat(864), externalIds });
  expect((await short.data(query)).projects.nodes).toHaveLength(1);

  const message =
    'the response would hold more than 1,000 characters of text: request fewer records or fields at a time';
  for (const longer of [
    { notes: 'x'.repeat(865), externalIds },
    { notes: '\u0001'.repeat(170) },
    { externalIds: { ['k'.repeat(400)]: '', ['l'.repeat(400)]: '', ['m'.repeat(400)]: '' } },
  ]) {
    await short.create('/projects', { name: 'n', ...longer });
    const { body } = await short.graphql(query);
    expect(body.errors).toMatchObject([{ message }]);
    expect(body.data ?? null).toBeNull();
  }
});

test('the cost of an operation is a header of its response, and in a refusal with its limit', async () => {
  const { body, headers } = await service.graphql('{ locations(first: 10) { nodes { id name } } }');
  const refused = await cheap.graphql('{ locations(first: 1000) { nodes { id name } } }');
  expect(headers['query-cost']).toBe(String(5 + 10 * (5 + 2)));
  expect(body).toEqual({ data: { locations: { nodes: [] } } });
  expect(refused.body.errors[0].extensions.cost).toEqual({ requested: 5 + 1_000 * (5 + 2), limit: 1_000 });
  expect(refused.body).not.toHaveProperty('data');
});

test('while unsent responses hold too much, further ones get 503, those that have begun are completed, and one that is closed makes room', () => {
  const holdUntilClosed = createResponseBudget();
  const responses = [0, 1].map(() => Object.assign(new EventEmitter(), { closed: false, destroyed: false }));
  const [hold, holdOther] = responses.map((response) => holdUntilClosed(response as never));
  hold?.(30_000_000);
  hold?.(1);

  expect(() => holdOther?.(0)).toThrow('too many long responses are being sent, try again');
  responses[0]?.emit('close');

  expect(() => holdOther?.(1)).not.toThrow();
});

describe('a list in a variable', () => {
  const service = useSharedService({ MAX_PAGE_SIZE: '20', MAX_BATCH: '30' });
  const nodes = 'query ($list: [ID!]!) { nodes(ids: $list) { id } }';
  const create = 'mutation ($list: [CreateLocationInput!]!) { createLocations(input: $list) { id } }';
  const inFragment =
    'mutation ($list: [CreateLocationInput!]!) { ...f } fragment f on Mutation { createLocations(input: $list) { id } }';
  const ofTwoLists = (assets: number) => ({ locations: Array(15).fill({}), assets: Array(assets).fill({ name: 'a' }) });
  const tooManyIds = 'ids: expected at most 20 IDs, received 21';
  const tooManyRecords = 'expected at most 30 records, received 31: send them in several batches';

  test.each<[string, string, object, number, string]>([
    ['IDs', nodes, { list: Array(21).fill('x') }, 400, tooManyIds],
    ['records', create, { list: Array(31).fill({}) }, 413, tooManyRecords],
    [
      'records in the document, after others',
      `mutation { a: createLocations(input: [{}]) { id } b: createLocations(input: [${'{}'.repeat(31)}]) { id } }`,
      {},
      413,
      tooManyRecords,
    ],
    ['records for a fragment', inFragment, { list: Array(31).fill({}) }, 413, tooManyRecords],
    ['records to delete', deleteDocument(location), { ids: Array(31).fill('x') }, 413, tooManyRecords],
    ['records of an import', importDocument(), { input: ofTwoLists(16) }, 413, tooManyRecords],
  ])('of too many %s is refused as a whole', async (_, query, variables, status, message) => {
    const response = await service.graphql(query, variables);
    expect([response.status, response.body]).toEqual([
      status,
      { errors: [{ message, extensions: { code: 'BAD_USER_INPUT' } }] },
    ]);
  });

  test('of one record to which more refer than a batch may have clears none of them', async () => {
    const [{ id }] = await service.create('/locations', {});
    await service.create('/work-orders', ...Array(30).fill({ locationId: id }));
    await service.create('/projects', { name: 'Harbour wall', locationId: id });
    const { body } = await service.graphql(deleteDocument(location), { ids: [id], references: 'CLEAR' });
    expect(body.errors[0]).toMatchObject({
      message: expect.stringMatching(/^expected at most 30 references to clear, there are more: /),
      extensions: { code: 'BAD_USER_INPUT' },
    });
  });

  test('of as many records as a batch may have is stored, in however many lists of an import', async () => {
    expect((await service.graphql(importDocument(), { input: ofTwoLists(15) })).body.errors).toBeUndefined();
  });
});

test('a variable with the name of a property of all objects that is not sent is not set', async () => {
  for (const name of ['toString', '__proto__']) {
    const costOf = async (query: string) => Number((await service.graphql(query)).headers['query-cost']);
    const listWith = (first: string) =>
      `query ($${name}: Int, $other: Int) { assets(first: ${first}) { nodes { id } } }`;
    expect(await costOf(listWith(`$${name}`))).toBe(await costOf(listWith('$other')));
    const query = `query ($${name}: [AssetOrderBy!]) { assets(orderBy: $${name}) { totalCount } }`;
    for (const _time of [1, 2, 3])
      expect((await service.graphql(query)).body).toEqual({ data: { assets: { totalCount: 0 } } });
  }
});

test('a cost beyond all numbers is refused, also where an empty list multiplies it by zero', async () => {
  const service = await startForTest({ MAX_QUERY_TOKENS: '20000' });
  const fragments = numbered(600, (i) => `fragment f${i} on Node { ${`...f${i + 1} `.repeat(4)} }`);

  const { body } = await service.graphql(
    `query ($ids: [ID!]!) { nodes(ids: $ids) { ...f0 } } ${fragments} fragment f600 on Node { id }`,
    { ids: [] },
  );

  expect(body.errors[0].message).toContain('the operation costs more than');
});

describe('a document made to be expensive is refused before it is executed', () => {
  const filtered = 'query ($w: ProjectFilter) { projects(where: $w) { totalCount } }';
  const fanOut = numbered(30, (i) => `fragment f${i} on AssetCategory { ...f${i + 1} ...f${i + 1} }`);

  test.each<[string, string, object?]>([
    [
      'fragments that fan out 2^30 times',
      `{ assetCategories { nodes { ...f0 } } } ${fanOut} fragment f30 on AssetCategory { parent { parent { id } } }`,
    ],
    [
      'fragments that hide their depth',
      `{ assetCategories { nodes { ...f0 } } } ${numbered(30, (i) => `fragment f${i} on AssetCategory { parent { ...f${i + 1} } }`)} fragment f30 on AssetCategory { id }`,
    ],
    [
      'fragments named like introspection',
      `{ assetCategories { nodes { ...__schema } } } fragment __schema on AssetCategory { ${'parent { '.repeat(25)}id${' }'.repeat(25)} }`,
    ],
    ['fragments that spread themselves', '{ ...a } fragment a on Query { ...b } fragment b on Query { ...a }'],
    ['300,000 repeated fields', `{ ${'id '.repeat(300_000)} }`],
    ['variables by the thousand', `query (${numbered(5_000, (i) => `$v${i}: Int`)}) { __typename }`],
    ['a list literal of 5,000 levels', `{ nodes(ids: ${'['.repeat(5_000)}${']'.repeat(5_000)}) { id } }`],
    ['a variable of 5,000 levels', 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids: 'deep' }],
    ['a name without end', `{ ${'x'.repeat(101)} }`],
    [
      'introspection that multiplies by its aliases',
      `{ __schema { ...S } } ${[
        ['S', '__Schema', 'types', 'T'],
        ['T', '__Type', 'fields', 'U'],
        ['U', '__Field', 'type', 'V'],
      ]
        .map(
          ([name, on, field, next]) =>
            `fragment ${name} on ${on} { ${numbered(20, (i) => `a${i}: ${field} { ...${next} }`)} }`,
        )
        .join(' ')} fragment V on __Type { name }`,
    ],
    ['a filter with very many values', filtered, { w: { name: { in: Array(150_000).fill('x') } } }],
    [
      'a large filter in fifty fields',
      `query ($w: ProjectFilter!) { ${numbered(50, (i) => `a${i}: projects(where: { and: [$w] }) { totalCount }`)} }`,
      { w: { or: Array(49_000).fill({}) } },
    ],
  ])('%s', async (_, query, variables = {}) => {
    const text = JSON.stringify({ query, variables }).replace('"deep"', `${'['.repeat(5_000)}${']'.repeat(5_000)}`);
    const { status, body } = await service.post('/graphql', text);
    expect(status).toBeLessThan(500);
    expect(body.errors?.length ?? (body.error ? 1 : 0)).toBeGreaterThan(0);
    expect(body.data ?? null).toBeNull();
  });
});
