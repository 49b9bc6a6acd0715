/** Reads request bodies: JSON in UTF-8, not nested deeper than the limit, and nothing else. For REST and GraphQL alike. */
import type { FastifyInstance } from 'fastify';
import type { Limits } from './config.ts';
import { badRequest, ServiceError } from './errors.ts';

export function readJsonBodies(app: FastifyInstance, { maxNesting }: Limits): void {
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
    parseJson(body, maxNesting),
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
function parseJson(body: Buffer, maxNesting: number): unknown {
  if (body.length === 0) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(utf8.decode(body));
  } catch (error) {
    throw badRequest(error instanceof SyntaxError ? 'the body is not valid JSON' : 'the body is not valid UTF-8');
  }
  if (isNestedDeeper(value, maxNesting)) throw badRequest(`expected JSON nested at most ${maxNesting} levels deep`);
  return value;
}

/** Recurses no deeper than the limit, whatever was sent. */
function isNestedDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  for (const key in value) {
    const inner: unknown = value[key as keyof typeof value];
    if (typeof inner === 'object' && isNestedDeeper(inner, levels - 1)) return true;
  }
  return false;
}
