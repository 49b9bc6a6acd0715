/** Links by what a stored record has: which are refused, and what they cost. test/services/write-model.test.ts has where the others lead. */
import { expect, test } from 'vitest';
import { asset, assetCategory, location, project } from '../../src/records/index.ts';
import { createDocument, importDocument, updateDocument } from '../support/mutations.ts';
import { unknownId } from '../support/records.ts';
import { startService, useWorkspaces } from '../support/service.ts';

const service = useWorkspaces();

type Said = Readonly<Record<string, unknown>>;

const sites: readonly object[] = [
  { name: 'North', externalIds: { erp: '1', crm: '1' } },
  { name: 'North', externalIds: { erp: '2' } },
  { name: 'South', externalIds: { erp: '1', constructor: '7' } },
  { name: ' ', externalIds: { erp: '3', crm: '' } },
  { externalIds: { crm: '3' } },
  ...Array.from({ length: 4 }, (_, n) => ({
    name: 'Many',
    externalIds: { erp: 'many', ...(n === 0 && { crm: '4' }) },
  })),
];

/** Creates an asset for each link; the valid ones are stored. Returns the IDs to which their links lead, or their issues. */
async function follow(links: readonly Said[]) {
  const input = { assets: links.map((currentLocation) => ({ name: 'Crane', currentLocation })) };
  const { result } = await service.data(
    `mutation ($input: ImportInput!) { result: importRecords(input: $input, onInvalid: SKIP) {
      assets { currentLocationId } rejected { index issues { path message } } } }`,
    { input },
  );
  const ids = result.assets.map((each: { currentLocationId: string }) => each.currentLocationId).values();
  const rejected = new Map(
    result.rejected.map((each: { index: number; issues: object[] }) => [each.index, each.issues]),
  );
  return links.map((_, index) => rejected.get(index) ?? ids.next().value);
}

test('a link that is refused says where, what was expected and what was received', async () => {
  const [a, b, c, d, , first, second, third] = await service.create('/locations', ...sites);
  const [crane] = await service.create('/assets', { name: 'Crane' });
  const other = service.as(await service.key({ workspace: 'other' }));
  const [theirs] = await other.create('/locations', { name: 'Theirs', externalIds: { erp: 'theirs' } });
  const erp = (value: unknown) => ({ externalIds: { erp: value } });
  const missing = unknownId(location);
  const none = (what: string) => `there is no location with ${what}`;
  const keys = 'id, externalId, externalIds, name, ref';
  const cases: readonly [link: Said, path: readonly string[], message: string][] = [
    [{ name: 'Nowhere' }, ['name'], `${none('the name "Nowhere"')} in this workspace`],
    [{ name: 'Theirs' }, ['name'], `${none('the name "Theirs"')} in this workspace`],
    [erp('theirs'), ['externalIds', 'erp'], `${none('the external ID "theirs" of "erp"')} in this workspace`],
    [{ id: theirs.id }, ['id'], `${none(`the ID "${theirs.id}"`)} in this workspace`],
    [{ id: missing }, ['id'], `${none(`the ID "${missing}"`)} in this workspace`],
    [{ id: crane.id }, ['id'], `${none(`the ID "${crane.id}"`)}: this is the ID of an asset`],
    [{ id: 'ERP-1' }, ['id'], `${none('the ID "ERP-1"')}: IDs of this service start with location_`],
    [{ id: null, name: 'South' }, ['id'], 'expected an ID of 1 to 255 characters, received null'],
    [{ id: '' }, ['id'], 'expected a value to find the location by, received ""'],
    [{ name: ' \n' }, ['name'], 'expected a value to find the location by, received " \\n"'],
    [{ id: d.id, name: ' ' }, ['name'], 'expected a value to find the location by, received " "'],
    [erp(''), ['externalIds', 'erp'], 'expected a value to find the location by, received ""'],
    [{ name: 'North' }, ['name'], `2 locations have the name "North": ${a.id}, ${b.id}`],
    [erp('1'), ['externalIds', 'erp'], `2 locations have the external ID "1" of "erp": ${a.id}, ${c.id}`],
    [{ name: 'Many' }, ['name'], `several locations have the name "Many": ${first.id}, ${second.id}, ${third.id}, …`],
    [
      { name: 'North', externalIds: { other: null } },
      [],
      `2 locations have name "North" and externalIds.other null: ${a.id}, ${b.id}`,
    ],
    [{ id: a.id, name: 'South' }, [], `expected one location, received id "${a.id}" and name "South"`],
    [
      { name: 'x'.repeat(200), externalIds: { erp: null, crm: '3' } },
      [],
      `expected one location, received name "${'x'.repeat(100)}"… and externalIds.erp null and externalIds.crm "3"`,
    ],
    [{ name: 'x'.repeat(501) }, ['name'], 'expected at most 500 characters, received more'],
    [{ name: '\0' }, ['name'], 'expected text without the character NUL, received "\\u0000"'],
    [erp(5), ['externalIds', 'erp'], 'expected text or null, received 5'],
    [
      { externalIds: Object.fromEntries(Array.from({ length: 101 }, (_, n) => [n, 'x'])) },
      ['externalIds'],
      'expected at most 100 keys, received 101',
    ],
    [{ externalId: { key: 'erp' } }, ['externalId', 'value'], 'expected text, received nothing'],
    [
      { externalId: { key: 'erp', value: '1' }, ...erp('2') },
      ['externalId'],
      'expected the ID that externalIds has of "erp", received "1"',
    ],
    [{ reference: 'C-7' }, ['reference'], `unknown field: a link to a location has ${keys}`],
    [{}, [], `expected a value of at least one of ${keys}, received none`],
    [{ name: null, ...erp(null) }, [], `expected a value of at least one of ${keys}, received none`],
    [{ ref: 'yard', name: 'North' }, [], 'expected ref or name, received both'],
  ];

  const found = await follow(cases.map(([link]) => link));

  expect(found).toEqual(cases.map(([, path, message]) => [{ path: ['currentLocation', ...path], message }]));
});

test('the short form of an external ID says the same as the long one, also beside it', async () => {
  const [, b, c] = await service.create('/locations', ...sites);
  const externalId = { key: 'erp', value: '2' };

  expect(
    await follow([
      { externalId },
      { externalId, externalIds: { erp: '2' } },
      { externalId: { key: 'erp', value: '1' }, externalIds: { constructor: '7' } },
    ]),
  ).toEqual([b.id, b.id, c.id]);
});

test('thousands of links to a name that thousands of items give up are rejected with any of these', async () => {
  const { result } = await service.data(createDocument(location), {
    input: Array.from({ length: 2_000 }, () => ({ name: 'Depot' })),
  });
  const renamed = result.slice(1).map(({ id }: { id: string }, n: number) => ({ id, name: `Depot ${n}` }));
  const input = {
    locations: renamed.with(1_000, { ...renamed[1_000], latitude: 91 }),
    assets: Array.from({ length: 2_000 }, () => ({ name: 'Crane', currentLocation: { name: 'Depot' } })),
  };

  const document = importDocument('locations { id } assets { id }');
  const by = { locations: { field: 'ID' } };
  const imported = await service.data(document, { input, by, onInvalid: 'SKIP' });

  expect(imported.result.locations).toHaveLength(1_998);
  expect(imported.result.assets).toEqual([]);
});

test('the text "null" is another criterion than null', async () => {
  const created = await service.create(
    '/locations',
    { name: 'Dock', externalIds: { erp: 'null' } },
    { name: 'Dock', externalIds: { crm: '1' } },
  );

  const links = ['null', null].map((erp) => ({ name: 'Dock', externalIds: { erp } }));
  expect(await follow(links)).toEqual(created.map(({ id }) => id));
});

test('a link that says null leads to a record with white space alone', async () => {
  const [blank] = await service.create(
    '/locations',
    { name: 'Lock', externalIds: { erp: ' \t\n\u00a0\u3000' } },
    { name: 'Lock', externalIds: { erp: '1' } },
  );
  expect(await follow([{ name: 'Lock', externalIds: { erp: null } }])).toEqual([blank.id]);
});

test('beside a link, an ID with the character NUL is unknown like any other', async () => {
  const { body } = await service.graphql(updateDocument(assetCategory), {
    input: [{ id: '\0', parent: { name: 'Lifting' } }],
  });
  expect(body.errors[0].extensions.code).toBe('BAD_USER_INPUT');
});

test('a parent is not moved by an item that is rejected because an earlier one has the same ID', async () => {
  const [lifting, cranes] = await service.create('/asset-categories', { name: 'Lifting' }, { name: 'Cranes' });
  const input = [{ id: lifting.id }, { id: cranes.id, parentId: lifting.id }, { id: lifting.id, parentId: cranes.id }];
  const { body } = await service.graphql(updateDocument(assetCategory), { input });
  expect(body.errors[0].message).toBe(`[2].id: item [0] of this batch also has the ID "${lifting.id}"`);
});

test('links of a batch take one statement for each set of criteria', async () => {
  const many = Array.from({ length: 50 }, (_, n) => ({ name: `Site ${n}`, externalIds: { erp: `${n}` } }));
  const stored = await service.create('/locations', ...many);
  const statements = async (link: (index: number) => Said) => {
    const input = stored.map((_, index) => ({ name: 'Wall', location: link(index) }));
    return (await service.statements(() => service.data(createDocument(project), { input }))).length;
  };
  const byId = await statements((index) => ({ id: stored[index].id }));

  expect(await statements((index) => ({ name: `Site ${index}` }))).toBe(byId);
  const byName = await statements((index) => (index % 2 === 0 ? { name: `Site ${index}` } : { id: stored[index].id }));
  expect(byName).toBe(byId + 1);
  expect(await statements((index) => ({ id: stored[index].id, ...many[index] }))).toBe(byId);
});

test('a link may say as many external IDs as a record has, and all links of a write together 30,000', async () => {
  const small = await startService({ MAX_EXTERNAL_IDS: '2' });
  const messageOf = async (use: typeof service.graphql, links: readonly Said[]) => {
    const input = links.map((currentLocation) => ({ name: 'Crane', currentLocation }));
    return (await use(createDocument(asset), { input })).body.errors[0].message;
  };
  const hundred = (n: number) => Object.fromEntries(Array.from({ length: 100 }, (_, key) => [key, `${n}`]));
  const links = Array.from({ length: 301 }, (_, n) => ({ externalIds: hundred(n) }));

  const tooMany = await messageOf(small.graphql, [{ externalIds: { a: '1', b: '2', c: null } }]);
  await small.stop();

  expect(tooMany).toBe('[0].currentLocation.externalIds: expected at most 2 keys, received 3');
  const message = 'the links have more than 30,000 external IDs: send fewer at a time';
  expect(await messageOf(service.graphql, links)).toBe(message);
});
