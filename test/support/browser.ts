/** Chromium for the tests of the pages: opens pages, operates what is on them, and collects what a page must not do. */
import { existsSync, readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { type BrowserContext, chromium, type Locator, type Page } from 'playwright-core';
import { afterEach, beforeAll, describe, expect } from 'vitest';
import { isThorough } from './effort.ts';
import { listen } from './service.ts';

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
const hasBrowser = existsSync(executablePath);
if (!hasBrowser)
  console.warn(`No browser at ${executablePath}: the tests of the pages do not run. See .ci/run, or set CHROMIUM.`);

/**
 * A group of tests, each of which has the time for a long walk through pages on a busy machine. On CI a missing browser is a failure, not
 * a reason to leave them out.
 */
export const describeInChromium = (name: string, walks: () => void) =>
  describe.runIf(hasBrowser || process.env.CI)(name, { timeout: 600_000 }, walks);

/** Where screenshots are kept, to look at: they take as long as all else, so that only thorough runs make them. */
const screenshots = 'test-results';

const window = { width: 1280, height: 900 };

/**
 * Its pages share a process, and with it the scripts that have been compiled, which takes longer than all else. A page has its own session;
 * what it stores for longer is stored per service.
 */
async function launch(): Promise<BrowserContext> {
  const browser = await chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      // Maps are drawn without a graphics card.
      '--enable-unsafe-swiftshader',
      '--process-per-site',
      '--disable-quic',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-extensions',
      '--disable-sync',
    ],
  });
  const context = await browser.newContext({ viewport: window, reducedMotion: 'reduce' });
  context.setDefaultTimeout(120_000);
  // The process ends with its last page.
  await context.newPage();
  return context;
}

/** Ends with this process, which runs several files. */
let launched: Promise<BrowserContext> | undefined;

/**
 * Opens pages of a service, or below a URL, for single tests, in one browser for all tests of a process. To be called after `useService`,
 * which can stop only when no page is open any more.
 */
export function usePages() {
  let context: BrowserContext;
  beforeAll(async () => {
    launched ??= launch();
    context = await launched;
  });
  afterEach(async () => {
    for (const page of context.pages().slice(1)) await page.close();
  });

  /** A page at this path, if there is one, the URLs it requests that are not below the given one, and its errors. */
  return async (at: string | { readonly app: FastifyInstance }, path?: string) => {
    const origin = typeof at === 'string' ? at : await listen(at.app);
    const page = await context.newPage();
    const visit = { requests: [] as string[], outside: [] as string[], errors: [] as string[] };
    page.on('request', (request) => {
      const url = request.url();
      visit.requests.push(url);
      if (!url.startsWith(`${origin}/`) && !/^(?:data|blob):/.test(url)) visit.outside.push(url);
    });
    page.on('pageerror', (error) => visit.errors.push(error.message));
    page.on('console', (message) => {
      if (message.text().includes('Content Security Policy')) visit.errors.push(message.text());
    });
    if (path !== undefined) await page.goto(origin + path);
    return { page, visit, origin };
  };
}

/** Checks that what is open fits into a wide and a narrow window, of which one is light and one dark, and makes the window wide again. */
export async function look(page: Page, name: string): Promise<void> {
  for (const [width, colorScheme] of [
    [1280, 'light'],
    [420, 'dark'],
  ] as const) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    // Until the page has been drawn like this.
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))');
    if (isThorough) await page.screenshot({ path: `${screenshots}/${name}-${width}-${colorScheme}.png` });
    // GraphiQL and the reference scroll their content only.
    for (const selector of ['html', 'body > main, body > div > main, #reference'])
      expect(await page.locator(selector).evaluate((it) => it.scrollWidth)).toBeLessThanOrEqual(width);
  }
  await page.setViewportSize(window);
}

const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

/** What a screen reader or a keyboard would stumble over. */
export async function barriers(page: Page): Promise<unknown> {
  await page.evaluate(axe);
  return page.evaluate(`axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => [id, nodes[0].html]))`);
}

/** As if the computer were there. */
export async function moveTo(page: Page, timezoneId: string, locale = 'en-US'): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Emulation.setLocaleOverride', { locale });
  await devtools.send('Emulation.setTimezoneOverride', { timezoneId });
}

/** Enters a key into the dialog that asks for one. */
export async function enterKey(page: Page, key: string): Promise<void> {
  await page.getByRole('dialog').getByLabel('API key', { exact: true }).fill(key);
  await page.getByRole('dialog').getByRole('button', { name: 'Use this key' }).click();
}

/**
 * Presses GraphiQL's play button until the response shows the text: GraphiQL takes a moment after a change before it knows the
 * operation.
 */
export async function executeUntil(page: Page, text: string): Promise<Locator> {
  const response = page.getByRole('region', { name: /result/i });
  for (let attempt = 1; ; attempt += 1) {
    await page.getByRole('button', { name: /execute query/i }).click();
    try {
      await response.getByText(text).first().waitFor({ timeout: 1_000 });
      return response;
    } catch (error) {
      if (attempt === 20) throw error;
    }
  }
}

/** Shows an operation of the reference, ready to be executed. */
export async function openOperation(page: Page, method: string, path: string): Promise<Locator> {
  const block = page.locator(`.opblock-${method.toLowerCase()}`).filter({ has: page.locator(`[data-path="${path}"]`) });
  const tryItOut = block.getByRole('button', { name: 'Try it out' });
  const executeButton = block.getByRole('button', { name: 'Execute' });
  await block.waitFor();
  if ((await block.locator('.opblock-body').count()) === 0) await block.locator('.opblock-summary-control').click();
  await tryItOut.or(executeButton).first().waitFor();
  if (await tryItOut.isVisible()) await tryItOut.click();
  await executeButton.waitFor();
  return block;
}

/** Executes an operation of the reference as it is. Returns the status, which the page must show. */
export async function execute(block: Locator): Promise<number> {
  const page = block.page();
  const isOperation = (url: string) => !/\/graphql$|\/openapi\.json$/.test(url);
  const [response] = await Promise.all([
    page.waitForResponse((candidate) => isOperation(candidate.url())),
    block.getByRole('button', { name: 'Execute' }).click(),
  ]);
  await block.locator('.live-responses-table .response-col_status', { hasText: String(response.status()) }).waitFor();
  return response.status();
}
