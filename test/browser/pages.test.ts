/** The pages, in a real browser on the demo's data: they work, and load nothing from outside. */
import { existsSync, mkdirSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { revokeKey } from '../../src/auth/keys.ts';
import { fillDemo } from '../../src/demo/fill.ts';
import { graphiqlTabs } from '../../src/explorer/graphiql-tabs.ts';
import { createKeyStore } from '../../src/store/api-keys.ts';
import { startService } from '../support/service.ts';

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
const hasBrowser = existsSync(executablePath);
if (!hasBrowser)
  console.warn(`No browser at ${executablePath}: the tests of the pages do not run. See .ci/run, or set CHROMIUM.`);

/** Where the screenshots of this run are kept, to look at. */
const screenshots = 'test-results';

/** What the page and the lists show of a key. */
const prefixOf = (key: string) => /^\w+?_[\w-]+?_[0-9a-f]{8}/.exec(key)?.[0] ?? '';

// On CI a missing browser is a failure, not a reason to leave these out.
describe.runIf(hasBrowser || process.env.CI)('in Chromium', () => {
  let browser: Browser;
  let page: Page;
  let origin: string;
  let service: Awaited<ReturnType<typeof startService>>;
  let outside: string[];
  let errors: string[];

  beforeAll(async () => {
    browser = await chromium.launch({
      executablePath,
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    });
    mkdirSync(screenshots, { recursive: true });
  });

  afterAll(() => browser?.close());

  /** Starts a service for the tests of this group. */
  const serve = (options: { closed?: boolean } = {}) => {
    beforeAll(async () => {
      service = await startService({}, options);
      await fillDemo(service.database);
      await service.app.listen({ port: 0, host: '127.0.0.1' });
      origin = `http://127.0.0.1:${(service.app.server.address() as AddressInfo).port}`;
    });
    afterAll(() => service.stop());
  };

  beforeEach(async () => {
    page = await newPage();
    outside = [];
    errors = [];
    page.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(`${origin}/`) && !/^(?:data|blob):/.test(url)) outside.push(url);
    });
    page.on('pageerror', (error) => errors.push(error.message));
    return () => page.context().close();
  });

  const newPage = async () => (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();

  /** Presses play until the response shows the text: GraphiQL takes a moment after a change before it knows the operation. */
  async function executeUntil(text: string) {
    const response = page.getByRole('region', { name: /result/i });
    for (let attempt = 1; ; attempt += 1) {
      await page.getByRole('button', { name: /execute query/i }).click();
      try {
        await response.getByText(text).first().waitFor({ timeout: 4_000 });
        return response;
      } catch (error) {
        if (attempt === 5) throw error;
      }
    }
  }

  /** GraphiQL stores its tabs half a second after a change. */
  const stored = (text: string) =>
    page.waitForFunction((part) => localStorage.getItem('graphiql:tabState')?.includes(part), text);

  const storedTab = (name: string) =>
    stored(`"activeTabIndex":${graphiqlTabs.findIndex(({ query }) => query.includes(`query ${name}`))}`);

  describe('a service without keys', () => {
    serve();

    test('GraphiQL opens on its examples, and the first returns linked data', async () => {
      await page.goto(`${origin}/graphql`);
      const response = await executeUntil('"city"');

      const tabs = await page.getByRole('tab').allTextContents();
      expect(tabs.filter((name) => name.trim() !== '').length).toBeGreaterThanOrEqual(graphiqlTabs.length);
      expect(await response.textContent()).toMatch(/"project".*"location"/s);
      expect(outside).toEqual([]);
      expect(errors).toEqual([]);
      await page.screenshot({ path: `${screenshots}/graphiql.png` });
    });

    test('GraphiQL shows the same tabs after a reload, whether one was edited or not', async () => {
      const tabs = () => page.locator('.graphiql-tab').allTextContents();
      await page.goto(`${origin}/graphql`);
      await page.getByRole('button', { name: 'CategoryTree' }).click();
      await storedTab('CategoryTree');
      const before = await tabs();

      for (const text of ['', '# edited', '']) {
        await page
          .getByRole('region', { name: /operation editor/i })
          .getByRole('code')
          .click();
        await page.keyboard.insertText(text);
        await stored(text);
        await page.reload();
        await executeUntil('"assetCategories"');

        expect(await tabs()).toEqual(before);
      }
      await page.goto(`${origin}/graphql?query={__typename}`);
      await executeUntil('"Query"');
      expect(await page.locator('.graphiql-tab').count()).toBe(before.length + 1);
    });

    test('a click on a tab of GraphiQL opens its operation with its variables, and it runs', async () => {
      await page.goto(`${origin}/graphql`);
      await page.getByRole('button', { name: 'CreateLocations' }).click();
      await page
        .getByRole('region', { name: /variables/i })
        .getByText('North yard')
        .waitFor();
      const response = await executeUntil('"createLocations"');

      expect(await response.textContent()).toContain('location_');
      expect(errors).toEqual([]);
      await page.screenshot({ path: `${screenshots}/graphiql-mutation.png` });
    });
  });

  describe('a service that needs a key', () => {
    serve({ closed: true });

    const dialog = () => page.getByRole('dialog');
    const play = () => page.getByRole('button', { name: /execute query/i });

    async function enterKey(key: string) {
      await dialog().getByLabel('API key', { exact: true }).fill(key);
      await dialog().getByRole('button', { name: 'Use this key' }).click();
    }

    const newKey = () => service.key({ workspace: 'default' });

    /** Makes the service forget a key at once, which otherwise takes it some seconds. */
    async function revoke(key: string) {
      await revokeKey(createKeyStore(service.database), prefixOf(key));
      await vi.waitFor(async () => expect((await service.as(key).get('/asset-categories')).status).toBe(401), {
        timeout: 20_000,
        interval: 200,
      });
    }

    test('asks for the key once: it is sent by every tab, and for the schema, also after the page is reloaded', async () => {
      const key = await newKey();
      await page.goto(`${origin}/graphql`);
      await dialog().waitFor();
      expect(await play().count()).toBe(0);
      await page.screenshot({ path: `${screenshots}/key.png` });

      await enterKey(key);
      await executeUntil('"city"');
      await page.getByRole('button', { name: /show documentation/i }).click();
      await page.getByText('All Schema Types').waitFor();
      await page.getByText('AssetCategory', { exact: true }).first().waitFor();
      await page.getByText(prefixOf(key)).waitFor();
      await page.screenshot({ path: `${screenshots}/graphiql-key.png` });

      await page.getByRole('button', { name: 'AssetsByPage' }).click();
      await executeUntil('"totalCount"');
      await storedTab('AssetsByPage');
      await page.reload();
      await executeUntil('"totalCount"');
      expect(await dialog().isVisible()).toBe(false);
      expect(await page.locator('.graphiql-tab').count()).toBe(graphiqlTabs.length);

      const kept = await page.evaluate(() => [sessionStorage.getItem('yardgraph.key'), JSON.stringify(localStorage)]);
      expect(kept[0]).toBe(key);
      expect(kept[1]).toContain('AssetsByPage');
      expect(kept[1]).not.toContain(key);
      expect(page.url()).not.toContain(key);
      expect(service.logs.join('')).not.toContain(key);
      expect([errors, outside]).toEqual([[], []]);
    });

    test('says that a wrong key is wrong, does not keep it, and lets one try again', async () => {
      const key = await newKey();
      await page.goto(`${origin}/graphql`);

      await enterKey('yardgraph_acme_5f0c21d9_wrong');
      await dialog().getByRole('alert').getByText('The API key is not valid.').waitFor();
      await page.screenshot({ path: `${screenshots}/key-wrong.png` });
      expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
      await enterKey('this is no key ☂');
      await dialog().getByText('This is not an API key.').waitFor();
      await page.keyboard.press('Escape');
      await page.keyboard.press('Escape');
      await dialog().waitFor();
      expect(await play().count()).toBe(0);

      await enterKey(` Bearer ${key} `);
      await executeUntil('"city"');
    });

    test('says that a key has been revoked when it is used, and executes the query with the next one', async () => {
      const [first, second] = [await newKey(), await newKey()];
      await page.goto(`${origin}/graphql`);
      await enterKey(first);
      await executeUntil('"city"');
      await page.getByRole('button', { name: 'CategoryTree' }).click();
      await revoke(first);

      await page.getByRole('button', { name: /execute query/i }).click();
      await dialog().getByText('Your key is no longer valid').waitFor();
      await page.screenshot({ path: `${screenshots}/key-revoked.png` });
      await enterKey(second);

      const response = page.getByRole('region', { name: /result/i });
      await response.getByText('"assetCategories"').waitFor();
      await page.getByText(prefixOf(second)).waitFor();
      await page.getByRole('button', { name: 'LinkedWorkOrders' }).waitFor();
    });

    test('asks again after a reload if the key has been revoked meanwhile', async () => {
      const key = await newKey();
      await page.goto(`${origin}/graphql`);
      await enterKey(key);
      await play().waitFor();
      await revoke(key);

      await page.reload();

      await dialog().getByText('Your key is no longer valid').waitFor();
    });

    test('shows the error if the dialog is cancelled', async () => {
      const key = await newKey();
      await page.goto(`${origin}/graphql`);
      await enterKey(key);
      await play().waitFor();
      await revoke(key);

      await play().click();
      await dialog().getByRole('button', { name: 'Cancel' }).click();

      await page
        .getByRole('region', { name: /result/i })
        .getByText('UNAUTHENTICATED')
        .waitFor();
    });

    test('uses the key in the headers of a tab instead, if there is one', async () => {
      await page.goto(`${origin}/graphql`);
      await enterKey(await newKey());
      await play().waitFor();
      await page.getByRole('button', { name: 'Headers', exact: true }).click();
      await page.getByRole('region', { name: 'Headers', exact: true }).getByRole('code').click();
      await page.keyboard.insertText('{ "x-api-key": "of-this-tab" }');

      const response = await executeUntil('UNAUTHENTICATED');

      expect(await dialog().isVisible()).toBe(false);
      expect(await response.textContent()).toContain('UNAUTHENTICATED');
      await page.waitForTimeout(1_000);
      expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain('of-this-tab');
    });

    test('can be left: the key is forgotten, and asked for again', async () => {
      await page.goto(`${origin}/graphql`);
      await enterKey(await newKey());
      await page.getByRole('button', { name: 'Forget key' }).click();

      await dialog().waitFor();

      expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
    });

    test('can be used with another key, after a change', async () => {
      const [first, second] = [await newKey(), await newKey()];
      await page.goto(`${origin}/graphql`);
      await enterKey(first);
      await page.getByText(prefixOf(first)).waitFor();
      await page.getByRole('button', { name: 'Change key' }).click();
      await dialog().getByRole('button', { name: 'Cancel' }).click();
      await page.getByRole('button', { name: 'Change key' }).click();
      await enterKey(second);

      await page.getByText(prefixOf(second)).waitFor();
      await executeUntil('"city"');
    });

    test.each([
      [503, 'the database is unavailable'],
      [429, 'at most 10 requests per minute: try again in 7 s'],
    ])('does not call a key wrong because of a %i', async (status, message) => {
      const key = await newKey();
      await page.goto(`${origin}/graphql`);
      await enterKey(key);
      await play().waitFor();
      await page.route(`${origin}/graphql`, (route) =>
        route.request().method() === 'POST'
          ? route.fulfill({ status, json: { errors: [{ message }] } })
          : route.continue(),
      );

      await page.reload();
      await dialog().getByText(message, { exact: false }).waitFor();
      await page.screenshot({ path: `${screenshots}/unavailable-${status}.png` });
      expect(await dialog().getByLabel('API key', { exact: true }).isVisible()).toBe(false);
      expect(await page.evaluate(() => sessionStorage.getItem('yardgraph.key'))).toBe(key);
      await page.unrouteAll();
      await dialog().getByRole('button', { name: 'Try again' }).click();

      await executeUntil('"city"');
    });
  });

  describe('a service that gets its first key while GraphiQL is open', () => {
    serve();

    test('asks for the key with the next query, and keeps the tabs', async () => {
      await page.goto(`${origin}/graphql`);
      await page.getByRole('button', { name: 'AssetsByPage' }).click();
      await executeUntil('"totalCount"');
      expect(await page.getByRole('button', { name: 'Forget key' }).isVisible()).toBe(false);
      const key = await service.key({ workspace: 'default' });
      await vi.waitFor(async () => expect((await service.get('/asset-categories')).status).toBe(401), {
        timeout: 20_000,
        interval: 200,
      });

      await page.getByRole('button', { name: /execute query/i }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('The first API key has been created: requests need one now.').waitFor();
      await dialog.getByLabel('API key', { exact: true }).fill(key);
      await page.keyboard.press('Enter');

      await page.getByText(prefixOf(key)).waitFor();
      await executeUntil('"totalCount"');
      expect(errors).toEqual([]);
    });
  });

  describe('at every width, light and dark,', () => {
    serve({ closed: true });

    test('the pages fit', async () => {
      const look = async (name: string) => {
        for (const width of [1280, 420]) {
          for (const colorScheme of ['light', 'dark'] as const) {
            await page.setViewportSize({ width, height: 800 });
            await page.emulateMedia({ colorScheme });
            await page.screenshot({ path: `${screenshots}/${name}-${width}-${colorScheme}.png` });
            expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
          }
        }
      };

      await page.goto(origin);
      await page.getByRole('heading', { name: 'Yardgraph' }).waitFor();
      expect(await page.evaluate(() => document.querySelector('img')?.naturalWidth)).toBeGreaterThan(0);
      await look('first-page');

      await page.getByRole('link', { name: 'GraphiQL' }).click();
      await page.getByRole('dialog').waitFor();
      await look('key');
      await page.getByLabel('API key', { exact: true }).fill(await service.key({ workspace: 'default' }));
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: /execute query/i }).waitFor();
      await look('graphiql');
    });
  });

  describe('the files of GraphiQL', () => {
    serve();

    test('are loaded once, compressed: a second visit gets little more than the schema', async () => {
      const visit = async () => {
        const visitor = await page.context().newPage();
        const network = await page.context().newCDPSession(visitor);
        await network.send('Network.enable');
        let bytes = 0;
        const embedded = new Set<string>();
        network.on('Network.responseReceived', ({ requestId, response }) => {
          if (response.url.startsWith('data:')) embedded.add(requestId);
        });
        network.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
          if (!embedded.has(requestId)) bytes += encodedDataLength;
        });
        const schema = visitor.waitForResponse(
          (response) => !!response.request().postData()?.includes('IntrospectionQuery'),
        );
        await visitor.goto(`${origin}/graphql`);
        await (await schema).finished();
        await visitor.close();
        return bytes;
      };

      const [first, second] = [await visit(), await visit()];

      expect(first).toBeLessThan(2_300_000);
      expect(second).toBeLessThan(50_000);
    });
  });
});
