/** The OpenAPI 3.1 document, derived from the routes and the record kinds, and served at /openapi.json. */
import type { FastifyInstance } from 'fastify';
import type { Limits } from '../../config.ts';
import { createPage } from '../../http/pages.ts';
import { apiVersion } from '../../http/server.ts';
import { count } from '../../model/issues.ts';
import { recordKinds } from '../../records/index.ts';
import { routes } from '../routes.ts';
import { errorSchemas, sharedErrorResponses } from './errors.ts';
import { exportOperation, exportPath, operation, tagOf } from './operations.ts';
import { headers, type Json, parameters } from './parts.ts';
import { kindSchemas } from './schemas.ts';

export function serveOpenApi(app: FastifyInstance, limits: Limits): void {
  // Made for the first request: it is a seventh of the work of a start, and most processes never need it.
  let send: ReturnType<typeof createPage> | undefined;
  app.get('/openapi.json', (request, reply) => {
    send ??= createPage(JSON.stringify(openApiDocument(limits)), 'application/json; charset=utf-8');
    return send(request, reply);
  });
}

export function openApiDocument(limits: Limits): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    const { template } = route;
    paths[template] = { ...paths[template], [route.method.toLowerCase()]: operation(route, limits) };
  }
  paths[exportPath] = { get: exportOperation() };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Yardgraph',
      version: apiVersion,
      summary:
        "A workspace's operational records: assets, asset categories, locations, projects, work orders, transport orders.",
      description: introduction(limits),
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'This service' }],
    // The empty requirement: no key is needed until the first one is created.
    security: [{ bearer: [] }, {}],
    tags: [
      ...recordKinds.map((kind) => ({ name: tagOf(kind), description: kind.description })),
      { name: 'Export', description: 'Files of all records.' },
    ],
    paths,
    components: {
      schemas: {
        ...Object.assign({}, ...recordKinds.map((kind) => kindSchemas(kind, limits))),
        ...errorSchemas,
      },
      parameters,
      headers,
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description:
            'An API key, as `yardgraph keys create` prints it. It is sent as `Authorization: Bearer KEY`; the service also accepts `Authorization: KEY` and `X-API-Key: KEY`.',
        },
      },
      responses: sharedErrorResponses(),
    },
  };
}

const introduction = ({ maxBodyBytes, maxNesting }: Limits): string =>
  `
Records are created in batches, all or nothing, and returned in the order sent. To read them with everything they refer to, and to update, upsert or delete them, use GraphQL at \`/graphql\`.

**Keys.** A key gives access to one workspace, and is sent as \`Authorization: Bearer KEY\`, \`Authorization: KEY\` or \`X-API-Key: KEY\`. Until the first key is created, the service is open to everyone on its machine, and needs none.

**Requests.** Bodies are JSON in UTF-8, with the content type \`application/json\`. They have at most ${count(maxBodyBytes)} bytes and ${maxNesting} levels, and may be compressed with \`Content-Encoding: gzip\`; the limits apply to what they decompress to.

**Unknown fields** are rejected, and so are fields that only the service sets, such as \`id\`. With \`Prefer: handling=lenient\` they are ignored, and the response has \`Preference-Applied: handling=lenient\`.

**Times** are RFC 3339 with a zone, or a date, which means midnight UTC. They are returned in UTC with milliseconds.

**References.** In a field such as \`locationId\`, an ID of this service must be the ID of a stored record of the right kind. Any other text is stored as sent, as an ID of another system. Only the \`parentId\` of an asset category must be stored here.

**Responses** have the headers \`X-Request-Id\` and \`API-Version\`, errors too, and are compressed if the request allows it with \`Accept-Encoding\`.

**Errors** are \`{ "error": "…", "code": "400" }\`. For a batch, the message lists up to ten invalid fields and counts the rest. With \`Accept: application/problem+json\`, the response is a problem (RFC 9457) that lists all of them. Besides the statuses of each operation, there are 404 for an unknown path, 405 for a method that a path does not support, 408 for a request that arrives too slowly, 417 without a body for an \`Expect\` other than \`100-continue\`, and 431 for headers that are too large.

**Retries.** 429 and 503 have \`Retry-After\`, unless the request may have been stored. A write with an \`Idempotency-Key\` can be sent again with the same key and the same body, also after a lost connection: it runs once, and a repeat gets the first response, with \`Idempotency-Replayed: true\`. A repeat that arrives while the first request is still running waits for it. A key belongs to one workspace and one operation, and is kept for 24 hours; with another body, the response is 409. Nothing is kept for a request that fails. Without a key, a repeated create creates the records again: retry it only after a 429, or after a 503 unless its problem has the type \`urn:yardgraph:may-be-stored\`.
`.trim();
