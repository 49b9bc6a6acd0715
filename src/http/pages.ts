/**
 * Sends pages and their files from memory, compressed once, and not again to clients that have them. No page may load anything from
 * another origin.
 */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import fresh from 'fresh';
import { acceptedEncoding, addVary, type Encoding } from './compression.ts';

export type Send = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

/** Brotli's quality 11 takes twenty times as long for a tenth less, and the first browser waits for it. */
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

/** Creates a page, a file of one, or another document: a client that has it gets a 304. */
export function createPage(text: string, type = 'text/html; charset=utf-8'): Send {
  // Weak, because it stands for the content in every encoding.
  const etag = `W/"${hashOf(text)}"`;
  const send = sendEncoded(text, { 'content-type': type, etag });
  return async (request, reply) =>
    fresh(request.headers, { etag }) ? reply.code(304).header('etag', etag).send() : send(request, reply);
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('base64url');

/**
 * Returns a function that sends the text. It sets the headers last: if the text cannot be compressed, the error must not be
 * cached like it.
 */
function sendEncoded(text: string, headers: Readonly<Record<string, string>>): Send {
  const content = Buffer.from(text);
  const encoded: Record<Encoding, () => Promise<Buffer>> = {
    br: loadLate(() => promisify(brotliCompress)(content, brotliOptions)),
    gzip: loadLate(() => promisify(gzip)(content)),
  };
  return async (request, reply) => {
    const encoding = acceptedEncoding(request.headers['accept-encoding']);
    if (encoding === undefined) return reply.headers(headers).send(content);
    const body = await encoded[encoding]();
    addVary(reply.headers(headers), 'Accept-Encoding');
    return reply.header('content-encoding', encoding).send(body);
  };
}

/** True if the request comes from a browser that opens a page: other clients do not list this type. */
export const acceptsHtml = ({ headers }: FastifyRequest): boolean => !!headers.accept?.includes('text/html');

/** Allows these sources, requests to this service, and nothing else. */
export const contentSecurityPolicy = (sources: string): string =>
  `default-src 'none'; ${sources}; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

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
