import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { type Gunzip, gunzip as inflate } from 'node:zlib';
import { errorCodes, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Limits } from '../config.ts';
import { badRequest, errorCode, ServiceError, tooLarge, unavailable } from '../errors.ts';
import { expected, formatCount } from '../model/issues.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** SHA-256 of the decompressed body, if the request has an idempotency key. */
    bodyHash: string | null;
  }
}

/** Concurrent bodies of the maximum length, or as much of shorter ones. */
const maxLargeBodies = 5;

/** Four times Node's default: each chunk interrupts the thread that serves requests. */
const chunkSize = 65_536;

export function readJsonBodies(app: FastifyInstance, limits: Limits): void {
  const { maxBodyBytes } = limits;
  app.addHook('onRequest', (request, reply, done) => {
    requireUtf8AndGzip(request, reply);
    if (isMergePatch(request) && request.method !== 'PATCH') throw new errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE();
    done();
  });
  let bytesInUse = 0;
  // After the hooks that authenticate: strangers send no bodies.
  app.addHook('preParsing', (request, reply, _payload, done) => {
    const { 'content-length': length = '0', 'transfer-encoding': transferEncoding } = request.headers;
    // Compressed bodies, and those without a length, count as of the maximum length.
    const isKnown = transferEncoding === undefined && !isGzip(request);
    const bytes = isKnown ? Math.min(Number(length), maxBodyBytes) : maxBodyBytes;
    if (bytes === 0) return done();
    if (bytesInUse + bytes > maxLargeBodies * maxBodyBytes) {
      return done(unavailable('too many large bodies are being read, try again', 'BODIES'));
    }
    bytesInUse += bytes;
    reply.raw.once('close', () => {
      bytesInUse -= bytes;
    });
    done();
  });
  app.decorateRequest('bodyHash', null);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    ['application/json', mergePatchType],
    { parseAs: 'buffer' },
    (request, body: Buffer, done) => {
      const read = (decoded: Buffer) => {
        if (request.headers['idempotency-key'] !== undefined) {
          request.bodyHash = createHash('sha256').update(decoded).digest('base64url');
        }
        return decoded.length === 0 ? undefined : parseJson('the body', decoded, limits);
      };
      if (!isGzip(request)) return done(null, read(body));
      gunzip(body, maxBodyBytes)
        .then(read)
        .then((value) => done(null, value), done);
    },
  );
}

const contentEncoding = ({ headers }: FastifyRequest) =>
  headers['content-encoding']?.trim().toLowerCase() ?? 'identity';

/** Several encodings, such as `gzip, gzip`, are not supported. */
const isGzip = (request: FastifyRequest): boolean => ['gzip', 'x-gzip'].includes(contentEncoding(request));

/** Throws a 415 for another encoding or charset. */
function requireUtf8AndGzip(request: FastifyRequest, reply: FastifyReply): void {
  if (contentEncoding(request) !== 'identity' && !isGzip(request)) {
    reply.header('accept-encoding', 'gzip');
    throw new ServiceError(415, 'expected the Content-Encoding gzip, or none');
  }
  const { 'content-type': type = '' } = request.headers;
  for (const parameter of type.toLowerCase().split(';').slice(1)) {
    const [name = '', value = 'utf-8'] = parameter.split('=').map((text) => text.trim().replaceAll('"', ''));
    if (name === 'charset' && !/^utf-?8$/.test(value)) {
      throw new ServiceError(415, `${expected('the charset utf-8', value)}: send the body in UTF-8`);
    }
  }
}

/** Stops at the limit: a body can inflate to a thousand times its size. Throws a 400 or 413. */
async function gunzip(body: Buffer, maxBytes: number): Promise<Buffer> {
  try {
    // Node's types lack the option `info`, which makes the result an object.
    const options = { chunkSize, maxOutputLength: maxBytes, info: true };
    const result: unknown = await promisify(inflate)(body, options);
    const { buffer, engine } = result as { buffer: Buffer; engine: Gunzip };
    // Node accepts trailing zeros.
    if (engine.bytesWritten !== body.length) throw badRequest('the body has bytes after the end of its gzip data');
    return buffer;
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ERR_BUFFER_TOO_LARGE') throw new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE();
    if (/^Z_(?:DATA|BUF)_ERROR$/.test(code)) throw badRequest('the body is not valid gzip');
    throw error;
  }
}

/**
 * `JSON.parse` keeps the key `__proto__`, which external IDs may have; Fastify's parser rejects it. Throws a 400 that
 * quotes only a few characters around the error.
 */
export function parseJson(name: string, bytes: Buffer, limits: Limits): unknown {
  requireSmallJson(bytes, limits);
  if (!isUtf8(bytes)) throw badRequest(`${name} is not valid UTF-8`);
  try {
    // For ASCII, this takes half as long as a fatal TextDecoder.
    return JSON.parse(bytes.toString().replace(/^\ufeff/, ''));
  } catch (error) {
    const problem = (error as SyntaxError).message.replace(/ is not valid JSON$/, '');
    throw badRequest(`${name} is not valid JSON: ${problem}`);
  }
}

const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const whiteSpace = [0x20, 0x09, 0x0a, 0x0d];

/**
 * Rejects a body beyond the limits before it is parsed, and leaves invalid JSON to the parser. Throws a 400, or a 413
 * for too many objects, arrays or keys.
 *
 * V8 parses an object in a microsecond, a new key in up to six and a repeated key in a tenth, and no other request is
 * served meanwhile. The largest valid batch stays below these limits.
 */
export function requireSmallJson(bytes: Buffer, limits: Limits): void {
  const { maxNesting, maxBatch } = limits;
  const maxContainers = Math.max(100_000, 10 * maxBatch);
  const maxAllKeys = 5 * maxContainers;
  const maxKeys = Math.max(1_000, limits.maxExternalIds);
  /** By depth, in each open object or array. */
  const keys = [0];
  let depth = 0;
  let containers = 0;
  let allKeys = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    switch (bytes[at]) {
      case quote:
        at = endOfString(bytes, at);
        break;
      case openBracket:
      case openBrace:
        depth += 1;
        containers += 1;
        if (depth > maxNesting) throw badRequest(`expected JSON nested at most ${maxNesting} levels deep`);
        if (containers > maxContainers) throw tooMany(maxContainers, 'objects and arrays');
        keys[depth] = 0;
        break;
      case closeBracket:
      case closeBrace:
        depth = Math.max(0, depth - 1);
        break;
      case colon:
        allKeys += 1;
        if (allKeys > maxAllKeys) throw tooMany(maxAllKeys, 'keys');
        keys[depth] = (keys[depth] ?? 0) + 1;
        if ((keys[depth] ?? 0) > maxKeys)
          throw badRequest(`expected JSON objects of at most ${formatCount(maxKeys)} keys`);
        break;
    }
  }
  if (allKeys > maxContainers) requireFewDistinctKeys(bytes, maxContainers);
}

const tooMany = (limit: number, parts: string) =>
  tooLarge(`expected JSON of at most ${formatCount(limit)} ${parts}: split it into several requests`);

function requireFewDistinctKeys(bytes: Buffer, limit: number): void {
  const keys = new Set<string>();
  for (let at = 0; at < bytes.length; at += 1) {
    if (bytes[at] !== quote) continue;
    const start = at;
    at = endOfString(bytes, at);
    let next = at + 1;
    while (whiteSpace.includes(bytes[next] ?? 0)) next += 1;
    if (bytes[next] !== colon) continue;
    keys.add(bytes.toString('latin1', start, at));
    if (keys.size > limit) throw tooMany(limit, 'different keys');
  }
}

function endOfString(bytes: Buffer, start: number): number {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
  return at;
}

export const idempotencyKeyPattern = '^[ -~]{1,255}$';

const validKey = new RegExp(idempotencyKeyPattern);

/**
 * Repeats of a request share the hash. `handling` stands for the headers that change its meaning. Throws a 400 for an
 * invalid key.
 */
export function readIdempotencyKey(
  { method, url, headers, bodyHash }: FastifyRequest,
  reply: FastifyReply,
  operation: string,
  handling = '',
) {
  const key = headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key !== 'string' || !validKey.test(key)) {
    throw badRequest(
      `Idempotency-Key: ${expected('1 to 255 printable ASCII characters, such as a UUID', String(key))}`,
    );
  }
  const content = JSON.stringify([method, url, handling, bodyHash]);
  const requestHash = createHash('sha256').update(content).digest('base64url');
  return { operation, key, requestHash, onRepeat: () => void reply.header('idempotency-replayed', 'true') };
}

export const mergePatchType = 'application/merge-patch+json';

/** RFC 7396: merges external IDs instead of replacing all of them. */
export const isMergePatch = ({ headers }: Pick<FastifyRequest, 'headers'>): boolean =>
  headers['content-type']?.split(';')[0]?.trim().toLowerCase() === mergePatchType;

/** In Unicode code points. */
export const maxMessageLength = 500;

export function readChangeMessage(headers: FastifyRequest['headers']): string | null {
  const header = headers['x-change-message'];
  if (header === undefined || header === '') return null;
  const message = decodeHeader(String(header));
  const { length } = Array.from(message);
  if (length <= maxMessageLength) return message;
  const problem = `expected at most ${formatCount(maxMessageLength)} characters, received ${formatCount(length)}`;
  throw badRequest(`X-Change-Message: ${problem}`);
}

export function readImportRun({ 'x-import-run': run }: FastifyRequest['headers']): string | undefined {
  if (run === undefined || (typeof run === 'string' && /^[\w-]{1,64}$/.test(run))) return run;
  throw badRequest(`X-Import-Run: ${expected('1 to 64 letters, digits, _ or -', String(run))}`);
}

/** Node reads headers as Latin-1, but most clients send UTF-8. */
export function decodeHeader(header: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(header, 'latin1'));
  } catch {
    return header;
  }
}
