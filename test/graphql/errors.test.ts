/** Errors of GraphQL: the first ten with their positions, however many there are. */
import { describe, expect, test } from 'vitest';
import { useSharedService } from '../support/service.ts';

const service = useSharedService();

const more = 'only 10 errors are listed, there are more';
const nodes = 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }';

describe('the errors of a document', () => {
  test.each([9, 10])('are all in the response, with their positions, if there are %i', async (count) => {
    const { body } = await service.graphql(`{ ${Array.from({ length: count }, (_, i) => `x${i}`).join(' ')} }`);

    expect(body.errors).toHaveLength(count);
    expect(body.errors[count - 1]).toMatchObject({
      message: `Cannot query field "x${count - 1}" on type "Query".`,
      locations: [{ line: 1, column: 3 * count }],
      extensions: { code: 'GRAPHQL_VALIDATION_FAILED' },
    });
  });

  test('beyond ten are one line', async () => {
    const { body } = await service.graphql(`{ ${Array.from({ length: 11 }, (_, i) => `x${i}`).join(' ')} }`);

    expect(body.errors).toHaveLength(11);
    expect(body.errors[0].locations).toEqual([{ line: 1, column: 3 }]);
    expect(body.errors[10]).toEqual({ message: more, extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } });
  });
});

describe('the errors of variables', () => {
  test.each([9, 10])('are all in the response if there are %i', async (count) => {
    const { body } = await service.graphql(nodes, { ids: Array(count).fill(true) });

    expect(body.errors).toHaveLength(count);
    expect(body.errors[count - 1].message).toContain(`at "ids[${count - 1}]"`);
  });

  test('beyond ten are one line', async () => {
    const { body } = await service.graphql(nodes, { ids: Array(100).fill(true) });

    expect(body.errors).toHaveLength(11);
    expect(body.errors[0]).toMatchObject({ locations: [{ line: 1, column: 8 }] });
    expect(body.errors[10]).toEqual({ message: more, extensions: { code: 'BAD_USER_INPUT' } });
  });
});

describe('the errors of execution', () => {
  test('are one for each mutation that fails, however many', async () => {
    const fields = Array.from({ length: 30 }, (_, i) => `a${i}: createLocations(input: [{ latitude: 100 }]) { id }`);

    const { body } = await service.graphql(`mutation { ${fields.join(' ')} }`);

    expect(body.errors.map(({ path }: { path: string[] }) => path)).toEqual(fields.map((_, i) => [`a${i}`]));
  });
});
