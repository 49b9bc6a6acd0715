/** Errors of GraphQL: the first ten with their positions, however many there are. */
import { GraphQLError } from 'graphql';
import { describe, expect, test } from 'vitest';
import { unavailable } from '../../src/errors.ts';
import { toResponse } from '../../src/graphql/errors.ts';
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

  test('report a field that is repeated a thousand times only ten times, with its positions', async () => {
    const { status, body } = await service.graphql(`{ ${'x '.repeat(1_500)} }`);

    expect(status).toBe(200);
    expect(body.errors).toHaveLength(11);
    expect(body.errors.slice(0, 10)).toEqual(
      Array.from({ length: 10 }, (_, i) => ({
        message: 'Cannot query field "x" on type "Query".',
        locations: [{ line: 1, column: 3 + 2 * i }],
        extensions: { code: 'GRAPHQL_VALIDATION_FAILED' },
      })),
    );
    expect(body.errors[10].message).toBe(more);
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

  test('of the values in a list are the first ten, and a line', () => {
    const cause = unavailable('the database is away', 'ECONNREFUSED');
    const failed = (...path: (string | number)[]) => new GraphQLError('', { path, originalError: cause });
    const errors = [...Array.from({ length: 5_000 }, (_, i) => failed('assets', i, 'owner')), failed('projects')];
    const warned: unknown[] = [];
    const log = { warn: (...line: unknown[]) => warned.push(line) };
    // Only what it reads of the request.
    const requestLog = { id: 'x', log, routeOptions: { bodyLimit: 1_000 } };

    const sent = toResponse({ errors }, requestLog as never);

    expect(sent.errors?.map(({ path, message }) => path ?? message)).toEqual([
      ...Array.from({ length: 10 }, (_, i) => ['assets', i, 'owner']),
      ['projects'],
      'only 11 errors are listed, there are more',
    ]);
    expect(sent.errors?.at(-1)?.extensions).toEqual({ code: 'SERVICE_UNAVAILABLE' });
    expect(warned).toHaveLength(11);
  });
});
