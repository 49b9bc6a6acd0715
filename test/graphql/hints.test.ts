/** What GraphQL's errors suggest for the usual mistakes, and what a service reveals in production: no suggestion, no schema, no GraphiQL. */
import { describe, expect, test } from 'vitest';
import { useSharedService } from '../support/service.ts';

const service = useSharedService();
const production = useSharedService({ NODE_ENV: 'production' });

const where = (sent: string) => `{ assets(where: ${sent}) { totalCount } }`;
const byVariable = 'query ($v: AssetFilter) { assets(where: $v) { nodes { id } } }';
const named = (type: string) => `query ($v: ${type}) { assets(where: { name: $v }) { totalCount } }`;
const orderedBy = (sent: string) => `{ assets(orderBy: [{ name: ${sent} }]) { totalCount } }`;
const ordered = 'query ($v: [AssetOrderBy!]) { assets(orderBy: $v) { totalCount } }';
const erp = /Send the other system and the ID there: \{ key: "erp", value: "4711" \}$/;
const values = /Send an operator with the values: \{ in: … \}$/;

test.each<[query: string, variable: unknown, message: RegExp]>([
  [
    '{ assets { name } }',
    1,
    /^Cannot query field "name" on type "AssetConnection"\. The records are in nodes: nodes \{ name \}$/,
  ],
  [where('{ name: "x" }'), 1, /found "x"\. Send an operator with the value: \{ eq: … \}$/],
  [
    byVariable,
    { name: 'x' },
    /at "v.name"; Expected type "\w+" to be an object\. Send an operator with the value: \{ eq: … \}$/,
  ],
  [where('{ createdAt: { between: 1 } }'), 1, /Send both ends: \{ gte: …, lt: … \}$/],
  [named('String!'), 'x', /expecting type "TextFilter"\. Send an operator with the value: \{ eq: \$v \}$/],
  [named('[String!]'), ['x'], /Send an operator with the values: \{ in: \$v \}$/],
  [byVariable, { name: ['a', 'b'] }, values],
  [
    where('{ externalIds: "4711" }'),
    1,
    /^.*found "4711"\. Send the other system and the ID there: \{ key: "erp", value: "4711" \}$/,
  ],
  [byVariable, { externalIds: '4711' }, erp],
  [where('{ externalIds: { erp: "4711" } }'), 1, /Send the other system and the ID there: /],
  [orderedBy('"ASC"'), 1, /^Enum "OrderDirection" cannot represent non-enum value: "ASC"\. Send one of ASC, DESC$/],
  [ordered, [{ name: 'asc' }], /; Value "asc" does not exist in "OrderDirection" enum\. Send one of ASC, DESC$/],
  [orderedBy('UP'), 1, /"UP" does not exist in "\w+" enum\. Send one of ASC, DESC$/],
])('%s', async (query, v, message) => {
  const { body } = await service.graphql(query, { v });
  const hidden = await production.graphql(query, { v });
  expect(body.errors.map((error: Error) => error.message)).toContainEqual(expect.stringMatching(message));
  expect(body.errors[0].extensions).not.toHaveProperty('hint');
  expect(hidden.text).not.toMatch(/The records are|Send /);
});

test('the error for the cost of an operation says how much it costs, and where most of that is', async () => {
  const orders = 'workOrders(first: 100) { nodes { ...order } }';
  const { body } = await service.graphql(`
    { cheap: assets(first: 5) { totalCount } places: locations(first: 1000) { nodes { ...place ...place } } }
    fragment place on Location { name ${orders} }
    fragment order on WorkOrder { name project { name } }
  `);

  expect(body.errors.map((error: Error) => error.message)).toEqual([
    expect.stringMatching(
      /^the operation costs more than 500,000 \(it costs [\d,]+\): .*, above all in places\.nodes\.workOrders\.nodes\.project$/,
    ),
  ]);
});

const browser = { accept: 'text/html' };
const introspection = '{ __schema { queryType { name } } }';

const all = { graphiql: true, introspection: true, suggestions: true };

describe.each<[Record<string, string>, typeof all]>([
  [{}, all],
  [{ NODE_ENV: 'production' }, { graphiql: false, introspection: false, suggestions: false }],
  [{ GRAPHIQL: 'off' }, { ...all, graphiql: false }],
  [{ INTROSPECTION: 'off' }, { ...all, introspection: false, suggestions: false }],
  [
    { NODE_ENV: 'production', INTROSPECTION: 'on' },
    { graphiql: false, introspection: true, suggestions: true },
  ],
])('with %j', (settings, shown) => {
  const service = useSharedService(settings);

  test('GraphiQL, the schema and names are shown as these settings say', async () => {
    expect((await service.get('/graphql', browser)).text.includes('<html')).toBe(shown.graphiql);
    const { body } = await service.graphql(introspection);
    expect(body.data?.__schema?.queryType?.name).toBe(shown.introspection ? 'Query' : undefined);
    expect((await service.data('{ __typename }')).__typename).toBe('Query');

    const where = 'query ($where: LocationFilter) { locations(where: $where) { totalCount } }';
    for (const [query, variables] of [
      ['{ locatoins { totalCount } }'],
      ['{ locations(frist: 1) { totalCount } }'],
      [where, { where: { nmae: { eq: 'Yard' } } }],
      ['mutation { createLocations(input: [{ nmae: "Yard" }]) { id } }'],
      ['query ($input: CreateLocationsInput) { __typename }'],
      ['{ node(id: "x") { city } }'],
    ] as const) {
      const { text } = await service.graphql(query, variables);
      expect([text, text.includes('Did you mean')]).toEqual([text, shown.suggestions]);
    }
    // What a client sent is quoted as sent, even if it reads like a suggestion.
    const counted = 'query ($n: Int) { locations(first: $n) { totalCount } }';
    expect((await service.graphql(counted, { n: 'x Did you mean y?' })).text).toContain('x Did you mean y?');
  });
});
