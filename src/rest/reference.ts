/** Serves the OpenAPI document and Swagger UI. The page loads nothing from other origins. */
import swagger, { type StaticDocumentSpec } from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import type { Limits } from '../config.ts';
import { contentSecurityPolicy } from '../http/page.ts';
import { openApiDocument } from './openapi/document.ts';

/** Swagger UI sets inline styles. */
const policy = contentSecurityPolicy({ scripts: "'self'", styles: "'self' 'unsafe-inline'" });

export async function serveReference(app: FastifyInstance, limits: Limits): Promise<void> {
  // The library's type is stricter than the derived document's; a test validates the document.
  const document = openApiDocument(limits) as object as StaticDocumentSpec['document'];
  app.get('/openapi.json', async () => document);
  await app.register(swagger, { mode: 'static', specification: { document } });
  await app.register(swaggerUi, {
    routePrefix: '/reference',
    theme: { title: 'Yardgraph reference' },
    staticCSP: policy,
    uiConfig: { docExpansion: 'list', defaultModelsExpandDepth: 0, validatorUrl: null },
  });
}
