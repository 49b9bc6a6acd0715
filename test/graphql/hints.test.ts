/** What GraphQL's errors suggest for the usual mistakes, and that they suggest nothing in production. */
import { expect, test } from 'vitest';
import { useSharedService } from '../support/service.ts';

const service = useSharedService();
const production = useSharedService({ NODE_ENV: 'production' });

const byVariable = 'query ($where: AssetFilter) { assets(where: $where) { nodes { id } } }';

test.each([
  [
    '{ assets { name } }',
    {},
    'Cannot query field "name" on type "AssetConnection". The records are in nodes: nodes { name }',
  ],
  ['{ assets(where: { name: "x" }) { totalCount } }', {}, /found "x"\. Send an operator with the value: \{ eq: … \}$/],
  [
    byVariable,
    { where: { name: 'x' } },
    /at "where.name"; Expected type "\w+" to be an object\. Send an operator with the value: \{ eq: … \}$/,
  ],
  ['{ assets(where: { createdAt: { between: 1 } }) { totalCount } }', {}, /Send both ends: \{ gte: …, lt: … \}$/],
  [
    'query ($n: String!) { assets(where: { name: $n }) { totalCount } }',
    { n: 'x' },
    /expecting type "TextFilter"\. Send an operator with the value: \{ eq: \$n \}$/,
  ],
  [
    'query ($n: [String!]) { assets(where: { name: $n }) { totalCount } }',
    { n: ['x'] },
    /Send an operator with the values: \{ in: \$n \}$/,
  ],
  ['{ assets(where: { name: ["a", "b"] }) { totalCount } }', {}, /Send an operator with the values: \{ in: … \}$/],
  [byVariable, { where: { name: ['a', 'b'] } }, /Send an operator with the values: \{ in: … \}$/],
  [
    '{ assets(where: { externalIds: "4711" }) { totalCount } }',
    {},
    /found "4711"\. Send the other system and the ID there: \{ key: "erp", value: "4711" \}$/,
  ],
  [
    byVariable,
    { where: { externalIds: '4711' } },
    /Send the other system and the ID there: \{ key: "erp", value: "4711" \}$/,
  ],
  [
    '{ assets(where: { externalIds: { erp: "4711" } }) { totalCount } }',
    {},
    /Send the other system and the ID there: /,
  ],
  [
    '{ assets(orderBy: [{ name: "ASC" }]) { totalCount } }',
    {},
    'Enum "OrderDirection" cannot represent non-enum value: "ASC". Send one of ASC, DESC',
  ],
  [
    'query ($by: [AssetOrderBy!]) { assets(orderBy: $by) { totalCount } }',
    { by: [{ name: 'asc' }] },
    /; Value "asc" does not exist in "OrderDirection" enum\. Send one of ASC, DESC$/,
  ],
  [
    '{ assets(orderBy: [{ name: UP }]) { totalCount } }',
    {},
    /"UP" does not exist in "\w+" enum\. Send one of ASC, DESC$/,
  ],
])('%s', async (query, variables, message) => {
  const { body } = await service.graphql(query, variables);
  const hidden = await production.graphql(query, variables);

  expect(body.errors.map((error: Error) => error.message)).toContainEqual(
    typeof message === 'string' ? message : expect.stringMatching(message),
  );
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
