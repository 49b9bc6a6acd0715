/** The days and months of time zones that summaries group by are those of Luxon, on both databases. */
import { IANAZone } from 'luxon';
import { expect, test } from 'vitest';
import { workOrder } from '../../src/records/index.ts';
import type { WorkspaceStore } from '../../src/store/workspace-store.ts';
import { byEffort } from '../support/effort.ts';
import { insert } from '../support/insert.ts';
import { storeOpener } from '../support/open-store.ts';
import { useSharedDatabase } from '../support/own-database.ts';
import { createModel, type PlainRecord } from '../support/query-model.ts';
import { createRandom } from '../support/random.ts';

const database = useSharedDatabase();

const insertAt = (store: WorkspaceStore, times: readonly number[]) =>
  insert(
    store,
    workOrder,
    times.map((time) => ({ name: 'a', startDate: new Date(time).toISOString() })),
  );

const day = 86_400_000;
const startOf = (year: number) => Date.parse(`${String(year).padStart(4, '0')}-01-01T00:00:00Z`);

/** The last millisecond before each change of the offset in a year, and the first one after it. */
function changesIn(zone: IANAZone, year: number): number[] {
  const weeks = Array.from({ length: 52 }, (_, index) => startOf(year) + index * 7 * day);
  return weeks.flatMap((start) => {
    let [before, after] = [start, start + 7 * day];
    if (zone.offset(before) === zone.offset(after)) return [];
    while (after - before > 1) {
      const middle = Math.floor((before + after) / 2);
      if (zone.offset(middle) === zone.offset(start)) before = middle;
      else after = middle;
    }
    return [before, after];
  });
}

/** Before Berlin had its first offset, before 1970, beyond what any zone knows, and where dates end. */
const years = [2, 26, 1849, 1883, 1893, 1916, 1945, 1969, 1970, 1995, 2000, 2010, 2026, 2037, 2100, 5000, 9998];

test('times around midnights, changes of an offset and the ends of the calendar are in the days and months of the zone', async () => {
  const seed = Date.now();
  const { integer, shuffle } = createRandom(seed);
  const chosen = [
    'UTC',
    'Europe/Berlin',
    'America/New_York',
    'Africa/Casablanca',
    'Pacific/Apia',
    'Australia/Lord_Howe',
  ];
  const known = Intl.supportedValuesOf('timeZone').filter((zone) => !chosen.includes(zone));
  const others = shuffle(known).slice(0, byEffort({ small: 4, long: 20 }));
  const ends = [startOf(1), startOf(1) + day / 8, startOf(9999) + 365 * day - 1, startOf(9999) + 364.9 * day];
  for (const timeZone of [...chosen, ...others]) {
    const zone = IANAZone.create(timeZone);
    const times = years.flatMap((year) => {
      const midnight = startOf(year) + integer(365) * day;
      const here = midnight - Math.round(zone.offset(midnight) * 60) * 1_000;
      return [here - 1, here, ...changesIn(zone, year)];
    });
    const ours = storeOpener(database)(timeZone);
    const records = (await insertAt(ours, [...ends, ...times])) as readonly object[] as PlainRecord[];
    const model = createModel(records.map((record) => [workOrder, record]));
    for (const by of ['month', 'day'] as const) {
      const query = { groupBy: [{ field: 'startDate', by }], timeZone, limit: 10_000, min: [], max: [] };
      expect(await ours.summarize(workOrder, query), `${timeZone}, seed ${seed}`).toEqual(
        model.summary(workOrder, query),
      );
    }
  }
});

test('the offsets of a hundred years are found, and no more', async () => {
  const ours = storeOpener(database)('years');
  const query = {
    groupBy: [{ field: 'startDate', by: 'month' }],
    timeZone: 'Europe/Berlin',
    limit: 1_000,
    min: [],
    max: [],
  } as const;
  await insertAt(
    ours,
    Array.from({ length: 100 }, (_, index) => startOf(1900 + 5 * index)),
  );
  expect((await ours.summarize(workOrder, query)).totalCount).toBe(100);

  await insertAt(ours, [startOf(2026)]);

  await expect(ours.summarize(workOrder, query)).rejects.toMatchObject({
    status: 400,
    message: 'timeZone: expected startDate in at most 100 different years, received more: filter by it',
  });
});
