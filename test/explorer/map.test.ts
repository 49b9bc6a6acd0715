/** The map of locations and the tree of categories in a real browser. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { fillDemo } from '../../src/demo/fill.ts';
import { barriers, describeInChromium, enterKey, look, usePages } from '../support/browser.ts';
import { listen, useSharedService } from '../support/service.ts';

const map = '/explore?kind=Location&view=map';

const heading = (page: Page, name: string, level = 1) =>
  page.getByRole('heading', { level, name, exact: true }).waitFor();

/** Clicks on what is in the middle of the map, until it has been drawn. */
const clickUntil = (page: Page, isSeen: () => unknown) =>
  expect
    .poll(
      async () => {
        await page.locator('place-map canvas').click();
        await page.waitForTimeout(1_000);
        return isSeen();
      },
      { timeout: 30_000 },
    )
    .toBe(true);

const tile = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);

describeInChromium('the map of locations', () => {
  const demo = useSharedService();
  const odd = useSharedService();
  const tiled = useSharedService(
    { MAP_TILES: 'https://tiles.example.com/{z}/{x}/{y}.png?style=a&copy=1 © "Tile" makers' },
    { closed: true },
  );
  const newPage = usePages();
  beforeAll(() => fillDemo(demo.database));

  test('says what is at a location, and leads to its record', async () => {
    const { page, visit, origin } = await newPage(demo, '/explore');
    await heading(page, 'Overview');
    expect(visit.requests.filter((url) => /map|countries/.test(url))).toEqual([]);
    await page.getByRole('link', { name: 'Map of locations' }).click();

    await page.getByText('14 of 14 locations have coordinates.').waitFor();
    await page.locator('place-map canvas').waitFor();
    expect(await barriers(page)).toEqual([]);
    await look(page, 'explorer-map');
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.goto('about:blank');
    await page.goto(`${origin}${map}#11/54.3668/10.1431`);
    const popup = page.locator('.maplibregl-popup');
    await clickUntil(page, () => popup.getByText(/assets: \d+, work orders: \d+/).isVisible());
    expect(await barriers(page)).toEqual([]);
    await look(page, 'explorer-map-popup');
    await popup.getByRole('link', { name: 'Kiel lock' }).press('Enter');
    await heading(page, 'Kiel lock');
    expect(visit).toMatchObject({ outside: [], errors: [] });
  });

  test('zooms to what is in a cluster, lists those on one spot, and coordinates that look wrong, live', async () => {
    const { page, origin } = await newPage(odd);
    const bremen = { latitude: 53.08, longitude: 8.8 };
    await odd.create(
      '/locations',
      ...['One', 'Two'].map((name) => ({ name, ...bremen })),
      { name: 'Zero', latitude: 0, longitude: 0 },
      { name: 'Pole', latitude: 89, longitude: 8 },
      { name: 'Exchanged', latitude: 8.8, longitude: 53.08 },
      { name: 'Nowhere' },
    );
    await page.goto(`${origin}${map}#9/53.08/8.8`);
    await page.getByText('5 of 6 locations have coordinates.').waitFor();
    await page.getByText('live', { exact: true }).waitFor();
    await odd.create('/locations', { name: 'Three', ...bremen });
    await page.getByText('6 of 7 locations have coordinates.').waitFor();
    await heading(page, 'Coordinates to check', 2);
    for (const problem of [
      '0, 0: 0/0 is in the sea',
      '89, 8: too near to a pole for the map',
      '8.8, 53.08: latitude and longitude look exchanged',
    ])
      await page.getByText(problem).last().waitFor();

    // Where the map has been moved to is in the address.
    await clickUntil(page, () => page.url().includes('#15/53.08'));
    const three = page.locator('.maplibregl-popup').getByRole('link', { name: 'Three' });
    await clickUntil(page, () => three.isVisible());
    await three.click();
    await heading(page, 'Three');
  });

  test('says so where the browser cannot draw', async () => {
    const { page, visit, origin } = await newPage(demo);
    await page.addInitScript('HTMLCanvasElement.prototype.getContext = () => null');
    await page.goto(origin + map);
    await page.getByText('This browser cannot draw the map').waitFor();
    expect(visit.errors).toEqual([]);
  });

  test('draws the tiles of the operator, whose server does not get the key', async () => {
    const origin = await listen(tiled.app);
    const key = await tiled.key({ workspace: 'default', user: 'dispatcher' });
    const { page, visit } = await newPage(origin);
    const asked: Record<string, string>[] = [];
    await page.route('https://tiles.example.com/**', async (route) => {
      asked.push(await route.request().allHeaders());
      await route.fulfill({ contentType: 'image/png', headers: { 'access-control-allow-origin': '*' }, body: tile });
    });
    await page.goto(origin + map);
    await enterKey(page, key);
    await page.getByText('© "Tile" makers').waitFor();
    await expect.poll(() => asked.length).toBeGreaterThan(0);
    expect([asked[0]?.authorization, asked[0]?.referer]).toEqual([undefined, `${origin}/`]);
    const isTile = (url: string) => /^https:\/\/tiles\.example\.com\/\d+\/\d+\/\d+\.png\?style=a&copy=1$/.test(url);
    expect(visit.outside.filter((url) => !isTile(url))).toEqual([]);
    expect(visit.errors).toEqual([]);
  });
});

describeInChromium('the tree of categories', () => {
  const service = useSharedService();
  const newPage = usePages();
  beforeAll(() => fillDemo(service.database));

  test('opens and closes by keyboard, keeps what is open in its address, and shows what changes', async () => {
    const { page, visit } = await newPage(service, '/explore?kind=AssetCategory');
    await page.getByRole('link', { name: 'Tree', exact: true }).click();
    await page.getByRole('link', { name: '2 below Compaction' }).press('Enter');
    await page.getByRole('link', { name: '1 below Rollers' }).press('Enter');
    const third = page.locator('main li li li');
    await third.waitFor();
    expect(await barriers(page)).toEqual([]);
    await look(page, 'explorer-tree');

    await page.reload();
    await third.waitFor();
    const [parentId] = new URL(page.url()).searchParams.get('open')?.split(',') ?? [];
    await page.getByText('live', { exact: true }).waitFor();
    await service.create('/asset-categories', { name: 'Plates', parentId });
    await page.locator('main li li').getByRole('link', { name: 'Plates' }).waitFor();
    await page.getByRole('link', { name: '3 below Compaction', expanded: true }).press('Enter');
    await third.waitFor({ state: 'detached' });
    expect(await page.locator('main li li').count()).toBe(0);
    await page.getByRole('link', { name: 'Compaction', exact: true }).press('Enter');
    await heading(page, 'Compaction');
    expect(visit).toMatchObject({ outside: [], errors: [] });
  });
});
