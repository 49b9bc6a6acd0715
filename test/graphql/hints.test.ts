/** What GraphQL's errors suggest for the usual mistakes, and that they suggest nothing in production. */
import { expect, test } from 'vitest';
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
  [where('{ name: ["a", "b"] }'), 1, values],
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
