/** The client's own printer of GraphQL documents: what it prints means the same as what GraphQL's own printer prints. */
import { type DocumentNode, parse, print as printWithGraphql, visit } from 'graphql';
import { describe, expect, test } from 'vitest';
import { print } from '../../client/graphql.ts';
import { recordKinds } from '../../src/records/index.ts';
import { printedSchema } from '../support/query-model.ts';
import { createRandom } from '../support/random.ts';
import { createDocuments, createGenerator } from '../support/random-documents.ts';
import { unknownId } from '../support/records.ts';

/** The document without what may be printed in another way: whether a text was a block string. */
const meaning = (document: DocumentNode): string =>
  printWithGraphql(visit(document, { StringValue: (node) => ({ ...node, block: false }) }));

const expectSameMeaning = (text: string): void => {
  const document = parse(text, { noLocation: true });
  const printed = print(document);
  expect(meaning(parse(printed, { noLocation: true })), printed).toBe(meaning(document));
};

describe('what is printed means the same as', () => {
  test.each([
    'query Q($id: ID!, $n: [Int!]! = [1, 2] @d, $x: X = {a: {b: null}}) @d { node(id: $id) { id } }',
    'subscription S @live { a }',
    String.raw`{ a(b: "\"\\\/\b\f\n\r\t\u0000\u007f é 🏗 \u{1F3D7} $x #no") }`,
    '{ a(b: """x\n  y""", c: [-1.5e-7, ENUM, $d, {}], d: {e: []}) @f(g: $h) { ...i @j } }',
    '{ query mutation: fragment(on: on) { type } ... on on { null: true } } fragment fragment on on { on }',
  ])('%s', expectSameMeaning);

  test('any document', () => {
    const ids = new Map(recordKinds.map((kind) => [kind.table, [unknownId(kind)]]));
    const random = createRandom(Date.now());
    const next = createDocuments(printedSchema, createGenerator(random, ids), () => 'cursor');
    for (let count = 0; count < 100; count += 1) expectSameMeaning(next().query);
  });
});

test('a document with type definitions is rejected', () => {
  expect(() => print(parse('type A { b: Int }'))).toThrow(
    new TypeError('graphql: expected a document of operations and fragments, found the kind ObjectTypeDefinition'),
  );
});
