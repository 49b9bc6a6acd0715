/** What holds for all pages in a real browser: they fit into its window, lead to each other, and work behind a proxy. */
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import {
  describeInChromium,
  execute,
  executeUntil,
  look,
  openOperation,
  useBrowser,
  usePages,
} from '../support/browser.ts';
import { listen, useSharedService } from '../support/service.ts';

describeInChromium('the pages', () => {
  const browser = useBrowser();
  const open = useSharedService();
  const closed = useSharedService({ EXPLORER: 'off' }, { closed: true });
  const newPage = usePages(browser);

  test('fit into 1280 and 420 pixels, light and dark', async () => {
    const origin = await listen(closed.app);
    const { page, visit } = await newPage(origin);

    await page.goto(origin);
    await page.getByRole('heading', { name: 'Tour' }).waitFor();
    await page.waitForFunction("document.querySelector('img').naturalWidth > 0");
    await look(page, 'documentation');
    const documentation = page.getByRole('navigation', { name: 'Documentation' });
    for (const [title, path] of [
      ['Settings', 'settings'],
      ['REST interface', 'interface'],
      ['Commands, keys and workspaces', 'commands'],
    ] as const) {
      await page.setViewportSize({ width: 1280, height: 900 });
      await documentation.getByRole('link', { name: title, exact: true }).click();
      await page.waitForURL(`${origin}/documentation/docs/${path}.md`);
      await look(page, `documentation-${path}`);
    }
    await documentation.getByRole('link', { name: 'Home' }).click();
    await page.waitForURL(`${origin}/documentation/README.md`);

    await page.goto(`${origin}/graphql`);
    await page.getByRole('dialog').waitFor();
    await look(page, 'graphiql-key');
    expect(visit).toMatchObject({ outside: [], errors: [] });
  });

  test('work below the path of a proxy, and so does what they send', async () => {
    const base = `${await startProxy(await listen(open.app), '/yard')}/yard`;
    const { page, visit } = await newPage(base);
    const failed: string[] = [];
    page.on('response', (response) => response.status() >= 400 && failed.push(response.url()));

    await page.goto(`${base}/`);
    await page.getByRole('link', { name: 'GraphiQL' }).click();
    await executeUntil(page, '"workOrders"');
    await look(page, 'graphiql');
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.getByRole('link', { name: 'REST reference' }).click();
    await page.waitForURL(`${base}/reference`);
    expect(await execute(await openOperation(page, 'POST', '/projects'))).toBe(201);
    await page.goto(`${base}/reference/`);
    await page.waitForURL(`${base}/reference`);
    await page.locator('.opblock').first().waitFor();
    await page.getByRole('link', { name: 'Yardgraph' }).click();
    await page.waitForURL(`${base}/explore`);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByRole('link', { name: 'Documentation' }).click();
    await page.getByRole('link', { name: 'Keeping another system in step' }).last().click();
    await page.waitForURL(`${base}/documentation/docs/keeping-in-step.md`);

    expect(visit).toMatchObject({ outside: [], errors: [] });
    expect(failed).toEqual([]);
  });
});

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
