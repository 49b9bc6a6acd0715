/** The OpenAPI 3.1 document, derived from the routes and the record kinds. */
import type { Limits } from '../config.ts';
import { apiVersion } from '../http/server.ts';
import { withArticle } from '../model/article.ts';
import { count } from '../model/issues.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { recordKinds } from '../records/index.ts';
import { type Json, kindSchemas, requestName } from './openapi-schemas.ts';
import { type Route, routes } from './routes.ts';

export function openApiDocument(limits: Limits): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, limits) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Yardgraph',
      version: apiVersion,
      summary:
        "A workspace's operational records: assets, asset categories, locations, projects, work orders, transport orders.",
      description:
        'Records are created in batches, all or nothing, and returned in the order sent. To read them with everything they refer to, use GraphQL at `/graphql`.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    // The empty requirement: no key is needed until the first one is created.
    security: [{ bearer: [] }, { apiKeyHeader: [] }, { authorizationHeader: [] }, {}],
    tags: recordKinds.map(({ name, label, description }) => ({ name, 'x-displayName': label, description })),
    paths,
    components: {
      schemas: {
        ...Object.assign({}, ...recordKinds.map((kind) => kindSchemas(kind, limits))),
        ErrorResponse: errorSchema,
        Problem: problemSchema,
      },
      parameters: { Prefer: preferHeader },
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: '`Authorization: Bearer KEY`' },
        apiKeyHeader: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
        authorizationHeader: { type: 'apiKey', in: 'header', name: 'Authorization', description: 'The key alone.' },
      },
      responses: Object.fromEntries(
        Object.entries(errorResponses).map(([name, { description }]) => [name, errorResponse(description)]),
      ),
    },
  };
}

const ref = (section: string, name: string): Json => ({ $ref: `#/components/${section}/${name}` });

function operation({ operation, kind, success }: Route, limits: Limits): Json {
  const { name, label } = kind;
  const many = { type: 'array', items: ref('schemas', name) };
  const json = (schema: Json) => ({ 'application/json': { schema } });
  const textLimit = `${count(limits.maxRecordLength)} characters in all texts, external IDs included`;
  const ok = (description: string, schema: Json) => ({ [success]: { description, content: json(schema) } });

  switch (operation) {
    case 'create':
      return {
        operationId: `create${kind.plural}`,
        tags: [name],
        summary: `Create a batch of ${label} records`,
        parameters: [ref('parameters', 'Prefer')],
        requestBody: {
          description: `Each record has at most ${textLimit}.`,
          required: true,
          content: json({
            type: 'array',
            maxItems: limits.maxBatch,
            items: ref('schemas', requestName(kind, operation)),
          }),
        },
        responses: {
          ...ok('The created records, in the order sent.', many),
          ...errors(...writeErrors(kind)),
        },
      };
    case 'update':
      return {
        operationId: `update${name}`,
        tags: [name],
        summary: `Change fields of ${withArticle(label)}`,
        description:
          'Fields that are absent stay as they are; null clears a field; `externalIds` is replaced as a whole.',
        parameters: [
          { name: 'id', in: 'path', required: true, description: `ID of the ${label}`, schema: { type: 'string' } },
          ref('parameters', 'Prefer'),
        ],
        requestBody: {
          description: `The changes have at most ${textLimit}.`,
          required: true,
          content: json(ref('schemas', requestName(kind, operation))),
        },
        responses: {
          ...ok(`The changed ${label} with all its fields.`, ref('schemas', name)),
          ...errors('NotFound', ...writeErrors(kind)),
        },
      };
    case 'list':
      return {
        operationId: `list${kind.plural}`,
        tags: [name],
        summary: `All ${label} records of the workspace, oldest first`,
        parameters: [
          {
            name: 'If-None-Match',
            in: 'header',
            description: 'The ETag of a cached response.',
            schema: { type: 'string' },
          },
        ],
        responses: {
          [success]: {
            description: 'All of them, as one array.',
            headers: { ETag: { description: 'Changes whenever the response changes.', schema: { type: 'string' } } },
            content: json(many),
          },
          304: { description: 'The cached response is still current.' },
          ...errors(),
        },
      };
  }
}

const errorResponses = {
  BadRequest: { status: 400, description: 'The request is not valid; the message says what is wrong, and where.' },
  Unauthorized: { status: 401, description: 'The request has no valid API key.' },
  Forbidden: { status: 403, description: 'The API key is read-only.' },
  NotFound: { status: 404, description: 'There is no such record.' },
  Conflict: { status: 409, description: 'A unique value is taken.' },
  TooLarge: { status: 413, description: 'The body or the batch is larger than allowed.' },
  UnsupportedMediaType: { status: 415, description: 'The body is not `application/json`, or it is encoded.' },
  TooManyRequests: {
    status: 429,
    description: 'The API key or the address has sent too many requests; retry after `Retry-After` seconds.',
  },
  Unexpected: { status: 500, description: 'An internal error; the message has the request ID and no detail.' },
  Unavailable: { status: 503, description: 'The database is not available; retry after `Retry-After` seconds.' },
};

type ErrorName = keyof typeof errorResponses;

/** Only unique fields cause conflicts, and not every kind has one. */
const writeErrors = (kind: RecordKind): ErrorName[] => [
  'BadRequest',
  'Forbidden',
  ...(Object.values(kind.fields).some((field) => field.unique) ? (['Conflict'] as const) : []),
  'TooLarge',
  'UnsupportedMediaType',
];

/** These responses, and those that every operation may return. */
const errors = (...names: ErrorName[]): Json =>
  Object.fromEntries(
    ([...names, 'Unauthorized', 'TooManyRequests', 'Unexpected', 'Unavailable'] as const).map((name) => [
      errorResponses[name].status,
      ref('responses', name),
    ]),
  );

const errorResponse = (description: string): Json => ({
  description,
  content: {
    'application/json': { schema: ref('schemas', 'ErrorResponse') },
    'application/problem+json': { schema: ref('schemas', 'Problem') },
  },
});

const errorSchema: Json = {
  type: 'object',
  required: ['error', 'code'],
  properties: {
    error: { type: 'string', description: 'human-readable message' },
    code: { type: 'string', description: 'the HTTP status as text' },
  },
};

const problemSchema: Json = {
  type: 'object',
  description: 'RFC 9457, for requests with `Accept: application/problem+json`.',
  required: ['type', 'title', 'status', 'detail'],
  properties: {
    type: {
      type: 'string',
      description:
        '`about:blank`, or `urn:yardgraph:may-be-stored` for a 503 after which the request may have been stored',
    },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    errors: {
      type: 'array',
      description: 'every invalid field',
      items: {
        type: 'object',
        required: ['message'],
        properties: {
          index: { type: 'integer', description: 'position in the batch' },
          field: { type: 'string' },
          message: { type: 'string' },
        },
      },
    },
  },
};

const preferHeader: Json = {
  name: 'Prefer',
  in: 'header',
  description: '`handling=lenient` (RFC 7240): unknown fields are ignored instead of rejected.',
  schema: { type: 'string' },
};
