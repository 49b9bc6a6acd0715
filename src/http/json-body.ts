/** Reads request bodies: JSON in UTF-8, within the limits, and nothing else. For REST and GraphQL alike. */
import type { FastifyInstance } from 'fastify';
import type { Limits } from '../config.ts';
import { badRequest, ServiceError, tooLarge } from '../errors.ts';
import { count } from '../model/issues.ts';

export function readJsonBodies(app: FastifyInstance, limits: Limits): void {
  app.addHook('onRequest', async ({ headers }) => {
    if (headers['content-encoding'] !== undefined) {
      throw new ServiceError(415, 'expected a body without Content-Encoding');
    }
    if (charsetsIn(headers['content-type']).some((charset) => charset !== 'utf-8')) {
      throw new ServiceError(415, 'expected the charset utf-8');
    }
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) =>
    parseJson(body, limits),
  );
}

/** The charsets that a content type names; none means UTF-8. */
function charsetsIn(contentType = ''): string[] {
  const parameters = contentType.toLowerCase().split(';').slice(1);
  return parameters.flatMap((parameter) => {
    const [name = '', value] = parameter.split('=');
    return name.trim() === 'charset' && value !== undefined ? [value.trim().replaceAll('"', '')] : [];
  });
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** `JSON.parse` keeps `__proto__` as an ordinary key, which external ids may have; Fastify's own parser refuses it. */
function parseJson(body: Buffer, limits: Limits): unknown {
  if (body.length === 0) return undefined;
  requireSmallJson(body, limits);
  try {
    return JSON.parse(utf8.decode(body));
  } catch (error) {
    throw badRequest(error instanceof SyntaxError ? 'the body is not valid JSON' : 'the body is not valid UTF-8');
  }
}

/** Keys of one object. Records and variables have far fewer, external ids a limit of their own. */
const maxKeys = ({ maxExternalIds }: Limits): number => Math.max(1_000, maxExternalIds);

/**
 * Objects and arrays of a body, and different keys in all of them. To parse one takes a microsecond and a key that V8 has not met
 * up to six, during which nobody else gets a response; keys that are met again take a tenth of one.
 */
const maxContainers = ({ maxBatch }: Limits): number => Math.max(100_000, 10 * maxBatch);
const maxDifferentKeys = maxContainers;

const [quote, backslash, colon] = [0x22, 0x5c, 0x3a];
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Reads the bytes one after the other, without building anything from them: what is too much is refused before it is
 * parsed. What is no JSON is left to the parser to refuse. Throws a ServiceError 400, or 413 for too much in all.
 */
export function requireSmallJson(bytes: Buffer, limits: Limits): void {
  const { maxNesting } = limits;
  const keyLimit = maxKeys(limits);
  const containerLimit = maxContainers(limits);
  /** Of each object or array that is open. */
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
        if (containers > containerLimit) throw tooMuch(containerLimit, 'objects and arrays');
        keys[depth] = 0;
        break;
      case closeBracket:
      case closeBrace:
        depth = Math.max(0, depth - 1);
        break;
      case colon:
        allKeys += 1;
        keys[depth] = (keys[depth] ?? 0) + 1;
        if ((keys[depth] ?? 0) > keyLimit) throw badRequest(`expected JSON objects of at most ${count(keyLimit)} keys`);
        break;
    }
  }
  if (allKeys > maxDifferentKeys(limits)) requireFewDifferentKeys(bytes, maxDifferentKeys(limits));
}

const tooMuch = (limit: number, what: string) =>
  tooLarge(`expected JSON of at most ${count(limit)} ${what}, send less at once`);

/** Only asked of a body that has so many keys at all. */
function requireFewDifferentKeys(bytes: Buffer, limit: number): void {
  const keys = new Set<string>();
  for (let at = 0; at < bytes.length; at += 1) {
    if (bytes[at] !== quote) continue;
    const start = at;
    at = endOfString(bytes, at);
    let next = at + 1;
    while (isSpace(bytes[next])) next += 1;
    if (bytes[next] !== colon) continue;
    keys.add(bytes.toString('latin1', start, at));
    if (keys.size > limit) throw tooMuch(limit, 'different keys');
  }
}

const isSpace = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;

/** The place of the quote that ends a string. */
function endOfString(bytes: Buffer, start: number): number {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
  return at;
}
