/** The queries of the explorer are valid for every view that an address can ask for, and an address leads to its own view. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { buildSchema, parse, validate } from 'graphql';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { fillDemo } from '../../src/demo/fill.ts';
import { addressOf, homeOf, type View, viewOf } from '../../src/explorer/address.ts';
import { countries } from '../../src/explorer/build.mjs';
import { movedDay, readTime } from '../../src/explorer/clock.ts';
import { isFinished, kindNames, kindOf, kinds, linkOf, operators, typeOf } from '../../src/explorer/kinds.ts';
import { documentOf, systems } from '../../src/explorer/queries.ts';
import { useSharedService } from '../support/service.ts';

const service = useSharedService();

async function importViews() {
  // Before there is something that is no whole document.
  await import('lit-html');
  vi.stubGlobal('location', new URL('http://127.0.0.1/explore'));
  vi.stubGlobal('HTMLElement', class {});
  vi.stubGlobal('customElements', { define: () => {} });
  vi.stubGlobal('document', { getElementById: () => null, body: { dataset: {} } });
  const { table } = await import('../../src/explorer/table.ts');
  const { filterOfList, record } = await import('../../src/explorer/record.ts');
  const { overview } = await import('../../src/explorer/overview.ts');
  const { tree } = await import('../../src/explorer/tree.ts');
  const { targetQueries } = await import('../../src/explorer/picker.ts');
  const { searchResults } = await import('../../src/explorer/search.ts');
  const { timeTexts } = await import('../../src/explorer/values.ts');
  vi.unstubAllGlobals();
  return { timeTexts, searchResults, targetQueries, table, record, overview, tree, filterOfList };
}

let views: Awaited<ReturnType<typeof importViews>>;
beforeAll(async () => {
  views = await importViews();
  await fillDemo(service.database);
});

const schema = buildSchema(readFileSync('schema.graphql', 'utf8'));

const problemsOf = (...queries: string[]) => validate(schema, parse(documentOf(queries))).map(({ message }) => message);

const foreign = Object.keys(kinds).filter((name) => kindOf(name).list === '');

const values: Readonly<Record<string, string>> = {
  TextFilter: 'Crane "12"\n',
  IdFilter: 'status-7',
  DateTimeFilter: '2026-11-01',
  PeriodFilter: 'week+1',
  TreeFilter: 'location_7',
  NumberFilter: '53.5',
  BooleanFilter: 'true',
};

const allFilters = kindNames.flatMap((kind) =>
  Object.entries(kindOf(kind).filters).flatMap(([field, type]) =>
    (operators[type] ?? []).map((operator) => ({
      kind,
      filter: { field, operator, value: operator === 'isNull' ? 'true' : (values[type] ?? '') },
    })),
  ),
);

/** Results of earlier queries, on which others depend. */
const groups = [{ status: { id: 'done' } }];
const known = { count: { totalCount: 1 }, all: { totalCount: 1 }, statuses: { groups }, returns: { groups } };

test('every view has queries, with each filter and in each order', () => {
  expect(allFilters.length).toBeGreaterThan(300);
  expect(foreign).toEqual(expect.arrayContaining(['Status', 'Company', 'User', 'AssetType']));
  const types = [...kindNames, ...foreign];
  const orders = kindNames.flatMap((kind) =>
    kindOf(kind).order.map((sort) => ({ kind, sort: `-${sort}`, before: 'x' })),
  );
  const filtered = allFilters.map(({ kind, filter }) => ({ kind, filters: [filter] }));
  const searches = kindNames.map((kind) => ({ kind, search: 'two words erp:4711' }));
  const links = kindNames.flatMap((of) =>
    Object.keys(kindOf(of).filters).flatMap((name) => {
      const kind = typeOf(of, linkOf(name));
      return kind in kinds ? [{ of, name, kind }] : [];
    }),
  );
  expect(links.length).toBeGreaterThan(30);
  for (const queries of [
    ...links.flatMap((link) => ['', 'a"b'].map((text) => views.targetQueries(link, text, 20).flat())),
    ...[...orders, ...filtered, ...searches].map((view) => views.table.queries(view, known)),
    ...types.map((kind) => views.record.queries({ kind, id: 'a"b' }, {})),
    views.searchResults.queries({ search: 'two words erp:4711' }, {}),
    views.overview.queries({}, known),
    views.overview.queries({ finished: 'none' }, known),
    ...['', 'a"b,c'].map((open) => views.tree.queries({ open }, {})),
  ])
    expect(problemsOf(...queries), queries[0]).toEqual([]);
});

type Counted = { readonly assets: { readonly totalCount: number } };

const pageQuery = (address: string): string => views.table.queries(viewOf(address), {})[0] ?? '';

test('what is no value of a filter is for the service to refuse', () => {
  for (const filter of [
    'kind=Asset&filter=trackUtilization.eq:maybe',
    'kind=Location&filter=latitude.eq:',
    'kind=Location&filter=latitude.gt:abc',
  ])
    expect(problemsOf(pageQuery(`?${filter}`)), filter).toHaveLength(1);
});

test('a day is refused by the service only if it is none', () => {
  const where = (value: string) => pageQuery(`?kind=WorkOrder&filter=startDate.gte:${value}`);
  for (const day of ['2026-02-30', '2026-2-3', '26.11.2026', '9999-12-31', '0000-00-00'])
    expect(where(day)).toContain(`where: { startDate: { gte: "${day}" } }`);
  expect(where('2026-02-28')).toContain('ne: "2026-02-28" } }');
});

test('a day or a week of an address is counted from today', () => {
  const where = (value: string, operator = 'lt') => pageQuery(`?kind=WorkOrder&filter=startDate.${operator}:${value}`);
  vi.useFakeTimers({ now: new Date(2026, 11, 31, 23, 59) });
  onTestFinished(() => void vi.useRealTimers());
  for (const [value, day] of Object.entries({
    today: '2026-12-31',
    'today%2B7': '2027-01-07',
    'today-31': '2026-11-30',
  }))
    expect(where(value)).toBe(where(day));
  // A plus that was written by hand.
  expect(where('today+7')).toBe(where('2027-01-07'));
  expect(where('today+x')).toContain('lt: "today x"');
  // It begins on a Sunday in some countries.
  expect(['2026-12-27', '2026-12-28'].map((day) => where(day))).toContain(where('week'));
  expect(where('week-1', 'lte')).toBe(where('week'));
  expect(where('week+1', 'gte')).toBe(where('week', 'gt'));
  // A near day has its weekday, another one its year.
  const texts = ['2026-12-30', '2027-01-06', '2026-05-04'].map((day) => views.timeTexts(day).day);
  expect(texts).toEqual(['Wed Dec 30', 'Wed Jan 06', 'May 04, 2026']);
});

test('a day that is moved past the last year cannot be stored, and moves back', () => {
  const past = movedDay('9999-12-31', 7);
  expect(readTime(past, '')).toEqual({ value: null, remark: 'The last year is 9999.' });
  expect(movedDay(past, -7)).toBe('9999-12-31');
});

test('a table opens with the unfinished records, however many statuses are finished ones', async () => {
  const user = service.as(await service.key({ workspace: 'finished' }));
  const finished = Array.from({ length: 100 }, (_, at) => `status-${at}`);
  await user.create('/work-orders', { name: 'Done', statusId: 'status-7' }, { name: 'Open' });
  const query = pageQuery(addressOf(homeOf('WorkOrder', finished)).slice('explore'.length));
  expect((await user.data(documentOf([query]))).workOrders.nodes).toMatchObject([{ name: 'Open' }]);
  // Until they are known, none is left out.
  expect(homeOf('WorkOrder')).toEqual({ kind: 'WorkOrder', filters: [], sort: '-startDate' });
  // So does the overview.
  for (const count of [10, 11, 100]) {
    const groups = finished.slice(0, count).map((id) => ({ status: { id, name: 'Done' } }));
    const data = { statuses: { groups }, returns: { groups } };
    for (const query of views.overview.queries({}, data)) await user.data(documentOf([query]));
  }
});

test('a status is a finished one by a word of its name, unless it says that it is not', () => {
  const finished = ['Done', 'Abgeschlossen', 'Done, not invoiced', 'Terminée à Paris'];
  const others = ['Not done', 'Not yet completed', 'To be delivered', 'Noch nicht erledigt', 'Non terminée'];
  expect([...finished, ...others].filter((name) => isFinished({ name }))).toEqual(finished);
});

test('an asset is free on days on which it has no allocation; an end without a time is the whole day', async () => {
  const user = service.as(await service.key({ workspace: 'rented' }));
  const periods = {
    'until the day before': ['2036-12-01', '2036-12-07'],
    'until the first day': ['2036-12-01', '2036-12-08'],
    'on one of the days': ['2036-12-09T08:00:00Z', '2036-12-09T09:00:00Z'],
    'on the last day': ['2036-12-09', '2036-12-09'],
    'from the day after': ['2036-12-10', null],
    'without an end': ['2036-12-01', null],
  };
  const assets = await user.create('/assets', ...[...Object.keys(periods), 'never'].map((name) => ({ name })));
  const times = Object.values(periods).map(([startDate, endDate], at) => {
    return { assetId: assets[at]?.id, startDate, endDate };
  });
  await user.graphql('mutation ($input: [CreateAllocationInput!]!) { createAllocations(input: $input) { id } }', {
    input: times,
  });
  const found = async (...values: string[]) => {
    const filters = values.map((value) => ({ field: 'free', operator: 'during', value }));
    vi.useFakeTimers({ now: new Date(2036, 11, 1), toFake: ['Date'] });
    const queries = views.table.queries({ kind: 'Asset', filters }, {});
    vi.useRealTimers();
    const { assets } = await user.data(documentOf(queries));
    return assets.nodes.map(({ name }: { name: string }) => name);
  };
  onTestFinished(() => void vi.unstubAllEnvs());
  for (const zone of ['America/New_York', 'UTC', 'Pacific/Auckland']) {
    vi.stubEnv('TZ', zone);
    const free = ['until the day before', 'from the day after', 'never'];
    expect(await found('2036-12-08', '2036-12-09'), zone).toEqual(free);
    expect(await found('week+1')).toEqual(expect.arrayContaining(['never']));
    expect(await found('week+1')).not.toContain('on the last day');
  }
});

test('the number of assets at a place or in a category leads to a table of them', async () => {
  const user = service.as(await service.key({ workspace: 'default' }));
  for (const [kind, field] of [
    ['Location', 'currentLocationId'],
    ['AssetCategory', 'categoryId'],
  ] as const) {
    const { totals } = await user.data(documentOf(views.tree.queries({ kind }, {})));
    const [most] = totals.nodes.toSorted((a: Counted, b: Counted) => b.assets.totalCount - a.assets.totalCount);
    const counted = async (operator: string): Promise<number> => {
      const filters = [{ field, operator, value: most.id }];
      return (await user.data(documentOf(views.table.queries({ kind: 'Asset', filters }, {})))).count.totalCount;
    };
    expect(await counted('within')).toBe(most.assets.totalCount);
    expect(await counted('within')).toBeGreaterThan(await counted('eq'));
  }
});

test('filters of a field with several values find records with one of them, or with none', async () => {
  const user = service.as(await service.key({ workspace: 'several' }));
  await user.create('/assets', ...['a', 'b', 'c'].map((statusId) => ({ name: statusId, statusId })), { name: 'none' });
  const found = async (operator: string) => {
    const view = viewOf(`?kind=Asset&filter=statusId.${operator}:a&filter=statusId.${operator}:b&filter=name.ne:d`);
    const { assets } = await user.data(documentOf(views.table.queries(view, {})));
    return assets.nodes.map(({ name }: { name: string }) => name);
  };
  expect(await found('eq')).toEqual(['a', 'b']);
  expect(await found('ne')).toEqual(['c', 'none']);
  // So it is with places, each with all below it.
  const [yard, dock] = await user.create('/locations', { name: 'Yard' }, { name: 'Dock' });
  const places = [yard?.id, dock?.id];
  await user.create('/assets', ...places.map((currentLocationId) => ({ name: 'At', currentLocationId })));
  const filters = places.map((value) => ({ field: 'currentLocationId', operator: 'within', value }));
  const { count } = await user.data(documentOf(views.table.queries({ kind: 'Asset', filters }, {})));
  expect(count.totalCount).toBe(2);
});

test('a list of a record is the table to which it leads', async () => {
  const user = service.as(await service.key({ workspace: 'default', user: 'planner' }));
  await user.data(
    'mutation { createWorkOrders(input: [{ name: "Paint" }]) { id } createProjects(input: [{ name: "Pier" }]) { id } }',
  );
  const compared: string[] = [];
  for (const kind of [...kindNames, ...foreign]) {
    for (const [list, target] of Object.entries(kindOf(kind).lists)) {
      const found = views.filterOfList(list, kind, target);
      if (found === undefined) continue;
      const { link, field } = found;
      const query = `{ all: ${kindOf(target).list} { nodes { ${link} { id } } } }`;
      const records: { [link: string]: { id: string } | null }[] = (await user.data(query)).all.nodes;
      const ids = new Set(records.flatMap((record) => record[link]?.id ?? []));
      for (const id of [...ids].slice(0, 2)) {
        const [record] = Object.values<Record<string, { totalCount: number }>>(
          await user.data(documentOf(views.record.queries({ kind, id }, {}))),
        );
        const table = await user.data(
          documentOf(views.table.queries({ kind: target, filters: [{ field, operator: 'eq', value: id }] }, {})),
        );
        expect(table.count.totalCount, `${kind}.${list}`).toBe(record?.[list]?.totalCount);
        compared.push(list);
      }
    }
  }
  const some = ['assets', 'ownedAssets', 'manufacturedAssets', 'children', 'createdProjects', 'updatedWorkOrders'];
  expect(compared).toEqual(expect.arrayContaining(some));
});

test('a search finds records by names of labels and of linked records, and by IDs of other systems with blanks', async () => {
  const user = service.as(await service.key({ workspace: 'searched' }));
  await user.create('/labels', { key: 'STATUS:7', name: 'Wartet auf Müller' });
  const [place] = await user.create('/locations', { name: 'Quay 2' });
  const pump = { name: 'Pump', externalIds: { erp: 'KT 41: 7' } };
  const [crane] = await user.create('/assets', { name: 'Crane', statusId: '7', currentLocationId: place?.id }, pump);
  await user.data(`mutation { updateAssets(input: [{ id: "${crane?.id}", uid: "GE-0101" }]) { id } }`);
  const found = async (search: string) =>
    (await user.data(documentOf(views.table.queries({ kind: 'Asset', search }, {})))).assets.nodes;
  for (const search of ['crane muller', 'quay crane']) expect(await found(search)).toMatchObject([{ name: 'Crane' }]);
  systems.add('erp');
  onTestFinished(() => systems.clear());
  for (const search of ['erp:KT 41: 7', 'KT 41: 7', 'erp KT 41: 7'])
    expect(await found(search)).toMatchObject([{ name: 'Pump' }]);
  for (const search of ['ge0101', 'GE 0101', 'ge-0101']) {
    expect(await found(search)).toMatchObject([{ name: 'Crane' }]);
    const { assetsExact } = await user.data(documentOf(views.searchResults.queries({ search }, {}).slice(0, 1)));
    expect(assetsExact.nodes).toMatchObject([{ uid: 'GE-0101' }]);
  }
  // No document has more tokens than the service takes.
  for (let number = 0; number < 20; number += 1) systems.add(`system-${number}`);
  for (const search of ['ge0101', 'repair of the left track of crane seven', 'GE-0101 GE-0102 GE-0103 GE-0104']) {
    const searches = views.searchResults.queries({ search }, {});
    const counted = { all: { totalCount: 9 }, count: { totalCount: 9 } };
    const tables = kindNames.flatMap((kind) => views.table.queries({ kind, search }, counted));
    for (const query of [...searches, ...tables]) await user.data(documentOf([query]));
  }
});

test.each([
  ['Europe/Berlin', -120],
  ['America/Los_Angeles', 420],
])('filters find, and count, the days of people in %s', async (zone, offset) => {
  vi.stubEnv('TZ', zone);
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(new Date(2031, 3).getTimezoneOffset()).toBe(offset);
  const user = service.as(await service.key({ workspace: `people-${offset}` }));
  const days = ['2031-03-31', '2031-04-01', '2031-04-02'] as const;
  const startsOf = (day: string) => [day, ...['00:15', '12:00', '23:45'].map((time) => new Date(`${day}T${time}`))];
  await user.create(
    '/work-orders',
    ...days.flatMap((name) => startsOf(name).map((startDate) => ({ name, startDate }))),
  );

  const found = async (operator: string) => {
    const view = { kind: 'WorkOrder', filters: [{ field: 'startDate', operator, value: days[1] }] };
    const { workOrders, count } = await user.data(documentOf(views.table.queries(view, {})));
    const names: string[] = workOrders.nodes.map(({ name }: { name: string }) => name);
    expect(count.totalCount).toBe(names.length);
    return days.map((day) => names.filter((name) => name === day).length);
  };
  for (const [operator, expected] of Object.entries({
    lt: [4, 0, 0],
    lte: [4, 4, 0],
    eq: [0, 4, 0],
    ne: [4, 0, 4],
    gte: [0, 4, 4],
    gt: [0, 0, 4],
  }))
    expect(await found(operator), operator).toEqual(expected);
});

test('the address of a view leads to it', () => {
  const text = fc.string({ minLength: 1, unit: 'grapheme' });
  const view = fc.constantFrom(...allFilters).chain(({ kind, filter }) =>
    fc.record({
      kind: fc.constant(kind),
      search: fc.option(text, { nil: undefined }),
      filters: fc.array(
        text.map((value) => ({ ...filter, value })),
        { maxLength: 3 },
      ),
      sort: fc.constantFrom(undefined, ...kindOf(kind).order, ...kindOf(kind).order.map((name) => `-${name}`)),
      after: fc.option(text, { nil: undefined }),
    }),
  );
  const records = fc.record({ kind: fc.constantFrom(...kindNames, ...foreign), id: text });
  const others = fc.constantFrom(
    { kind: 'Location', view: 'map' },
    { kind: 'AssetCategory', view: 'tree', open: 'category_1,category_2' },
  );
  fc.assert(
    fc.property(fc.oneof(view, records, others), (sent: View) => {
      expect(viewOf(new URL(addressOf(sent), 'http://127.0.0.1').search)).toEqual({ filters: [], ...sent });
    }),
  );
});

test.each([
  ['', {}],
  ['?kind=toString', { view: 'missing' }],
  ['?kind=__proto__&id=1', { view: 'missing' }],
  ['?kind=Asset&view=map', { view: 'missing' }],
  ['?kind=Asset&sort=constructor&filter=name.drop:x&filter=toString.eq:1&filter=', { kind: 'Asset', filters: [] }],
])('what is no view of the address %s is left out', (address, view) => {
  expect(viewOf(address)).toEqual(view);
});

test('no outline of a country crosses the whole map', () => {
  type Ring = readonly (readonly [longitude: number, latitude: number])[];
  const { features } = JSON.parse(countries());
  const rings: Ring[] = features.flatMap((country: { geometry: { coordinates: Ring[][] } }) =>
    country.geometry.coordinates.flat(),
  );

  expect(rings.length).toBeGreaterThan(1_000);
  for (const ring of rings) {
    const steps = ring.slice(1).map(([longitude], at) => Math.abs(longitude - (ring[at]?.[0] ?? 0)));
    expect(Math.max(...steps)).toBeLessThanOrEqual(180);
    expect(ring.at(-1)).toEqual(ring[0]);
  }
});
