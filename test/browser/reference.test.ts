/** The reference in a real browser: every example can be tried, the key is asked for once, and nothing is loaded from elsewhere. */
import { existsSync, mkdirSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { revokeKey } from '../../src/auth/keys.ts';
import { fillDemo } from '../../src/demo/fill.ts';
import { routes } from '../../src/rest/routes.ts';
import { createKeyStore } from '../../src/store/api-keys.ts';
import { useService } from '../support/service.ts';

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';

/** Where the screenshots of this run are kept, to look at. */
const screenshots = 'test-results';

const patient = { timeout: 20_000 };

// On CI a missing browser is a failure, not a reason to leave these out.
describe.runIf(existsSync(executablePath) || process.env.CI)('the reference', () => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-quic'] });
    mkdirSync(screenshots, { recursive: true });
  });

  afterAll(() => browser?.close());

  describe('of an open service', () => {
    const service = useService();
    const { visit, open } = usePages(service);

    test('executes the example of every operation unchanged, and again, on an empty workspace', async () => {
      const page = await open();
      const projectFirst = routes.toSorted((a, b) => Number(b.path === '/projects') - Number(a.path === '/projects'));

      for (const { method, path, success } of projectFirst) {
        const block = await openOperation(page, method, path);
        expect([method, path, await execute(block)]).toEqual([method, path, success]);
        expect([method, path, await execute(block)]).toEqual([method, path, success]);
        // Closed, because open operations are rendered again whenever anything changes.
        await block.locator('.opblock-summary-control').click();
      }

      expect(await page.locator('.opblock').count()).toBe(routes.length);
      expect(await page.title()).toBe('Yardgraph reference');
      expect(visit).toMatchObject({ outside: [], errors: [] });
    });

    test('fills in the newest project of the workspace, and then the one created last', async () => {
      await fillDemo(service.database);
      const page = await open();
      const id = (await openOperation(page, 'PATCH', '/projects/:id')).getByPlaceholder('id', { exact: true });
      const newest = async () => (await service.data('{ projects(last: 1) { nodes { id name } } }')).projects.nodes[0];
      await expect.poll(() => id.inputValue(), patient).toBe((await newest()).id);

      await execute(await openOperation(page, 'POST', '/projects'));

      expect((await newest()).name).toBe('Harbour wall');
      await expect.poll(() => id.inputValue(), patient).toBe((await newest()).id);
      expect(await execute(await openOperation(page, 'PATCH', '/projects/:id'))).toBe(200);
      expect((await newest()).name).toBe('Harbour wall, phase 2');
      expect(visit).toMatchObject({ outside: [], errors: [] });
    });

    test('says to create a project first where there is none, and sends nothing', async () => {
      const page = await open();
      const block = await openOperation(page, 'PATCH', '/projects/:id');
      await block.getByRole('button', { name: 'Execute' }).click();

      await block.locator('input.invalid').waitFor();
      expect(await block.textContent()).toContain('If there is none yet, create one first.');
      expect(visit.requests.filter((url) => url.includes('/projects'))).toEqual([]);
    });

    test('fits into 1280 and 420 pixels, light and dark', async () => {
      await fillDemo(service.database);
      const page = await open();
      const look = async (name: string) => {
        for (const width of [1280, 420]) {
          for (const colorScheme of ['light', 'dark'] as const) {
            await page.setViewportSize({ width, height: 1000 });
            await page.emulateMedia({ colorScheme });
            await page.screenshot({ path: `${screenshots}/${name}-${width}-${colorScheme}.png` });
            expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
            const isDark = await page.evaluate("document.documentElement.classList.contains('dark-mode')");
            expect(isDark).toBe(colorScheme === 'dark');
          }
        }
      };

      await look('reference');
      const block = await openOperation(page, 'PATCH', '/projects/:id');
      await execute(block);
      await block.locator('tr.response[data-code="401"]').scrollIntoViewIfNeeded();
      await look('reference-responses');

      expect(visit).toMatchObject({ outside: [], errors: [] });
    });
  });

  describe('of a service with keys', () => {
    const service = useService({}, { closed: true });
    const { visit, open } = usePages(service);
    const storedKey = (page: Page) => page.evaluate("sessionStorage.getItem('yardgraph.key')");

    test('asks for the key once, sends it, keeps it when the page is loaded again, and forgets it on logout', async () => {
      const key = await service.key();
      const page = await open();
      await page.getByText('This service needs an API key.').waitFor();
      await page.screenshot({ path: `${screenshots}/reference-key.png` });
      await page.getByRole('button', { name: 'Enter the key' }).click();
      expect(await page.locator('.auth-container input').count()).toBe(1);
      await page.screenshot({ path: `${screenshots}/reference-authorize.png` });
      await authorize(page, ` Bearer ${key} `);

      await page.locator('#key-notice').waitFor({ state: 'hidden' });
      expect(await storedKey(page)).toBe(key);
      expect(await execute(await openOperation(page, 'POST', '/assets'))).toBe(201);

      await page.reload();
      expect(await execute(await openOperation(page, 'POST', '/assets'))).toBe(201);
      expect(await page.locator('#key-notice').isVisible()).toBe(false);

      await page.getByRole('button', { name: 'Authorize' }).first().click();
      await page.getByRole('button', { name: 'Remove authorization' }).click();
      await page.getByText('This service needs an API key.').waitFor();
      expect(await storedKey(page)).toBeNull();
      expect(await page.evaluate('[localStorage.length, document.cookie]')).toEqual([0, '']);
      expect(visit).toMatchObject({ outside: [], errors: [] });
    });

    test('uses the key that GraphiQL has stored', async () => {
      const key = await service.key();
      const page = await open({}, key);

      expect(await execute(await openOperation(page, 'GET', '/asset-categories'))).toBe(200);
      expect(await page.locator('#key-notice').isVisible()).toBe(false);
    });

    test('asks for another key if the service does not accept the stored one', async () => {
      const page = await open({}, 'yardgraph_acme_00000000_wrong');
      await page.getByText('The service does not accept this API key.').waitFor();
      await page.getByRole('button', { name: 'Enter another key' }).click();
      await authorize(page, await service.key());

      await page.locator('#key-notice').waitFor({ state: 'hidden' });
      expect(await execute(await openOperation(page, 'POST', '/projects'))).toBe(201);
      expect(await execute(await openOperation(page, 'PATCH', '/projects/:id'))).toBe(200);
    });

    test('asks for another key if it is revoked while the page is open', async () => {
      const key = await service.key();
      const page = await open({}, key);
      const block = await openOperation(page, 'POST', '/assets');
      expect(await execute(block)).toBe(201);
      await revokeKey(createKeyStore(service.database), key.slice(0, -44));

      // Within seconds, until which the service caches the key.
      await expect.poll(() => execute(block), patient).toBe(401);
      await page.getByText('The service does not accept this API key.').waitFor();
    });
  });

  /** Opens the reference of a service, and collects what it must not do. */
  function usePages(service: ReturnType<typeof useService>) {
    const visit = { requests: [] as string[], outside: [] as string[], errors: [] as string[] };
    let origin: string;
    let context: BrowserContext | undefined;

    beforeEach(async () => {
      await service.app.listen({ port: 0, host: '127.0.0.1' });
      origin = `http://127.0.0.1:${(service.app.server.address() as AddressInfo).port}`;
      Object.assign(visit, { requests: [], outside: [], errors: [] });
    });
    // Before the service stops, which waits for open connections.
    afterEach(() => context?.close());

    const open = async (options: Parameters<Browser['newContext']>[0] = {}, key?: string): Promise<Page> => {
      context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
      const page = await context.newPage();
      page.on('request', (request) => {
        const url = request.url();
        visit.requests.push(url);
        if (!url.startsWith(`${origin}/`) && !/^(?:data|blob):/.test(url)) visit.outside.push(url);
      });
      page.on('pageerror', (error) => visit.errors.push(error.message));
      page.on('console', (message) => {
        if (message.text().includes('Content Security Policy')) visit.errors.push(message.text());
      });
      if (key !== undefined) {
        await page.goto(`${origin}/openapi.json`);
        await page.evaluate(`sessionStorage.setItem('yardgraph.key', ${JSON.stringify(key)})`);
      }
      await page.goto(`${origin}/reference`);
      await page.locator('.opblock').first().waitFor();
      return page;
    };
    return { visit, open };
  }
});

/** Shows an operation, ready to be executed. */
async function openOperation(page: Page, method: string, path: string): Promise<Locator> {
  const block = page
    .locator(`.opblock-${method.toLowerCase()}`)
    .filter({ has: page.locator(`[data-path="${path.replace(':id', '{id}')}"]`) });
  const tryItOut = block.getByRole('button', { name: 'Try it out' });
  const executeButton = block.getByRole('button', { name: 'Execute' });
  if ((await block.locator('.opblock-body').count()) === 0) await block.locator('.opblock-summary-control').click();
  await tryItOut.or(executeButton).first().waitFor();
  if (await tryItOut.isVisible()) await tryItOut.click();
  await executeButton.waitFor();
  return block;
}

/** Executes the operation as it is. Returns the status, which the page must show. */
async function execute(block: Locator): Promise<number> {
  const page = block.page();
  const isOperation = (url: string) => !/\/graphql$|\/openapi\.json$/.test(url);
  const [response] = await Promise.all([
    page.waitForResponse((candidate) => isOperation(candidate.url())),
    block.getByRole('button', { name: 'Execute' }).click(),
  ]);
  await block.locator('.live-responses-table .response-col_status', { hasText: String(response.status()) }).waitFor();
  return response.status();
}

async function authorize(page: Page, key: string): Promise<void> {
  await page.locator('.auth-container input').fill(key);
  await page.locator('.auth-btn-wrapper').getByRole('button', { name: 'Apply credentials' }).click();
  await page.getByRole('button', { name: 'Close' }).last().click();
}
