/** What it takes to write a query, for which the endpoint's tests see only the text. */
import { buildSchema, getOperationAST, type OperationDefinitionNode, parse } from 'graphql';
import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import * as fields from '../../src/graphql/execution/collect-fields.ts';
import { writeQuery } from '../../src/graphql/execution/write-query.ts';

const collectFields = vi.spyOn(fields, 'collectFields');
afterAll(() => collectFields.mockRestore());

const schema = buildSchema('type Query { item: Item } type Item { id: ID parent: Item }');

beforeEach(() => {
  collectFields.mockClear();
});

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
  expect(collectFields).toHaveBeenCalledTimes(1);

  expect(write({ parent: null })).toBe('{"item":{"a":null,"b":null}}');
  expect(collectFields).toHaveBeenCalledTimes(3);
});
