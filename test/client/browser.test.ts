/** The client in a real browser, from the package's own files, without a bundler. */
import { existsSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useSharedService } from '../support/service.ts';

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
const hasBrowser = existsSync(executablePath);

// On CI a missing browser is a failure, not a reason to skip these tests.
describe.runIf(hasBrowser || process.env.CI)('in Chromium', () => {
  const service = useSharedService();
  let browser: Browser;
  let page: Page;
  let origin: string;

  /** The service rejects requests from pages of other origins, so the test page is served from its own origin. */
  beforeAll(async () => {
    await service.app.listen({ port: 0, host: '127.0.0.1' });
    origin = `http://127.0.0.1:${(service.app.server.address() as AddressInfo).port}`;
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
    page = await browser.newPage();
    await page.route(`${origin}/page/**`, async (route) => {
      const name = new URL(route.request().url()).pathname.replace('/page/', '');
      if (name === '') await route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>A page</title>' });
      else await route.fulfill({ path: `client/dist/esm/${name}` });
    });
    await page.goto(`${origin}/page/`);
  });

  afterAll(() => browser?.close());

  /** Runs the body of an async function on the page. */
  const run = (code: string): Promise<unknown> =>
    page.evaluate(`(async () => {
      const { Yardgraph, ...errors } = await import('/page/index.js');
      ${code}
    })()`);

  test('it creates, updates, lists and queries', async () => {
    const result = await run(`
      const yardgraph = new Yardgraph({ serverURL: '/', apiKeyAuth: 'key' });
      const [project] = await yardgraph.projects.create([{ name: 'Bridge', notes: 'steel' }]);
      const changed = await yardgraph.projects.update(project.id, { notes: null });
      const categories = await yardgraph.assetCategories.list();
      const { projects } = await yardgraph.graphql('{ projects { nodes { name notes } } }');
      return { changed: Object.keys(changed).includes('notes'), categories, nodes: projects.nodes };
    `);

    expect(result).toEqual({ changed: false, categories: [], nodes: [{ name: 'Bridge', notes: null }] });
  });

  test('it follows no redirect, and sends a write that may be stored again, with its key', async () => {
    const keys: unknown[] = [];
    await page.route(`${origin}/locations`, async (route) => {
      keys.push(route.request().headers()['idempotency-key']);
      await route.abort('connectionrefused');
    });
    await page.route(`${origin}/assets`, (route) => route.fulfill({ status: 302, headers: { location: '/healthz' } }));

    const result = await run(`
      const { assets, locations } = new Yardgraph({ serverURL: '/' });
      const caught = (error) => error.name + ' ' + error.mayBeStored;
      return [await locations.create([{}]).catch(caught), await assets.create([{ name: 'a' }]).catch(caught)];
    `);

    expect(result).toEqual(['ConnectionError true', 'UnexpectedResponseError false']);
    expect(keys).toEqual(Array(4).fill(expect.stringMatching(/^[0-9a-f]{32}$/)));
    expect(new Set(keys).size).toBe(1);
  });
});
