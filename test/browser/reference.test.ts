/** The reference in a real browser: examples can be tried, the key is asked for once, and nothing is loaded from elsewhere. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { revokeKey } from '../../src/auth/keys.ts';
import { routes } from '../../src/rest/routes.ts';
import { createKeyStore } from '../../src/store/admin/api-keys.ts';
import { describeInChromium, execute, look, openOperation, useBrowser, usePages } from '../support/browser.ts';
import { passTime } from '../support/clock.ts';
import { listen, useSharedService } from '../support/service.ts';

const patient = { timeout: 20_000 };

/** Each test is one walk through the page, which takes seconds to open. */
describeInChromium('the reference', () => {
  const browser = useBrowser();
  const service = useSharedService();
  const closed = useSharedService({}, { closed: true });
  const newPage = usePages(browser);
  const storedKey = (page: Page) => page.evaluate("sessionStorage.getItem('yardgraph.key')");

  test('executes examples unchanged, and again, fills in the newest project, and fits into its window, light and dark', async () => {
    const origin = await listen(service.app);
    const { page, visit } = await newPage(origin);
    const newestProject = async () =>
      (await service.data('{ projects(last: 1) { nodes { id name } } }')).projects.nodes[0];
    await page.goto(`${origin}/reference`);
    await page.locator('.opblock').first().waitFor();
    expect(await page.locator('.opblock').count()).toBe(routes.length + ['export'].length);
    const isDark = () => page.evaluate("document.documentElement.classList.contains('dark-mode')");
    expect(await isDark()).toBe(false);
    await look(page, 'reference');
    expect(await isDark()).toBe(true);

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
    await look(page, 'reference-responses');

    await page.reload();
    const again = await openOperation(page, 'PATCH', '/projects/{id}');
    const filled = again.getByPlaceholder('id', { exact: true });
    await expect.poll(() => filled.inputValue(), patient).toBe((await newestProject()).id);
    expect(visit).toMatchObject({ outside: [], errors: [] });
  });

  test('asks for a key if the service needs one or another, shares it with GraphiQL, and forgets it when told to', async () => {
    const [first, second] = [await closed.key({ user: 'first' }), await closed.key({ user: 'second' })];
    const origin = await listen(closed.app);
    const { page, visit } = await newPage(origin);
    const notice = page.locator('#key-notice');
    const inUse = page.locator('#key-in-use');
    await page.goto(`${origin}/healthz`);
    await page.evaluate("sessionStorage.setItem('yardgraph.key', 'yardgraph_acme_00000000_wrong')");
    await page.goto(`${origin}/reference`);
    await page.getByText('The service does not accept this API key.').waitFor();
    // There is no other place for keys.
    expect(await page.getByRole('button', { name: /authoriz/i }).count()).toBe(0);

    await page.getByRole('button', { name: 'Enter another key' }).click();
    await submitKey(page, ` Bearer ${first} `);
    await notice.waitFor({ state: 'hidden' });
    expect(await storedKey(page)).toBe(first);
    await inUse.getByText(first.slice(0, -44)).waitFor();
    const create = await openOperation(page, 'POST', '/projects');
    expect(await execute(create)).toBe(201);
    await page.getByRole('button', { name: 'Change key' }).click();
    await submitKey(page, second);
    await inUse.getByText(second.slice(0, -44)).waitFor();
    const [response] = await Promise.all([
      page.waitForResponse((it) => it.url().endsWith('/projects')),
      create.getByRole('button', { name: 'Execute' }).click(),
    ]);
    expect((await response.json())[0].createdBy).toBe('second');
    await look(page, 'reference-with-key');

    await revokeKey(createKeyStore(closed.database), second.slice(0, -44));
    // The service caches the key for seconds.
    await passTime(5_000);
    expect(await execute(create)).toBe(401);
    await page.getByText('The service does not accept this API key.').waitFor();
    await page.getByRole('button', { name: 'Enter another key' }).click();
    await submitKey(page, first);
    await notice.waitFor({ state: 'hidden' });

    await page.getByRole('link', { name: 'GraphiQL' }).click();
    await inUse.getByText(first.slice(0, -44)).waitFor();
    await page.getByRole('button', { name: /execute query/i }).waitFor();
    await page.getByRole('link', { name: 'REST reference' }).click();
    await page.getByRole('button', { name: 'Forget key' }).click();
    await page.getByText('This service needs an API key.').waitFor();
    await page.getByRole('button', { name: 'Enter the key' }).waitFor();
    expect(await storedKey(page)).toBeNull();
    expect(await page.evaluate("[JSON.stringify(localStorage).includes('yardgraph_'), document.cookie]")).toEqual([
      false,
      '',
    ]);
    expect(visit).toMatchObject({ outside: [], errors: [] });
  });
});

async function submitKey(page: Page, key: string): Promise<void> {
  await page.getByRole('dialog').getByLabel('API key', { exact: true }).fill(key);
  await page.getByRole('dialog').getByRole('button', { name: 'Use this key' }).click();
}
