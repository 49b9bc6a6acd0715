/** Links by what a stored record has: which are refused, and what they cost. test/services/write-model.test.ts has where the others lead. */
import { expect, test } from 'vitest';
import { asset, location } from '../../src/records/index.ts';
import { createDocument, importDocument } from '../support/mutations.ts';
import { unknownId } from '../support/records.ts';
import { startForTest, useWorkspaces } from '../support/service.ts';

const service = useWorkspaces();

type Said = Readonly<Record<string, unknown>>;
type Issue = Readonly<{ path: string[]; code: string; message: string }>;

const sites: readonly object[] = [
  { name: 'North', externalIds: { erp: '1' } },
  { name: 'North', externalIds: { erp: '2' } },
  { name: 'South', externalIds: { erp: '1' } },
  ...Array(4).fill({ name: 'Many', externalIds: { erp: 'many' } }),
];

test('a link that is refused says where and why', async () => {
  const [{ id }, b] = await service.create('/locations', ...sites);
  const [crane] = await service.create('/assets', { name: 'Crane' });
  const other = service.as(await service.key({ workspace: 'other' }));
  const [theirs] = await other.create('/locations', { name: 'Theirs', externalIds: { erp: 'theirs' } });
  const erp = (value: unknown) => ({ externalIds: { erp: value } });
  const cases: readonly [link: Said, issue: string][] = [
    [{ name: 'Nowhere' }, 'name no-record'],
    [{ name: 'Theirs' }, 'name no-record'],
    [erp('theirs'), 'externalIds.erp no-record'],
    [{ id: theirs.id }, 'id no-record'],
    [{ id: unknownId(location) }, 'id no-record'],
    [{ id: crane.id }, 'id no-record'],
    [{ id: 'ERP-1' }, 'id no-record'],
    [{ id: null, name: 'South' }, 'id invalid-id'],
    [{ id: '' }, 'id empty-key'],
    [{ name: ' \n' }, 'name empty-key'],
    [{ id, name: ' ' }, 'name empty-key'],
    [erp(''), 'externalIds.erp empty-key'],
    [{ name: 'North' }, 'name several'],
    [erp('1'), 'externalIds.erp several'],
    [{ name: 'Many' }, 'name several'],
    [{ name: 'North', externalIds: { other: null } }, ' several'],
    [{ id, name: 'South' }, ' no-match'],
    [{ name: 'North', externalIds: { erp: null } }, ' no-match'],
    [{ name: 'x'.repeat(501) }, 'name too-long'],
    [{ name: '\0' }, 'name invalid-character'],
    [erp(5), 'externalIds.erp wrong-type'],
    [
      { externalIds: Object.fromEntries(Array.from({ length: 101 }, (_, n) => [n, 'x'])) },
      'externalIds too-many-external-ids',
    ],
    [{ externalId: { key: 'erp' } }, 'externalId.value wrong-type'],
    [{ externalId: { key: 'erp', value: '1' }, ...erp('2') }, 'externalId contradiction'],
    [{ reference: 'C-7' }, 'reference unknown-field'],
    [{}, ' empty-link'],
    [{ name: null, ...erp(null) }, ' empty-link'],
    [{ ref: 'yard', name: 'North' }, ' exclusive'],
  ];

  const input = { assets: cases.map(([currentLocation]) => ({ name: 'Crane', currentLocation })) };
  const document = importDocument('results { assets { issues { path code message } } }');
  const { result } = await service.data(document, { input, onInvalid: 'SKIP' });
  const found: Issue[][] = result.results.assets.map(({ issues }: { issues: Issue[] }) => issues);

  expect(found.map(([issue]) => `${issue?.path.slice(1).join('.')} ${issue?.code}`)).toEqual(
    cases.map(([, issue]) => issue),
  );
  expect(found[12]?.[0]?.message).toBe(`2 locations have the name "North": ${id}, ${b.id}`);
  expect(found[14]?.[0]?.message).toMatch(/^several locations have the name "Many": (?:location_\w+, ){3}…$/);
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

test('a link may say as many external IDs as a record has, and all links of a write together 30,000', async () => {
  const small = await startForTest({ MAX_EXTERNAL_IDS: '2' });
  const messageOf = async (use: typeof service.graphql, links: readonly Said[]) => {
    const input = links.map((currentLocation) => ({ name: 'Crane', currentLocation }));
    return (await use(createDocument(asset), { input })).body.errors[0].message;
  };
  const hundred = (n: number) => Object.fromEntries(Array.from({ length: 100 }, (_, key) => [key, `${n}`]));
  const links = Array.from({ length: 301 }, (_, n) => ({ externalIds: hundred(n) }));

  const tooMany = await messageOf(small.graphql, [{ externalIds: { a: '1', b: '2', c: null } }]);

  expect(tooMany).toBe('[0].currentLocation.externalIds: expected at most 2 keys, received 3');
  const message = 'the links have more than 30,000 external IDs: send fewer at a time';
  expect(await messageOf(service.graphql, links)).toBe(message);
});

test.each<[string, object, object, object[]]>([
  [
    'a rejected exchange',
    { uid: 'V', parent: { ref: 'new' } },
    { assets: [{ ref: 'new', name: 'New', uid: 'U' }] },
    [{ path: ['parent', 'ref'], code: 'rejected-target' }],
  ],
  [
    'an item linked to a rejected one',
    { parentId: null, category: { ref: 'category' } },
    { assetCategories: [{ ref: 'category', name: 'Its own parent', parent: { ref: 'category' } }] },
    [{ path: ['category', 'ref'], code: 'rejected-target' }],
  ],
])('a move that only %s would keep out of a cycle is rejected, too', async (_, change, others, issues) => {
  const [above] = await service.create('/assets', { name: 'Above' });
  const [below] = await service.create('/assets', { name: 'Below', uid: 'U', parentId: above.id });
  const moves = [
    { id: above.id, parentId: below.id },
    { id: below.id, ...change },
  ];
  const { assets = [], ...lists } = others as { assets?: object[] };

  const { result } = await service.data(importDocument('results { assets { outcome issues { path code } } }'), {
    input: { ...lists, assets: [...moves, ...assets] },
    by: { assets: { field: 'ID' } },
    onInvalid: 'SKIP',
  });

  expect(result.results.assets).toMatchObject([
    { outcome: 'REJECTED', issues: [{ path: ['parentId'], code: 'cycle' }] },
    { outcome: 'REJECTED', issues },
    ...assets.map(() => ({ outcome: 'REJECTED' })),
  ]);
});
