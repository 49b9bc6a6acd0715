/** Every regular expression takes linear time or reads a bounded text: one long text must not stop the service. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isSafe } from 'redos-detector';
import { expect, test } from 'vitest';
import { parseAst } from 'vitest/node';

/** Expressions that may take longer on a long text, or cannot be proved linear, and what keeps their text short. */
const exceptions: Readonly<Record<string, string>> = {
  'client/options.ts /\\/+$/': 'the address of the service, from the program that uses the client',
  'src/graphql/errors.ts / at "([^"]*)"; $/': 'the last 200 characters before the reason of an error',
  'src/import/values.ts /0+$/': 'at most 101 digits',
  'src/import/values.ts /^([^:]{6,30}?)(?:(?:T|,? {1,2})(\\d{1,2}):(\\d{2})(?::(\\d{2})(?:[.,](\\d{1,9}))?)?(?: ?([ap])\\.?m\\.?| uhr)?(?: ?(Z|UTC|GMT|[+-]\\d{2}(?::?\\d{2})?))?)?$/i':
    'a cell of at most 100 characters',
  'src/rest/handler.ts /(?:^|,)\\s*handling\\s*=\\s*"?([\\w-]+)/i': 'a header: 16 KiB, and it is linear',
  'src/http/error-response.ts /(?:^|,)\\s*application\\/problem\\+json\\s*(?:;(?!\\s*q=0(?:\\.0*)?\\s*(?:,|$))|,|$)/i':
    'a header: 16 KiB, and it is linear',
};

// biome-ignore lint/suspicious/noExplicitAny: any node of any syntax tree.
type Node = any;

const regularExpressions = ['src', 'client']
  .flatMap((folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path)))
  .filter((path) => path.endsWith('.ts') && !path.startsWith('client/dist/'))
  .flatMap((file) => {
    const nodes = [...nodesOf(parseAst(readFileSync(file, 'utf8'), { lang: 'ts' }))];
    return nodes.flatMap((node) => {
      const expression = expressionOf(node, nodes);
      return expression ? [{ name: `${file} ${expression}`, expression }] : [];
    });
  });

function* nodesOf(value: Node): Generator<Node> {
  if (typeof value !== 'object' || value === null) return;
  if (value.type) yield value;
  for (const inner of Object.values(value)) yield* nodesOf(inner);
}

/** The regular expression that a literal, or a call of `RegExp` with constant texts, stands for. */
function expressionOf(node: Node, nodes: readonly Node[]): RegExp | undefined {
  if (node.regex) return new RegExp(node.regex.pattern, node.regex.flags);
  if (!['NewExpression', 'CallExpression'].includes(node.type) || node.callee.name !== 'RegExp') return undefined;
  const [pattern = '', flags = ''] = node.arguments.map((argument: Node) => textOf(argument, nodes));
  return new RegExp(pattern, flags);
}

/** The text of a literal, of a template of constants, or of the name of one. */
function textOf(node: Node, nodes: readonly Node[]): string {
  if (node?.type === 'Literal') return node.value;
  if (node?.type === 'Identifier') {
    return textOf(nodes.find(({ type, id }) => type === 'VariableDeclarator' && id.name === node.name)?.init, nodes);
  }
  if (node?.type !== 'TemplateLiteral') throw new Error('expected a regular expression made of constant texts');
  return node.quasis
    .map(({ value }: Node, index: number) => {
      const expression = node.expressions[index];
      return value.cooked + (expression ? textOf(expression, nodes) : '');
    })
    .join('');
}

/** A match of these has a bounded length; to prove it takes seconds for some. */
const isBounded = ({ source }: RegExp): boolean => !/[*+]|,\}|\)\{/.test(source);

/** Whether the number of ways to read a text is bounded, wherever in the text it begins to match. */
const isLinear = (expression: RegExp): boolean =>
  isBounded(expression) || isSafe(expression, { maxScore: 200, maxSteps: 20_000 }).safe;

test.each([/\s+$/, /^(.*),(.*)$/])('%s is recognized as not linear', (expression) => {
  expect(isLinear(expression)).toBe(false);
});

test('all regular expressions are found', () => {
  expect(regularExpressions.length).toBeGreaterThan(30);
  expect(regularExpressions.map(({ name }) => name)).toContain(
    'src/auth/keys.ts /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/',
  );
});

test('every one is linear, or is listed with what keeps its text short', () => {
  const others = regularExpressions.filter(({ name }) => !Object.hasOwn(exceptions, name));
  expect(others.filter(({ expression }) => !isLinear(expression)).map(({ name }) => name)).toEqual([]);
  // What is listed exists.
  expect(regularExpressions.length - others.length).toBe(Object.keys(exceptions).length);
});
