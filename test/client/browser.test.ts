/** The client in a real browser, from the package's own files, without a bundler. */
import { expect, test } from 'vitest';
import { describeInChromium, useBrowser, usePages } from '../support/browser.ts';
import { listen, useSharedService } from '../support/service.ts';

describeInChromium('in Chromium', () => {
  const browser = useBrowser();
  const service = useSharedService();
  const newPage = usePages(browser);

  test('it creates, updates, lists and queries, follows no redirect, and sends a write that may be stored again with its key', async () => {
    const origin = await listen(service.app);
    const { page } = await newPage(origin);
    // The service rejects requests from pages of other origins, so the test page is served from its own origin.
    await page.route(`${origin}/page/**`, async (route) => {
      const name = new URL(route.request().url()).pathname.replace('/page/', '');
      if (name === '') await route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>A page</title>' });
      else await route.fulfill({ path: `client/dist/esm/${name}` });
    });
    await page.goto(`${origin}/page/`);
    /** Runs the body of an async function on the page. */
    const run = (code: string): Promise<unknown> =>
      page.evaluate(`(async () => {
        const { Yardgraph } = await import('/page/index.js');
        const yardgraph = new Yardgraph({ serverURL: '/', apiKeyAuth: 'key' });
        ${code}
      })()`);

    expect(
      await run(`
        const [project] = await yardgraph.projects.create([{ name: 'Bridge', notes: 'steel' }]);
        const changed = await yardgraph.projects.update(project.id, { notes: null });
        const categories = await yardgraph.assetCategories.list();
        const { projects } = await yardgraph.graphql('{ projects { nodes { name notes } } }');
        return { changed: Object.keys(changed).includes('notes'), categories, nodes: projects.nodes };`),
    ).toEqual({ changed: false, categories: [], nodes: [{ name: 'Bridge', notes: null }] });

    const keys: unknown[] = [];
    await page.route(`${origin}/locations`, async (route) => {
      keys.push(route.request().headers()['idempotency-key']);
      await route.abort('connectionrefused');
    });
    await page.route(`${origin}/assets`, (route) => route.fulfill({ status: 302, headers: { location: '/healthz' } }));
    expect(
      await run(`
        const caught = (error) => error.name + ' ' + error.mayBeStored;
        const { assets, locations } = yardgraph;
        return [await locations.create([{}]).catch(caught), await assets.create([{ name: 'a' }]).catch(caught)];`),
    ).toEqual(['ConnectionError true', 'UnexpectedResponseError false']);
    expect(keys).toEqual(Array(4).fill(expect.stringMatching(/^[0-9a-f]{32}$/)));
    expect(new Set(keys).size).toBe(1);
  });
});
