/** The map of locations: the tiles of the operator over HTTP, and what a real browser draws. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import Fastify from 'fastify';
import type { Page } from 'playwright-core';
import { PMTiles, TileType } from 'pmtiles';
import { afterAll, describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { StartError } from '../../src/errors.ts';
import { serveExplorer } from '../../src/pages/key-pages.ts';
import { barriers, describeInChromium, enterKey, look, usePages } from '../support/browser.ts';
import { listen, useSharedService } from '../support/service.ts';

const folder = mkdtempSync(join(tmpdir(), 'yardgraph-tiles-'));
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, content: Buffer | string): string {
  const path = join(folder, name);
  writeFileSync(`${path}.new`, content);
  renameSync(`${path}.new`, path);
  return path;
}

function pipe(name: string): string {
  const path = join(folder, name);
  execFileSync('mkfifo', [path]);
  return path;
}

/** A file of version 3 with one tile, of less than 128 bytes: the whole world. Neither the directory nor the tile is compressed. */
function pmtiles(type: TileType, tile: Buffer): Buffer {
  const directory = Buffer.from([1, 0, 1, tile.length, 1]);
  const metadata = Buffer.from('{}');
  const header = Buffer.alloc(127);
  header.write('PMTiles\u0003');
  const afterDirectory = header.length + directory.length;
  const afterMetadata = afterDirectory + metadata.length;
  // Where each part is, and its length, without leaves; then the numbers of tiles that are addressed, listed and stored.
  const parts = [header.length, directory.length, afterDirectory, metadata.length, 0, 0, afterMetadata, tile.length];
  for (const [index, value] of [...parts, 1, 1, 1].entries()) header.writeBigUInt64LE(BigInt(value), 8 + 8 * index);
  header.set([1, 1, 1, type], 96);
  for (const [at, degrees] of [-180, -85, 180, 85].entries()) header.writeInt32LE(degrees * 1e7, 102 + 4 * at);
  return Buffer.concat([header, directory, metadata, tile]);
}

const red = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC',
  'base64',
);
/** A vector tile with one polygon in the layer `water`, which fills it. */
const sea = Buffer.from('GiAKBXdhdGVyEhIYAyIOCQAAGoBAAACAQP8/AA8ogCB4Ag==', 'base64');
const [raster, vector] = [pmtiles(TileType.Png, red), pmtiles(TileType.Mvt, sea)];
const file = '/pages/map.pmtiles';

describe('a PMTiles file', () => {
  const path = write('served.pmtiles', raster);
  const service = useSharedService({ MAP_TILES: path }, { closed: true });

  test('is served by ranges, and nothing else may be loaded', async () => {
    const part = await service.get(file, { range: 'bytes=0-6' });
    const range = `bytes 0-6/${raster.length}`;
    expect([part.status, part.text, part.headers['content-range']]).toEqual([206, 'PMTiles', range]);
    expect(part.headers['cache-control']).toBe('no-store');
    const whole = await service.get(file, { 'accept-encoding': 'gzip, br' });
    expect([whole.status, whole.headers['content-length']]).toEqual([200, String(raster.length)]);
    expect(whole.headers['content-encoding']).toBeUndefined();
    expect((await service.get(file, { range: 'bytes=100000-' })).status).toBe(416);
    for (const suffix of [3, raster.length, raster.length + 1]) {
      const { status, headers } = await service.get(file, { range: `bytes=-${suffix}` });
      expect([status, Number(headers['content-length'])]).toEqual([206, Math.min(suffix, raster.length)]);
    }
    const page = await service.get('/explore', { accept: 'text/html' });
    expect(page.headers['content-security-policy']).not.toContain('http');
    expect(page.headers['referrer-policy']).toBe('no-referrer');
    expect(page.text).not.toContain(folder);
  });

  test('may be missing for a while, and be replaced: who has read the old one gets the tiles of the new one', async () => {
    const archive = new PMTiles(`${await listen(service.app)}${file}`);
    const read = async () => Buffer.from((await archive.getZxy(0, 0, 0))?.data ?? new ArrayBuffer(0));
    expect(await read()).toEqual(red);
    rmSync(path);
    const missing = await service.get(file);
    expect([missing.status, missing.body]).toEqual([404, { error: 'the file of the tiles is missing', code: '404' }]);
    write('served.pmtiles', vector);
    expect(await read()).toEqual(sea);
  });

  test.each([
    [join(folder, 'none.pmtiles'), 'cannot be read (ENOENT)'],
    [write('text.pmtiles', 'a text'), 'is not a PMTiles file of version 3'],
    [pipe('pipe.pmtiles'), 'is not a file'],
  ])('at %s ends the start', (source, problem) => {
    const { mapTiles, graphiql, limits } = loadConfig({ MAP_TILES: source });
    expect(() => serveExplorer(Fastify(), { mapTiles, graphiql, limits })).toThrow(
      new StartError(`MAP_TILES: ${source} ${problem}`),
    );
  });

  test.each(['/data/germany.mbtiles', 'https://tiles.example.com/map', 'ftp://example.com/a.pmtiles', '.pmtiles'])(
    'is not %s',
    (source) => {
      expect(() => loadConfig({ MAP_TILES: source })).toThrow(/^MAP_TILES: expected a URL with \{z\}, \{x\} and \{y\}/);
    },
  );

  test('may be on another server, which the page may ask', async () => {
    const { mapTiles, graphiql, limits } = loadConfig({ MAP_TILES: 'https://tiles.example.com/a/b.pmtiles © Makers' });
    const app = Fastify();
    serveExplorer(app, { mapTiles, graphiql, limits });
    const { headers, body } = await app.inject('/explore');
    expect(headers['content-security-policy']).toContain("connect-src 'self' https://tiles.example.com;");
    expect(body).toContain('data-map-tiles="https://tiles.example.com/a/b.pmtiles" data-map-credit="© Makers"');
    expect((await app.inject(file)).statusCode).toBe(404);
  });
});

/** The colour of a pixel of the map, which is in its middle or on the left of it, from a picture of it. */
async function color(page: Page, left = 0): Promise<number[]> {
  const box = await page.locator('place-map').boundingBox();
  const { x, y, width, height } = box ?? { x: 0, y: 0, width: 0, height: 0 };
  const shot = await page.screenshot({ clip: { x: x + width / 2 - left, y: y + height / 2, width: 1, height: 1 } });
  // Its chunks of compressed data, which are one stream.
  const parts: Buffer[] = [];
  for (let at = shot.indexOf('IDAT'); at > 0; at = shot.indexOf('IDAT', at + 4))
    parts.push(shot.subarray(at + 4, at + 4 + shot.readUInt32BE(at - 4)));
  return [...inflateSync(Buffer.concat(parts)).subarray(1, 4)];
}

/** To draw a large map takes seconds of the processor. */
const small = { width: 480, height: 500 };

describeInChromium('the map of locations', () => {
  const map = '/explore?kind=Location&view=map';
  const service = useSharedService();
  const credit = '© "Map" makers';
  const path = write('drawn.pmtiles', raster);
  const filed = useSharedService({ MAP_TILES: `${path} ${credit}` }, { closed: true });
  const tileServer = 'https://tiles.example.com/{z}/{x}/{y}.png?style=a&copy=1';
  const tiled = useSharedService({ MAP_TILES: `${tileServer} ${credit}` }, { closed: true });
  const newPage = usePages();

  test('has what is at a place, zooms to what is in a cluster, and lists coordinates that look wrong, live', async () => {
    const bremen = { latitude: 53.08, longitude: 8.8 };
    await service.create(
      '/locations',
      ...['One', 'Two'].map((name) => ({ name, ...bremen })),
      { name: 'Zero', latitude: 0, longitude: 0 },
      { name: 'Pole', latitude: 89, longitude: 8 },
      { name: 'Exchanged', latitude: 8.8, longitude: 53.08 },
      { name: 'Nowhere' },
    );
    const { page, visit, origin } = await newPage(service);
    await page.setViewportSize(small);
    await page.goto(`${origin}/explore?kind=Location`);
    const link = page.getByRole('link', { name: 'Map', exact: true });
    await link.waitFor();
    expect(visit.requests.filter((url) => /map|countries/.test(url))).toEqual([]);
    await page.evaluate('HTMLCanvasElement.prototype.getContext = () => null');
    await link.click();
    await page.getByText('This browser cannot draw the map').waitFor();

    await page.goto('about:blank');
    await page.goto(`${origin}${map}#9/53.08/8.8`);
    await page.getByText('5 locations').waitFor();
    await page.getByText('live', { exact: true }).waitFor();
    await page.getByRole('columnheader', { name: 'Coordinates to check' }).waitFor();
    for (const problem of [
      '0, 0: 0/0 is in the sea',
      '89, 8: too near to a pole for the map',
      '8.8, 53.08: latitude and longitude look exchanged',
    ])
      await page.getByText(problem).last().waitFor();

    // A cluster is larger than a place.
    const [blue, inCluster] = [[42, 114, 184], 12];
    await expect.poll(() => color(page, inCluster)).toEqual(blue);
    await page.locator('place-map canvas').click();
    // Where the map has been moved to is in the address.
    await page.waitForURL(/#15\/53\.08/);
    await expect.poll(() => color(page, inCluster)).not.toEqual(blue);
    await expect.poll(() => color(page)).toEqual(blue);
    // A pixel is this part of a degree there.
    await service.create('/locations', {
      name: 'Three',
      ...bremen,
      longitude: bremen.longitude - (40 * 360) / 2 ** 24,
    });
    await expect.poll(() => color(page, 40)).toEqual(blue);
    await page.getByText('6 locations').waitFor();
    expect(await page.getByRole('link', { name: '1 without coordinates' }).getAttribute('href')).toContain(
      'latitude.isNull',
    );
    const canvas = page.locator('place-map canvas');
    const popup = page.locator('.maplibregl-popup');
    await canvas.press('Enter');
    // It does not cover its point.
    const text = await popup.locator('.maplibregl-popup-content').boundingBox();
    const whole = await page.locator('place-map').boundingBox();
    expect((text?.y ?? 0) + (text?.height ?? 0)).toBeLessThan((whole?.y ?? 0) + (whole?.height ?? 0) / 2 - 7);
    await popup.press('Escape');
    await popup.waitFor({ state: 'detached' });
    // Also of places that are not in the middle.
    for (const key of ['ArrowRight', 'Enter']) await canvas.press(key);
    await popup.getByText('0 assets, 0 work orders').first().waitFor();
    expect(await barriers(page)).toEqual([]);
    await look(page, 'explorer-map');
    await popup.getByRole('link', { name: 'Two' }).press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Two' }).waitFor();
    await page.getByRole('link', { name: 'On the map' }).click();
    await page.waitForURL(/view=map#15\/53\.08\/8\.8$/);
    await expect.poll(() => color(page)).toEqual(blue);

    // A cluster that somebody has opened stays open where the map would otherwise show all places again.
    await page.goto('about:blank');
    await page.goto(`${origin}${map}`);
    await page.waitForURL(/#12\/53\.08/);
    const zoomIn = async () => {
      await canvas.press('Enter');
      return page.url();
    };
    await expect.poll(zoomIn).toMatch(/#1[3-6]\//);
    await service.create('/locations', { name: 'Four', latitude: 53.1, longitude: 8.8 });
    await page.getByText('7 locations', { exact: true }).waitFor();
    expect(page.url()).toMatch(/#1[3-6]\//);
    // The way back to all, and from afar to all places of a cluster.
    await page.getByRole('button', { name: 'All locations' }).click();
    await page.waitForURL(/#12\/53\.09/);
    // Its position in the address is no other page. What has changed was counted before.
    await page.locator('#side a', { hasText: /^Locations\s+8$/ }).waitFor({ state: 'attached' });
    const reads: string[] = [];
    page.on('request', (request) => request.url().endsWith('/graphql') && reads.push(request.url()));
    await page.evaluate('history.replaceState(history.state, "", location.href)');
    await page.evaluate('new Promise((resolve) => setTimeout(resolve, 300))');
    expect(reads).toEqual([]);
    await page.goto('about:blank');
    await page.goto(`${origin}${map}#5/53.09/8.8`);
    await page.getByText('live', { exact: true }).waitFor();
    await expect.poll(() => color(page, 12)).toEqual(blue);
    await canvas.click();
    await page.waitForURL(/#1\d\.\d+\/53\.09/);
    expect(visit).toMatchObject({ outside: [], errors: [] });
  });

  test('draws pictures, lines and areas from a PMTiles file, and asks no other server', async () => {
    const { page, visit, origin } = await newPage(filed);
    await page.setViewportSize(small);
    await page.goto(`${origin}${map}#9/40/-30`);
    await enterKey(page, await filed.key({ workspace: 'default', user: 'dispatcher' }));
    await page.getByText(credit).waitFor();
    await expect.poll(() => color(page)).toEqual([255, 0, 0]);
    write('drawn.pmtiles', vector);
    await page.reload();
    await expect.poll(() => color(page)).toEqual([128, 222, 234]);
    await page.emulateMedia({ colorScheme: 'dark' });
    await expect.poll(() => color(page)).toEqual([49, 53, 63]);
    expect(visit).toMatchObject({ outside: [], errors: [] });
  });

  test('says what it cannot load', async () => {
    const { page, origin } = await newPage(service);
    await page.route('**/map.css', (route) => route.abort());
    await page.goto(origin + map);
    await page.getByText('This page could not be read: The styles of the map cannot be loaded.').waitFor();
  });

  test('draws the tiles of a server, which does not get the key', async () => {
    const { page, visit, origin } = await newPage(tiled);
    await page.setViewportSize(small);
    const asked: Record<string, string>[] = [];
    await page.route('https://tiles.example.com/**', async (route) => {
      asked.push(await route.request().allHeaders());
      await route.fulfill({ contentType: 'image/png', headers: { 'access-control-allow-origin': '*' }, body: red });
    });
    await page.goto(origin + map);
    await enterKey(page, await tiled.key({ workspace: 'default', user: 'dispatcher' }));
    await page.getByText(credit).waitFor();
    await expect.poll(() => color(page)).toEqual([255, 0, 0]);
    expect([asked[0]?.authorization, asked[0]?.referer]).toEqual([undefined, `${origin}/`]);
    const isTile = (url: string) => /^https:\/\/tiles\.example\.com\/\d+\/\d+\/\d+\.png\?style=a&copy=1$/.test(url);
    expect(visit.outside.filter((url) => !isTile(url))).toEqual([]);
    expect(visit.errors).toEqual([]);
  });
});
