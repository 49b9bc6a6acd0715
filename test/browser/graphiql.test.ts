/** GraphiQL in a real browser on the demo's data: its examples run, it asks for a key once, and it loads nothing from outside. */
import type { Page, Response } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { revokeKey } from '../../src/auth/keys.ts';
import { fillDemo } from '../../src/demo/fill.ts';
import { readTabs } from '../../src/explorer/graphiql.ts';
import { createKeyStore } from '../../src/store/admin/api-keys.ts';
import { describeInChromium, executeUntil, screenshot, useBrowser, usePages } from '../support/browser.ts';
import { passTime } from '../support/clock.ts';
import { storeOpener } from '../support/open-store.ts';
import { listen, useSharedService } from '../support/service.ts';

/** What the page and the lists show of a key. */
const prefixOf = (key: string) => /^\w+?_[\w-]+?_[0-9a-f]{8}/.exec(key)?.[0] ?? '';

const play = (page: Page) => page.getByRole('button', { name: /execute query/i });
const dialogOf = (page: Page) => page.getByRole('dialog');
const result = (page: Page) => page.getByRole('region', { name: /result/i });
const sessionLength = (page: Page) => page.evaluate('sessionStorage.length');

async function enterKey(page: Page, key: string): Promise<void> {
  await dialogOf(page).getByLabel('API key', { exact: true }).fill(key);
  await dialogOf(page).getByRole('button', { name: 'Use this key' }).click();
}

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
  const browser = useBrowser();
  const open = useSharedService();
  const closed = useSharedService({}, { closed: true });
  const newPage = usePages(browser);
  beforeAll(async () => {
    await Promise.all([fillDemo(open.database), fillDemo(closed.database)]);
  });

  /** The service, which caches keys for seconds, needs a key or another one. */
  const refused = async (get: () => Promise<{ status: number }>) => {
    await passTime(5_000);
    expect((await get()).status).toBe(401);
  };

  test('without keys, opens on its examples, on a narrow screen, too; follows a subscription; keeps its tabs; asks for the first key', async () => {
    const origin = await listen(open.app);
    const { page, visit } = await newPage(origin);
    const tabs = () => page.locator('.graphiql-tab').allTextContents();
    await page.goto(`${origin}/graphql`);

    // The first example returns linked data, and a click on another opens its variables, too.
    const response = await executeUntil(page, '"city"');
    expect((await tabs()).length).toBeGreaterThanOrEqual(graphiqlTabs.length);
    expect(await response.textContent()).toMatch(/"project".*"location"/s);
    await screenshot(page, 'graphiql');
    await page.getByRole('button', { name: 'ImportSite' }).click();
    await page
      .getByRole('region', { name: /variables/i })
      .getByText('North yard')
      .waitFor();
    expect(await (await executeUntil(page, '"upsertWorkOrders"')).textContent()).toContain('location_');

    // A narrow screen stacks the panes, each as wide as the screen and high enough to read.
    await page.setViewportSize({ width: 420, height: 800 });
    await page.getByRole('button', { name: /show documentation/i }).click();
    await page.getByText('All Schema Types').waitFor();
    await screenshot(page, 'graphiql-narrow');
    expect((await page.locator('.graphiql-plugin').boundingBox())?.height).toBeLessThan(500);
    const [editors, below] = await Promise.all(
      ['.graphiql-editors', '.graphiql-response'].map((pane) => page.locator(pane).boundingBox()),
    );
    expect(below?.y).toBeGreaterThanOrEqual((editors?.y ?? 0) + (editors?.height ?? 0));
    for (const box of [editors, below]) {
      expect(box?.width).toBeGreaterThan(380);
      expect(box?.height).toBeGreaterThan(250);
    }
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(420);
    await page.setViewportSize({ width: 1280, height: 900 });

    // The same tabs are there after a reload; a link opens one more, which follows changes until it is stopped.
    await page.getByRole('button', { name: 'WorkByMonth' }).click();
    await storedTab(page, 'WorkByMonth');
    const before = await tabs();
    await page.reload();
    await executeUntil(page, '"workOrdersSummary"');
    expect(await tabs()).toEqual(before);
    // From the last change on: in an event with many, GraphiQL would show only the first lines.
    const after = (await storeOpener(open.database)('default').lastChange()) - 1;
    const query = `subscription { followed: changes(after: "${after}") { nodes { fields { after } } } }`;
    await page.goto(`${origin}/graphql?query=${encodeURIComponent(query)}`);
    const stream = page.waitForResponse(isStream);
    await executeUntil(page, '"followed"');
    expect(await page.locator('.graphiql-tab').count()).toBe(before.length + 1);
    for (const name of ['Crane', 'Pump']) {
      await open.create('/assets', { name });
      await result(page).getByText(`"${name}"`).waitFor();
    }
    const request = (await stream).request();
    const ended = page.waitForEvent('requestfailed', (failed) => failed === request);
    await page.getByRole('button', { name: /stop query/i }).click();
    await ended;

    // It opens although its stored tabs are damaged, and asks for the first key with the query that needs it.
    await page.goto(origin);
    await page.evaluate("localStorage.clear(); localStorage.setItem('graphiql:tabState', '{bad')");
    await page.goto(`${origin}/graphql`);
    await executeUntil(page, '"workOrders"');
    expect(await page.getByRole('button', { name: 'Forget key' }).isVisible()).toBe(false);
    const key = await open.key({ workspace: 'default' });
    await refused(() => open.get('/asset-categories'));
    await page.getByRole('button', { name: 'WorkByMonth' }).click();
    // Before, GraphiQL would send the name of the operation in the tab that was left.
    await storedTab(page, 'WorkByMonth');
    await play(page).click();
    await dialogOf(page).getByText('The first API key has been created: requests need one now.').waitFor();
    await dialogOf(page).getByLabel('API key', { exact: true }).fill(key);
    await page.keyboard.press('Enter');
    await result(page).getByText('"workOrdersSummary"').waitFor();
    await page.getByText(prefixOf(key)).waitFor();
    await page.getByRole('button', { name: 'LinkedWorkOrders' }).waitFor();
    expect(visit).toMatchObject({ outside: [], errors: [] });
  });

  test('with keys, accepts no wrong one, sends the right one, keeps it out of the way, and asks for another if it is revoked', async () => {
    const origin = await listen(closed.app);
    const { page, visit } = await newPage(origin);
    const [first, second, third] = [
      await closed.key({ workspace: 'default' }),
      await closed.key({ workspace: 'default' }),
      await closed.key({ workspace: 'default' }),
    ];
    const dialog = dialogOf(page);
    await page.goto(`${origin}/graphql`);

    await dialog.waitFor();
    expect(await play(page).count()).toBe(0);
    await screenshot(page, 'key');
    await enterKey(page, 'yardgraph_acme_5f0c21d9_wrong');
    await dialog.getByRole('alert').getByText('The API key is not valid.').waitFor();
    await enterKey(page, 'this is no key ☂');
    await dialog.getByText('This is not an API key.').waitFor();
    expect(await sessionLength(page)).toBe(0);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await dialog.waitFor();
    expect(await play(page).count()).toBe(0);

    // With every tab, and for the schema.
    await enterKey(page, ` Bearer ${first} `);
    await executeUntil(page, '"city"');
    await page.getByRole('button', { name: /show documentation/i }).click();
    await page.getByText('AssetCategory', { exact: true }).first().waitFor();
    await page.getByText(prefixOf(first)).waitFor();
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

    // Not its key is wrong if the service cannot be used after a reload, and the stored one is sent then.
    for (const [status, message] of [
      [503, 'the database is unavailable'],
      [429, 'at most 10 requests per minute: try again in 7 s'],
    ] as const) {
      await page.unrouteAll();
      await page.route(`${origin}/graphql`, (route) =>
        route.request().method() === 'POST'
          ? route.fulfill({ status, json: { errors: [{ message }] } })
          : route.continue(),
      );
      if (status === 503) await page.reload();
      else await dialog.getByRole('button', { name: 'Try again' }).click();
      await dialog.getByText(message, { exact: false }).waitFor();
      expect(await dialog.getByLabel('API key', { exact: true }).isVisible()).toBe(false);
    }
    await page.unrouteAll();
    await dialog.getByRole('button', { name: 'Try again' }).click();
    await executeUntil(page, '"totalCount"');
    expect(await page.locator('.graphiql-tab').count()).toBe(graphiqlTabs.length);
    const kept = await page.evaluate(() => [sessionStorage.getItem('yardgraph.key'), JSON.stringify(localStorage)]);
    expect(kept).toEqual([first, expect.stringContaining('ProjectSites')]);
    for (const secret of [first, 'of-this-tab']) expect(kept[1]).not.toContain(secret);
    expect(page.url()).not.toContain(first);
    expect(closed.logs.join('')).not.toContain(first);

    await page.getByRole('button', { name: 'Change key' }).click();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Change key' }).click();
    await enterKey(page, second);
    await page.getByText(prefixOf(second)).waitFor();
    await revokeKey(createKeyStore(closed.database), prefixOf(second));
    await refused(() => closed.as(second).get('/asset-categories'));
    await play(page).click();
    await dialog.getByText('Your key is no longer valid').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await result(page).getByText('UNAUTHENTICATED').waitFor();
    await page.reload();
    await dialog.getByText('Your key is no longer valid').waitFor();
    await enterKey(page, third);
    await executeUntil(page, '"totalCount"');

    await page.getByRole('button', { name: 'Forget key' }).click();
    await dialog.waitFor();
    expect(await sessionLength(page)).toBe(0);
    expect(visit).toMatchObject({ outside: [], errors: [] });
  });
});
