/** The explorer in a real browser, on the demo's data: people look for records, follow links, and see what changes. */
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { fillDemo } from '../../src/demo/fill.ts';
import { barriers, describeInChromium, enterKey, look, useBrowser, usePages } from '../support/browser.ts';
import { listen, useSharedService } from '../support/service.ts';

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor();

const rows = (page: Page) => page.locator('main tbody tr');

describeInChromium('the explorer', () => {
  const browser = useBrowser();
  const open = useSharedService();
  const closed = useSharedService({ GRAPHIQL: 'off' }, { closed: true });
  const short = useSharedService({ MAX_PAGE_SIZE: '4' });
  const newPage = usePages(browser);
  beforeAll(async () => {
    await Promise.all([open, closed, short].map(({ database }) => fillDemo(database)));
  });

  test('leads from the overview to a table, through search, filter, order and pages, to a record and what it is linked to', async () => {
    const origin = await listen(open.app);
    const { page, visit } = await newPage(origin);
    await page.goto(origin);

    await heading(page, 'Overview');
    expect(new URL(page.url()).pathname).toBe('/explore');
    expect(await barriers(page)).toEqual([]);
    await look(page, 'explorer-overview');
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.getByRole('link', { name: 'In the workshop 5' }).click();

    // A bar leads to its records.
    await heading(page, 'Assets');
    await page.getByText('5 assets', { exact: true }).waitFor();
    expect(await rows(page).count()).toBe(5);
    await page.getByRole('link', { name: /^Remove: status/ }).click();
    await page.getByText('57 assets', { exact: true }).waitFor();
    expect(await rows(page).count()).toBe(50);
    await page.getByRole('link', { name: 'Next', exact: true }).click();
    await page.getByRole('link', { name: 'Previous', exact: true }).waitFor();
    expect(await rows(page).count()).toBe(7);

    // All words, in any text, in any case.
    await page.getByRole('searchbox').fill('excavator EX-03');
    await page.keyboard.press('Enter');
    await page.getByText('3 assets', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'UID' }).click();
    await page.locator('th[aria-sort=ascending]').waitFor();
    expect(await rows(page).first().textContent()).toContain('EX-0301');
    await page.getByText('Filter', { exact: true }).click();
    await page.getByLabel('Condition').selectOption('name.contains');
    await page.getByLabel('Value').fill('wheeled');
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByText(/name contains wheeled/).waitFor();
    expect(await barriers(page)).toEqual([]);
    await look(page, 'explorer-table');

    // The address is the whole view.
    const before = await page.locator('main tbody').innerText();
    await page.reload();
    await page.getByText(/name contains wheeled/).waitFor();
    expect(await page.locator('main tbody').innerText()).toBe(before);

    await rows(page).first().getByRole('link').first().click();
    await page.getByRole('heading', { name: 'History' }).waitFor();
    expect(await barriers(page)).toEqual([]);
    await look(page, 'explorer-record');
    await page.locator('dd').getByRole('link').nth(1).click();
    await page.getByRole('heading', { name: /^Assets/ }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'History' }).waitFor();
    expect(visit).toMatchObject({ outside: [], errors: [] });
  });

  test('shows what changes, downloads a table, and gives its query to GraphiQL', async () => {
    const origin = await listen(open.app);
    const { page, visit } = await newPage(origin);
    await page.goto(`${origin}/explore?kind=Project&search=bridge`);
    await page.getByText('live', { exact: true }).waitFor();
    const shown = await rows(page).count();

    await open.create('/projects', { name: 'Foot bridge' });
    await page.getByRole('link', { name: 'Foot bridge' }).waitFor();
    await page.getByText(`${shown + 1} projects`, { exact: true }).waitFor();

    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'CSV' }).click(),
    ]);
    const csv = readFileSync(await file.path(), 'utf8');
    expect([file.suggestedFilename(), csv.trim().split('\n').length]).toEqual(['projects.csv', 1 + shown + 1]);

    await page.getByText('Query', { exact: true }).click();
    await page.getByRole('link', { name: 'Open in GraphiQL' }).click();
    await page.locator('.graphiql-container').first().waitFor();
    expect(new URL(page.url()).searchParams.get('query')).toContain('projects(first: 50, where:');
    expect(visit).toMatchObject({ outside: [], errors: [] });
  });

  test('asks for a key, says whose it is and when it is not connected, and gives its query where GraphiQL is off', async () => {
    const origin = await listen(closed.app);
    const key = await closed.key({ workspace: 'default', user: 'dispatcher', readOnly: true });
    const { page, visit } = await newPage(origin);
    await page.goto(`${origin}/explore?kind=WorkOrder`);
    await enterKey(page, key);

    await page.getByText('default · dispatcher').waitFor();
    await page.getByText('43 work orders', { exact: true }).waitFor();
    expect(await page.getByRole('link', { name: /GraphiQL/ }).count()).toBe(0);
    // Another key is another user.
    await page.getByRole('button', { name: /^API key/ }).click();
    await enterKey(page, await closed.key({ workspace: 'default', user: 'planner' }));
    await page.getByText('default · planner').waitFor();
    await page.route('**/graphql', (route) => route.abort());
    await page.getByText('live', { exact: true }).waitFor();
    await closed.app.close();
    await page.getByText(/^not connected/).waitFor();
    expect(visit).toMatchObject({ outside: [], errors: [] });
  });

  test('shows what a service with short pages has, page by page', async () => {
    const { page, visit } = await newPage(await listen(short.app));
    await page.goto(`${await listen(short.app)}/explore`);
    await heading(page, 'Overview');
    await page.getByText('These are the largest.').first().waitFor();
    await page.getByRole('link', { name: 'Work orders', exact: true }).click();
    await heading(page, 'Work orders');
    await page.getByText('43 work orders', { exact: true }).waitFor();
    expect(await rows(page).count()).toBe(4);
    await page.getByRole('link', { name: 'Next', exact: true }).click();
    await page.getByRole('link', { name: 'Previous', exact: true }).click();
    await page.getByText('43 work orders', { exact: true }).waitFor();
    // A name of what is kept in another system, and what has it.
    await page.locator('td').getByRole('link', { name: 'Completed' }).first().click();
    await heading(page, 'Completed');
    await page.goto(`${await listen(short.app)}/explore?kind=AssetCategory&view=tree`);
    await page.locator('main li').nth(3).waitFor();
    expect(visit.errors).toEqual([]);
  });

  test('says when there is no such record, and nothing that matches', async () => {
    const origin = await listen(open.app);
    const { page } = await newPage(origin);
    await page.goto(`${origin}/explore?kind=Asset&id=asset_01h455vb4pex5vsknk084sn02q`);
    await page.getByText(/There is no asset with the ID/).waitFor();
    await page.goto(`${origin}/explore?kind=Asset&search=nowhere`);
    await page.getByText('No assets match.').waitFor();
    await page.goto(`${origin}/explore?kind=Asset&filter=createdAt.gt:tomorrow`);
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').textContent()).toContain('tomorrow');
    // The way out is where it was.
    await page.getByRole('link', { name: /^Remove: created at/ }).click();
    await page.getByText(/^\d+ assets$/).waitFor();
  });
});
