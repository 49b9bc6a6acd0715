/** The reference in a real browser: examples can be tried, the key is asked for once, and nothing is loaded from elsewhere. */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { revokeKey } from '../../src/auth/keys.ts';
import { fillDemo } from '../../src/demo/fill.ts';
import { routes } from '../../src/rest/routes.ts';
import { createKeyStore } from '../../src/store/admin/api-keys.ts';
import {
  describeInChromium,
  execute,
  look,
  openOperation,
  screenshot,
  useBrowser,
  usePages,
} from '../support/browser.ts';
import { passTime } from '../support/clock.ts';
import { listen, useService } from '../support/service.ts';

const patient = { timeout: 20_000 };

describeInChromium('the reference', () => {
  const browser = useBrowser();

  /** Opens the reference of a service, in a browser tab that has this key. */
  const useReference = (service: ReturnType<typeof useService>) => {
    const newPage = usePages(browser);
    return async (key?: string) => {
      const origin = await listen(service.app);
      const visited = await newPage(origin);
      const { page } = visited;
      if (key !== undefined) {
        await page.goto(`${origin}/healthz`);
        await page.evaluate(`sessionStorage.setItem('yardgraph.key', ${JSON.stringify(key)})`);
      }
      await page.goto(`${origin}/reference`);
      await page.locator('.opblock').first().waitFor();
      return visited;
    };
  };

  describe('of an open service', () => {
    const service = useService();
    const open = useReference(service);
    const newestProject = async () =>
      (await service.data('{ projects(last: 1) { nodes { id name } } }')).projects.nodes[0];

    test('executes examples unchanged, and again, and fills in the project that was created last', async () => {
      const { page, visit } = await open();
      expect(await page.locator('.opblock').count()).toBe(routes.length + ['export'].length);
      const update = await openOperation(page, 'PATCH', '/projects/{id}');
      await update.getByRole('button', { name: 'Execute' }).click();
      await update.locator('input.invalid').waitFor();
      expect(await update.textContent()).toContain('If there is none yet, create one first.');
      expect(visit.requests.filter((url) => url.includes('/projects'))).toEqual([]);

      const id = update.getByPlaceholder('id', { exact: true });
      const create = await openOperation(page, 'POST', '/projects');
      for (const _ of ['once', 'again']) {
        expect(await execute(create)).toBe(201);
        await expect.poll(() => id.inputValue(), patient).toBe((await newestProject()).id);
      }
      expect((await newestProject()).name).toBe('Harbour wall');

      const list = await openOperation(page, 'GET', '/asset-categories');
      for (const _ of ['once', 'again']) {
        expect([await execute(update), await execute(list)]).toEqual([200, 200]);
      }
      expect((await newestProject()).name).toBe('Harbour wall, phase 2');
      expect(visit).toMatchObject({ outside: [], errors: [] });
    });

    test('fills in the newest project, and fits into 1280 and 420 pixels, light and dark', async () => {
      await fillDemo(service.database);
      const { page, visit } = await open();
      const isDark = () => page.evaluate("document.documentElement.classList.contains('dark-mode')");
      expect(await isDark()).toBe(false);
      await look(page, 'reference');
      expect(await isDark()).toBe(true);

      const block = await openOperation(page, 'PATCH', '/projects/{id}');
      const id = block.getByPlaceholder('id', { exact: true });
      await expect.poll(() => id.inputValue(), patient).toBe((await newestProject()).id);
      await execute(block);
      await block.locator('tr.response[data-code="401"]').scrollIntoViewIfNeeded();
      await look(page, 'reference-responses');

      expect(visit).toMatchObject({ outside: [], errors: [] });
    });
  });

  describe('of a service with keys', () => {
    const service = useService({}, { closed: true });
    const open = useReference(service);
    const storedKey = (page: Page) => page.evaluate("sessionStorage.getItem('yardgraph.key')");
    const notice = (page: Page) => page.locator('#key-notice');

    test('asks for the key once, sends it, shares it with GraphiQL, and forgets it when told to', async () => {
      const key = await service.key();
      const { page, visit } = await open();
      await page.getByText('This service needs an API key.').waitFor();
      await screenshot(page, 'reference-key');
      await page.getByRole('button', { name: 'Enter the key' }).click();
      await screenshot(page, 'reference-dialog');
      await submitKey(page, 'this is no key ☂');
      await page.getByRole('dialog').getByText('This is not an API key.').waitFor();
      await submitKey(page, 'yardgraph_acme_00000000_wrong');
      await page.getByRole('dialog').getByText('The API key is not valid.').waitFor();
      expect(await storedKey(page)).toBeNull();
      await submitKey(page, ` Bearer ${key} `);

      await notice(page).waitFor({ state: 'hidden' });
      expect(await storedKey(page)).toBe(key);
      await page.locator('#key-in-use').getByText(key.slice(0, -44)).waitFor();
      expect(await execute(await openOperation(page, 'POST', '/assets'))).toBe(201);
      await look(page, 'reference-with-key');

      await page.reload();
      expect(await execute(await openOperation(page, 'POST', '/assets'))).toBe(201);
      expect(await notice(page).isVisible()).toBe(false);
      await page.getByRole('link', { name: 'GraphiQL' }).click();
      await page.locator('#key-in-use').getByText(key.slice(0, -44)).waitFor();
      await page.getByRole('button', { name: /execute query/i }).waitFor();

      await page.getByRole('link', { name: 'REST reference' }).click();
      await page.getByRole('button', { name: 'Forget key' }).click();
      await page.getByText('This service needs an API key.').waitFor();
      expect(await storedKey(page)).toBeNull();
      expect(await page.evaluate("[JSON.stringify(localStorage).includes('yardgraph_'), document.cookie]")).toEqual([
        false,
        '',
      ]);
      expect(visit).toMatchObject({ outside: [], errors: [] });
    });

    test('sends the new key after it was changed, and has no other place for keys', async () => {
      const [first, second] = [await service.key({ user: 'first' }), await service.key({ user: 'second' })];
      const { page } = await open(first);
      expect(await execute(await openOperation(page, 'POST', '/projects'))).toBe(201);
      expect(await page.getByRole('button', { name: /authoriz/i }).count()).toBe(0);

      await page.getByRole('button', { name: 'Change key' }).click();
      await submitKey(page, second);
      await page.locator('#key-in-use').getByText(second.slice(0, -44)).waitFor();
      const create = await openOperation(page, 'POST', '/projects');
      const [response] = await Promise.all([
        page.waitForResponse((it) => it.url().endsWith('/projects')),
        create.getByRole('button', { name: 'Execute' }).click(),
      ]);

      expect((await response.json())[0].createdBy).toBe('second');
    });

    test('asks for another key if the service does not accept the one of GraphiQL, at once or after it was revoked', async () => {
      const key = await service.key();
      const { page } = await open('yardgraph_acme_00000000_wrong');
      await page.getByText('The service does not accept this API key.').waitFor();
      await page.getByRole('button', { name: 'Enter another key' }).click();
      await submitKey(page, key);

      await notice(page).waitFor({ state: 'hidden' });
      const create = await openOperation(page, 'POST', '/assets');
      expect(await execute(create)).toBe(201);
      await revokeKey(createKeyStore(service.database), key.slice(0, -44));

      // The service caches the key for seconds.
      await passTime(5_000);
      expect(await execute(create)).toBe(401);
      await page.getByText('The service does not accept this API key.').waitFor();
    });
  });
});

async function submitKey(page: Page, key: string): Promise<void> {
  await page.getByRole('dialog').getByLabel('API key', { exact: true }).fill(key);
  await page.getByRole('dialog').getByRole('button', { name: 'Use this key' }).click();
}
