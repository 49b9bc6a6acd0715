/**
 * Inflates request bodies sent with `Content-Encoding: gzip`. A body can inflate to a thousand times its size: inflated
 * bodies must never hold more memory than a limit, whatever is sent and however often.
 */
import { promisify } from 'node:util';
import { type Gunzip, gunzip as inflate } from 'node:zlib';
import { errorCodes, type FastifyReply, type FastifyRequest } from 'fastify';
import { badRequest, errorCode, ServiceError } from '../errors.ts';
import { createTurns } from '../sharing/turns.ts';

/**
 * The most inflated bodies of the greatest length in use at a time. Further requests wait, and hold only what they
 * sent; those whose bodies inflate to no more than a chunk never wait.
 */
const maxLargeBodies = 8;

/** Bytes inflated at a time: four times Node's default, as each piece returns to the thread that serves requests. */
const chunkSize = 65_536;

/** HTTP has two names for gzip. */
const gzipNames = ['gzip', 'x-gzip'];

const encodingOf = ({ headers }: FastifyRequest) => headers['content-encoding']?.trim().toLowerCase() ?? 'identity';

export const isGzip = (request: FastifyRequest): boolean => gzipNames.includes(encodingOf(request));

/** Throws a ServiceError 415. HTTP would allow several encodings, such as `gzip, gzip`. */
export function requireKnownEncoding(request: FastifyRequest, reply: FastifyReply): void {
  if (encodingOf(request) === 'identity' || isGzip(request)) return;
  reply.header('accept-encoding', 'gzip');
  throw new ServiceError(415, 'expected the Content-Encoding gzip, or none');
}

interface Waiting {
  readonly request: FastifyRequest;
  readonly admit: () => void;
}

/** Inflates the bodies of one service, each of at most `maxBytes`. */
export function createGunzip(maxBytes: number) {
  let freeBytes = maxLargeBodies * maxBytes;
  const bytesOf = new WeakMap<FastifyRequest, number>();
  const waiting = createTurns<Waiting>();

  function hold(request: FastifyRequest, bytes: number): void {
    freeBytes += (bytesOf.get(request) ?? 0) - bytes;
    bytesOf.set(request, bytes);
  }

  function admitWaiting(): void {
    for (const { request, admit } of waiting.take(() => freeBytes >= maxBytes)) {
      hold(request, maxBytes);
      admit();
    }
  }

  async function gunzipLarge(request: FastifyRequest, body: Buffer): Promise<Buffer> {
    await new Promise<void>((admit) => {
      waiting.add(String(request.identity?.workspace.number), { request, admit });
      admitWaiting();
    });
    requireConnection(request);
    const inflated = await inflateAll(body, maxBytes);
    requireConnection(request);
    hold(request, inflated.length);
    admitWaiting();
    return inflated;
  }

  return {
    /** Returns the inflated body, which is in use until it is released. Throws an error with the status 400 or 413. */
    async gunzip(request: FastifyRequest, body: Buffer): Promise<Buffer> {
      try {
        return await inflateAll(body, Math.min(chunkSize, maxBytes));
      } catch (error) {
        if (!isTooLarge(error)) throw error;
        return gunzipLarge(request, body);
      }
    },

    /** Must be called when the response is ready, even if the request's body was not inflated. */
    release(request: FastifyRequest): void {
      if (!bytesOf.has(request)) return;
      hold(request, 0);
      admitWaiting();
    },
  };
}

/**
 * Rejects a request whose client has left. Requests wait: such a client would cost as much as one that still expects a response.
 */
function requireConnection({ raw }: FastifyRequest): void {
  if (raw.socket.destroyed) throw badRequest('the connection was closed before the body was read');
}

const isTooLarge = (error: unknown): boolean => error instanceof errorCodes.FST_ERR_CTP_BODY_TOO_LARGE;

/** Inflates on another thread, in pieces, and stops at the first that exceeds the limit. */
async function inflateAll(body: Buffer, maxBytes: number): Promise<Buffer> {
  try {
    // Node's types do not have `info`, which makes the result an object.
    const options = { chunkSize, maxOutputLength: maxBytes, info: true };
    const result: unknown = await promisify(inflate)(body, options);
    const { buffer, engine } = result as { buffer: Buffer; engine: Gunzip };
    // gunzip ignores trailing zeros; they are rejected here.
    if (engine.bytesWritten !== body.length) throw badRequest('the body has bytes after the end of its gzip data');
    return buffer;
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ERR_BUFFER_TOO_LARGE') throw new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE();
    if (/^Z_(?:DATA|BUF)_ERROR$/.test(code)) throw badRequest('the body is not valid gzip');
    throw error;
  }
}
