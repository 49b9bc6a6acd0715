/** GraphiQL in a real browser on the demo's data: its examples run, it asks for a key once, and it loads nothing from outside. */
import type { Page, Response } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
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

describeInChromium('GraphiQL', () => {
  const browser = useBrowser();

  /** A service with the demo's data for the tests of this group. */
  const useDemo = (access: { closed?: boolean } = {}) => {
    const service = useSharedService({}, access);
    const newPage = usePages(browser);
    beforeAll(() => fillDemo(service.database));
    const openPage = async () => {
      const origin = await listen(service.app);
      return { ...(await newPage(origin)), origin };
    };
    const visitGraphiql = async () => {
      const visited = await openPage();
      await visited.page.goto(`${visited.origin}/graphql`);
      return visited;
    };
    return { service, openPage, visitGraphiql };
  };

  /** The service, which caches keys for seconds, needs a key or another one. */
  const refused = async (get: () => Promise<{ status: number }>) => {
    await passTime(5_000);
    expect((await get()).status).toBe(401);
  };

  describe('of a service without keys', () => {
    const { service, openPage, visitGraphiql } = useDemo();

    test('opens on its examples: the first returns linked data, and a click on another opens its variables too', async () => {
      const { page, visit } = await visitGraphiql();
      const response = await executeUntil(page, '"city"');

      const tabs = await page.getByRole('tab').allTextContents();
      expect(tabs.filter((name) => name.trim() !== '').length).toBeGreaterThanOrEqual(graphiqlTabs.length);
      expect(await response.textContent()).toMatch(/"project".*"location"/s);
      await screenshot(page, 'graphiql');

      await page.getByRole('button', { name: 'ImportSite' }).click();
      await page
        .getByRole('region', { name: /variables/i })
        .getByText('North yard')
        .waitFor();
      expect(await (await executeUntil(page, '"upsertWorkOrders"')).textContent()).toContain('location_');
      await screenshot(page, 'graphiql-mutation');
      expect(visit).toMatchObject({ outside: [], errors: [] });
    });

    test('stacks its panes on a narrow screen, each as wide as the screen and high enough to read', async () => {
      const { page, visit } = await visitGraphiql();
      await page.setViewportSize({ width: 420, height: 800 });
      await executeUntil(page, '"city"');
      await screenshot(page, 'graphiql-narrow');

      const boxes = await Promise.all(
        ['.graphiql-editors', '.graphiql-response'].map((pane) => page.locator(pane).boundingBox()),
      );
      const [editors, response] = boxes.map((box) => box ?? { y: 0, width: 0, height: 0 });
      expect(response?.y).toBeGreaterThanOrEqual((editors?.y ?? 0) + (editors?.height ?? 0));
      for (const box of [editors, response]) {
        expect(box?.width).toBeGreaterThan(380);
        expect(box?.height).toBeGreaterThan(250);
      }

      await page.getByRole('button', { name: /show documentation/i }).click();
      await page.getByText('All Schema Types').waitFor();
      await play(page).scrollIntoViewIfNeeded();
      await screenshot(page, 'graphiql-narrow-docs');
      expect((await page.locator('.graphiql-plugin').boundingBox())?.height).toBeLessThan(500);
      await executeUntil(page, '"city"');
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(420);
      expect(visit).toMatchObject({ outside: [], errors: [] });
    });

    test('shows the changes that a subscription gets until it is stopped', async () => {
      const { page, origin, visit } = await openPage();
      // From the last change on: in an event with many, GraphiQL would show only the first lines.
      const after = (await storeOpener(service.database)('default').lastChange()) - 1;
      const query = `subscription { followed: changes(after: "${after}") { nodes { fields { after } } } }`;
      await page.goto(`${origin}/graphql?query=${encodeURIComponent(query)}`);
      const stream = page.waitForResponse(isStream);
      await executeUntil(page, '"followed"');

      for (const name of ['Crane', 'Pump']) {
        await service.create('/assets', { name });
        await result(page).getByText(`"${name}"`).waitFor();
      }
      const request = (await stream).request();
      const closed = page.waitForEvent('requestfailed', (failed) => failed === request);
      await page.getByRole('button', { name: /stop query/i }).click();

      await closed;
      await play(page).waitFor();
      expect(visit).toMatchObject({ outside: [], errors: [] });
    });

    test('shows the same tabs after a reload, whether one was edited or not', async () => {
      const { page, origin } = await visitGraphiql();
      const tabs = () => page.locator('.graphiql-tab').allTextContents();
      await page.getByRole('button', { name: 'WorkByMonth' }).click();
      await storedTab(page, 'WorkByMonth');
      const before = await tabs();

      for (const text of ['', '# edited']) {
        await insertInto(page, /operation editor/i, text);
        await stored(page, text);
        await page.reload();
        await executeUntil(page, '"workOrdersSummary"');

        expect(await tabs()).toEqual(before);
      }
      await page.goto(`${origin}/graphql?query={__typename}`);
      await executeUntil(page, '"Query"');
      expect(await page.locator('.graphiql-tab').count()).toBe(before.length + 1);
    });

    test('opens although its stored tabs are damaged', async () => {
      const { page, origin, visit } = await openPage();
      for (const tabs of ['null', '{bad', '{"tabs":null}']) {
        await page.goto(origin);
        await page.evaluate((text) => localStorage.setItem('graphiql:tabState', text), tabs);
        await page.goto(`${origin}/graphql`);

        await executeUntil(page, '"workOrders"');
        expect(visit, tabs).toMatchObject({ errors: [] });
      }
    });
  });

  describe('of a service that needs a key', () => {
    const { service, visitGraphiql } = useDemo({ closed: true });

    const newKey = () => service.key({ workspace: 'default' });

    test('accepts no wrong key, and sends the right one with every tab and for the schema, also after a reload', async () => {
      const key = await newKey();
      const { page, visit } = await visitGraphiql();
      const dialog = dialogOf(page);
      await dialog.waitFor();
      expect(await play(page).count()).toBe(0);
      await screenshot(page, 'key');

      await enterKey(page, 'yardgraph_acme_5f0c21d9_wrong');
      await dialog.getByRole('alert').getByText('The API key is not valid.').waitFor();
      await screenshot(page, 'key-wrong');
      await enterKey(page, 'this is no key ☂');
      await dialog.getByText('This is not an API key.').waitFor();
      expect(await sessionLength(page)).toBe(0);
      await page.keyboard.press('Escape');
      await page.keyboard.press('Escape');
      await dialog.waitFor();
      expect(await play(page).count()).toBe(0);

      await enterKey(page, ` Bearer ${key} `);
      await executeUntil(page, '"city"');
      await page.getByRole('button', { name: /show documentation/i }).click();
      await page.getByText('All Schema Types').waitFor();
      await page.getByText('AssetCategory', { exact: true }).first().waitFor();
      await page.getByText(prefixOf(key)).waitFor();
      await screenshot(page, 'graphiql-key');

      await page.getByRole('button', { name: 'ProjectSites' }).click();
      await executeUntil(page, '"totalCount"');
      await storedTab(page, 'ProjectSites');
      await page.reload();
      await executeUntil(page, '"totalCount"');
      expect(await dialog.isVisible()).toBe(false);
      expect(await page.locator('.graphiql-tab').count()).toBe(graphiqlTabs.length);

      const kept = await page.evaluate(() => [sessionStorage.getItem('yardgraph.key'), JSON.stringify(localStorage)]);
      expect(kept[0]).toBe(key);
      expect(kept[1]).toContain('ProjectSites');
      expect(kept[1]).not.toContain(key);
      expect(page.url()).not.toContain(key);
      expect(service.logs.join('')).not.toContain(key);
      expect(visit).toMatchObject({ outside: [], errors: [] });
    });

    test('asks for another key if it has been revoked, when it is used and after a reload', async () => {
      const [first, second] = [await newKey(), await newKey()];
      const { page } = await visitGraphiql();
      const dialog = dialogOf(page);
      await enterKey(page, first);
      await play(page).waitFor();
      await revokeKey(createKeyStore(service.database), prefixOf(first));
      await refused(() => service.as(first).get('/asset-categories'));

      await play(page).click();
      await dialog.getByText('Your key is no longer valid').waitFor();
      await screenshot(page, 'key-revoked');
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await result(page).getByText('UNAUTHENTICATED').waitFor();

      await page.reload();
      await dialog.getByText('Your key is no longer valid').waitFor();
      await enterKey(page, second);
      await page.getByText(prefixOf(second)).waitFor();
      await executeUntil(page, '"city"');
    });

    test('lets one change the key, use another in the headers of one tab, and forget it', async () => {
      const [first, second] = [await newKey(), await newKey()];
      const { page } = await visitGraphiql();
      const change = page.getByRole('button', { name: 'Change key' });
      await enterKey(page, first);
      await page.getByText(prefixOf(first)).waitFor();
      await change.click();
      await dialogOf(page).getByRole('button', { name: 'Cancel' }).click();
      await change.click();
      await enterKey(page, second);
      await page.getByText(prefixOf(second)).waitFor();
      await executeUntil(page, '"city"');

      await page.getByRole('button', { name: 'Headers', exact: true }).click();
      await insertInto(page, /^headers$/i, '{ "x-api-key": "of-this-tab" }');
      await executeUntil(page, 'UNAUTHENTICATED');
      expect(await dialogOf(page).isVisible()).toBe(false);
      await insertInto(page, /operation editor/i, '# edited');
      await stored(page, '# edited');
      expect(await page.evaluate('JSON.stringify(localStorage)')).not.toContain('of-this-tab');

      await page.getByRole('button', { name: 'Forget key' }).click();
      await dialogOf(page).waitFor();
      expect(await sessionLength(page)).toBe(0);
    });

    test('does not call a key wrong because of a 503 or a 429', async () => {
      const key = await newKey();
      const { page, origin } = await visitGraphiql();
      const dialog = dialogOf(page);
      await enterKey(page, key);
      await play(page).waitFor();

      for (const [status, message] of [
        [503, 'the database is unavailable'],
        [429, 'at most 10 requests per minute: try again in 7 s'],
      ] as const) {
        await page.route(`${origin}/graphql`, (route) =>
          route.request().method() === 'POST'
            ? route.fulfill({ status, json: { errors: [{ message }] } })
            : route.continue(),
        );
        await page.reload();
        await dialog.getByText(message, { exact: false }).waitFor();
        await screenshot(page, `unavailable-${status}`);
        expect(await dialog.getByLabel('API key', { exact: true }).isVisible()).toBe(false);
        expect(await page.evaluate("sessionStorage.getItem('yardgraph.key')")).toBe(key);
        await page.unrouteAll();
        await dialog.getByRole('button', { name: 'Try again' }).click();
        await play(page).waitFor();
      }
      await executeUntil(page, '"city"');
    });
  });

  describe('of a service that gets its first key while it is open', () => {
    const { service, visitGraphiql } = useDemo();

    test('asks for the key with the next query, executes it then, and keeps the tabs', async () => {
      const { page, visit } = await visitGraphiql();
      await executeUntil(page, '"city"');
      expect(await page.getByRole('button', { name: 'Forget key' }).isVisible()).toBe(false);
      await page.getByRole('button', { name: 'WorkByMonth' }).click();
      await storedTab(page, 'WorkByMonth');
      const key = await service.key({ workspace: 'default' });
      await refused(() => service.get('/asset-categories'));

      await play(page).click();
      const dialog = dialogOf(page);
      await dialog.getByText('The first API key has been created: requests need one now.').waitFor();
      await dialog.getByLabel('API key', { exact: true }).fill(key);
      await page.keyboard.press('Enter');

      await result(page).getByText('"workOrdersSummary"').waitFor();
      await page.getByText(prefixOf(key)).waitFor();
      await page.getByRole('button', { name: 'LinkedWorkOrders' }).waitFor();
      expect(visit.errors).toEqual([]);
    });
  });
});
