/** The cost of filters: counted before anything runs, in literals and in variables alike, within bounds for whatever is sent. */
import { expect, test } from 'vitest';
import { startService, useSharedService } from '../support/service.ts';

const service = useSharedService();

const costOf = async (query: string, variables = {}) => {
  const { headers } = await service.graphql(query, variables);
  return Number(headers['query-cost']);
};

/** A list of one record with its count, and what the filter adds. */
const plain = 5 + 1;

test.each<[string, unknown, number]>([
  ['no condition', {}, 0],
  ['a condition', { name: { eq: 'x' } }, 10],
  ['two operators', { name: { startsWith: 'x', endsWith: 'y' } }, 20],
  ['values of a list', { name: { in: ['a', 'b', 'c'] } }, 10 + 2],
  ['a text of a hundred characters', { name: { eq: 'x'.repeat(100) } }, 10 + 10],
  ['texts of a list', { name: { in: ['x'.repeat(10), 'x'.repeat(25)] } }, 10 + 1 + 1 + 2],
  ['a text that is compared letter by letter', { name: { contains: 'Lü', ignoreCase: true } }, 10 + 20],
  ['a text from A to Z that ignores case', { name: { contains: 'Lu', ignoreCase: true } }, 10],
  ['alternatives', { or: [{ name: { eq: 'x' } }, { name: { eq: 'y' } }] }, 2 * 10],
  ['a negation', { not: { name: { eq: 'x' } } }, 10],
  ['a link', { location: {} }, 1_000],
  ['a condition on a link', { location: { city: { eq: 'x' } } }, 1_000 + 10 * 10],
  ['a distance', { location: { near: { latitude: 1, longitude: 2, withinKm: 3 } } }, 1_000 + 10 * 30],
  ['a reverse link', { workOrders: { some: {}, none: {} } }, 2 * 1_000],
  [
    'a relation of a relation',
    { workOrders: { some: { location: { city: { eq: 'x' } } } } },
    1_000 + 10 * (1_000 + 10 * 10),
  ],
])('%s costs as much in a variable, a part of one and a literal', async (_, where, cost) => {
  const literal = JSON.stringify(where).replaceAll(/"(\w+)":/g, '$1:');

  expect(await costOf(`{ projects(first: 1, where: ${literal}) { totalCount } }`)).toBe(plain + cost);
  expect(await costOf('query ($w: ProjectFilter) { projects(first: 1, where: $w) { totalCount } }', { w: where })).toBe(
    plain + cost,
  );
  expect(await costOf(`query ($w: ProjectFilter = ${literal}) { projects(first: 1, where: $w) { totalCount } }`)).toBe(
    plain + cost,
  );
  expect(
    await costOf('query ($w: ProjectFilter!) { projects(first: 1, where: { and: [$w] }) { totalCount } }', {
      w: where,
    }),
  ).toBe(plain + cost);
});

test('a filter too costly is refused before it runs', async () => {
  let where: object = { name: { eq: 'x' } };
  for (let depth = 0; depth < 2; depth += 1) where = { location: { projects: { some: where } } };

  const statements = await service.statements(async () => {
    const { body } = await service.graphql('query ($w: ProjectFilter) { projects(where: $w) { totalCount } }', {
      w: where,
    });
    expect(body.errors[0].message).toMatch(/^the operation costs more than 500,000/);
    expect(body.data).toBeUndefined();
  });

  expect(statements).toEqual([]);
});

test('relations are at most five deep, whatever they may cost', async () => {
  const expensive = await startService({ MAX_QUERY_COST: '1000000000', MAX_NESTING: '100' });
  const nested = (depth: number) =>
    `${'{ location: { projects: { some: '.repeat(depth)}{ location: {} }${' } } }'.repeat(depth)}`;

  const { body: within } = await expensive.graphql(`{ projects(where: ${nested(2)}) { totalCount } }`);
  const { body: above } = await expensive.graphql(
    `{ locations(where: { projects: { some: ${nested(2)} } }) { totalCount } }`,
  );
  await expensive.stop();

  expect(within.data).toEqual({ projects: { totalCount: 0 } });
  expect(above.errors[0].message).toBe(
    'where.projects.some.location.projects.some.location.projects.some.location: expected at most 5 relations within each other',
  );
});
