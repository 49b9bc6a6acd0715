/** What a service reveals in production. */
import { describe, expect, test } from 'vitest';
import { useSharedService } from '../support/service.ts';

const browser = { accept: 'text/html' };
const introspection = '{ __schema { queryType { name } } }';

interface Shown {
  readonly graphiql: boolean;
  readonly introspection: boolean;
  readonly suggestions: boolean;
}

const all = { graphiql: true, introspection: true, suggestions: true };

describe.each<[Record<string, string>, Shown]>([
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
  });
});

describe('without suggestions', () => {
  const service = useSharedService({ INTROSPECTION: 'off' });

  test('a value that a client sent is quoted as sent, even if it reads like one', async () => {
    const query = 'query ($n: Int) { locations(first: $n) { totalCount } }';
    const { body } = await service.graphql(query, { n: 'x Did you mean y?' });
    expect(body.errors[0].message).toMatch(/non-integer value: "x Did you mean y\?"$/);
  });
});
