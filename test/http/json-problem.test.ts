/** Where a text stops being JSON, and what was expected there. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonProblem } from '../../src/http/json-problem.ts';

test.each([
  ['', 'it ends too early, at line 1, column 1: expected a value'],
  ['[{"name":', 'it ends too early, at line 1, column 10: expected a value'],
  ['[{', 'it ends too early, at line 1, column 3: expected a key in double quotes or }'],
  ['["Crane', 'it ends too early, at line 1, column 8: expected the quote that ends the text'],
  ['[1,]', 'line 1, column 4: expected a value, found "]"'],
  ['{a:1}', 'line 1, column 2: expected a key in double quotes or }, found "a"'],
  ['{"a" 1}', 'line 1, column 6: expected a colon, found "1"'],
  ['[NaN]', 'line 1, column 2: expected a value or ], found "NaN"'],
  ['[\n  {"name": "Crane"}\n  {"name": "Pump"}\n]', 'line 3, column 3: expected a comma or ], found "{"'],
  ['[]\n[]', 'line 2, column 1: expected nothing more, found "["'],
  ['["a\nb"]', 'line 1, column 4: expected control characters such as line breaks to be escaped, found U+000A'],
  ['["\\x"]', 'line 1, column 3: expected an escape sequence of JSON such as \\n, found "\\\\"'],
  ['[\ud83c\udfd7]', 'line 1, column 2: expected a value or ], found "\ud83c\udfd7"'],
])('the problem of %j is named: %s', (text, problem) => {
  expect(jsonProblem(text)).toBe(problem);
});

test('a problem repeats at most 30 characters of the text', () => {
  expect(jsonProblem(`[${'y'.repeat(1_000)}]`)).toBe(
    `line 1, column 2: expected a value or ], found "${'y'.repeat(30)}"`,
  );
});

const anyText = fc.jsonValue().map((value) => JSON.stringify(value, null, 1));

/** The offset of the place that a message names. */
function offsetIn(text: string, problem: string): number {
  const [, line, column] = /line (\d+), column (\d+)/.exec(problem) ?? [];
  const before = text.split('\n').slice(0, Number(line) - 1);
  return before.reduce((sum, { length }) => sum + length + 1, Number(column) - 1);
}

test('a problem names the place of whatever is put between the tokens of valid JSON', () => {
  fc.assert(
    fc.property(anyText, fc.nat(), fc.constantFrom('#', '\0', '\\', '?'), (json, place, sent) => {
      const tokens = json.match(/"(?:[^"\\]|\\.)*"|[\w.+-]+|\s+|./gs) ?? [];
      const before = tokens.slice(0, place % (tokens.length + 1)).join('');
      const text = before + sent + json.slice(before.length);

      expect(offsetIn(text, jsonProblem(text))).toBe(before.length);
    }),
    { numRuns: 1_000 },
  );
});

test('no problem is found in what JSON.parse accepts: no place is in the part that damaged JSON shares with valid JSON', () => {
  const damaged = fc.tuple(anyText, fc.nat(), fc.nat({ max: 3 }), fc.string({ maxLength: 2 }));
  let invalid = 0;
  fc.assert(
    fc.property(damaged, ([json, place, removed, sent]) => {
      const at = place % (json.length + 1);
      const text = json.slice(0, at) + sent + json.slice(at + removed);
      try {
        JSON.parse(text);
        return;
      } catch {
        invalid += 1;
      }
      const problem = jsonProblem(text);
      // A token that was valid by itself may begin before the damage.
      const start = (/[\w.+-]+$|"(?:[^"\\]|\\.)*$|\\.{0,5}$/s.exec(json.slice(0, at))?.index ?? at) - 1;
      expect(offsetIn(text, problem)).toBeGreaterThanOrEqual(start);
      expect(offsetIn(text, problem)).toBeLessThanOrEqual(text.length);
    }),
    { numRuns: 2_000 },
  );
  expect(invalid).toBeGreaterThan(500);
});

test.each([
  ['in a list', '[', '1,', '#'],
  ['in a text', '["', 'x', '\n'],
  ['in white space', '', '\n ', '#'],
  ['with a word at the end of what is searched', `[${' '.repeat(999_995)}`, 'true,', '#'],
])('beyond a million characters, only the place up to which the text is valid is named: %s', (_, start, part, end) => {
  const problem = jsonProblem(start + part.repeat(3_000_000 / part.length) + end);

  const { line, column } = /^somewhere after line (?<line>\d+), column (?<column>\d+)$/.exec(problem)?.groups ?? {};
  expect(Number(line) > 400_000 || Number(column) > 999_990).toBe(true);
});
