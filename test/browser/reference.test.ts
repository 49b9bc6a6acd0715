/** The reference in a real browser: examples can be tried, and nothing is loaded from elsewhere. */
import { expect, test } from 'vitest';
import { routes } from '../../src/rest/routes.ts';
import { describeInChromium, execute, look, openOperation, useBrowser, usePages } from '../support/browser.ts';
import { listen, useSharedService } from '../support/service.ts';

/** Each test is one walk through the page, which takes seconds to open. */
describeInChromium('the reference', () => {
  const browser = useBrowser();
  const service = useSharedService();
  const newPage = usePages(browser);

  test('executes examples unchanged, and again, and fits into its window, light and dark', async () => {
    const origin = await listen(service.app);
    const { page, visit } = await newPage(origin);
    const [project] = await service.create('/projects', { name: 'Bridge' });
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
    await update.getByPlaceholder('id', { exact: true }).fill(project.id);

    const create = await openOperation(page, 'POST', '/projects');
    const list = await openOperation(page, 'GET', '/asset-categories');
    for (const _ of ['once', 'again']) {
      expect([await execute(create), await execute(update), await execute(list)]).toEqual([201, 200, 200]);
    }
    const { nodes } = (await service.data('{ projects(orderBy: [{ createdAt: ASC }]) { nodes { name } } }')).projects;
    const names = nodes.map(({ name }: { name: string }) => name);
    expect(names).toEqual(['Harbour wall, phase 2', 'Harbour wall', 'Harbour wall']);
    await look(page, 'reference-responses');
    expect(visit).toMatchObject({ outside: [], errors: [] });
  });
});
