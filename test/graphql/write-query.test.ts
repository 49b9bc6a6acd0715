/** What it takes to write a query, for which the endpoint's tests see only the text. */
import { buildSchema, type GraphQLObjectType, getOperationAST, type OperationDefinitionNode, parse } from 'graphql';
import { expect, test, vi } from 'vitest';
import { writeQuery } from '../../src/graphql/execution/write-query.ts';

const schema = buildSchema('type Query { item: Item } type Item { id: ID parent: Item }');
/** Called for each field of an item that is prepared. */
const getFields = vi.spyOn(schema.getType('Item') as GraphQLObjectType, 'getFields');

/** Fragments that use each other twice: the last one can be reached on 2^14 paths. */
const document = parse(
  `{ item { ...f0 } } fragment f14 on Item { id } ${Array.from(
    { length: 14 },
    (_, n) => `fragment f${n} on Item { a: parent { ...f${n + 1} } b: parent { ...f${n + 1} } }`,
  ).join(' ')}`,
);

const write = (item: object | null) =>
  writeQuery({ schema, document, rootValue: { item } }, getOperationAST(document) as OperationDefinitionNode);

test('only the fields of objects that exist are prepared', () => {
  expect(write(null)).toBe('{"item":null}');
  expect(getFields).not.toHaveBeenCalled();

  expect(write({ parent: null })).toBe('{"item":{"a":null,"b":null}}');
  expect(getFields).toHaveBeenCalledTimes(2);
});
