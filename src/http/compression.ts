/** Compresses responses for clients that accept it. Must not delay other requests, nor cost anything where nothing is compressed. */
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

/** The least length of a body to compress, in bytes: shorter ones gain too little. */
const minLength = 1_024;

/**
 * The greatest length of a body that is compressed on this thread, in bytes. Compressing a shorter one takes a tenth of a
 * millisecond, less than handing it to another thread.
 */
const maxSyncLength = 16_384;

/**
 * The most long responses compressed at a time, on threads that SQLite needs too. Others are sent as they are: 64 clients of the
 * same list of 1,000 records got 1.6 times as many as with all of them compressed.
 */
const maxConcurrent = 16;

const gzipOptions = { level: 1 };
/** A window of 256 KB instead of 4 MB: slow readers keep it. */
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 3, [constants.BROTLI_PARAM_LGWIN]: 18 } };

/** Short bodies are compressed at once, long ones on another thread, and streams while they are read. */
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

/** Returns the encoding that an `Accept-Encoding` header prefers; undefined if the body should be sent as it is. */
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

  /** Returns undefined if too many others are being compressed. */
  async function compress(payload: unknown, encoding: Encoding): Promise<Buffer | Readable | undefined> {
    const codec = codecs[encoding];
    const body = isStream(payload) || Buffer.isBuffer(payload) ? payload : Buffer.from(String(payload));
    if (Buffer.isBuffer(body) && body.length <= maxSyncLength) return codec.sync(body);
    if (running >= maxConcurrent) return undefined;
    running += 1;
    // If the client leaves, Fastify destroys the encoder, and the pipeline destroys the source.
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
      // Fastify sets the length of the encoded body if it is known; ranges of it cannot be requested.
      reply.header('content-encoding', encoding).removeHeader('content-length').removeHeader('accept-ranges');
      done(null, body);
    }, done);
  });
  // A body that cannot be read is replaced by an error, which these headers do not describe.
  app.addHook('onError', (_request, reply, _error, done) => {
    reply.removeHeader('content-encoding').removeHeader('etag');
    done();
  });
}

const isShort = (payload: unknown): boolean =>
  typeof payload === 'string' || Buffer.isBuffer(payload) ? payload.length < minLength : !isStream(payload);

const isStream = (payload: unknown): payload is Readable => payload instanceof Readable;

/** True if clients that accept an encoding get another body, or would have got one without their `If-None-Match`. */
function dependsOnEncoding(reply: FastifyReply): boolean {
  if (reply.statusCode === 304) return true;
  if (reply.statusCode === 206 || reply.hasHeader('content-encoding')) return false;
  // Events must not wait in an encoder until there is enough to compress.
  return /^text\/(?!event-stream)|\b(?:(?:nd)?json|javascript|xml)\b/.test(String(reply.getHeader('content-type')));
}

export function addVary(reply: FastifyReply, header: string): void {
  const present = reply.getHeader('vary');
  reply.header('vary', present === undefined ? header : `${present}, ${header}`);
}

/** Encoding changes the bytes, which a strong ETag identifies. A weak one identifies the content. */
function weakenEtag(reply: FastifyReply): void {
  const etag = reply.getHeader('etag');
  if (typeof etag === 'string' && !etag.startsWith('W/')) reply.header('etag', `W/${etag}`);
}
