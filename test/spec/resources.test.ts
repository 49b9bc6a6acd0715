/** Interface: "Resources and their fields". */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { asset, project } from '../../src/records/index.ts';
import { byEffort } from '../support/effort.ts';
import { answered, anyRecord, restKinds, unknownId } from '../support/records.ts';
import { useSharedService } from '../support/service.ts';

const service = useSharedService();

const withValues = (record: object) => Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null));

test.each(restKinds)(
  'any valid $kind.pluralLabel are returned as sent over REST and GraphQL, in this order, each with what the service sets',
  async ({ kind, path }) => {
    const fields = Object.keys(kind.fields).join(' ');
    const query = `query ($ids: [ID!]!) { nodes(ids: $ids) { ... on ${kind.name} { ${fields} } } }`;

    await fc.assert(
      fc.asyncProperty(fc.array(anyRecord(kind), { minLength: 1, maxLength: 5 }), async (sent) => {
        const before = new Date().toISOString();
        const created = await service.create(path, ...sent);
        const ids: string[] = created.map(({ id }) => id);
        const { nodes } = await service.data(query, { ids });

        const expected = sent.map((record) => answered(kind, record));
        expect(created).toMatchObject(expected);
        expect(nodes.map(withValues)).toEqual(expected.map(withValues));
        for (const id of ids) expect(id).toMatch(new RegExp(`^${kind.idPrefix}_[0-7][0-9a-z]{25}$`));
        expect(ids.toSorted()).toEqual(ids);
        const [{ workspaceId, createdAt, updatedAt }] = created;
        expect([workspaceId, updatedAt]).toEqual(['default', createdAt]);
        expect(createdAt >= before && createdAt <= new Date().toISOString()).toBe(true);
      }),
      { numRuns: byEffort({ small: 12, long: 200 }) },
    );
  },
);

test('keys of externalIds are kept exactly, in order, including __proto__ and constructor', async () => {
  const externalIds = '{"__proto__":"a","constructor":"b","z":"c","a":"d","":"e"}';
  const { text } = await service.post('/assets', `[{"name":"Excavator","externalIds":${externalIds}}]`);
  expect(text).toContain(`"externalIds":${externalIds}`);
  expect(({} as Record<string, unknown>).a).toBeUndefined();
});

// Random, so that the database cannot compress it.
const incompressible = Array.from({ length: 500 }, (_, n) =>
  String.fromCodePoint(0x2_00_00 + ((n * n * 7_919) % 40_000)),
);
const byReference =
  '($in: String!) { workOrders(where: { reference: { eq: $in }, name: { startsWith: $in } }) { nodes { number: id } } }';

test.each([['x'.repeat(500)], [incompressible.join('')]])(
  'text with an index may have 500 characters, and is found again',
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

test('an ID of this service is that of a stored record of the right kind, or the batch is 400', async () => {
  const [{ id }] = await service.create('/assets', { name: 'Crane' });
  const [{ id: projectId }] = await service.create('/projects', { name: 'Bridge' });
  const unknown = unknownId(project);

  const { body } = await service.post('/work-orders', [{ projectId }, { projectId: id }, { projectId: unknown }]);

  const errors = [
    `[1].projectId: expected the ID of a stored project (project_…), received that of an asset, "${id}"`,
    `[2].projectId: there is no project with the ID "${unknown}" in this workspace`,
  ];
  expect(body).toEqual({ error: errors.join('; '), code: '400' });
});

test('a foreign identifier of 1 to 255 characters is stored as sent, in every reference that may be one', async () => {
  const foreign = ['7', ' ERP/7 ', 'location_7', 'person_01h455vb4pex5vsknk084sn02q', 'ü'.repeat(255)];
  for (const { kind, path, smallest } of restKinds) {
    for (const [name, field] of Object.entries(kind.fields)) {
      if (!/reference/i.test(field.type) || 'mustExist' in field) continue;
      const texts = field.type === 'foreignReference' ? [...foreign, unknownId(asset)] : foreign;
      const records = await service.create(path, ...texts.map((text) => ({ ...smallest, [name]: text })));
      expect(records.map((record) => record[name])).toEqual(texts);
    }
  }
});

test('the database requires the parent of an asset category to exist before it: none can become its own ancestor', async () => {
  const now = '2026-03-01T00:00:00.000Z';
  const orphan = { workspace_id: 1, id: 'x', parent_id: 'y', created_at: now, updated_at: now };
  await expect(service.database.knex('asset_categories').insert(orphan)).rejects.toThrow(/foreign key/i);
});

describe('datetimes', () => {
  test.each([
    ['2026-03-01', '2026-03-01T00:00:00.000Z'],
    ['2026-03-01T07:30:00Z', '2026-03-01T07:30:00.000Z'],
    ['2026-03-01T07:30:00+02:00', '2026-03-01T05:30:00.000Z'],
    ['2026-03-01T07:30:00-00:30', '2026-03-01T08:00:00.000Z'],
    ['2026-03-01t07:30:00z', '2026-03-01T07:30:00.000Z'],
    ['2026-03-01T07:30:00.1Z', '2026-03-01T07:30:00.100Z'],
    ['2026-03-01T07:30:00.123999999Z', '2026-03-01T07:30:00.123Z'],
    ['2028-02-29', '2028-02-29T00:00:00.000Z'],
    ['0001-01-01', '0001-01-01T00:00:00.000Z'],
    ['0099-01-01', '0099-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ])('%s is returned as %s', async (sent, expected) => {
    const [{ startDate }] = await service.create('/projects', { name: 'Bridge', startDate: sent });
    expect(startDate).toBe(expected);
  });

  const date = 'a date such as 2026-03-01 or 2026-03-01T07:30:00Z';
  const time = 'a date and time such as 2026-03-01T07:30:00Z';
  const day = 'a day that exists';
  const zone = 'a time with a zone (Z or an offset such as +02:00)';
  const year = 'a date in the years 0001 to 9999';

  test.each([
    [date, ['soon', '01.03.2026', '', ' 2026-03-01', '2026-03-01 ', '2026-3-1', '20260301', '1772352000000']],
    [date, ['+002026-03-01T00:00:00Z']],
    [day, ['2026-02-30', '2027-02-29', '1900-02-29', '2026-13-01', '2026-00-10', '2026-04-31']],
    [zone, ['2026-03-01T07:30:00']],
    [time, ['2026-03-01T07:30Z', '2026-03-01T24:00:00Z', '2026-03-01T07:60:00Z', '2026-03-01T07:30:61Z']],
    [time, ['2026-03-01T07:30:00+24:00', '2026-03-01T07:30:00+0200', '2026-03-01 07:30:00Z']],
    [year, ['0000-01-01', '0001-01-01T00:00:00+01:00', '9999-12-31T23:59:59-00:01']],
  ])('are rejected, expecting %s: %j', async (form, texts) => {
    const { body } = await service.post(
      '/projects',
      texts.map((startDate) => ({ name: 'Bridge', startDate })),
    );
    const errors = texts.map((text, index) => `[${index}].startDate: expected ${form}, received "${text}"`);
    expect(body).toEqual({ error: errors.join('; '), code: '400' });
  });
});
