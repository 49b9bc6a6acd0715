/** Serves the OpenAPI document. */
import type { FastifyInstance } from 'fastify';
import type { Limits } from '../../config.ts';
import { createPage } from '../../http/assets.ts';
import { openApiDocument } from './document.ts';

export function serveOpenApi(app: FastifyInstance, limits: Limits): void {
  // Made for the first request: it is a seventh of the work of a start, and most processes never need it.
  let send: ReturnType<typeof createPage> | undefined;
  app.get('/openapi.json', (request, reply) => {
    send ??= createPage(JSON.stringify(openApiDocument(limits)), 'application/json; charset=utf-8');
    return send(request, reply);
  });
}
