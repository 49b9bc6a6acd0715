import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import fresh from 'fresh';
import { acceptedEncoding, addVary, codecs, type Encoding } from './compression.ts';

export type SendPage = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

/** A client that has the page gets a 304. */
export function createPage(text: string, type = 'text/html; charset=utf-8'): SendPage {
  const content = Buffer.from(text);
  // Weak, because it stands for the content in every encoding.
  const etag = `W/"${createHash('sha256').update(text).digest('base64url')}"`;
  const encoded: Record<Encoding, () => Promise<Buffer>> = {
    br: loadOnce(() => codecs.br.async(content)),
    gzip: loadOnce(() => codecs.gzip.async(content)),
  };
  return async (request, reply) => {
    if (fresh(request.headers, { etag })) return reply.code(304).header('etag', etag).send();
    const encoding = acceptedEncoding(request.headers['accept-encoding']);
    const body = encoding === undefined ? content : await encoded[encoding]();
    // Not before: an error of compression must not be cached like the page.
    reply.headers({ 'content-type': type, etag });
    if (encoding !== undefined) addVary(reply.header('content-encoding', encoding), 'Accept-Encoding');
    return reply.send(body);
  };
}

/** True for browsers: other clients do not list this type. */
export const acceptsHtml = ({ headers }: FastifyRequest): boolean => !!headers.accept?.includes('text/html');

/** Also allows requests to this service, and images of the origin `images`. */
export const contentSecurityPolicy = (sources: string, images = ''): string =>
  `default-src 'none'; ${sources}; img-src 'self' data:${images}; connect-src 'self'${images}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** The caller adds styles and scripts, and closes the head. `top` leads home. */
export const pageHead = (title: string, top = ''): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="${top}favicon.ico" type="image/svg+xml">`;

/** For people who follow a wrong link: home leads browsers to the explorer. */
export function sendMissingPage(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const top = '../'.repeat((request.url.split('?')[0] ?? '').split('/').length - 2);
  addVary(reply, 'Accept');
  reply.header('content-security-policy', contentSecurityPolicy("style-src 'self'"));
  return reply.type('text/html; charset=utf-8').send(`${pageHead('There is no such page – Yardgraph', top)}
<link rel="stylesheet" href="${top}pages/document.css">
</head>
<body><main><h1>There is no such page</h1><p><a href="${top || './'}">Go to Yardgraph</a></p></main></body>
</html>
`);
}

/** Loads a value at its first use; after a failure, at the next. */
export function loadOnce<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | undefined;
  return () => {
    loaded ??= load().catch((error: unknown) => {
      loaded = undefined;
      throw error;
    });
    return loaded;
  };
}
