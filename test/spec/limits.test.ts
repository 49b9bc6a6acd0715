/** Limits, each tested at its value and at one more. Decisions: "Limits". */
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { useSharedService } from '../support/service.ts';

const service = useSharedService();

describe('a body', () => {
  const bodyOf = (bytes: number) => `[{"name":"a"}${' '.repeat(bytes - '[{"name":"a"}]'.length)}]`;

  test('of 10 MiB is accepted', async () => {
    expect((await service.post('/locations', bodyOf(10 * 1024 * 1024))).status).toBe(201);
  });

  test('of one byte more is 413', async () => {
    const { status, body } = await service.post('/locations', bodyOf(10 * 1024 * 1024 + 1));

    const error = 'expected a body of at most 10,485,760 bytes: split it into several requests';
    expect([status, body]).toEqual([413, { error, code: '413' }]);
  });
});

describe('a batch', () => {
  test('of 10,001 is 413', async () => {
    const { status, body } = await service.post(
      '/locations',
      Array.from({ length: 10_001 }, () => ({})),
    );

    expect([status, body]).toEqual([
      413,
      { error: 'expected at most 10,000 records, received 10,001: send them in several batches', code: '413' },
    ]);
  });
});

describe('nesting', () => {
  const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

  test('of 32 levels is accepted', async () => {
    const { body } = await service.post('/locations', nested(32));

    expect(body.error).toBe('[0]: expected a location as a JSON object, received an array');
  });

  test('of 33 levels is 400', async () => {
    const { status, body } = await service.post('/locations', nested(33));

    expect([status, body.error]).toEqual([400, 'expected JSON nested at most 32 levels deep']);
  });

  test('of a million levels is 400 as well', async () => {
    expect((await service.post('/locations', nested(1_000_000))).status).toBe(400);
  });
});

describe('text', () => {
  test.each([['x'], ['𝄞']])('of 10,000 characters is accepted: %s', async (character) => {
    const [{ city }] = await service.create('/locations', { city: character.repeat(10_000) });

    expect(city).toBe(character.repeat(10_000));
  });

  test.each([['x'], ['𝄞']])('of 10,001 characters is 400: %s', async (character) => {
    const { status, body } = await service.post('/locations', [{ city: character.repeat(10_001) }]);

    expect([status, body.error]).toEqual([400, '[0].city: expected at most 10,000 characters, received more']);
  });
});

describe('text with an index', () => {
  // Random, so that the database cannot compress it.
  const incompressible = Array.from({ length: 500 }, (_, n) =>
    String.fromCodePoint(0x2_00_00 + ((n * n * 7_919) % 40_000)),
  );
  const byReference =
    '($in: String!) { workOrders(where: { reference: { eq: $in }, name: { startsWith: $in } }) { nodes { number: id } } }';

  test.each([['x'.repeat(500)], [incompressible.join('')]])(
    'of 500 characters is accepted, and found again',
    async (longest) => {
      const order = { name: longest, reference: longest, externalIds: { [longest]: longest } };
      const [{ id }] = await service.create('/work-orders', order);
      await service.create('/transport-orders', { name: longest, reference: longest, number: longest });

      const { workOrders } = await service.data(`query ${byReference}`, { in: longest });
      const { found } = await service.data(
        'query ($id: String!) { found: workOrderByExternalId(key: $id, value: $id) { id } }',
        { id: longest },
      );
      expect([workOrders.nodes, found]).toEqual([[{ number: id }], { id }]);
    },
  );

  test.each([
    ['/assets', 'uid'],
    ['/work-orders', 'name'],
    ['/projects', 'reference'],
    ['/transport-orders', 'number'],
  ])('of 501 characters is 400: %s, %s', async (path, field) => {
    const { status, body } = await service.post(path, [{ name: 'x', [field]: 'x'.repeat(501) }]);

    expect([status, body.error]).toEqual([400, `[0].${field}: expected at most 500 characters, received more`]);
  });
});

describe('externalIds', () => {
  const ids = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`key${index}`, 'x']));

  test('of 101 keys are 400', async () => {
    const { status, body } = await service.post('/locations', [{ externalIds: ids(101) }]);

    expect([status, body.error]).toEqual([400, '[0].externalIds: expected at most 100 keys, received 101']);
  });

  test.each(['\0', '\ud800'])('must not have a key with %j, which not every database can store', async (key) => {
    const { status, body } = await service.post('/locations', [{ externalIds: { [key]: 'x' } }]);

    expect(status).toBe(400);
    expect(body.error).toContain('as a key, expected text without');
  });

  test('must not have keys or values of more than 500 characters', async () => {
    const long = 'x'.repeat(501);
    const errorOf = async (externalIds: object) => (await service.post('/locations', [{ externalIds }])).body.error;

    expect(await errorOf({ [long]: 'x' })).toMatch(/: as a key, expected at most 500 characters, received more$/);
    expect(await errorOf({ x: long })).toBe('[0].externalIds.x: expected at most 500 characters, received more');
  });
});

describe('all texts of a record together', () => {
  const small = useSharedService({ MAX_RECORD_LENGTH: '10' });
  const tooLong = 'expected at most 10 characters of text in the whole record, received more';

  test.each([
    [{ name: 'xxxxx', city: 'xxxxx', latitude: 12.345678, state: null }],
    [{ externalIds: { '𝄞𝄞𝄞': '𝄞𝄞' }, city: '𝄞𝄞𝄞𝄞𝄞' }],
  ])('of at most 10 characters are accepted: %j', async (record) => {
    await small.create('/locations', record);
  });

  test.each([[{ name: 'xxxxx', city: 'xxxxxx' }], [{ externalIds: { '𝄞𝄞𝄞': '𝄞𝄞𝄞' }, city: '𝄞𝄞𝄞𝄞𝄞' }]])(
    'of more are 400: %j',
    async (record) => {
      const { status, body } = await small.post('/locations', [{ name: 'x' }, record]);

      expect([status, body.error]).toEqual([400, `[1]: ${tooLong}`]);
    },
  );

  test('are only the sent ones in an update', async () => {
    const [{ id }] = await small.create('/projects', { name: 'xxxxx', reference: 'xxxxx' });

    expect((await small.patch(`/projects/${id}`, { notes: 'x'.repeat(10) })).status).toBe(200);
    const { status, body } = await small.patch(`/projects/${id}`, { notes: 'x'.repeat(11) });
    expect([status, body.error]).toEqual([400, tooLong]);
  });

  test('have the same limit over GraphQL', async () => {
    const { body } = await small.graphql(
      'mutation ($input: [CreateLocationInput!]!) { createLocations(input: $input) { id } }',
      { input: [{}, { name: 'xxxxx', city: 'xxxxxx' }] },
    );

    expect(body.errors[0].extensions.issues).toEqual([{ path: ['input', 1], message: tooLong }]);
  });

  test('have a default limit that allows every text at its maximum length, with a hundred external IDs', async () => {
    const longest = (index: number) => String(index).padEnd(10_000, 'x');
    const externalIds = Object.fromEntries(
      Array.from({ length: 100 }, (_, i) => [String(i).padEnd(500, 'x'), String(i).padEnd(500, 'x')]),
    );
    const texts = ['address1', 'address2', 'city', 'state', 'postalCode', 'country'];

    await service.create('/locations', {
      name: 'x'.repeat(500),
      ...Object.fromEntries(texts.map((name, index) => [name, longest(index)])),
      externalIds,
    });
  });
});

describe('JSON', () => {
  const keys = (count: number, prefix = '') => Array.from({ length: count }, (_, n) => `"${prefix}${n}":1`).join();
  const members = (count: number) => `{${keys(count)}}`;

  test('objects have at most 1,000 keys, over REST and over GraphQL', async () => {
    const error = 'expected JSON objects of at most 1,000 keys';
    const query = '{ __typename }';

    expect((await service.post('/locations', `[${members(1_001)}]`)).body).toEqual({ error, code: '400' });
    expect((await service.post('/graphql', `{"query":"${query}","variables":${members(1_001)}}`)).body).toEqual({
      errors: [{ message: error, extensions: { code: 'BAD_USER_INPUT' } }],
    });
    expect((await service.post('/graphql', `{"query":"${query}","variables":${members(1_000)}}`)).status).toBe(200);
    expect((await service.post('/locations', `[${members(1_000)}]`)).body.error).toContain('[0].0: unknown field;');
  });

  test.each([
    ['objects and arrays', `[${Array(100_000).fill('[]').join()}]`],
    ['different keys', `[${Array.from({ length: 1_001 }, (_, n) => `{${keys(100, `${n}.`)}}`).join()}]`],
  ])('has at most 100,000 %s', async (what, body) => {
    const { status, body: response } = await service.post('/locations', body);

    expect([status, response.error]).toEqual([
      413,
      `expected JSON of at most 100,000 ${what}: split it into several requests`,
    ]);
  });
});

describe('with smaller settings', () => {
  const small = useSharedService({
    MAX_BODY_BYTES: '2000',
    MAX_BATCH: '2',
    MAX_NESTING: '4',
    MAX_TEXT_LENGTH: '3',
    MAX_EXTERNAL_IDS: '1',
  });

  test.each([
    [[{ name: 'xxx', externalIds: { a: 'x' } }, {}], 201],
    [[{ name: 'xxxx' }], 400],
    [[{ externalIds: { a: '', b: '' } }], 400],
    [[{}, {}, {}], 413],
    [[[[[]]]], 400],
    [[{ name: 'x'.repeat(2_000) }], 413],
  ])('%j is %i', async (batch, status) => {
    expect((await small.post('/locations', batch)).status).toBe(status);
  });
});

test('MAX_TEXT_LENGTH must not exceed the default of MAX_RECORD_LENGTH, unless that is set too', () => {
  expect(() => loadConfig({ MAX_TEXT_LENGTH: '500000' })).toThrow(
    'MAX_RECORD_LENGTH: expected at least MAX_TEXT_LENGTH, which is 500000',
  );
  expect(() => loadConfig({ MAX_TEXT_LENGTH: '500000', PORT: 'x' })).toThrow(/^PORT: .*\nMAX_RECORD_LENGTH: /);
  const { limits } = loadConfig({ MAX_TEXT_LENGTH: '500000', MAX_RECORD_LENGTH: '300000' });
  expect([limits.maxTextLength, limits.maxRecordLength]).toEqual([500_000, 300_000]);
});
