/** Limits, each tested at its value and at one more. Decisions: "Limits". */
import { describe, expect, test } from 'vitest';
import { useSharedService } from '../support/service.ts';

const service = useSharedService();

const bodyOf = (bytes: number) => `[{"name":"a"}${' '.repeat(bytes - '[{"name":"a"}]'.length)}]`;
const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
const ids = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`key${index}`, 'x']));
const keys = (count: number, prefix = '') => Array.from({ length: count }, (_, n) => `"${prefix}${n}":1`).join();
const tooDeep = 'expected JSON nested at most 32 levels deep';
const tooMany = (what: string) => `expected JSON of at most 100,000 ${what}: split it into several requests`;

test.each<[string, sent: string | object[], status: number, error?: string]>([
  ['a body of 10 MiB', bodyOf(10 * 1024 * 1024), 201],
  [
    'a body of one byte more',
    bodyOf(10 * 1024 * 1024 + 1),
    413,
    'expected a body of at most 10,485,760 bytes: split it into several requests',
  ],
  [
    'a batch of 10,001',
    Array(10_001).fill({}),
    413,
    'expected at most 10,000 records, received 10,001: send them in several batches',
  ],
  ['32 levels', nested(32), 400, '[0]: expected a location as a JSON object, received an array'],
  ['33 levels', nested(33), 400, tooDeep],
  ['a million levels', nested(1_000_000), 400, tooDeep],
  ['a text of 10,000 characters', [{ city: 'x'.repeat(10_000) }], 201],
  ['one of 10,000 that are two for JavaScript', [{ city: '𝄞'.repeat(10_000) }], 201],
  ['one of 10,001', [{ city: 'x'.repeat(10_001) }], 400, '[0].city: expected at most 10,000 characters, received more'],
  ['one of 10,001 of the others', [{ city: '𝄞'.repeat(10_001) }], 400, 'expected at most 10,000 characters'],
  ['101 external IDs', [{ externalIds: ids(101) }], 400, '[0].externalIds: expected at most 100 keys, received 101'],
  ['a key with NUL', [{ externalIds: { '\0': 'x' } }], 400, 'as a key, expected text without'],
  ['a key with a lone surrogate', [{ externalIds: { '\ud800': 'x' } }], 400, 'as a key, expected text without'],
  [
    'a key of 501 characters',
    [{ externalIds: { ['x'.repeat(501)]: 'x' } }],
    400,
    ': as a key, expected at most 500 characters, received more',
  ],
  [
    'an external ID of 501 characters',
    [{ externalIds: { x: 'x'.repeat(501) } }],
    400,
    '[0].externalIds.x: expected at most 500 characters, received more',
  ],
  ['an object of 1,000 keys', `[{${keys(1_000)}}]`, 400, '[0].0: unknown field;'],
  ['an object of 1,001 keys', `[{${keys(1_001)}}]`, 400, 'expected JSON objects of at most 1,000 keys'],
  ['100,001 objects and arrays', `[${Array(100_000).fill('[]').join()}]`, 413, tooMany('objects and arrays')],
  [
    '100,100 different keys',
    `[${Array.from({ length: 1_001 }, (_, n) => `{${keys(100, `${n}.`)}}`).join()}]`,
    413,
    tooMany('different keys'),
  ],
])('%s', async (_, sent, expectedStatus, error) => {
  const { status, body } = await service.post('/locations', sent);
  expect(status).toBe(expectedStatus);
  if (error) expect(body).toEqual({ error: expect.stringContaining(error), code: String(expectedStatus) });
});

test.each([
  ['/assets', 'uid'],
  ['/work-orders', 'name'],
  ['/projects', 'reference'],
  ['/transport-orders', 'number'],
])('text with an index of 501 characters is 400: %s, %s', async (path, field) => {
  const { status, body } = await service.post(path, [{ name: 'x', [field]: 'x'.repeat(501) }]);
  expect([status, body.error]).toEqual([400, `[0].${field}: expected at most 500 characters, received more`]);
});

describe('all texts of a record together', () => {
  const small = useSharedService({ MAX_RECORD_LENGTH: '10', MAX_TEXT_LENGTH: '11' });
  const tooLong = 'expected at most 10 characters of text in the whole record, received more';

  test.each<[object, string?]>([
    [{ name: 'xxxxx', city: 'xxxxx', latitude: 12.345678, state: null }],
    [{ externalIds: { '𝄞𝄞': '𝄞' }, city: '𝄞𝄞' }],
    [{ name: 'xxxxx', city: 'xxxxxx' }, `[1]: ${tooLong}`],
    [{ externalIds: { '𝄞𝄞': '𝄞' }, city: '𝄞𝄞x' }, `[1]: ${tooLong}`],
    [{ city: 'x'.repeat(12) }, '[1].city: expected at most 11 characters, received more'],
  ])('have at most 10 characters, and each has a limit of its own: %j', async (record, error) => {
    const { status, body } = await small.post('/locations', [{ name: 'x' }, record]);
    expect([status, body.error]).toEqual([error ? 400 : 201, error]);
  });

  test('are only the sent ones in an update', async () => {
    const [{ id }] = await small.create('/projects', { name: 'xxxxx', reference: 'xxxxx' });
    expect((await small.patch(`/projects/${id}`, { notes: 'x'.repeat(10) })).status).toBe(200);
    const { status, body } = await small.patch(`/projects/${id}`, { notes: 'x'.repeat(11) });
    expect([status, body.error]).toEqual([400, tooLong]);
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
