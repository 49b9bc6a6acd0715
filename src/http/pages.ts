/**
 * Sends pages and their files from memory, compressed once, and not again to clients that have them. No page may load anything from
 * another origin.
 */
import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import fresh from 'fresh';
import { acceptedEncoding, addVary, codecs, type Encoding } from './compression.ts';

export type Send = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

/** Creates a page, a file of one, or another document: a client that has it gets a 304. */
export function createPage(text: string, type = 'text/html; charset=utf-8'): Send {
  const content = Buffer.from(text);
  // Weak, because it stands for the content in every encoding.
  const etag = `W/"${createHash('sha256').update(text).digest('base64url')}"`;
  const encoded: Record<Encoding, () => Promise<Buffer>> = {
    br: loadLate(() => codecs.br.async(content)),
    gzip: loadLate(() => codecs.gzip.async(content)),
  };
  return async (request, reply) => {
    if (fresh(request.headers, { etag })) return reply.code(304).header('etag', etag).send();
    const encoding = acceptedEncoding(request.headers['accept-encoding']);
    const body = encoding === undefined ? content : await encoded[encoding]();
    // Not before: if the text cannot be compressed, the error must not be cached like it.
    reply.headers({ 'content-type': type, etag });
    if (encoding !== undefined) addVary(reply.header('content-encoding', encoding), 'Accept-Encoding');
    return reply.send(body);
  };
}

/** True if the request comes from a browser that opens a page: other clients do not list this type. */
export const acceptsHtml = ({ headers }: FastifyRequest): boolean => !!headers.accept?.includes('text/html');

/** Allows these sources, requests to this service, and nothing else but images of another origin, if one is given. */
export const contentSecurityPolicy = (sources: string, images = ''): string =>
  `default-src 'none'; ${sources}; img-src 'self' data:${images}; connect-src 'self'${images}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** `top` is the relative URL of the home page, if that is in another folder. The page adds its styles and scripts, and closes the head. */
export const pageHead = (title: string, top = ''): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="${top}favicon.ico" type="image/svg+xml">`;

/** Loads what is needed late, such as pages, with the first request for it. If that fails, the next request tries again. */
export function loadLate<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | undefined;
  return () => {
    loaded ??= load().catch((error: unknown) => {
      loaded = undefined;
      throw error;
    });
    return loaded;
  };
}
