/** Reads request bodies: JSON in UTF-8, within the limits, and nothing else. For REST and GraphQL alike. */
import type { FastifyInstance } from 'fastify';
import type { Limits } from './config.ts';
import { badRequest, ServiceError, tooLarge } from './errors.ts';
import { count } from './model/issues.ts';

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
 * Values of a body: for each record of a batch its fields and some external ids. To parse one under a key that V8 has not met
 * takes up to four microseconds, during which nobody else gets a response.
 */
const maxValues = ({ maxBatch }: Limits): number => Math.max(100_000, 25 * maxBatch);

const [space, tab, lineFeed, carriageReturn] = [0x20, 0x09, 0x0a, 0x0d];
const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Reads the bytes one after the other, without building anything from them: what is too much is refused before it is
 * parsed. What is no JSON is left to the parser to refuse. Throws a ServiceError 400, or 413 for too many values.
 */
export function requireSmallJson(bytes: Uint8Array, limits: Limits): void {
  const { maxNesting } = limits;
  const [keyLimit, valueLimit] = [maxKeys(limits), maxValues(limits)];
  const addValue = () => {
    values += 1;
    if (values > valueLimit) throw tooLarge(`expected JSON of at most ${count(valueLimit)} values, send less at once`);
  };
  /** Of each object or array that is open. */
  const keys = [0];
  let depth = 0;
  let values = 1;
  let previous = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] as number;
    switch (byte) {
      case space:
      case tab:
      case lineFeed:
      case carriageReturn:
        continue;
      case quote:
        at = endOfString(bytes, at);
        break;
      case openBracket:
      case openBrace:
        depth += 1;
        if (depth > maxNesting) throw badRequest(`expected JSON nested at most ${maxNesting} levels deep`);
        keys[depth] = 0;
        break;
      case closeBracket:
      case closeBrace:
        // The first value of an array or object; each other one follows a comma.
        if (previous !== openBracket && previous !== openBrace) addValue();
        depth -= 1;
        if (depth < 0) return;
        break;
      case comma:
        addValue();
        break;
      case colon:
        keys[depth] = (keys[depth] ?? 0) + 1;
        if ((keys[depth] ?? 0) > keyLimit) throw badRequest(`expected JSON objects of at most ${count(keyLimit)} keys`);
        break;
    }
    previous = byte;
  }
}

/** The place of the quote that ends a string. */
function endOfString(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
  return at;
}
