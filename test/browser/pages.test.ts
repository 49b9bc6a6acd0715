/** The pages, in a real browser on the demo's data: they work, and load nothing from outside. */
import { existsSync, mkdirSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { fillDemo } from '../../src/demo/fill.ts';
import { graphiqlTabs } from '../../src/graphql/graphiql-tabs.ts';
import { useSharedService } from '../support/service.ts';

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
const hasBrowser = existsSync(executablePath);
if (!hasBrowser)
  console.warn(`No browser at ${executablePath}: the tests of the pages do not run. See .ci/run, or set CHROMIUM.`);

/** Where the screenshots of this run are kept, to look at. */
const screenshots = 'test-results';

// On CI a missing browser is a failure, not a reason to leave these out.
describe.runIf(hasBrowser || process.env.CI)('in Chromium', () => {
  const service = useSharedService();
  let browser: Browser;
  let page: Page;
  let origin: string;
  let outside: string[];
  let errors: string[];

  beforeAll(async () => {
    await fillDemo(service.database);
    await service.app.listen({ port: 0, host: '127.0.0.1' });
    origin = `http://127.0.0.1:${(service.app.server.address() as AddressInfo).port}`;
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

  beforeEach(async () => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    page = await context.newPage();
    outside = [];
    errors = [];
    page.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(`${origin}/`) && !/^(?:data|blob):/.test(url)) outside.push(url);
    });
    page.on('pageerror', (error) => errors.push(error.message));
    return () => context.close();
  });

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
