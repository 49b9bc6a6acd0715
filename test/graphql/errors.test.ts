/** Errors of GraphQL: the first ten with their positions, however many there are. */
import { describe, expect, test } from 'vitest';
import { useSharedService } from '../support/service.ts';

const service = useSharedService();

const more = 'only 10 errors are listed, there are more';
const nodes = 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }';

const names = (count: number) => Array.from({ length: count }, (_, i) => `x${i}`).join(' ');

test.each<[string, string, (count: number) => readonly [string, object?], (index: number) => string, object]>([
  [
    'a document',
    'GRAPHQL_VALIDATION_FAILED',
    (count) => [`{ ${names(count)} }`],
    (index) => `Cannot query field "x${index}" on type "Query".`,
    { line: 1, column: 3 },
  ],
  [
    'variables',
    'BAD_USER_INPUT',
    (count) => [nodes, { ids: Array(count).fill(true) }],
    (index) => `at "ids[${index}]"`,
    { line: 1, column: 8 },
  ],
])(
  'the first ten errors of %s are in the response, with their positions, and further ones are one line',
  async (...row) => {
    const [, code, request, message, place] = row;
    for (const count of [9, 10, 11, 100]) {
      const { errors } = (await service.graphql(...request(count))).body;

      expect(errors).toHaveLength(Math.min(count, 11));
      expect(errors[0].locations).toEqual([place]);
      for (const index of [0, Math.min(count, 10) - 1]) {
        expect(errors[index]).toMatchObject({ message: expect.stringContaining(message(index)), extensions: { code } });
      }
      if (count > 10) expect(errors[10]).toEqual({ message: more, extensions: { code } });
    }
  },
);

describe('the errors of execution', () => {
  test('are one for each mutation that fails, however many', async () => {
    const fields = Array.from({ length: 30 }, (_, i) => `a${i}: createLocations(input: [{ latitude: 100 }]) { id }`);

    const { body } = await service.graphql(`mutation { ${fields.join(' ')} }`);

    expect(body.errors.map(({ path }: { path: string[] }) => path)).toEqual(fields.map((_, i) => [`a${i}`]));
  });
});
