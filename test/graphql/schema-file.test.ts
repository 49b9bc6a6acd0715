/** schema.graphql is printed from the code; `npm run schema` updates it. */
import { GraphQLSchema, parse, printSchema, visit } from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../../src/graphql/schema/schema.ts';

const printed = printSchema(schema);

test('schema.graphql is up to date', async () => {
  await expect(`${printed}\n`).toMatchFileSnapshot('../../schema.graphql');
});

test('every type, field and argument has a description in whole phrases, with a capital and a full stop', () => {
  let described = 0;
  const wrong: string[] = [];
  visit(parse(printed), {
    enter(node) {
      if (!/Definition$/.test(node.kind) || !('description' in node && 'name' in node)) return;
      if (/^[A-Z].*\.$/s.test(node.description?.value ?? '')) described += 1;
      else wrong.push(`line ${node.loc?.startToken.line}`);
    },
  });
  expect(wrong).toEqual([]);
  expect(described).toBeGreaterThan(200);
});

test('every type of the schema can be reached from an operation', () => {
  const [query, mutation, subscription] = [
    schema.getQueryType(),
    schema.getMutationType(),
    schema.getSubscriptionType(),
  ];
  const reachable = new GraphQLSchema({ query, mutation, subscription });
  expect(Object.keys(schema.getTypeMap()).toSorted()).toEqual(Object.keys(reachable.getTypeMap()).toSorted());
});
