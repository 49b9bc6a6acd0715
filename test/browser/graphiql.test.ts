/** GraphiQL in a real browser on the demo's data: its examples run, it asks for a key, and it loads nothing from outside. */
import type { Page, Response } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { fillDemo } from '../../src/demo/fill.ts';
import { readTabs } from '../../src/pages/files.ts';
import {
  describeInChromium,
  enterKey,
  execute,
  executeUntil,
  look,
  openOperation,
  screenshot,
  usePages,
} from '../support/browser.ts';
import { storeOpener } from '../support/open-store.ts';
import { useSharedService } from '../support/service.ts';

const result = (page: Page) => page.getByRole('region', { name: /result/i });

async function insertInto(page: Page, editor: RegExp, text: string): Promise<void> {
  await page.getByRole('region', { name: editor }).getByRole('code').click();
  await page.keyboard.insertText(text);
}

const isStream = (response: Response) => response.headers()['content-type']?.startsWith('text/event-stream') === true;

/** GraphiQL stores its tabs half a second after a change. */
const stored = (page: Page, text: string) =>
  page.waitForFunction((part) => localStorage.getItem('graphiql:tabState')?.includes(part), text);

const graphiqlTabs = readTabs();

const storedTab = (page: Page, name: string) =>
  stored(page, `"activeTabIndex":${graphiqlTabs.findIndex(({ query }) => query.includes(`query ${name}`))}`);

/** Each test is one walk through the page: to open GraphiQL takes longer than all that is done in it. */
describeInChromium('GraphiQL', () => {
  const open = useSharedService();
  const closed = useSharedService({}, { closed: true });
  const newPage = usePages();
  beforeAll(async () => {
    await Promise.all([fillDemo(open.database), fillDemo(closed.database)]);
  });

  test('without keys, opens on its examples, keeps its tabs, opens a linked query, and follows a subscription', async () => {
    const { page, visit, origin } = await newPage(open);
    const tabs = () => page.locator('.graphiql-tab').allTextContents();
    await page.goto(`${origin}/graphql`);

    // The first example returns linked data, and a click on another opens its variables, too.
    const response = await executeUntil(page, '"city"');
    expect(await tabs()).toHaveLength(graphiqlTabs.length);
    expect(await response.textContent()).toMatch(/"project".*"location"/s);
    await screenshot(page, 'graphiql');
    await page.reload();
    await executeUntil(page, '"city"');
    expect(await tabs()).toHaveLength(graphiqlTabs.length);
    await page.getByRole('button', { name: 'ImportSite' }).click();
    await page
      .getByRole('region', { name: /variables/i })
      .getByText('North yard')
      .waitFor();
    expect(await (await executeUntil(page, '"upsertWorkOrders"')).textContent()).toContain('location_');
    await page.getByRole('button', { name: /show documentation/i }).click();
    await page.getByText('All Schema Types').waitFor();

    // The same tabs are there on the next visit; a link opens one more, which follows changes until it is stopped.
    await page.getByRole('button', { name: 'WorkByMonth' }).click();
    await storedTab(page, 'WorkByMonth');
    const before = await tabs();
    await page.goto(`${origin}/graphql`);
    await executeUntil(page, '"workOrdersSummary"');
    expect(await tabs()).toEqual(before);
    // From the last change on: in an event with many, GraphiQL would show only the first lines.
    const after = (await storeOpener(open.database)('default').lastChange()) - 1;
    const query = `subscription { followed: changes(after: "${after}") { nodes { fields { after } } } }`;
    await page.goto(`${origin}/graphql?query=${encodeURIComponent(query)}`);
    const stream = page.waitForResponse(isStream);
    await executeUntil(page, '"followed"');
    expect(await tabs()).toHaveLength(before.length + 1);
    for (const name of ['Crane', 'Pump']) {
      await open.create('/assets', { name });
      await result(page).getByText(`"${name}"`).waitFor();
    }
    const request = (await stream).request();
    const ended = page.waitForEvent('requestfailed', (failed) => failed === request);
    await page.getByRole('button', { name: /stop query/i }).click();
    await ended;
    expect(visit).toMatchObject({ outside: [], errors: [] });
  });

  test('with keys, asks for one, sends it with every tab, shares it with the reference, and keeps it out of the way', async () => {
    const { page, visit, origin } = await newPage(closed);
    const key = await closed.key({ workspace: 'default' });
    const dialog = page.getByRole('dialog');
    await page.goto(`${origin}/graphql`);

    await dialog.getByText('This service needs an API key.').waitFor();
    await screenshot(page, 'key');
    await enterKey(page, 'this is no key ☂');
    expect(await dialog.isVisible()).toBe(true);
    await enterKey(page, 'yardgraph_acme_5f0c21d9_wrong');
    await dialog.getByText('The service does not accept this API key.').waitFor();
    await dialog.getByLabel('API key', { exact: true }).fill(` Bearer ${key} `);
    await page.keyboard.press('Enter');

    // With every tab, and for the schema.
    await executeUntil(page, '"city"');
    await page.getByRole('button', { name: /show documentation/i }).click();
    await page.getByText('AssetCategory', { exact: true }).first().waitFor();
    await page.getByRole('button', { name: 'ProjectSites' }).click();
    await executeUntil(page, '"totalCount"');
    await storedTab(page, 'ProjectSites');

    // A key in the headers of one tab is for this tab, and is not stored.
    await page.getByRole('button', { name: 'Headers', exact: true }).click();
    await insertInto(page, /^headers$/i, '{ "x-api-key": "of-this-tab" }');
    await executeUntil(page, 'UNAUTHENTICATED');
    expect(await dialog.isVisible()).toBe(false);
    await insertInto(page, /operation editor/i, '# edited');
    await stored(page, '# edited');
    const kept = await page.evaluate(() => [sessionStorage.getItem('yardgraph.key'), JSON.stringify(localStorage)]);
    expect(kept).toEqual([key, expect.stringContaining('ProjectSites')]);
    for (const secret of [key, 'of-this-tab']) expect(kept[1]).not.toContain(secret);
    expect(page.url()).not.toContain(key);
    expect(closed.logs.join('')).not.toContain(key);

    // The reference has the same key, until it is forgotten.
    await page.goto(`${origin}/reference`);
    const create = await openOperation(page, 'POST', '/projects');
    expect(await execute(create)).toBe(201);
    await page.getByRole('button', { name: `API key: ${key.slice(0, -44)}` }).click();
    await look(page, 'key');
    await dialog.getByRole('button', { name: 'Forget the key' }).click();
    await create.getByRole('button', { name: 'Execute' }).click();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await create.locator('.live-responses-table .response-col_status', { hasText: '401' }).waitFor();
    expect(await page.evaluate("[sessionStorage.getItem('yardgraph.key'), document.cookie]")).toEqual([null, '']);
    expect(visit).toMatchObject({ outside: [], errors: [] });
  });
});
