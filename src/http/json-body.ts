/** Reads request bodies for REST and GraphQL: JSON in UTF-8, plain or gzip, within the limits, and nothing else. */
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Limits } from '../config.ts';
import { badRequest, ServiceError, tooLarge } from '../errors.ts';
import { count } from '../model/issues.ts';
import { oneEachTurn } from '../slices.ts';
import { createGunzip, isGzip, requireKnownEncoding } from './gzip-body.ts';
import { isSpace, jsonProblem } from './json-problem.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** SHA-256 of the body, decompressed, if the request may be repeated; see idempotency-key.ts. */
    bodyHash: string | null;
  }
}

/** Bytes that take about a millisecond to parse. Larger bodies take turns, so that other requests are handled in between. */
const maxSmallBody = 65_536;

export function readJsonBodies(app: FastifyInstance, limits: Limits): void {
  const { gunzip, release } = createGunzip(limits.maxBodyBytes);
  const inTurn = oneEachTurn();
  app.addHook('onRequest', (request, reply, done) => {
    requireKnownEncoding(request, reply);
    requireUtf8(request);
    done();
  });
  app.decorateRequest('bodyHash', null);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    const read = (decoded: Buffer) => {
      if (request.headers['idempotency-key'] !== undefined) {
        request.bodyHash = createHash('sha256').update(decoded).digest('base64url');
      }
      return parseJson(decoded, limits);
    };
    const readInTurn = (decoded: Buffer) =>
      decoded.length > maxSmallBody
        ? inTurn(String(request.identity?.workspace.number), () => read(decoded))
        : read(decoded);
    if (!isGzip(request) && body.length <= maxSmallBody) return done(null, read(body));
    const decoded = isGzip(request) ? gunzip(request, body) : Promise.resolve(body);
    decoded.then(readInTurn).then((value) => done(null, value), done);
  });
  app.addHook('onSend', (request, _reply, payload, done) => {
    release(request);
    done(null, payload);
  });
}

/** Throws a ServiceError 415. */
export function requireUtf8({ headers }: Pick<FastifyRequest, 'headers'>): void {
  if (charsetsIn(headers['content-type']).some((charset) => charset !== 'utf-8')) {
    throw new ServiceError(415, 'expected the charset utf-8');
  }
}

/** Returns every charset in a content type; usually there is none, which means UTF-8. */
function charsetsIn(contentType = ''): string[] {
  const [, ...parameters] = contentType.toLowerCase().split(';');
  return parameters.flatMap((parameter) => {
    const [name = '', value] = parameter.split('=');
    return name.trim() === 'charset' && value !== undefined ? [value.trim().replaceAll('"', '')] : [];
  });
}

/** `JSON.parse` keeps `__proto__` as an ordinary key, which external IDs may have; Fastify's own parser rejects it. Throws a ServiceError. */
export function parseJson(body: Buffer, limits: Limits): unknown {
  if (body.length === 0) return undefined;
  requireSmallJson(body, limits);
  if (!isUtf8(body)) throw badRequest('the body is not valid UTF-8');
  const text = textOf(body);
  try {
    return JSON.parse(text);
  } catch {
    throw badRequest(`the body is not valid JSON: ${jsonProblem(text)}`);
  }
}

/** Decodes a body without its byte order mark. For ASCII, this takes about half as long as a fatal TextDecoder. */
function textOf(body: Buffer): string {
  const text = body.toString();
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}

/** Returns the most keys of one object. Records and variables have far fewer; external IDs have a limit of their own. */
const maxKeys = ({ maxExternalIds }: Limits): number => Math.max(1_000, maxExternalIds);

/**
 * The most objects and arrays of a body, and the most distinct keys in all of them. V8 takes a microsecond to parse an object,
 * up to six for a new key, and a tenth for a repeated one, and meanwhile no other request gets a response.
 */
const maxContainers = ({ maxBatch }: Limits): number => Math.max(100_000, 10 * maxBatch);
const maxDistinctKeys = maxContainers;

/** The most keys of a body, repeated ones included: more than the records of the largest batch have with all of their fields. */
const maxAllKeys = ({ maxBatch }: Limits): number => Math.max(500_000, 50 * maxBatch);

const [quote, backslash, colon] = [0x22, 0x5c, 0x3a];
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Scans the bytes once without building values from them, so that a body beyond the limits is rejected before it is parsed.
 * Leaves invalid JSON to the parser. Throws a ServiceError 400, or 413 for too many objects, arrays or keys.
 */
export function requireSmallJson(bytes: Buffer, limits: Limits): void {
  const { maxNesting } = limits;
  const keyLimit = maxKeys(limits);
  const containerLimit = maxContainers(limits);
  const allKeysLimit = maxAllKeys(limits);
  /** The number of keys so far in each open object or array, by depth. */
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
        if (containers > containerLimit) throw tooMany(containerLimit, 'objects and arrays');
        keys[depth] = 0;
        break;
      case closeBracket:
      case closeBrace:
        depth = Math.max(0, depth - 1);
        break;
      case colon:
        allKeys += 1;
        if (allKeys > allKeysLimit) throw tooMany(allKeysLimit, 'keys');
        keys[depth] = (keys[depth] ?? 0) + 1;
        if ((keys[depth] ?? 0) > keyLimit) throw badRequest(`expected JSON objects of at most ${count(keyLimit)} keys`);
        break;
    }
  }
  if (allKeys > maxDistinctKeys(limits)) requireFewDistinctKeys(bytes, maxDistinctKeys(limits));
}

const tooMany = (limit: number, what: string) =>
  tooLarge(`expected JSON of at most ${count(limit)} ${what}: split it into several requests`);

/** Runs only for bodies that have more keys than the limit, repeated ones included. */
function requireFewDistinctKeys(bytes: Buffer, limit: number): void {
  const keys = new Set<string>();
  for (let at = 0; at < bytes.length; at += 1) {
    if (bytes[at] !== quote) continue;
    const start = at;
    at = endOfString(bytes, at);
    let next = at + 1;
    while (isSpace(bytes[next])) next += 1;
    if (bytes[next] !== colon) continue;
    keys.add(bytes.toString('latin1', start, at));
    if (keys.size > limit) throw tooMany(limit, 'different keys');
  }
}

/** Returns the index of the quote that ends a string. */
function endOfString(bytes: Buffer, start: number): number {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
  return at;
}
