/** Summaries: records counted in groups. */
import { beforeAll, expect, test } from 'vitest';
import { useSharedService } from '../support/service.ts';

const service = useSharedService({}, { closed: true });

let client: ReturnType<typeof service.as>;
let yard: string;

beforeAll(async () => {
  client = service.as(await service.key({ workspace: 'acme', user: 'jo' }));
  [{ id: yard }] = (await client.create('/locations', { name: 'North yard', latitude: 53.5, longitude: 10 })) as [
    { id: string },
  ];
  await client.create(
    '/work-orders',
    { name: 'a', statusId: 'open', locationId: yard, startDate: '2026-03-01' },
    { name: 'b', statusId: 'open', locationId: yard, startDate: '2026-03-31T23:59:59.999Z' },
    { name: 'c', statusId: 'open', locationId: yard, startDate: '2026-04-01T01:00:00+02:00' },
    { name: 'd', statusId: 'done', locationId: 'ERP-7' },
    { name: 'e', startDate: '2026-04-01' },
  );
});

test('a summary counts by what records refer to, the largest group first, with links to it', async () => {
  const { workOrdersSummary } = await client.data(
    '{ workOrdersSummary(groupBy: [STATUS, LOCATION]) { totalCount hasMoreGroups groups { count statusId status { id workOrders { totalCount } } locationId location { name } startMonth } } }',
  );

  expect(workOrdersSummary).toEqual({
    totalCount: 5,
    hasMoreGroups: false,
    groups: [
      {
        count: 3,
        statusId: 'open',
        status: { id: 'open', workOrders: { totalCount: 3 } },
        locationId: yard,
        location: { name: 'North yard' },
        startMonth: null,
      },
      {
        count: 1,
        statusId: 'done',
        status: { id: 'done', workOrders: { totalCount: 1 } },
        locationId: 'ERP-7',
        location: null,
        startMonth: null,
      },
      { count: 1, statusId: null, status: null, locationId: null, location: null, startMonth: null },
    ],
  });
});

test('a summary lists the values of any field, such as those of a filter, or only counts with `first: 0`, of those that match', async () => {
  const { byName, counted } = await client.data(
    '{ byName: workOrdersSummary(groupBy: NAME, first: 2, where: { startDate: { isNull: false } }) { hasMoreGroups groups { count name } } counted: workOrdersSummary(groupBy: NAME, first: 0) { totalCount hasMoreGroups groups { count } } }',
  );

  expect(byName).toEqual({ hasMoreGroups: true, groups: ['a', 'b'].map((name) => ({ count: 1, name })) });
  expect(counted).toEqual({ totalCount: 5, hasMoreGroups: true, groups: [] });
});

test('days and months are those of the time zone, in whatever case its name is sent', async () => {
  const { utc, there } = await client.data(
    `query ($zone: String) {
    utc: workOrdersSummary(groupBy: [DAY_OF_START, MONTH_OF_START]) { groups { count startDay startMonth } }
    there: workOrdersSummary(groupBy: [DAY_OF_START, MONTH_OF_START], timeZone: $zone) {
      groups { count startDay startMonth } } }`,
    { zone: 'europe/Berlin' },
  );

  expect(utc.groups).toEqual(
    [
      { count: 1, startDay: '2026-03-01', startMonth: '2026-03' },
      { count: 2, startDay: '2026-03-31', startMonth: '2026-03' },
      { count: 1, startDay: '2026-04-01', startMonth: '2026-04' },
      { count: 1, startDay: null, startMonth: null },
    ].toSorted((a, b) => b.count - a.count),
  );
  expect(there.groups).toEqual([
    { count: 3, startDay: '2026-04-01', startMonth: '2026-04' },
    { count: 1, startDay: '2026-03-01', startMonth: '2026-03' },
    { count: 1, startDay: null, startMonth: null },
  ]);
});

test('a summary has the first and the last time of each group and of all records, as far as they are selected', async () => {
  const query = `{ workOrdersSummary(groupBy: [STATUS], first: 2) {
    min { startDate } max { startDate } groups { statusId min { startDate } max { startDate } } } }`;

  expect((await client.data(query)).workOrdersSummary).toEqual({
    min: { startDate: '2026-03-01T00:00:00.000Z' },
    max: { startDate: '2026-04-01T00:00:00.000Z' },
    groups: [
      {
        statusId: 'open',
        min: { startDate: '2026-03-01T00:00:00.000Z' },
        max: { startDate: '2026-03-31T23:59:59.999Z' },
      },
      { statusId: 'done', min: { startDate: null }, max: { startDate: null } },
    ],
  });
  const [statement, ...others] = await service.statements(() =>
    client.data('{ workOrdersSummary(groupBy: [STATUS]) { groups { max { startDate } } } }'),
  );
  expect(others).toEqual([]);
  expect(statement?.match(/m(?:in|ax)\(work_orders\.\w+\)/g)).toEqual(Array(2).fill('max(work_orders.start_date)'));
});

test('a time zone costs more than the summary', async () => {
  const costOf = async (args: string) =>
    Number((await client.graphql(`{ workOrdersSummary(${args}) { totalCount } }`)).headers['query-cost']);

  const cost = await costOf('groupBy: DAY_OF_START');

  expect((await costOf('groupBy: DAY_OF_START, timeZone: "Europe/Berlin"')) - cost).toBe(20_000);
});

const unknownZone = (received: string) =>
  `timeZone: expected an IANA time zone such as "Europe/Berlin", received ${received}`;

test.each([
  ['groupBy: []', 'groupBy: expected at least one value, received none'],
  ['groupBy: [STATUS, LOCATION, STATUS]', 'groupBy[2]: expected each value once'],
  ['groupBy: DAY_OF_START, timeZone: "Mars/Base"', unknownZone('"Mars/Base"')],
  ['groupBy: STATUS, timeZone: "+01:00"', unknownZone('"+01:00"')],
  ['groupBy: STATUS, timeZone: ""', unknownZone('""')],
  ['groupBy: STATUS, first: 1001', 'first: expected a whole number from 0 to 1000, received 1001'],
])('%s is rejected', async (args, message) => {
  const { body } = await client.graphql(`{ workOrdersSummary(${args}) { totalCount } }`);

  expect(body.errors).toMatchObject([{ message, path: ['workOrdersSummary'], extensions: { code: 'BAD_USER_INPUT' } }]);
});
