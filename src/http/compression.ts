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
  type InputType,
} from 'node:zlib';
import type { FastifyInstance, FastifyReply } from 'fastify';

/** In the order of our preference. */
const encodings = ['br', 'gzip'] as const;

export type Encoding = (typeof encodings)[number];

/** Bytes. Shorter bodies gain too little. */
const minLength = 1_024;

/** Bytes. A shorter body is compressed in a tenth of a millisecond, which is less than it takes to hand it to another thread. */
const maxSyncLength = 16_384;

/** Longer responses that are compressed at the same time, on the threads that SQLite needs too. Further ones are sent as they are. */
const maxConcurrent = 16;

/** Characters of `Accept-Encoding`. Clients send less than 100. */
const maxHeaderLength = 1_000;

const gzipOptions = { level: 1 };
/** A window of 256 KB instead of 4 MB: slow readers keep it. */
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 3, [constants.BROTLI_PARAM_LGWIN]: 18 } };

const compressNow = {
  br: (body: InputType) => brotliCompressSync(body, brotliOptions),
  gzip: (body: InputType) => gzipSync(body, gzipOptions),
};

const compressLater = {
  br: (body: InputType) => promisify(brotliCompress)(body, brotliOptions),
  gzip: (body: InputType) => promisify(gzip)(body, gzipOptions),
};

const createEncoder = { br: () => createBrotliCompress(brotliOptions), gzip: () => createGzip(gzipOptions) };

/** The encoding that an `Accept-Encoding` header prefers; undefined if the body should be sent as it is. */
export function acceptedEncoding(header: string | undefined): Encoding | undefined {
  if (!header || header.length > maxHeaderLength) return undefined;
  const qualities = new Map<string, number>();
  for (const part of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim());
    const quality = parameters.find((parameter) => parameter.startsWith('q='));
    qualities.set(name === 'x-gzip' ? 'gzip' : name, quality === undefined ? 1 : Number(quality.slice(2)) || 0);
  }
  const qualityOf = (encoding: string) => qualities.get(encoding) ?? qualities.get('*') ?? 0;
  const [first, second] = encodings;
  const best = qualityOf(second) > qualityOf(first) ? second : first;
  const isPreferred = qualityOf(best) >= (qualities.get('identity') ?? 0);
  return qualityOf(best) > 0 && isPreferred ? best : undefined;
}

/** For every response, errors included. */
export function compressResponses(app: FastifyInstance): void {
  const running = { count: 0 };
  app.addHook('onSend', (request, reply, payload, done) => {
    if (isShort(payload) && !reply.hasHeader('etag')) return done(null, payload);
    if (!dependsOnEncoding(reply)) return done(null, payload);
    addVary(reply, 'Accept-Encoding');
    const encoding = acceptedEncoding(request.headers['accept-encoding']);
    if (encoding === undefined) return done(null, payload);
    weakenEtag(reply);
    if (isShort(payload)) return done(null, payload);
    compress(payload, encoding, running).then((body) => {
      if (body !== undefined) describe(reply, encoding);
      done(null, body ?? payload);
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

/** Whether clients that accept an encoding get another body, or would have got one without their `If-None-Match`. */
function dependsOnEncoding(reply: FastifyReply): boolean {
  if (reply.statusCode === 304) return true;
  if (reply.statusCode === 206 || reply.hasHeader('content-encoding')) return false;
  return /^text\/|\b(?:json|javascript|xml)\b/.test(String(reply.getHeader('content-type')));
}

/** Says that the response depends on this request header too. */
export function addVary(reply: FastifyReply, header: string): void {
  const present = reply.getHeader('vary');
  reply.header('vary', present === undefined ? header : `${present}, ${header}`);
}

/** A strong ETag stands for the same bytes, and encoded bytes are others. A weak one stands for the same content. */
function weakenEtag(reply: FastifyReply): void {
  const etag = reply.getHeader('etag');
  if (typeof etag === 'string' && !etag.startsWith('W/')) reply.header('etag', `W/${etag}`);
}

/** Undefined if too many others are being compressed. */
async function compress(
  payload: unknown,
  encoding: Encoding,
  running: { count: number },
): Promise<Buffer | Readable | undefined> {
  if (isStream(payload)) return running.count < maxConcurrent ? compressStream(payload, encoding, running) : undefined;
  const body = Buffer.isBuffer(payload) ? payload : Buffer.from(String(payload));
  if (body.length <= maxSyncLength) return compressNow[encoding](body);
  if (running.count >= maxConcurrent) return undefined;
  running.count += 1;
  try {
    return await compressLater[encoding](body);
  } finally {
    running.count -= 1;
  }
}

/** If the client leaves, Fastify destroys the encoder, and the pipeline what it reads from. */
function compressStream(source: Readable, encoding: Encoding, running: { count: number }): Readable {
  running.count += 1;
  return pipeline(source, createEncoder[encoding](), () => {
    running.count -= 1;
  });
}

/** The length of the encoded body is set by Fastify, if it is known; ranges of it cannot be requested. */
const describe = (reply: FastifyReply, encoding: Encoding) =>
  reply.header('content-encoding', encoding).removeHeader('content-length').removeHeader('accept-ranges');
