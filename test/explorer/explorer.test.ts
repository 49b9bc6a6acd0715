/** The explorer in a real browser, on the demo's data: people look for records, follow links, and see what changes. */
import { readFileSync } from 'node:fs';
import type { Page, Route } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { fillDemo } from '../../src/demo/fill.ts';
import { transportOrder } from '../../src/records/index.ts';
import { barriers, describeInChromium, enterKey, look, usePages } from '../support/browser.ts';
import { useSharedService } from '../support/service.ts';

const chips = (page: Page) => page.getByRole('list', { name: 'Filters' });

async function addFilter(page: Page, field: string, condition: string): Promise<void> {
  await page.getByText('Filter', { exact: true }).click();
  await page.getByLabel('Field').selectOption(field);
  await page.getByLabel('Condition').selectOption(condition);
}

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor();

const rows = (page: Page) => page.locator('main tbody tr');

/** Waits for the text beside the title, such as `51–60 of 60`. */
const note = (page: Page, text: string) => page.locator('.head').getByText(text, { exact: true }).waitFor();

describeInChromium('the explorer', () => {
  const open = useSharedService();
  const closed = useSharedService({ GRAPHIQL: 'off' }, { closed: true });
  const short = useSharedService({ MAX_PAGE_SIZE: '4' });
  const newPage = usePages();
  beforeAll(async () => {
    await Promise.all([open, closed, short].map(({ database }) => fillDemo(database)));
  });

  test('leads from the overview to a table, through search, filter, order and pages, to a record and what it is linked to', async () => {
    const { page, visit, origin } = await newPage(open, '');

    await page.getByRole('heading', { name: 'Projects by status' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/explore');
    expect(await barriers(page)).toEqual([]);
    await page.getByRole('link', { name: 'In the workshop' }).click();

    // A bar leads to its records.
    await heading(page, 'Assets');
    await note(page, '5 of 60');
    expect(await rows(page).count()).toBe(5);
    await page.getByRole('link', { name: /^Remove: Status is In the workshop/ }).click();
    await note(page, '1–50 of 60');
    expect(await rows(page).count()).toBe(50);
    await page.getByRole('link', { name: 'Next', exact: true }).click();
    await note(page, '51–60 of 60');
    expect(await rows(page).count()).toBe(10);

    // All words, in any text, in any case.
    await rows(page).first().getByRole('checkbox').click();
    await rows(page).nth(1).hover();
    const colours = rows(page).evaluateAll((all) =>
      all.slice(0, 3).map((row) => getComputedStyle(row).backgroundColor),
    );
    expect(new Set(await colours).size).toBe(3);
    await page.getByRole('searchbox', { name: 'Search assets' }).fill('excavator EX-03');
    await page.keyboard.press('Enter');
    await note(page, '3 of 60');
    await page.getByText('No longer selected, because not on this page: 1 asset.').waitFor();
    await page.keyboard.press('ArrowDown');
    await rows(page).first().locator('th a:focus').waitFor();
    await page.getByRole('link', { name: 'Number', exact: true }).click();
    await page.locator('th[aria-sort=ascending] a:focus').waitFor();
    expect(await rows(page).first().textContent()).toContain('EX-0301');
    await page.getByText('Filter', { exact: true }).click();
    await page.getByLabel('Value').fill('wheeled');
    await page.getByRole('button', { name: 'Add' }).click();
    await chips(page).getByText('Name contains wheeled').waitFor();
    // A day is entered as one, and what is empty has no value.
    await addFilter(page, 'Acquired at', 'from');
    await page.getByLabel('Value').fill('2020-01-31');
    await page.getByRole('button', { name: 'Add' }).click();
    await chips(page).getByText('Acquired at from Jan 31, 2020').waitFor();
    const filter = page.locator('button:focus', { hasText: 'Filter' });
    await filter.waitFor();
    await addFilter(page, 'Acquired at', 'is not');
    const days = ['Today', 'Tomorrow', 'This week', 'Next week'].map((name) => page.getByRole('button', { name }));
    expect(new Set(await Promise.all(days.map(async (day) => (await day.boundingBox())?.y))).size).toBe(1);
    await days.at(-1)?.click();
    await page.getByRole('link', { name: 'Remove: Acquired at is not next week' }).click();
    await chips(page).getByText('next week').waitFor({ state: 'detached' });
    await filter.waitFor();
    await addFilter(page, 'Owner', 'is not empty');
    expect(await page.getByLabel('Value').count()).toBe(0);
    // A label is chosen by its name, and by the keyboard.
    await page.getByLabel('Condition').selectOption('is');
    await page.getByRole('combobox', { name: 'Value' }).fill('kiebitz');
    await page.getByRole('option', { name: 'Kiebitz Rental' }).waitFor();
    expect(await barriers(page)).toEqual([]);
    for (const key of ['ArrowDown', 'Enter']) await page.keyboard.press(key);
    await chips(page).getByText('Owner is Kiebitz Rental').waitFor();
    expect(await barriers(page)).toEqual([]);
    await look(page, 'explorer-table');

    // The address is the whole view.
    const before = await page.locator('main tbody').innerText();
    await page.reload();
    await page.getByText('live', { exact: true }).waitFor();
    await chips(page).getByText('Name contains wheeled').waitFor();
    expect(await page.locator('main tbody').innerText()).toBe(before);

    await rows(page).first().getByRole('link').first().click();
    await page.getByRole('heading', { name: 'History' }).waitFor();
    expect(await barriers(page)).toEqual([]);
    await look(page, 'explorer-record');
    await page.locator('dd').getByRole('link').nth(1).click();
    await page.getByRole('heading', { name: /^Assets/ }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'History' }).waitFor();

    // A step back leads to where it was.
    await page.goto(`${origin}/explore?kind=Asset`);
    // The last that is drawn, some of it above the table: the browser would then scroll on by its height.
    await page.getByText('live', { exact: true }).waitFor();
    await note(page, '1–50 of 60');
    await page.evaluate('scrollTo(0, 600)');
    await rows(page).nth(20).getByRole('link').first().click();
    await page.getByRole('heading', { name: 'History' }).waitFor();
    expect(await page.evaluate('scrollY')).toBe(0);
    await page.goBack();
    await note(page, '1–50 of 60');
    await expect.poll(() => page.evaluate('scrollY')).toBe(600);
    await rows(page).nth(20).locator('th a:focus').waitFor();
    // Also from a form that was scrolled.
    await page.evaluate('scrollTo(0, 300)');
    await page.getByRole('link', { name: 'New asset' }).dispatchEvent('click');
    await page.getByLabel('Name', { exact: true }).waitFor();
    await page.evaluate('scrollTo(0, 50)');
    await page.locator('record-form').getByRole('button', { name: 'Cancel' }).click();
    await expect.poll(() => page.evaluate('scrollY')).toBe(300);
    expect(visit).toMatchObject({ outside: [], errors: [] });
  });

  test('shows what changes, downloads a table, and gives its query to GraphiQL', async () => {
    const { page, visit } = await newPage(open, '/explore?kind=Project&search=bridge');
    await page.getByText('live', { exact: true }).waitFor();
    const shown = await rows(page).count();

    await open.create('/projects', { name: 'Foot bridge' });
    await page.getByRole('link', { name: 'Foot bridge' }).waitFor();
    await note(page, `${shown + 1} of 13`);

    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'CSV' }).click(),
    ]);
    const csv = readFileSync(await file.path(), 'utf8');
    expect(csv.split('\n')[0]).toContain(',status.name,');
    expect([file.suggestedFilename(), csv.trim().split('\n').length]).toEqual(['projects.csv', 1 + shown + 1]);

    await page.getByText('Query', { exact: true }).click();
    expect(await page.locator('.query pre').innerText()).toContain('count: projects(first: 0');
    // Over plain HTTP, a browser has no clipboard for pages.
    await page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
    await page.getByRole('button', { name: 'Copy query' }).click();
    await page.getByRole('searchbox', { name: 'Search projects' }).press('ControlOrMeta+v');
    expect(await page.getByRole('searchbox', { name: 'Search projects' }).inputValue()).toContain('count: projects(');
    const graphiql = new URL(
      await page.getByRole('link', { name: 'Open in GraphiQL' }).evaluate((link) => String(link)),
    );
    expect([graphiql.pathname, graphiql.searchParams.get('query')]).toEqual([
      '/graphql',
      expect.stringContaining('projects(first: 50, where:'),
    ]);
    expect(visit).toMatchObject({ outside: [], errors: [] });
  });

  test('begins although the service is not there at first, and shows what is wrong with a view while others write', async () => {
    const { page, visit, origin } = await newPage(short);
    await page.route('**/graphql', (route) => route.fulfill({ status: 500, json: { errors: [{ message: 'away' }] } }));
    await page.goto(`${origin}/explore?kind=Location&filter=name.isNull:false`);
    await page.getByRole('alert').waitFor();
    await page.unroute('**/graphql');
    await page.getByText('live', { exact: true }).waitFor();
    await chips(page).getByText('Name is not empty').waitFor();
    await page.getByRole('rowheader').first().waitFor();

    // Each read takes longer than it takes others to write.
    await page.route('**/graphql', async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      await route.continue();
    });
    const writing = setInterval(() => void short.create('/locations', { name: 'Yard' }), 100);
    try {
      await page.evaluate("location.assign('explore?kind=Location&filter=createdAt.gt:nonsense')");
      await page
        .getByRole('alert')
        .getByText(/expected a date/)
        .waitFor();
    } finally {
      clearInterval(writing);
    }
    expect(visit.errors).toEqual([]);
  });

  test('keeps what has been read of a view where the rest cannot be read, and holds no connection while it is hidden', async () => {
    const { page, origin } = await newPage(short);
    const isChart = (body: string | null) => body?.includes('MONTH_OF_START') ?? false;
    await page.route('**/graphql', (route) =>
      isChart(route.request().postData())
        ? route.fulfill({ status: 400, json: { errors: [{ message: 'too much' }] } })
        : route.continue(),
    );
    await page.goto(`${origin}/explore`);
    await page.getByRole('alert').getByText('too much').waitFor();
    await page.getByRole('heading', { name: 'Assets by status' }).waitFor();

    const turn = (state: string) =>
      page.evaluate(`Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
        document.dispatchEvent(new Event('visibilitychange'))`);
    for (const [state, connection] of [
      ['visible', 'live'],
      ['hidden', /^not connected/],
      ['visible', 'live'],
    ] as const) {
      await turn(state);
      await page.getByText(connection, { exact: true }).waitFor();
    }
  });

  test('asks once for a key, says whose it is and when it is not connected, and has no GraphiQL and no edits where they are off', async () => {
    const { page, visit } = await newPage(closed, '/explore?kind=WorkOrder');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('alert').waitFor();
    // Another key is another user.
    const rights = { dispatcher: { readOnly: true }, planner: { write: [transportOrder] } };
    for (const [user, right] of Object.entries(rights)) {
      await page.getByRole('button', { name: /^API key/ }).click();
      await enterKey(page, await closed.key({ workspace: 'default', user, ...right }));
      await page.getByText(`default · ${user}`).waitFor();
    }
    await note(page, '43');
    expect(await page.getByRole('link', { name: /GraphiQL/ }).count()).toBe(0);
    await page.getByText('live', { exact: true }).waitFor();
    // A key for other kinds changes nothing.
    expect(await page.getByRole('button', { name: 'Import' }).count()).toBe(0);
    await rows(page).first().getByRole('link').first().click();
    await page.getByRole('heading', { name: 'History' }).waitFor();
    expect(await page.getByRole('button', { name: 'Edit' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Transport orders', exact: true }).click();
    await page.getByRole('button', { name: 'Import' }).waitFor();
    await page.getByRole('link', { name: 'New transport order' }).click();
    await page.getByRole('combobox', { name: 'Project' }).fill('Nowhere');
    await page.getByRole('option', { name: 'Keep “Nowhere”' }).waitFor();
    expect(await page.getByRole('option', { name: 'Create' }).count()).toBe(0);
    const isFeed = (route: Route) => route.request().postData()?.includes('subscription');
    await page.route('**/graphql', (route) => (isFeed(route) ? route.abort() : route.continue()));
    closed.app.server.closeAllConnections();
    await page.getByText(/^not connected/).waitFor();
    expect(visit).toMatchObject({ outside: [], errors: [] });
  });

  test('shows what a service with short pages has, page by page', async () => {
    const { page, visit, origin } = await newPage(short, '/explore');
    await page.getByText('These are the largest.').first().waitFor();
    await page.locator('#side a', { hasText: /^Work orders\s+\d/ }).click();
    await heading(page, 'Work orders');
    await page.getByRole('link', { name: 'All 43 work orders' }).click();
    await note(page, '1–4 of 43');
    expect(await rows(page).count()).toBe(4);
    for (const name of ['Next', 'Previous']) await page.getByRole('link', { name, exact: true }).click();
    // A name of what is kept in another system, and what has it.
    await page.locator('td').getByRole('link', { name: 'Scheduled' }).first().click();
    await page.getByRole('link', { name: 'Remove: Status is Scheduled' }).waitFor();
    await page.locator('tbody th a').first().click();
    await page.locator('.facts').getByRole('link', { name: 'Scheduled' }).click();
    await heading(page, 'Scheduled');
    await page.goto(`${origin}/explore?kind=AssetCategory&view=tree`);
    await page.locator('main li').nth(3).waitFor();
    expect(visit.errors).toEqual([]);
  });

  test('finds records of all kinds by a number, a reference or a name, the best first', async () => {
    const { page, visit, origin } = await newPage(open, '/explore?kind=Location');
    await page.getByText('live', { exact: true }).waitFor();
    const sections = async () => (await page.getByRole('heading', { level: 2 }).allInnerTexts()).slice(2);
    const search = async (text: string) => {
      await page.keyboard.press('/');
      await page.keyboard.type(text);
      await page.keyboard.press('Enter');
      await heading(page, `Matches of “${text}”`);
    };
    await search('ge-0101');
    await expect.poll(sections).toEqual(['Assets', 'Work orders', 'Allocations']);
    const [reference] = (
      await open.data('{ workOrders(first: 1, where: { name: { eq: "Winter service" } }) { nodes { reference } } }')
    ).workOrders.nodes;
    await page.getByRole('cell', { name: reference.reference }).waitFor();
    await search('Hafenbau');
    const rented = page.getByRole('region', { name: 'Allocations' }).getByRole('cell', { name: /Hafenbau Koch/ });
    await rented.first().waitFor();
    await page.goBack();
    await heading(page, 'Matches of “ge-0101”');
    const order = page.getByRole('region', { name: 'Work orders' }).locator('tr', { hasText: 'Winter service' });
    await order.waitFor();
    expect(await order.locator('td > time').count()).toBe(2);
    expect(await barriers(page)).toEqual([]);
    await look(page, 'explorer-search');
    await search('Hamburg yard');
    await expect.poll(async () => (await sections())[0]).toBe('Locations');
    await page.getByRole('link', { name: 'All assets that match' }).click();
    await heading(page, 'Assets');
    await search('no such thing');
    await page.getByText('Nothing matches.', { exact: true }).waitFor();
    // Also before the page knows the systems.
    await page.goto(`${origin}/explore?search=100231`);
    await page.getByRole('cell', { name: 'EX-0101' }).waitFor();
    // While somebody types, the best matches are below.
    const box = page.getByRole('searchbox', { name: 'Search all records' });
    const best = page.getByRole('navigation', { name: 'Best matches' }).getByRole('link');
    await box.fill('winter');
    await best.filter({ hasText: /WO-26215 Winter service\s+Work order .* – / }).waitFor();
    expect(await barriers(page)).toEqual([]);
    await look(page, 'explorer-best-matches');
    // Nobody opens a match of the text before.
    await page.route('**/graphql', () => {});
    await box.fill('ge0101');
    await box.press('ArrowDown');
    expect(await box.evaluate('document.activeElement.type')).toBe('search');
    await page.unroute('**/graphql');
    await box.press('Escape');
    await best.first().waitFor({ state: 'hidden' });
    // All matches where none begins like this.
    await box.fill('service');
    await best.filter({ hasText: /WO-26215 Winter service/ }).waitFor();
    for (const text of ['ge', 'ge0101']) await box.fill(text);
    await expect
      .poll(() => best.allInnerTexts())
      .toEqual([expect.stringMatching(/^GE-0101 .*\s+Asset$/), 'All matches of “ge0101”']);
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowUp', 'ArrowUp', 'Tab', 'Tab', 'Tab'])
      await page.keyboard.press(key);
    expect(await best.first().isVisible()).toBe(false);
    await page.keyboard.press('/');
    await page.keyboard.type('ge0101');
    await best.nth(1).waitFor();
    for (const key of ['ArrowDown', 'Enter']) await page.keyboard.press(key);
    await heading(page, 'Voltmar V 45 generator, 45 kVA');
    await box.fill('ge0101');
    await best.last().click();
    await heading(page, 'Matches of “ge0101”');
    // Who stays in a form has not searched.
    await page.goto(`${origin}/explore?kind=Asset&view=new`);
    await page.getByLabel('Name').fill('Crane');
    page.once('dialog', (dialog) => void dialog.dismiss());
    await box.fill('ge-0101');
    await box.press('Enter');
    await expect.poll(() => box.inputValue()).toBe('');
    expect(visit).toMatchObject({ outside: [], errors: [] });
  });

  test('prints a whole table with its title and its filters, and nothing that can be pressed', async () => {
    const { page, origin } = await newPage(open);
    await page.addInitScript(
      'print = () => { document.body.dataset.printed = document.querySelectorAll("tr").length; }',
    );
    await page.goto(`${origin}/explore?kind=Asset&filter=name.isNull:false&filter=createdAt.gte:today`);
    await page.getByRole('link', { name: 'Print' }).click();
    await page.locator('body[data-printed="61"]').waitFor();
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    await note(page, '60');
    await chips(page).getByText('Name is not empty').waitFor();
    const today = new Date().toLocaleDateString('en-US', { dateStyle: 'medium' });
    const status = rows(page).first().locator('.chip');
    expect(await status.evaluate((it) => getComputedStyle(it).padding)).toBe('2px 0px');
    expect(await chips(page).innerText()).toContain(`Created at from today (${today})`);
    expect(await page.locator('.head').innerText()).toMatch(/Printed on .*, 20\d\d/);
    const pressed = page.locator('button, summary, input, select, .button, nav, .chip a');
    expect(await pressed.filter({ visible: true }).count()).toBe(0);
    expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(255, 255, 255)');
    // All rows, on A4.
    const pages = (await page.pdf({ format: 'A4' })).toString('latin1').match(/\/Type \/Page\b/g);
    expect(pages?.length).toBeGreaterThan(1);
    await look(page, 'explorer-print');
    const part = await newPage(short, '/explore?kind=Asset&view=print');
    await part.page.getByText('Printed are the records 1–4 of 60').waitFor();
  });

  test('says when there is no such record, and nothing that matches', async () => {
    const { page, origin } = await newPage(open, '/explore?kind=Asset&id=asset_01h455vb4pex5vsknk084sn02q');
    await page.getByText(/There is no asset with the ID/).waitFor();
    await page.goto(`${origin}/explore?kind=Asset&search=nowhere`);
    await page.getByText('No assets match.').waitFor();
    await page.goto(`${origin}/explore?kind=Asset&filter=createdAt.gt:tomorrow`);
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').textContent()).toMatch(/read: Created at: expected .*tomorrow/);
    // The way out is where it was.
    await page.getByRole('link', { name: /^Remove: Created at/ }).click();
    await note(page, '1–50 of 60');
  });

  test('shows what a deleted record was, who deleted it, and undoes that', async () => {
    const [yard] = await open.create('/locations', { name: 'Bremen yard', city: 'Bremen' });
    const update = 'mutation ($input: [LocationPatch!]!) { updateLocations(input: $input) { id } }';
    for (let number = 1; number <= 20; number += 1)
      await open.data(update, { input: [{ id: yard?.id, address1: `Quay ${number}` }] });
    const [shed] = await open.create('/locations', { name: 'Shed', parentId: yard?.id });
    const deletion = 'mutation ($ids: [ID!]!) { deleteLocations(ids: $ids, references: CLEAR) { id } }';
    // It is listed once.
    const cursor = async () => (await open.data('{ changeCursor }')).changeCursor;
    const after = await cursor();
    await open.data(deletion, { ids: [yard?.id] });
    await open.data(`mutation { revertChanges(after: "${after}", upTo: "${await cursor()}") { reversed } }`);
    await open.data(deletion, { ids: [yard?.id] });
    await open.create('/locations', { name: 'Another yard' });
    const [crane, lift] = await open.create('/assets', { name: 'Crane', uid: 'CR-1' }, { name: 'Lift', uid: 'LI-1' });
    const created = `createAllocations(input: [{ assetId: "${lift?.id}", startDate: "2026-03-01" }]) { id }`;
    const [rent] = (await open.data(`mutation { ${created} }`)).createAllocations;
    const deletions = `deleteAssets(ids: ["${crane?.id}"]) { id } deleteAllocations(ids: ["${rent.id}"]) { id }`;
    await open.data(`mutation { ${deletions} }`);
    const { page, visit, origin } = await newPage(open, '/explore?kind=Location');
    await page.locator('.head').getByRole('link', { name: 'Deleted' }).click();
    await page.getByRole('link', { name: 'Bremen yard' }).waitFor();
    await page.goto(`${origin}/explore?view=deleted`);
    // Machines have the same name.
    await page.getByRole('link', { name: 'CR-1 Crane' }).waitFor();
    await page.getByRole('link', { name: 'LI-1 Lift, from Mar 1, 2026' }).waitFor();
    await page.getByRole('link', { name: 'Bremen yard' }).click();
    await heading(page, 'Bremen yard');
    await page.locator('.notice').getByText('Deleted').waitFor();
    await page.locator('dd').getByText('Bremen', { exact: true }).waitFor();
    expect(await barriers(page)).toEqual([]);
    await look(page, 'explorer-deleted');
    await page.getByText('live', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Older changes' }).click();
    await page.locator('.history').getByText('Created').waitFor();
    await page.getByRole('link', { name: 'Latest changes' }).click();
    await page.getByRole('button', { name: 'Restore' }).click();
    await page.getByRole('link', { name: 'Edit' }).waitFor();
    // The button is gone: the keyboard is beside the message.
    expect(await page.evaluate('document.activeElement.textContent')).toContain('restored');
    await page.locator('.history').getByText('Restored').waitFor();
    const { location } = await open.data('query ($id: ID!) { location(id: $id) { parentId } }', { id: shed?.id });
    expect(location.parentId).toBe(yard?.id);
    // A message covers nothing for good.
    await page.evaluate('scrollTo(0, document.body.scrollHeight)');
    const message = await page.getByText('Location restored.').locator('..').boundingBox();
    const last = await page.getByText('Query', { exact: true }).boundingBox();
    expect((last?.y ?? 0) + (last?.height ?? 0)).toBeLessThanOrEqual(message?.y ?? 0);
    // The creation may be before the horizon of the log.
    await page.goto(`${origin}/explore?kind=Location&id=${shed?.id}`);
    await page.locator('.history').getByText('Created').waitFor();
    await page.route('**/graphql', async (route) => {
      if (!route.request().postData()?.includes('changeHorizon')) return route.continue();
      const { data } = await (await route.fetch()).json();
      data.location.history.nodes.pop();
      await route.fulfill({ json: { data: { ...data, changeHorizon: '1' } } });
    });
    await page.reload();
    await page.getByText('Earlier changes are no longer kept.').waitFor();
    expect(visit).toMatchObject({ outside: [], errors: [] });
  });

  test('has the columns of its address, all but the name and two of them on a phone, and can be used by keyboard', async () => {
    const { page, visit, origin } = await newPage(open, '/explore?kind=Asset&columns=none,nonsense');
    const heads = async () => (await page.getByRole('columnheader').allInnerTexts()).filter(Boolean).join();
    await page.getByText('live', { exact: true }).waitFor();
    expect(await heads()).toBe('Name');
    await page.getByRole('button', { name: 'Columns' }).click();
    const chosen = ['External IDs', 'Number', 'Status', 'Owner'];
    for (const name of chosen) {
      await page.getByLabel(name, { exact: true }).click();
      await page.getByRole('columnheader', { name }).waitFor();
    }
    // Before the menu is drawn again, it has the next key.
    await page.evaluate("for (const name of ['owner', 'status']) document.getElementById('column-' + name).click()");
    await expect.poll(heads).toBe('Name,External IDs,Number');
    await page.evaluate("for (const name of ['status', 'owner']) document.getElementById('column-' + name).click()");
    await expect.poll(heads).toBe('Name,External IDs,Number,Status,Owner');
    // The menu is drawn again with the table.
    for (const [way, order] of Object.entries({
      down: 'External IDs,Status,Number',
      up: 'External IDs,Number,Status',
    })) {
      await page.getByRole('button', { name: `Move Number ${way}` }).press('Enter');
      await expect.poll(heads).toBe(`Name,${order},Owner`);
    }
    await page.getByRole('button', { name: 'Move Number up' }).press('Enter');
    await expect.poll(heads).toBe('Name,Number,External IDs,Status,Owner');
    // The first one stays, and so does the page; its own link keeps what is selected.
    await page.getByRole('button', { name: 'Move Number up' }).press('Enter');
    await page.keyboard.press('Escape');
    await page.getByLabel('Select all').check();
    await page.evaluate('location.assign(location.href)');
    await page.getByText('50 selected').waitFor();
    await page.getByLabel('Select all').uncheck();
    await page.getByRole('button', { name: 'Columns' }).click();
    const lefts = ['#columns', '[popovertarget=columns]'].map((part) => page.locator(part).boundingBox());
    expect(new Set((await Promise.all(lefts)).map((box) => box?.x)).size).toBe(1);
    const owner = page.getByRole('checkbox', { name: 'Owner' });
    await owner.press('Space');
    await page.waitForURL(/columns=uid%2CexternalIds%2Cstatus$/);
    await expect.poll(heads).toBe('Name,Number,External IDs,Status');
    expect(await page.evaluate('document.activeElement.id')).toBe('column-owner');
    expect(await owner.isChecked()).toBe(false);
    expect(await barriers(page)).toEqual([]);
    await page.keyboard.press('Escape');
    expect(await owner.isVisible()).toBe(false);
    await page.reload();
    await page.getByText('live', { exact: true }).waitFor();
    expect(await heads()).toBe('Name,Number,External IDs,Status');
    expect(await rows(page).first().innerText()).toMatch(/erp \d+ · telematics KT-\d+/);
    // The side bar leads back to them.
    const side = (name: string) => page.getByRole('navigation').getByRole('link', { name, exact: true });
    for (const name of ['Projects', 'Assets']) await side(name).click();
    await expect.poll(heads).toBe('Name,Number ↑,External IDs,Status');
    // Also after a table without them in its address, until they are reset.
    await page.goto(`${origin}/explore?kind=Asset`);
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByRole('button', { name: 'Reset' }).click();
    await expect.poll(() => side('Assets').getAttribute('href')).not.toContain('externalIds');
    await side('Assets').click();
    await expect.poll(heads).toBe('Name,Number ↑,Status,Current location,Category');
    await page.goto(`${origin}/explore?kind=Allocation&columns=asset`);
    await rows(page).first().locator('th', { hasText: '– ' }).waitFor();
    await page.goto(`${origin}/explore?kind=Asset&columns=uid,externalIds,status`);
    await page.getByText('live', { exact: true }).waitFor();

    await page.getByRole('link', { name: 'Skip to the content' }).press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('main');
    await page.getByRole('link', { name: 'Name' }).press('ArrowDown');
    for (const key of ['ArrowDown', 'ArrowRight', 'ArrowUp']) await page.keyboard.press(key);
    await rows(page).first().locator('td').last().locator('a:focus').waitFor();
    // A table is no stop beside its links.
    expect(
      await page.locator('table').evaluateAll((tables) => tables.filter((it) => it.closest('[tabindex="0"]'))),
    ).toEqual([]);

    const filter = page.getByText('Filter', { exact: true });
    await filter.press('Enter');
    await page.getByLabel('Condition').press('Escape');
    expect(await page.getByLabel('Condition').isVisible()).toBe(false);
    expect(await filter.evaluate((summary) => summary === document.activeElement)).toBe(true);

    // An end is below its start.
    await page.goto(`${origin}/explore?kind=WorkOrder`);
    await rows(page).first().locator('td', { hasText: '– ' }).waitFor();
    // Six columns fit beside the facets.
    await page.goto(`${origin}/explore?kind=WorkOrder&columns=asset,status,location,startDate,endDate`);
    expect(await page.locator('.many').evaluate((it) => it.scrollWidth <= it.clientWidth)).toBe(true);
    for (const _ of [1, 2]) await page.goBack();

    await page.setViewportSize({ width: 420, height: 900 });
    await expect.poll(heads).toBe('Name,Number,Status');
    const status = page.getByRole('link', { name: 'In the workshop' }).first();
    // A line.
    expect((await status.boundingBox())?.height).toBeLessThan(30);
    // Beside the box, too.
    await page
      .locator('td.pick')
      .first()
      .click({ position: { x: 38, y: 20 } });
    await page.getByText('1 selected').waitFor();
    await page.getByLabel('All 4 columns').click();
    await expect.poll(heads).toBe('Name,Number,External IDs,Status');
    const [menu, bar] = [page.getByRole('button', { name: 'Menu' }), page.locator('#side')];
    // A second tap in the same place closes it.
    const place = await menu.boundingBox();
    for (const isOpen of [true, false]) {
      await page.mouse.click((place?.x ?? 0) + 20, (place?.y ?? 0) + 16);
      expect(await bar.isVisible()).toBe(isOpen);
    }
    await menu.press('Enter');
    await page.getByRole('link', { name: 'Projects', exact: true }).press('Enter');
    await heading(page, 'Projects');
    expect(await page.locator('#side').isVisible()).toBe(false);
    // Who has a machine, and until when; other links are below the name, and what most have not is left out.
    const name = rows(page).first().getByRole('rowheader');
    for (const [address, shown, below] of [
      ['kind=Allocation', 'Start date,End date,Asset', 'School yard and canteen'],
      ['kind=WorkOrder', 'Name,Status,Start date', 'TH-0102 · Hamburg yard'],
      ['kind=Location', 'Name,City,Address 1', ''],
      ['search=WO-26215', 'Name,Status,Start date', 'GE-0101'],
    ]) {
      await page.goto(`${origin}/explore?${address}`);
      await name.waitFor();
      expect(await heads()).toBe(shown);
      expect(await name.innerText()).toContain(below);
    }
    await rows(page).first().locator('td .phone', { hasText: '– ' }).waitFor();
    // A list of choices is scrolled to.
    await page.setViewportSize({ width: 420, height: 800 });
    await page.goto(`${origin}/explore?kind=WorkOrder&view=new`);
    await page.getByRole('combobox', { name: 'Type' }).click();
    const last = page.getByRole('option', { name: 'Service' });
    await expect.poll(() => last.evaluate((it) => it.getBoundingClientRect().bottom <= innerHeight)).toBe(true);
    await page.goto(`${origin}/explore?view=nonsense`);
    await heading(page, 'There is no such page');
    await page.getByRole('main').getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('heading', { name: 'Assets by status' }).waitFor();
    expect(visit).toMatchObject({ outside: [], errors: [] });
  });

  test('opens and closes a tree by keyboard, keeps what is open in its address, and shows what changes', async () => {
    const { page, visit } = await newPage(open, '/explore?kind=AssetCategory');
    await page.getByRole('link', { name: 'Tree', exact: true }).click();
    await page.getByRole('link', { name: '2 below Compaction' }).press('Enter');
    await page.getByRole('link', { name: '1 below Rollers' }).press('Enter');
    const third = page.locator('main li li li');
    await third.waitFor();
    await page.getByRole('link', { name: '8 assets', exact: true }).click();
    await page.getByText('Category is within Compaction').waitFor();
    await page
      .locator('.head')
      .getByText(/^8 of \d+$/)
      .waitFor();
    await page.goBack();
    await third.waitFor();
    expect(await barriers(page)).toEqual([]);
    await look(page, 'explorer-tree');

    await page.reload();
    await third.waitFor();
    const [parentId] = new URL(page.url()).searchParams.get('open')?.split(',') ?? [];
    await page.getByText('live', { exact: true }).waitFor();
    await open.create('/asset-categories', { name: 'Plates', parentId });
    await page.locator('main li li').getByRole('link', { name: 'Plates' }).waitFor();
    await page.getByRole('link', { name: '3 below Compaction', expanded: true }).press('Enter');
    await third.waitFor({ state: 'detached' });
    expect(await page.locator('main li li').count()).toBe(0);
    await page.getByRole('link', { name: 'Compaction', exact: true }).press('Enter');
    await heading(page, 'Compaction');
    await page.getByRole('link', { name: 'Edit' }).click();
    await page.getByRole('combobox', { name: 'Part of' }).fill('Rollers');
    await page.getByRole('option', { name: 'Rollers', exact: true }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('This is the record itself, or a part of it.').waitFor();
    expect(visit).toMatchObject({ outside: [], errors: [] });
  });
});
