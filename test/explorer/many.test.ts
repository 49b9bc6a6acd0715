/** The views of the explorer on 100,000 records: what each of them asks and gets for what is on the screen. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { describeInChromium, useBrowser, usePages } from '../support/browser.ts';
import { listen, useSharedService } from '../support/service.ts';

const numbers = (length: number): number[] => Array.from({ length }, (_, number) => number);

/**
 * Counts what the page asks of GraphQL, and the kilobytes of the responses. The feed is not connected: when it is, what has changed meanwhile
 * is read again.
 */
async function count(page: Page) {
  await page.route('**/graphql', (route) =>
    route.request().postData()?.includes('subscription') ? route.abort() : route.continue(),
  );
  const lengths: Promise<number>[] = [];
  page.on('response', (response) => {
    if (!response.url().endsWith('/graphql')) return;
    const length = response.body().then((body) => body.length);
    // What comes after a test has ended is not read to its end: its page is closed.
    length.catch(() => {});
    lengths.push(length);
  });
  return async () => {
    const bytes = (await Promise.all(lengths)).reduce((sum, length) => sum + length, 0);
    return { requests: lengths.length, kilobytes: Math.ceil(bytes / 1_024) };
  };
}

describeInChromium('on 100,000 records', () => {
  const browser = useBrowser();
  const service = useSharedService();
  const newPage = usePages(browser);
  let yards: { readonly id: string }[];
  let parents: { readonly id: string }[];

  beforeAll(async () => {
    const createAll = async (path: string, items: readonly object[]) => {
      const parts = numbers(items.length / 1_000).map((part) => items.slice(part * 1_000, part * 1_000 + 1_000));
      return (await Promise.all(parts.map((part) => service.create(path, ...part)))).flat();
    };
    const statuses = numbers(7).map((number) => ({ key: `STATUS:status-${number}`, name: `Status ${number}` }));
    await service.create('/labels', ...statuses);
    parents = await service.create('/asset-categories', ...numbers(100).map((number) => ({ name: `Class ${number}` })));
    await createAll(
      '/asset-categories',
      numbers(1_000).map((number) => ({ name: `Sort ${number}`, parentId: parents[number % 100]?.id })),
    );
    yards = await createAll(
      '/locations',
      numbers(24_000).map((number) => ({
        name: `Yard ${number}`,
        latitude: 47 + (number % 800) / 100,
        longitude: 6 + (number % 90) / 10,
      })),
    );
    const statusOf = (number: number) => `status-${number % 7}`;
    const yardOf = (number: number) => yards[number % 50]?.id;
    await createAll(
      '/assets',
      numbers(45_000).map((number) => ({
        name: `Crane ${number}`,
        uid: `C-${number}`,
        statusId: statusOf(number),
        currentLocationId: yardOf(number),
      })),
    );
    await createAll(
      '/work-orders',
      numbers(30_000).map((number) => ({
        name: `Lift ${number}`,
        statusId: statusOf(number),
        locationId: yardOf(number),
        startDate: new Date(Date.UTC(2026, number % 12, 1 + (number % 28))).toISOString(),
      })),
    );
  }, 120_000);

  const rows = 'main tbody tr';

  /** The address, what it says, its items on the screen, and the most requests and kilobytes for them. */
  test.each([
    ['the overview', '', '45,000 assets', '.bars li', 7 + 12 + 7 + 12 + 12, 8, 8],
    ['a table', 'kind=Asset', '45,000 assets', rows, 50, 3, 18],
    ['a table in another order', 'kind=Asset&sort=-name', '45,000 assets', rows, 50, 3, 18],
    ['a search', 'kind=WorkOrder&search=lift+29999', '1 work order', rows, 1, 3, 1],
    ['a filter', 'kind=WorkOrder&filter=statusId.eq:status-3', '4,286 work orders', rows, 50, 3, 18],
    ['a record', 'kind=Location&id=YARD', 'All 900', rows, 20, 2, 12],
    ['the tree', 'kind=AssetCategory&view=tree', 'Class 99', 'main li', 100, 2, 16],
    ['the map', 'kind=Location&view=map', 'The map has the first 20,000.', 'place-map canvas', 1, 23, 2_600],
  ] as const)('%s is read by few requests', async (_, address, text, items, shown, requests, kilobytes) => {
    const origin = await listen(service.app);
    const { page, visit } = await newPage(origin);
    const asked = await count(page);
    await page.goto(`${origin}/explore?${address.replace('YARD', yards[0]?.id ?? '')}`);
    await page.getByText(text).first().waitFor();
    await expect.poll(() => page.locator(items).count(), { timeout: 30_000 }).toBe(shown);

    const { requests: own, kilobytes: read } = await asked();
    expect(own).toBeLessThanOrEqual(requests);
    expect(read).toBeLessThanOrEqual(kilobytes);
    expect(visit.errors).toEqual([]);
  });
});
