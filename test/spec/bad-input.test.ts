/** Invalid input gets a documented response: 400 with the position, the expected value and the received one. */

import { describe, expect, test } from 'vitest';
import type { Field } from '../../src/model/fields.ts';
import { restKinds } from '../support/records.ts';
import { useSharedService } from '../support/service.ts';

const service = useSharedService();

/** A value of each JSON type, and how an error describes it. */
const values = [
  ['text', '"text"', '"text"'],
  ['empty text', '""', '""'],
  ['a number', '5', '5'],
  ['an infinite number', '1e400', 'Infinity'],
  ['true', 'true', 'true'],
  ['null', 'null', 'null'],
  ['an array', '[1]', 'an array'],
  ['an object', '{"a":1}', 'an object'],
  ['a nested array', '[[["x"]]]', 'an array'],
  ['NUL', '"a\\u0000b"', '"a\\u0000b"'],
  ['a lone surrogate', '"a\\ud800b"', '"a\\ud800b"'],
] as const;

function accepts(field: Field, name: string): boolean {
  if (name === 'null') return !field.required;
  if (field.type === 'text' && field.form) return false;
  if (name === 'text') return ['text', 'reference', 'foreignReference'].includes(field.type) && !('mustExist' in field);
  if (name === 'empty text') return field.type === 'text' && !field.required && !field.unique;
  if (name === 'a number') return field.type === 'number';
  return name === 'true' && field.type === 'boolean';
}

test.each(restKinds)(
  'each field of a new $kind.label takes the values of its type, and no others',
  async ({ kind, path, smallest }) => {
    const cases = Object.entries(kind.fields).flatMap(([name, field]) =>
      values.map(([type, json, described]) => ({ name, field, json, described, isAccepted: accepts(field, type) })),
    );
    const post = (sent: typeof cases) => {
      const records = sent.map(({ name, json }) => {
        const { [name]: _, ...others } = smallest;
        // Some values are none that JSON.stringify could write.
        const fields = Object.entries(others).map(([other, value]) => `"${other}":${JSON.stringify(value)}`);
        return `{${[...fields, `"${name}":${json}`]}}`;
      });
      return service.post(path, `[${records}]`, { accept: 'application/problem+json' });
    };
    const invalid = cases.filter(({ isAccepted }) => !isAccepted);

    expect((await post(cases.filter(({ isAccepted }) => isAccepted))).status).toBe(201);
    const { status, body } = await post(invalid);

    expect(status).toBe(400);
    const found = body.errors.map(({ index, field, message }: { index: number; field: string; message: string }) => [
      index,
      field,
      message.split(', received ').at(-1),
    ]);
    expect(found).toEqual(
      invalid.map(({ name, field, json, described }, index) =>
        field.type === 'externalIds' && json === '{"a":1}' ? [index, 'externalIds.a', '1'] : [index, name, described],
      ),
    );
  },
);

test.each([
  [
    'an object',
    '{"name":"Excavator"}',
    'expected a JSON array of assets, received an object: put it in [ ], also if it is only one asset',
  ],
  ['null', 'null', 'expected a JSON array of assets, received null'],
  ['nothing', '', 'expected a JSON array of assets, received nothing'],
  ['not JSON', '[{"name":', 'the body is not valid JSON: Unexpected end of JSON input'],
  ['NaN', '[{"name":NaN}]', `the body is not valid JSON: Unexpected token 'N', "[{"name":NaN}]"`],
  ['an array in the array', '[[]]', '[0]: expected an asset as a JSON object, received an array'],
  ['null in the array', '[null]', '[0]: expected an asset as a JSON object, received null'],
  ['of __proto__', '[{"name":"a","__proto__":{"uid":"x"}}]', '[0].__proto__: unknown field'],
  [
    'of unknown fields',
    '[{"name":"a"},{"nmae":"b","name":"b","colour":"red"}]',
    '[1].nmae: unknown field, did you mean "name"?; [1].colour: unknown field',
  ],
])('a body of a create that is %s is 400', async (_, body, error) => {
  expect((await service.post('/assets', body)).body).toEqual({ error, code: '400' });
});

describe('unknown and read-only fields', () => {
  test.each(restKinds)('of $kind.name that the service sets itself are rejected', async ({ kind, path, smallest }) => {
    const readOnly = Object.keys(kind.storedFields).filter((name) => !(name in kind.fields));
    for (const name of readOnly) {
      const { body } = await service.post(path, [{ ...smallest, [name]: 'x' }]);
      expect(body).toEqual({ error: `[0].${name}: read-only field, set by the service`, code: '400' });
    }
  });

  test('beyond ten in a record are counted', async () => {
    const unknown = Object.fromEntries(Array.from({ length: 25 }, (_, index) => [`x${index}`, 1]));
    const { body } = await service.post('/locations', [unknown], { accept: 'application/problem+json' });
    expect(body.errors).toHaveLength(11);
    expect(body.errors.at(-1)).toEqual({ index: 0, message: 'and 15 more unknown fields', code: 'unlisted' });
  });

  test.each(['handling=lenient', 'respond-async,\t handling = "lenient"'])(
    'are ignored with Prefer: %s, which Preference-Applied confirms',
    async (prefer) => {
      const record = { name: 'a', colour: 'red', id: 'asset_1' };

      const { status, headers, body } = await service.post('/assets', [record], { prefer });

      expect([status, headers['preference-applied']]).toEqual([201, 'handling=lenient']);
      expect(body[0]).not.toHaveProperty('colour');
      expect(body[0].id).not.toBe('asset_1');
      // Only they are ignored.
      expect((await service.post('/assets', [{ ...record, name: 5 }], { prefer })).status).toBe(400);
    },
  );

  const others = ['handling=strict', 'return=minimal', 'xhandling=lenient', 'handling=lenient-not'];

  test.each([...others, 'handling=strict, handling=lenient'])('are rejected with Prefer: %s', async (prefer) => {
    const { status, headers } = await service.post('/assets', [{ name: 'a', colour: 'red' }], { prefer });
    expect([status, headers['preference-applied']]).toEqual([400, undefined]);
  });
});

test('of very many issues, the first 10,000 are listed, then the first of each record, and the others are counted', async () => {
  const invalid = { name: 1, city: 1, state: 1, country: 1, latitude: 91 };

  const { body } = await service.post(
    '/locations',
    Array.from({ length: 3_000 }, () => invalid),
    { accept: 'application/problem+json' },
  );

  expect(new Set(body.errors.map(({ index }: { index: number }) => index)).size).toBe(3_000);
  expect(body.errors).toHaveLength(10_000 + 2 * 1_000);
  expect(body.errors.slice(-2)).toEqual([
    { index: 2_999, field: 'name', message: 'expected text, received 1', code: 'wrong-type' },
    { index: 2_999, message: 'and 4 more', code: 'unlisted' },
  ]);
  // Of the sentence that lists ten.
  expect(body.detail).toMatch(/^(?:[^;]+; ){10}and 14990 more$/);
});
