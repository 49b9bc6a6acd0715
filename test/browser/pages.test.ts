/** All pages in a real browser: they fit into its window, lead to each other, work behind a proxy, and load nothing from elsewhere. */
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { routes } from '../../src/rest/routes.ts';
import { describeInChromium, execute, executeUntil, look, openOperation, usePages } from '../support/browser.ts';
import { createFile } from '../support/database.ts';
import { listen, startService, useSharedService } from '../support/service.ts';

describeInChromium('the pages', () => {
  const open = useSharedService();
  const closed = useSharedService({ EXPLORER: 'off' }, { closed: true });
  const newPage = usePages();

  test('fit into 1280 and 420 pixels, light and dark', async () => {
    const { page, visit, origin } = await newPage(closed);

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

/** Each test is one walk through the page, which takes seconds to open. */
describeInChromium('the reference', () => {
  const service = useSharedService();
  const newPage = usePages();

  test('executes examples unchanged, and again, and fits into its window, light and dark', async () => {
    const { page, visit, origin } = await newPage(service);
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

describeInChromium('EventSource', () => {
  const newPage = usePages();

  /** Opens an EventSource in the page, which keeps what it gets in \`window.received\`. */
  const script = `(query) => {
    window.received = [];
    const source = new EventSource('/graphql?query=' + encodeURIComponent(query));
    source.addEventListener('next', ({ data, lastEventId }) => {
      const { nodes } = JSON.parse(data).data.changes;
      window.received.push({ lastEventId, cursors: nodes.map(({ cursor }) => cursor) });
    });
    source.addEventListener('complete', () => source.close());
    return new Promise((resolve) => source.addEventListener('open', () => resolve(true)));
  }`;
  const query = 'subscription { changes { nodes { cursor } } }';

  test('gets each change once, also what was changed while the service was away', async () => {
    const { url, remove } = await createFile();
    const first = await startService({ DATABASE_URL: url });
    const { page, origin } = await newPage(first, '/');
    await page.evaluate(`(${script})(${JSON.stringify(query)})`);
    await first.create('/assets', { name: 'Crane' });
    await expect.poll(() => page.evaluate('window.received')).toHaveLength(1);

    await first.stop();
    const second = await startService({ DATABASE_URL: url });
    await second.create('/assets', { name: 'Pump' }, { name: 'Lift' });
    await second.app.listen({ port: Number(new URL(origin).port), host: '127.0.0.1' });

    await expect
      .poll(() => page.evaluate('window.received'))
      .toEqual([
        { lastEventId: '1', cursors: ['1'] },
        { lastEventId: '3', cursors: ['2', '3'] },
      ]);
    await page.close();
    await second.stop();
    await remove();
  });
});
