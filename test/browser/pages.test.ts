/**
 * All pages but the explorer in a real browser, on the demo's data: they fit into its window, lead to each other, ask for a key, and load
 * nothing from elsewhere. This is one walk: to open GraphiQL or the reference takes longer than all that is done in it.
 */
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page, Response } from 'playwright-core';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { fillDemo } from '../../src/demo/fill.ts';
import { readTabs } from '../../src/pages/files.ts';
import { routes } from '../../src/rest/routes.ts';
import {
  describeInChromium,
  enterKey,
  execute,
  executeUntil,
  look,
  openOperation,
  usePages,
} from '../support/browser.ts';
import { storeOpener } from '../support/open-store.ts';
import { listen, useSharedService } from '../support/service.ts';

async function insertInto(page: Page, editor: RegExp, text: string): Promise<void> {
  await page.getByRole('region', { name: editor }).getByRole('code').click();
  await page.keyboard.insertText(text);
}

const isStream = (response: Response) => response.headers()['content-type']?.startsWith('text/event-stream') === true;

/** GraphiQL stores its tabs half a second after a change. */
const stored = (page: Page, text: string) =>
  page.waitForFunction((part) => localStorage.getItem('graphiql:tabState')?.includes(part), text);

const graphiqlTabs = readTabs();

/** A proxy that serves another origin below a path, which it removes. Returns its origin. */
async function startProxy(origin: string, path: string): Promise<string> {
  const proxy = createServer((received, response) => {
    const { url = '', method, headers } = received;
    if (!url.startsWith(`${path}/`)) return response.writeHead(404).end();
    const forwarded = request(`${origin}${url.slice(path.length)}`, { method, headers }, (upstream) => {
      response.writeHead(upstream.statusCode ?? 502, upstream.headers);
      upstream.pipe(response);
    });
    return received.pipe(forwarded);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    proxy.close();
    proxy.closeAllConnections();
  });
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}

describeInChromium('the pages', () => {
  const service = useSharedService({}, { closed: true });
  const newPage = usePages();
  beforeAll(() => fillDemo(service.database));

  test('work below the path of a proxy, ask for a key, share it and keep it out of the way, and fit into 1280 and 420 pixels, light and dark', async () => {
    const base = `${await startProxy(await listen(service.app), '/yard')}/yard`;
    const key = await service.key({ workspace: 'default' });
    const client = service.as(key);
    const { page, visit } = await newPage(base, '/graphql');
    const dialog = page.getByRole('dialog');

    await dialog.getByText('This service needs an API key.').waitFor();
    await look(page, 'key');
    await enterKey(page, 'this is no key ☂');
    expect(await dialog.isVisible()).toBe(true);
    await enterKey(page, 'yardgraph_acme_5f0c21d9_wrong');
    await dialog.getByText('The service does not accept this API key.').waitFor();
    await dialog.getByLabel('API key', { exact: true }).fill(` Bearer ${key} `);
    await page.keyboard.press('Enter');

    // The first example returns linked data, a click on another opens its variables, too, and the schema has come.
    expect(await (await executeUntil(page, '"city"')).textContent()).toMatch(/"project".*"location"/s);
    const tabs = () => page.locator('.graphiql-tab').allTextContents();
    expect(await tabs()).toHaveLength(graphiqlTabs.length);
    await page.getByRole('button', { name: 'ImportSite' }).click();
    await page
      .getByRole('region', { name: /variables/i })
      .getByText('North yard')
      .waitFor();
    expect(await (await executeUntil(page, '"upsertWorkOrders"')).textContent()).toContain('location_');
    await page.getByRole('button', { name: /show documentation/i }).click();
    await page.getByText('AssetCategory', { exact: true }).first().waitFor();
    await look(page, 'graphiql');

    // A key in the headers of one tab is for this tab, and is not stored.
    await page.getByRole('button', { name: 'ProjectSites' }).click();
    await executeUntil(page, '"totalCount"');
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
    expect(service.logs.join('')).not.toContain(key);

    // The same tabs are there on the next visit; a link opens one more, which follows changes until it is stopped.
    const before = await tabs();
    // From the last change on: in an event with many, GraphiQL would show only the first lines.
    const after = (await storeOpener(service.database)('default').lastChange()) - 1;
    const query = `subscription { followed: changes(after: "${after}") { nodes { fields { after } } } }`;
    await page.goto(`${base}/graphql?query=${encodeURIComponent(query)}`);
    const stream = page.waitForResponse(isStream);
    const result = await executeUntil(page, '"followed"');
    expect(await tabs()).toEqual([...before, expect.anything()]);
    for (const name of ['Crane', 'Pump']) {
      await client.create('/assets', { name });
      await result.getByText(`"${name}"`).waitFor();
    }
    const followed = (await stream).request();
    const ended = page.waitForEvent('requestfailed', (request) => request === followed);
    await page.getByRole('button', { name: /stop query/i }).click();
    await ended;

    // The reference has the same key, and executes its examples unchanged, once they have an ID.
    const [project] = await client.create('/projects', { name: 'Bridge' });
    await page.getByRole('link', { name: 'REST reference' }).click();
    await page.waitForURL(`${base}/reference`);
    const update = await openOperation(page, 'PATCH', '/projects/{id}');
    expect(await page.locator('.opblock').count()).toBe(routes.length + ['export'].length);
    await update.getByRole('button', { name: 'Execute' }).click();
    await update.locator('input.invalid').waitFor();
    expect(await update.textContent()).toContain('If there is none yet, create one first.');
    expect(visit.requests.filter((url) => url.includes('/projects'))).toEqual([]);
    await update.getByPlaceholder('id', { exact: true }).fill(project.id);
    const create = await openOperation(page, 'POST', '/projects');
    expect([await execute(create), await execute(update)]).toEqual([201, 200]);
    const { projects } = await client.data('{ projects(first: 2, orderBy: [{ createdAt: DESC }]) { nodes { name } } }');
    expect(projects.nodes).toEqual([{ name: 'Harbour wall' }, { name: 'Harbour wall, phase 2' }]);
    const isDark = () => page.evaluate("document.documentElement.classList.contains('dark-mode')");
    expect(await isDark()).toBe(true);
    await page.emulateMedia({ colorScheme: 'light' });
    await expect.poll(isDark).toBe(false);
    await look(page, 'reference');
    await page.getByRole('button', { name: `API key: ${key.slice(0, -44)}` }).click();
    await dialog.getByRole('button', { name: 'Forget the key' }).click();
    await create.getByRole('button', { name: 'Execute' }).click();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await create.locator('.live-responses-table .response-col_status', { hasText: '401' }).waitFor();
    expect(await page.evaluate("[sessionStorage.getItem('yardgraph.key'), document.cookie]")).toEqual([null, '']);

    // Somebody may stay signed in: other tabs then have the key, until it is forgotten.
    const again = page.getByRole('button', { name: 'API key', exact: true });
    await again.click();
    await dialog.getByLabel('API key').fill(key);
    await dialog.getByLabel('Stay signed in').check();
    await dialog.getByRole('button', { name: 'Use this key' }).click();
    const other = await page.context().newPage();
    await other.goto(`${base}/reference`);
    await other.getByRole('button', { name: `API key: ${key.slice(0, -44)}` }).click();
    await other.getByRole('button', { name: 'Forget the key' }).click();
    await page.reload();
    await again.waitFor();
    await other.close();

    await page.getByRole('link', { name: 'Documentation' }).click();
    await page.getByRole('heading', { name: 'Tour' }).waitFor();
    await page.waitForFunction("document.querySelector('img').naturalWidth > 0");
    await look(page, 'documentation');
    const documentation = page.getByRole('navigation', { name: 'Documentation' });
    for (const [title, path] of [
      ['Settings', 'settings'],
      ['REST interface', 'interface'],
      ['Commands, keys and workspaces', 'commands'],
    ] as const) {
      await documentation.getByRole('link', { name: title, exact: true }).click();
      await page.waitForURL(`${base}/documentation/docs/${path}.md`);
      await look(page, `documentation-${path}`);
    }
    await documentation.getByRole('link', { name: 'Home' }).click();
    await page.waitForURL(`${base}/explore`);
    expect(visit).toMatchObject({ outside: [], errors: [] });
  });
});
