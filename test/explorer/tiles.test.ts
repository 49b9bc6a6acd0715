/** The map's tiles in a PMTiles file of the operator, which the service serves by ranges, and a real browser draws. */
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
import { describeInChromium, enterKey, look, usePages } from '../support/browser.ts';
import { listen, useSharedService } from '../support/service.ts';

const varint = (value: number): number[] => (value < 128 ? [value] : [(value % 128) + 128, ...varint(value >> 7)]);

/** A file of version 3 with one tile: the whole world, uncompressed. */
function pmtiles(type: TileType, tile: Buffer): Buffer {
  const directory = Buffer.from([1, 0, 1, ...varint(tile.length), 1]);
  const metadata = Buffer.from('{}');
  const header = Buffer.alloc(127);
  header.write('PMTiles\u0003');
  let offset = header.length;
  for (const [at, { length }] of [
    [8, directory],
    [24, metadata],
    [40, []],
    [56, tile],
  ] as const) {
    header.writeBigUInt64LE(BigInt(offset), at);
    header.writeBigUInt64LE(BigInt(length), at + 8);
    offset += length;
  }
  // One tile, addressed, listed and stored; neither the directory nor the tile is compressed.
  for (const at of [72, 80, 88]) header.writeBigUInt64LE(1n, at);
  header.set([1, 1, 1, type], 96);
  for (const [at, degrees] of [-180, -85, 180, 85].entries()) header.writeInt32LE(degrees * 1e7, 102 + 4 * at);
  return Buffer.concat([header, directory, metadata, tile]);
}

const field = (number: number, content: number | Iterable<number>): number[] =>
  typeof content === 'number'
    ? [number * 8, ...varint(content)]
    : [number * 8 + 2, ...varint([...content].length), ...content];

/** A vector tile that is all water. */
function sea(): Buffer {
  const zigzag = (value: number) => varint(value < 0 ? -2 * value - 1 : 2 * value);
  const outline = [9, ...[0, 0].flatMap(zigzag), 26, ...[4096, 0, 0, 4096, -4096, 0].flatMap(zigzag), 15];
  const feature = [...field(3, 3), ...field(4, outline)];
  const layer = [...field(1, Buffer.from('water')), ...field(2, feature), ...field(5, 4096), ...field(15, 2)];
  return Buffer.from(field(3, layer));
}

const red = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC',
  'base64',
);

const folder = mkdtempSync(join(tmpdir(), 'yardgraph-tiles-'));
afterAll(() => rmSync(folder, { recursive: true }));

function pipe(name: string): string {
  const path = join(folder, name);
  execFileSync('mkfifo', [path]);
  return path;
}

function write(name: string, content: Buffer | string): string {
  const path = join(folder, name);
  writeFileSync(`${path}.new`, content);
  renameSync(`${path}.new`, path);
  return path;
}

const raster = pmtiles(TileType.Png, red);
const rasterPath = write('raster.pmtiles', raster);
const vectorPath = write('vector.pmtiles', pmtiles(TileType.Mvt, sea()));
const file = '/pages/map.pmtiles';

describe('a PMTiles file', () => {
  const path = write('served.pmtiles', raster);
  const service = useSharedService({ MAP_TILES: `${path} © "Map" makers` }, { closed: true });

  test('is served by ranges, and nothing else may be loaded', async () => {
    const part = await service.get(file, { range: 'bytes=0-6' });
    expect([part.status, part.text, part.headers['content-range']]).toEqual([
      206,
      'PMTiles',
      `bytes 0-6/${raster.length}`,
    ]);
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
    write('served.pmtiles', pmtiles(TileType.Mvt, sea()));
    expect(await read()).toEqual(sea());
  });

  test.each([
    [join(folder, 'none.pmtiles'), 'cannot be read (ENOENT)'],
    [write('text.pmtiles', 'a text'), 'is no PMTiles file of version 3'],
    [pipe('pipe.pmtiles'), 'is no file'],
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

/** The colour in the middle of the map, from a picture of one pixel. */
async function color(page: Page): Promise<number[]> {
  const box = await page.locator('place-map').boundingBox();
  const { x, y, width, height } = box ?? { x: 0, y: 0, width: 0, height: 0 };
  const shot = await page.screenshot({ clip: { x: x + width / 2, y: y + height / 2, width: 1, height: 1 } });
  // Its chunks of compressed data, which are one stream.
  const parts: Buffer[] = [];
  for (let at = shot.indexOf('IDAT'); at > 0; at = shot.indexOf('IDAT', at + 4))
    parts.push(shot.subarray(at + 4, at + 4 + shot.readUInt32BE(at - 4)));
  return [...inflateSync(Buffer.concat(parts)).subarray(1, 4)];
}

describeInChromium('the map draws from a PMTiles file', () => {
  const services = [rasterPath, vectorPath].map((path) =>
    useSharedService({ MAP_TILES: `${path} © "Map" makers` }, { closed: true }),
  );
  const newPage = usePages();

  test.each([
    ['pictures', 0, [255, 0, 0]],
    ['lines and areas', 1, [128, 222, 234]],
  ] as const)('%s, and asks no other server', async (name, index, expected) => {
    const service = services[index] as (typeof services)[number];
    const origin = await listen(service.app);
    const key = await service.key({ workspace: 'default', user: 'dispatcher' });
    const { page, visit } = await newPage(origin);
    await page.goto(`${origin}/explore?kind=Location&view=map#9/40/-30`);
    await enterKey(page, key);
    await page.getByText('© "Map" makers').waitFor();
    await expect.poll(() => color(page)).toEqual(expected);
    await look(page, `explorer-map-${name.replaceAll(' ', '-')}`);
    expect(visit).toMatchObject({ outside: [], errors: [] });
  });
});
