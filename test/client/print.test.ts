/** The client's own printer of GraphQL documents: what it prints means the same as what GraphQL's own printer prints. */
import fc from 'fast-check';
import { type DocumentNode, parse, print as printWithGraphql, visit } from 'graphql';
import { describe, expect, test } from 'vitest';
import { print } from '../../client/graphql.ts';

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
    '{ query mutation: fragment(on: on) { type } ... on on { null: true } } fragment fragment on on { on }',
  ])('%s', expectSameMeaning);

  const name = fc.constantFrom('a', 'b', 'type', 'on_', '_1', 'query', 'node');
  const { value, selections } = fc.letrec<{ value: string; selections: string; selection: string }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.integer().map(String),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number.toExponential()),
      fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
      fc.constantFrom('null', 'true', 'ENUM', '$a', '"""a\n  b"""'),
      fc.array(tie('value'), { maxLength: 3 }).map((values) => `[${values}]`),
      fc.array(fc.tuple(name, tie('value')), { maxLength: 3 }).map((fields) => `{${fields.map((it) => it.join(':'))}}`),
    ),
    selection: fc.oneof(
      { maxDepth: 3 },
      fc.tuple(name, name, tie('value')).map(([alias, field, text]) => `${alias}: ${field}(x: ${text}) @d(y: ${text})`),
      fc.tuple(name, tie('selections')).map(([field, inner]) => `${field} ${inner}`),
      fc.tuple(name, tie('selections')).map(([type, inner]) => `... on ${type} @d ${inner}`),
      name.map((fragment) => `...${fragment}`),
    ),
    selections: fc.array(tie('selection'), { minLength: 1, maxLength: 3 }).map((all) => `{ ${all.join(' ')} }`),
  }));

  test('any document', () => {
    fc.assert(
      fc.property(selections, selections, value, (first, second, text) => {
        const constant = text.replaceAll('$a', '0');
        expectSameMeaning(`query q($a: [T!]! = ${constant}) ${first} fragment f on T @d(x: ${text}) ${second}`);
      }),
    );
  });
});

test('a document with type definitions is rejected', () => {
  expect(() => print(parse('type A { b: Int }'))).toThrow(
    new TypeError('graphql: expected a document of operations and fragments, found the kind ObjectTypeDefinition'),
  );
});
