/** The overview and the facets in a real browser: what there is to do now, and what a table has most of. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { barriers, describeInChromium, look, moveTo, usePages } from '../support/browser.ts';
import { useSharedService } from '../support/service.ts';

/** An hour of a day, counted from today. */
function day(days: number, hour = 12): string {
  const time = new Date();
  time.setHours(hour, 0, 0, 0);
  time.setDate(time.getDate() + days);
  return time.toISOString();
}

const yard = { locationId: 'yard', statusId: 'open' };

const orders = [
  { name: 'Late', endDate: day(-1), startDate: day(-2), ...yard },
  { name: 'Late and done', endDate: day(-1), startDate: day(-2), ...yard, statusId: 'done' },
  { name: 'Ends', startDate: day(-3), endDate: day(0), ...yard },
  { name: 'Both', startDate: day(0, 10), endDate: day(0, 14), ...yard },
  { name: 'Begins', startDate: day(0), endDate: day(1), ...yard, typeId: 'repair' },
  { name: 'Runs', startDate: day(-3), endDate: day(1), ...yard },
  { name: 'Soon', startDate: day(7), ...yard, statusId: 'held', typeId: 'repair' },
  { name: 'Endless', startDate: day(-3), ...yard },
  { name: 'Nowhere', startDate: day(8) },
  { name: 'Someday' },
];

const rows = (page: Page) => page.locator('.scroll tbody tr');

describeInChromium('the overview', () => {
  const service = useSharedService();
  const other = useSharedService();
  const newPage = usePages();
  beforeAll(async () => {
    const labels =
      '[{ key: "STATUS:done", name: "Erledigt", color: "#2e7d32" }, { key: "STATUS:held", name: "On hold" }, { key: "STATUS:back", name: "Returned" }]';
    await service.data(`mutation { createLabels(input: ${labels}) { id } }`);
    const [repair] = await service.create('/work-orders', ...orders);
    const [crane] = await service.create('/assets', { name: 'Crane' });
    const times = [{ endDate: day(3) }, { endDate: day(-3) }, { endDate: day(-3), statusId: 'out' }];
    const finished = ['done', 'back'].flatMap((statusId) => [3, -3].map((days) => ({ endDate: day(days), statusId })));
    // Its work order is listed itself.
    const ofOrder = { endDate: day(3), workOrderId: repair?.id };
    const input = [...times, ...finished, ofOrder].map((time) => ({ assetId: crane?.id, startDate: day(-9), ...time }));
    await service.data('mutation ($input: [CreateAllocationInput!]!) { createAllocations(input: $input) { id } }', {
      input,
    });
  });

  const groups = (page: Page) =>
    page
      .locator('.groups tbody')
      .evaluateAll((bodies) =>
        bodies.map((body) =>
          [...body.querySelectorAll('th')].map((head) => head.innerText.trim().replace(/\s+/g, ' ')),
        ),
      );

  test('has what is overdue, today, next and incomplete, each a table with an address', async () => {
    const { page, visit, origin } = await newPage(service, '/explore');
    await page.getByText('2 overdue').waitFor();
    await page.getByRole('link', { name: 'Show all: Without a start' }).waitFor();
    expect(await groups(page)).toEqual([
      ['Overdue 1', 'Late'],
      ['Returns overdue 1', 'Crane'],
      ['Due today 2', 'Ends', 'Both'],
      ['Starts today 1', 'Begins'],
      ['Under way 1', 'Runs'],
      ['Next seven days 1', 'Soon'],
      ['Returns in seven days 1', 'Crane'],
      ['Without an end 1', 'Endless'],
      ['Coming without a location 1', 'Nowhere'],
      ['Without a start 1', 'Someday'],
    ]);
    const times = await page.locator('.groups small', { hasText: ' date' }).allInnerTexts();
    expect(times.map((text) => text.replace(' date', ''))).toEqual([
      'End',
      'End',
      'End',
      'Start',
      'End',
      'Start',
      'End',
      'Start',
      'Start',
      'End',
    ]);
    expect(await barriers(page)).toEqual([]);
    await look(page, 'explorer-overview');

    // From the name, an arrow leads to the next link that is shown.
    await page.getByRole('link', { name: 'Late' }).press('ArrowRight');
    expect(await page.evaluate('document.activeElement.closest("td").cellIndex')).toBe(3);

    await page.getByRole('link', { name: 'Show all: Overdue' }).click();
    await page.getByText('End date before today').waitFor();
    await page.getByText('Status is not Erledigt').waitFor();
    await page.getByRole('columnheader', { name: 'End date' }).waitFor();
    await rows(page).getByText('Overdue').waitFor();
    expect(await rows(page).count()).toBe(1);
    // The address is right on every day.
    expect(new URL(page.url()).searchParams.getAll('filter')).toContain('endDate.lt:today');

    // A near day has its weekday everywhere.
    await rows(page).getByRole('link', { name: 'Late' }).click();
    const yesterday = new Date(day(-1)).toLocaleDateString('en-US', { weekday: 'short' });
    for (const text of [yesterday, 'Overdue']) await page.locator('.facts').getByText(text).waitFor();
    await page.goto(`${origin}/explore?kind=WorkOrder&search=Late`);
    await rows(page).getByRole('link', { name: 'Late and done' }).click();
    await page.locator('.facts').getByText(yesterday).waitFor();
    expect(await page.getByText('Overdue').count()).toBe(0);

    // Which statuses are finished is in the address, too.
    await page.goto(`${origin}/explore`);
    await page.getByText('Finished work orders and allocations are not listed: Erledigt, Returned').click();
    await page.getByRole('link', { name: 'Erledigt', exact: true }).first().click();
    await page.getByText('4 overdue').waitFor();
    await page.getByText('are not listed: Returned').click();
    const named = page.locator('.row', { hasText: 'Names and colours:' }).getByRole('link');
    expect(await named.allInnerTexts()).toEqual(expect.arrayContaining(['Erledigt', 'Name a status']));
    await page.getByRole('link', { name: 'On hold', exact: true }).first().click();
    await expect.poll(async () => (await groups(page)).map(([title]) => title)).not.toContain('Next seven days 1');

    // Work orders begin with the unfinished ones, whenever they start, and all of them with the last.
    const next = page.getByRole('navigation').getByRole('link', { name: 'Work orders' });
    expect((await next.innerText()).split(/\s+/)).toEqual(['Work', 'orders', '9']);
    await next.click();
    await page.getByText('9 of 10', { exact: true }).waitFor();
    await page.getByText('Status is not Erledigt or Returned').waitFor();
    const names = () => rows(page).getByRole('rowheader').allInnerTexts();
    expect((await names()).slice(3)).toEqual(['Late', 'Both', 'Begins', 'Soon', 'Nowhere', 'Someday']);
    await page.getByRole('link', { name: 'All 10 work orders' }).click();
    await expect.poll(names).toEqual(expect.arrayContaining(['Late and done']));
    expect((await names())[0]).toBe('Nowhere');
    await page.goBack();
    await page.getByText('Status is not Erledigt or Returned').waitFor();
    // A status is in place of those, beside the table and by a filter.
    const chips = () => page.locator('.chips li').allInnerTexts();
    await page.getByRole('complementary').getByRole('link', { name: 'On hold' }).click();
    await expect.poll(chips).toEqual([expect.stringMatching('is On hold')]);
    await page.getByRole('link', { name: 'Remove: Status is On hold' }).click();
    await expect.poll(chips).toEqual([expect.stringMatching('is not Erledigt or Returned')]);
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByLabel('Field').selectOption('Status');
    await page.getByRole('combobox', { name: 'Value' }).fill('Erled');
    await page.getByRole('option', { name: 'Erledigt' }).click();
    await expect.poll(chips).toEqual([expect.stringMatching('is Erledigt')]);
    // All statuses of other kinds count, too, and an empty table has no conditions to remove.
    await page.getByRole('navigation').getByRole('link', { name: 'Transport orders' }).click();
    await page.getByText('No transport orders are stored yet').waitFor();
    // A group leads to those that it leaves out.
    await service.create(
      '/work-orders',
      ...Array.from({ length: 6 }, (_, at) => ({ name: `Order ${at}`, endDate: day(0) })),
    );
    // The first groups and the button wait for no others.
    await page.route('**/graphql', async (route) => {
      const isLater = route.request().postData()?.includes('group4');
      for (const name of isLater ? ['Show all: Overdue', 'New work order'] : [])
        await page.getByRole('link', { name }).waitFor();
      await route.continue();
    });
    await page.goto(`${origin}/explore`);
    await page.getByRole('rowheader', { name: 'All 8', exact: true }).waitFor();
    // Names keep their room on a phone.
    await page.setViewportSize({ width: 420, height: 860 });
    expect((await page.getByRole('rowheader', { name: 'Late' }).boundingBox())?.width).toBeGreaterThan(110);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    expect(visit).toMatchObject({ outside: [], errors: [] });
  });

  test('of an empty workspace has the first steps', async () => {
    const { page } = await newPage(other, '/explore');
    const middles = ['.empty', '.empty b', '.empty .row'].map(async (place) => {
      const { x, width } = (await page.locator(place).boundingBox()) ?? { x: 0, width: 0 };
      return Math.round(x + width / 2);
    });
    expect(new Set(await Promise.all(middles)).size).toBe(1);
    expect(await barriers(page)).toEqual([]);
    await look(page, 'explorer-empty');
    await page.getByRole('link', { name: 'New asset' }).click();
    await page.getByLabel('Name').waitFor();
    await other.data('mutation { createLabels(input: [{ key: "STATUS:new", name: "Fresh" }]) { id } }');
    await page.goBack();
    await page.locator('.empty').getByRole('link', { name: 'Fresh' }).click();
    await page.getByText('The records with this status are listed here.').waitFor();
  });

  test('has the most frequent values beside a table, which narrow it down', async () => {
    const { page, visit } = await newPage(service, '/explore?kind=WorkOrder&filter=locationId.eq:yard');
    const facets = page.getByRole('complementary', { name: 'Narrow down' });
    const values = async () =>
      (await facets.getByRole('link').allInnerTexts()).map((text) => text.replace(/\s+/g, ' '));
    await expect.poll(values).toEqual(['open 6', 'Erledigt 1', 'On hold 1', 'yard 8', 'repair 2']);
    await facets.getByRole('link', { name: 'repair' }).click();
    await expect.poll(values).toEqual(['On hold 1', 'open 1', 'yard 2', 'repair 2']);
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Filter');
    expect(await rows(page).count()).toBe(2);
    await facets.getByRole('link', { name: 'On hold' }).click();
    // Another status can be chosen instead.
    await expect.poll(values).toEqual(['On hold 1', 'open 1', 'yard 1', 'repair 1']);
    expect(await barriers(page)).toEqual([]);
    // Or it is added, and both are one condition.
    await facets.getByRole('link', { name: 'open' }).click();
    await page.getByText('Status is On hold or open').waitFor();
    await expect.poll(() => rows(page).count()).toBe(2);
    await facets.getByRole('link', { name: 'open' }).click();
    await page.getByText('Status is On hold ×', { exact: true }).waitFor();
    await facets.getByRole('link', { name: 'On hold' }).click();
    await expect.poll(values).toEqual(['On hold 1', 'open 1', 'yard 2', 'repair 2']);
    // On a phone, a button opens them.
    await page.setViewportSize({ width: 420, height: 900 });
    await page.getByRole('button', { name: 'Narrow down' }).click();
    await facets.getByRole('link', { name: 'open' }).click();
    await expect.poll(() => rows(page).count()).toBe(1);
    expect(visit).toMatchObject({ outside: [], errors: [] });
  });

  test.each([
    ['Europe/Berlin', 'de-DE', /from \w+ \d+ \w+/],
    ['America/Los_Angeles', 'en-US', /from \w+ \w+ \d+/],
  ])(
    'counts months in %s as the tables to which their bars lead, and has English dates in the order of %s',
    async (zone, locale, words) => {
      const { page, origin } = await newPage(other);
      await moveTo(page, zone, locale);
      const now = new Date();
      const monthAt = (months: number, date: number) =>
        new Date(Date.UTC(now.getFullYear(), now.getMonth() + months, date)).toISOString().slice(0, 10);
      // A time may be in another month there. A date is in its month everywhere.
      const time = zone === 'Europe/Berlin' ? `${monthAt(2, 0)}T23:30:00Z` : `${monthAt(2, 10)}T02:00:00Z`;
      const starts = [time, monthAt(2, 0), monthAt(2, 1), monthAt(3, 1)];
      const made = await other.create(
        '/work-orders',
        ...starts.map((startDate) => ({ name: `from ${startDate}`, startDate })),
      );
      await page.goto(`${origin}/explore`);
      const months = page.locator('section').filter({ hasText: 'Work orders by month' }).getByRole('row');
      await expect
        .poll(async () => (await months.allInnerTexts()).map((bar) => Number(/\d+$/.exec(bar)?.[0])))
        .toEqual([1, 2, 1]);
      await months.nth(1).getByRole('link').click();
      const chip = page.getByRole('link', { name: /^Remove: Start date/ }).first();
      expect(await chip.getAttribute('aria-label')).toMatch(words);
      const names = await page.getByRole('rowheader').allInnerTexts();
      expect(names.sort()).toEqual([`from ${time}`, `from ${monthAt(2, 1)}`].sort());
      await page.goto(`${origin}/explore?kind=WorkOrder&filter=startDate.lt:2020-09-04`);
      await page.getByText(/Start date before (04 Sep|Sep 04,) 2020/).waitFor();
      const [crane] = await other.create('/assets', { name: 'Crane 9' });
      const input = `{ assetId: "${crane?.id}", startDate: "2020-09-04" }`;
      await other.data(`mutation { createAllocations(input: [${input}]) { id } }`);
      await page.goto(`${origin}/explore?kind=Allocation`);
      await page.locator('[title="Crane 9, from 4 Sep 2020"], [title="Crane 9, from Sep 4, 2020"]').first().waitFor();
      const ids = JSON.stringify(made.map(({ id }) => id));
      await other.data(`mutation { deleteWorkOrders(ids: ${ids}) { id } }`);
    },
  );

  test('and the page of a machine mark its unfinished work orders at the same time', async () => {
    await other.data('mutation { createLabels(input: [{ key: "STATUS:done", name: "Done" }]) { id } }');
    const [lift, hoist] = await other.create('/assets', { name: 'Lift 4' }, { name: 'Hoist 5' });
    const order = (name: string, startDate: string, endDate: string, statusId?: string) => ({
      name,
      assetId: lift?.id,
      startDate,
      endDate,
      statusId,
    });
    const date = (days: number) => day(days).slice(0, 10);
    const made = await other.create(
      '/work-orders',
      order('Runs', day(-1), day(2, 10)),
      order('Begins', date(2), date(2)),
      order('Follows', day(3, 10), day(3, 12)),
      order('Ends it', day(3, 12), day(3, 14)),
      order('Was done', day(-1), day(2), 'done'),
      // In Los Angeles, this is the evening before.
      { ...order('Evening', day(2, 3), day(2, 5)), assetId: hoist?.id },
      { ...order('Day', date(2), date(2)), assetId: hoist?.id },
    );
    const [quay] = await other.create('/projects', { name: 'Quay' });
    const rent = { assetId: lift?.id, projectId: quay?.id, startDate: date(0), endDate: date(1) };
    await other.data('mutation ($input: [CreateAllocationInput!]!) { createAllocations(input: $input) { id } }', {
      input: [rent],
    });
    const { page, origin } = await newPage(other);
    await moveTo(page, 'America/Los_Angeles', 'en-US');
    await page.goto(`${origin}/explore`);
    await page.getByRole('row', { name: /^Lift 4 .*Quay/ }).waitFor();
    const all = page.getByRole('link', { name: 'Show all: Returns in seven days' });
    expect(await all.getAttribute('href')).toContain('columns=asset%2Cproject%2Cstatus');
    const marked = page.getByRole('row').filter({ hasText: 'Double-booked' }).getByRole('rowheader');
    // An order may be in several groups.
    const names = async () => [...new Set((await marked.allInnerTexts()).map((text) => text.split('\n')[0]))].sort();
    await expect.poll(names).toEqual(['Begins', 'Runs']);
    await page.goto(`${origin}/explore?kind=Asset&id=${lift?.id}`);
    await expect.poll(names).toEqual(['Begins', 'Runs']);
    const orders = async () =>
      (await page.locator('section', { hasText: 'Work orders' }).getByRole('rowheader').allInnerTexts()).map(
        (text) => text.split('\n')[0],
      );
    // The next order is the first.
    const inTurn = ['Runs', 'Begins', 'Follows', 'Ends it', 'Was done'];
    expect(await orders()).toEqual(inTurn);
    // A phone, which has no room for the status here, has the mark below the name.
    await page.setViewportSize({ width: 420, height: 860 });
    for (const name of ['Runs', 'Begins'])
      await page.getByRole('rowheader', { name }).getByText('Double-booked').waitFor();
    await page.setViewportSize({ width: 1280, height: 900 });
    // The page of an order names the others, by the clock of its viewer.
    for (const [at, count] of [
      [0, 1],
      [1, 1],
      [6, 0],
    ] as const) {
      await page.goto(`${origin}/explore?kind=WorkOrder&id=${made[at]?.id}`);
      await page.getByText('live', { exact: true }).waitFor();
      await page.locator('.facts').waitFor();
      await expect
        .poll(() => page.locator('.notice', { hasText: 'Double-booked' }).getByRole('link').count())
        .toBe(count);
    }
    await page.goto(`${origin}/explore?kind=Asset&id=${lift?.id}`);
    const title = 'The asset has another work order at this time: Begins';
    expect(await page.locator('td').getByTitle(title).innerText()).toBe('Double-booked');
    // Also among the matches of a search, and with a status.
    const input = made.slice(0, 4).map(({ id }) => ({ id, statusId: 'planned' }));
    await other.data('mutation ($input: [WorkOrderPatch!]!) { updateWorkOrders(input: $input) { id } }', { input });
    await page.goto(`${origin}/explore?search=lift`);
    await expect.poll(orders).toEqual(inTurn);
    const past = Array.from({ length: 7 }, (_, at) => order(`Before ${at}`, day(-30), day(-29), 'done'));
    await other.create('/work-orders', ...past, order('Done early', day(20), day(21), 'done'));
    await page.reload();
    await expect.poll(orders).toEqual([...inTurn.slice(0, 4), 'Done early']);
  });
});
