/** Serves the OpenAPI document. */
import type { FastifyInstance } from 'fastify';
import type { Limits } from '../../config.ts';
import { createPage } from '../../http/assets.ts';
import { openApiDocument } from './document.ts';

export function serveOpenApi(app: FastifyInstance, limits: Limits): void {
  const send = createPage(JSON.stringify(openApiDocument(limits)), 'application/json; charset=utf-8');
  app.get('/openapi.json', send);
}
