/** Compression must not delay other requests. */
import { pipeline, Readable } from 'node:stream';
import { promisify } from 'node:util';
import {
  brotliCompress,
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createGzip,
  gzip,
  gzipSync,
} from 'node:zlib';
import type { FastifyInstance, FastifyReply } from 'fastify';

export type Encoding = 'br' | 'gzip';

const minBytes = 1_024;

/** Compressing so much takes 0.1 ms, less than handing it to another thread. */
const maxSyncBytes = 16_384;

/**
 * Concurrent long responses, on threads that SQLite needs too. Others are sent uncompressed: 64 clients of a list of
 * 1,000 records got 1.6 times as many responses as with all of them compressed.
 */
const maxConcurrent = 16;

const gzipOptions = { level: 1 };
/** 256 KB instead of 4 MB: the window stays in memory while a client reads slowly. */
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 3, [constants.BROTLI_PARAM_LGWIN]: 18 } };

export const codecs = {
  br: {
    sync: (body: Buffer) => brotliCompressSync(body, brotliOptions),
    async: (body: Buffer) => promisify(brotliCompress)(body, brotliOptions),
    stream: () => createBrotliCompress(brotliOptions),
  },
  gzip: {
    sync: (body: Buffer) => gzipSync(body, gzipOptions),
    async: (body: Buffer) => promisify(gzip)(body, gzipOptions),
    stream: () => createGzip(gzipOptions),
  },
};

export function acceptedEncoding(header: string | undefined): Encoding | undefined {
  if (!header) return undefined;
  const qualities = new Map<string, number>();
  for (const part of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim());
    const quality = parameters.find((parameter) => parameter.startsWith('q='));
    qualities.set(name === 'x-gzip' ? 'gzip' : name, quality === undefined ? 1 : Number(quality.slice(2)) || 0);
  }
  const qualityOf = (encoding: string) => qualities.get(encoding) ?? qualities.get('*') ?? 0;
  const best = qualityOf('gzip') > qualityOf('br') ? 'gzip' : 'br';
  const isPreferred = qualityOf(best) >= (qualities.get('identity') ?? 0);
  return qualityOf(best) > 0 && isPreferred ? best : undefined;
}

export function compressResponses(app: FastifyInstance): void {
  let running = 0;
  const end = () => {
    running -= 1;
  };

  async function compress(payload: unknown, encoding: Encoding): Promise<Buffer | Readable | undefined> {
    const codec = codecs[encoding];
    const body = isStream(payload) || Buffer.isBuffer(payload) ? payload : Buffer.from(String(payload));
    if (Buffer.isBuffer(body) && body.length <= maxSyncBytes) return codec.sync(body);
    if (running >= maxConcurrent) return undefined;
    running += 1;
    return Buffer.isBuffer(body) ? codec.async(body).finally(end) : pipeline(body, codec.stream(), end);
  }

  app.addHook('onSend', (request, reply, payload, done) => {
    if ((isShort(payload) && !reply.hasHeader('etag')) || !dependsOnEncoding(reply)) return done(null, payload);
    addVary(reply, 'Accept-Encoding');
    const encoding = acceptedEncoding(request.headers['accept-encoding']);
    if (encoding === undefined) return done(null, payload);
    weakenEtag(reply);
    if (isShort(payload)) return done(null, payload);
    compress(payload, encoding).then((body) => {
      if (body === undefined) return done(null, payload);
      reply.header('content-encoding', encoding).removeHeader('content-length').removeHeader('accept-ranges');
      done(null, body);
    }, done);
  });
  // These headers describe a body that an error replaces.
  app.addHook('onError', (_request, reply, _error, done) => {
    reply.removeHeader('content-encoding').removeHeader('etag');
    done();
  });
}

const isShort = (payload: unknown): boolean =>
  typeof payload === 'string' || Buffer.isBuffer(payload) ? payload.length < minBytes : !isStream(payload);

const isStream = (payload: unknown): payload is Readable => payload instanceof Readable;

/** True if the encoding changes the body, or would without `If-None-Match`. */
function dependsOnEncoding(reply: FastifyReply): boolean {
  if (reply.statusCode === 304) return true;
  if (reply.statusCode === 206 || reply.hasHeader('content-encoding')) return false;
  // An encoder would hold back events.
  return /^text\/(?!event-stream)|\b(?:(?:nd)?json|javascript|xml)\b/.test(String(reply.getHeader('content-type')));
}

export function addVary(reply: FastifyReply, header: string): void {
  const present = reply.getHeader('vary');
  reply.header('vary', present === undefined ? header : `${present}, ${header}`);
}

/** A strong ETag identifies bytes, which an encoding changes. */
function weakenEtag(reply: FastifyReply): void {
  const etag = reply.getHeader('etag');
  if (typeof etag === 'string' && !etag.startsWith('W/')) reply.header('etag', `W/${etag}`);
}
