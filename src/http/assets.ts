/** Files of the pages. They change their names with their content, so that browsers never ask twice, and are compressed once. */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { notFound } from '../errors.ts';
import { acceptedEncoding, addVary, type Encoding } from './compression.ts';

export interface Asset {
  /** Unique to this name and content. */
  readonly fileName: string;
  send(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply>;
}

/** A year, the longest time that caches keep anything. */
const forever = 'public, max-age=31536000, immutable';

/** Brotli's quality 11 takes twenty times as long for a tenth less, and the first browser waits for it. */
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

const encoders: Record<Encoding, (body: Buffer) => Promise<Buffer>> = {
  br: (body) => promisify(brotliCompress)(body, brotliOptions),
  gzip: (body) => promisify(gzip)(body),
};

export function createAsset(name: string, extension: 'css' | 'js', text: string): Asset {
  const content = Buffer.from(text);
  const type = `text/${extension === 'js' ? 'javascript' : extension}; charset=utf-8`;
  const hash = createHash('sha256').update(content).digest('base64url').slice(0, 16);
  /** Kept for later requests, and shared by those that come meanwhile. */
  const encoded: Partial<Record<Encoding, Promise<Buffer>>> = {};
  return {
    fileName: `${name}-${hash}.${extension}`,
    async send(request, reply) {
      const encoding = acceptedEncoding(request.headers['accept-encoding']);
      reply.type(type).header('cache-control', forever);
      if (encoding === undefined) return reply.send(content);
      encoded[encoding] ??= encoders[encoding](content);
      addVary(reply, 'Accept-Encoding');
      return reply.header('content-encoding', encoding).send(await encoded[encoding]);
    },
  };
}

export const byFileName = (assets: readonly Asset[]): ReadonlyMap<string, Asset> =>
  new Map(assets.map((asset) => [asset.fileName, asset]));

/** Serves the files of a page in a folder. They are loaded with the first request. */
export function serveAssets(
  app: FastifyInstance,
  folder: string,
  load: () => Promise<ReadonlyMap<string, Asset>>,
): void {
  app.get<{ Params: { file: string } }>(`${folder}/:file`, async (request, reply) => {
    const asset = (await load()).get(request.params.file);
    if (!asset) throw notFound('there is nothing at this path', 'unknown path');
    return asset.send(request, reply);
  });
}
