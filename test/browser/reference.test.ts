/** The reference in a real browser: examples can be tried, the key is asked for, and nothing is loaded from elsewhere. */
import { expect, test } from 'vitest';
import { revokeKey } from '../../src/auth/keys.ts';
import { routes } from '../../src/rest/routes.ts';
import { createKeyStore } from '../../src/store/admin/api-keys.ts';
import {
  describeInChromium,
  enterKey,
  execute,
  look,
  openOperation,
  useBrowser,
  usePages,
} from '../support/browser.ts';
import { passTime } from '../support/clock.ts';
import { listen, useSharedService } from '../support/service.ts';

/** Each test is one walk through the page, which takes seconds to open. */
describeInChromium('the reference', () => {
  const browser = useBrowser();
  const service = useSharedService();
  const closed = useSharedService({}, { closed: true });
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

  test('asks for a key when one is needed, executes what was refused, shares the key with GraphiQL, and forgets it when told to', async () => {
    const [first, second] = [await closed.key({ user: 'first' }), await closed.key({ user: 'second' })];
    const prefixOf = (key: string) => key.slice(0, -44);
    const origin = await listen(closed.app);
    const { page, visit } = await newPage(origin);
    const dialog = page.getByRole('dialog');
    const inUse = page.getByRole('button', { name: /^API key/ });
    const storedKey = () => page.evaluate("sessionStorage.getItem('yardgraph.key')");
    await page.goto(`${origin}/reference`);
    const create = await openOperation(page, 'POST', '/projects');
    // There is no other place for keys.
    expect(await page.getByRole('button', { name: /authoriz/i }).count()).toBe(0);

    const press = () => create.getByRole('button', { name: 'Execute' }).click();
    const statusShown = (status: number) =>
      create.locator('.live-responses-table .response-col_status', { hasText: String(status) }).waitFor();
    await press();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await statusShown(401);
    await press();
    await enterKey(page, first);
    await statusShown(201);
    await inUse.getByText(prefixOf(first)).waitFor();
    expect(await storedKey()).toBe(first);

    await inUse.click();
    await look(page, 'key');
    await enterKey(page, second);
    await inUse.getByText(prefixOf(second)).waitFor();
    expect(await execute(create)).toBe(201);
    const { nodes } = (await closed.as(first).data('{ projects { nodes { createdBy { id } } } }')).projects;
    const users = nodes.map((project: { createdBy: { id: string } }) => project.createdBy.id);
    expect(users.toSorted()).toEqual(['first', 'second']);

    await revokeKey(createKeyStore(closed.database), prefixOf(second));
    // The service caches the key for seconds.
    await passTime(5_000);
    await press();
    await dialog.getByText('The service does not accept this API key.').waitFor();
    await enterKey(page, first);
    await statusShown(201);

    await page.goto(`${origin}/graphql`);
    await inUse.getByText(prefixOf(first)).waitFor();
    await page.getByRole('button', { name: /execute query/i }).waitFor();
    await inUse.click();
    await dialog.getByRole('button', { name: 'Forget the key' }).click();
    await expect.poll(storedKey).toBeNull();
    expect(await page.evaluate("[JSON.stringify(localStorage).includes('yardgraph_'), document.cookie]")).toEqual([
      false,
      '',
    ]);
    expect(visit).toMatchObject({ outside: [], errors: [] });
  });
});
