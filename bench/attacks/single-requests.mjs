/** Attacks with one request each, within the default limits, that use as much time and memory as possible. */

const megabytes = 1_000_000;

/** `count` items as JSON text; much faster than serialising objects. */
const list = (count, item) => Array.from({ length: count }, (_, n) => item(n)).join();

/** A short name, different for each number. */
const name = (n) => n.toString(36);

const graphql = (query, variables) => JSON.stringify({ query, variables });

/** The same for variables that are already JSON text. */
const graphqlWith = (query, variables) => `{"query":${JSON.stringify(query)},"variables":${variables}}`;

const request = (title, path, prepare, settings) => ({
  name: title,
  settings,
  prepare,
  run: ({ send, prepared }) => send('POST', path, prepared),
});

/** Locations with a hundred external IDs each. */
const locations = (count) => `[${list(count, () => `{"externalIds":{${list(100, (n) => `"${name(n)}":"x"`)}}}`)}]`;

const page = 'query ($first: Int) { assets(first: $first) { nodes { id } } }';
const createAssets = 'mutation ($input: [CreateAssetInput!]!) { createAssets(input: $input) { id } }';

const createLocations =
  'mutation ($input: [CreateLocationInput!]!) { createLocations(input: $input, dryRun: true) { id } }';

export const singleRequests = [
  request('suggestions in a value', '/graphql', () => graphql(page, { first: ' Did you mean '.repeat(400_000 / 14) }), {
    NODE_ENV: 'production',
  }),
  request('variables as a text', '/graphql', () => graphql(page, 'x'.repeat(9.9 * megabytes))),
  request('variables as an array', '/graphql', () => graphqlWith(page, `[${list(4_000_000, () => 1)}]`)),
  request('a value that is a text', '/graphql', () => graphql(page, { first: 'x'.repeat(9.9 * megabytes) })),
  request(
    'unknown fields in one asset',
    '/assets',
    () => `[{"name":"Pump",${list(850_000, (n) => `"x${name(n)}":1`)}}]`,
  ),
  request(
    'external ids in one asset',
    '/assets',
    () => `[{"name":"Pump","externalIds":{${list(850_000, (n) => `"${name(n)}":""`)}}}]`,
  ),
  request('external ids in each record', '/locations', () => locations(9_500)),
  request('as many external ids as a write may have', '/locations', () => locations(300)),
  {
    name: 'dry runs at once',
    prepare: () => graphqlWith(createLocations, `{"input":${locations(300)}}`),
    run: ({ send, prepared }) => Promise.all(Array.from({ length: 8 }, () => send('POST', '/graphql', prepared))),
  },
  request('undeclared variables', '/graphql', () =>
    graphqlWith('{ assets(first: 1) { nodes { id } } }', `{${list(850_000, (n) => `"x${name(n)}":1`)}}`),
  ),
  request('empty objects', '/assets', () => `[${list(3_400_000, () => '{}')}]`),
  request('unknown fields in each record', '/assets', () => {
    const fields = list(80, (n) => `"naem${name(n)}":1`);
    return `[${list(10_000, () => `{"name":"Pump",${fields}}`)}]`;
  }),
  request('unknown fields in a mutation', '/graphql', () =>
    graphqlWith(createAssets, `{"input":[${list(10_000, () => '{"name":"Pump","naem":1}')}]}`),
  ),
  request('unknown fields in a document', '/graphql', () =>
    graphql(`{ assets(first: 1) { nodes { ${'naem '.repeat(1_000)}} } }`),
  ),
];
