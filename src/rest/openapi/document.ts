/** The OpenAPI 3.1 document, derived from the routes and the record kinds, and served at /openapi.json. */
import type { FastifyInstance } from 'fastify';
import type { Limits } from '../../config.ts';
import { createPage } from '../../http/pages.ts';
import { apiVersion } from '../../http/server.ts';
import type { Field } from '../../model/fields.ts';
import { count } from '../../model/issues.ts';
import { capitalized, pathName, withArticle } from '../../model/labels.ts';
import type { RecordKind } from '../../model/record-kind.ts';
import { maxIdentifierLength, maxLengthOf } from '../../model/schemas.ts';
import { recordKinds } from '../../records/index.ts';
import { longExternalIds, maxExternalIdsPerWrite } from '../../store/writes/write.ts';
import { toResponse } from '../response.ts';
import { type Route, routes } from '../routes.ts';
import { errorResponses, errorSchemas, errorsOf, exportErrors, sharedErrorResponses } from './errors.ts';
import { type HeaderName, headers, type Json, parameters, ref, responseHeaders } from './parts.ts';

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

const tagOf = ({ pluralLabel }: RecordKind): string => capitalized(pluralLabel);

const operation = (route: Route, limits: Limits): Json => ({
  tags: [tagOf(route.kind)],
  ...describe[route.operation](route, limits),
});

const describe: Record<Route['operation'], (route: Route, limits: Limits) => Json> = { create, update, list };

function create(route: Route, limits: Limits): Json {
  const { kind, operation } = route;
  const schema = { type: 'array', maxItems: limits.maxBatch, items: ref('schemas', requestName(kind, operation)) };
  return {
    operationId: `create${kind.plural}`,
    summary: `Create ${kind.pluralLabel}`,
    description: sentences(
      `Creates all records of the batch in one transaction, or none of them if any is invalid, and returns them in the order sent. A batch has at most ${count(limits.maxBatch)} records${kind.fields.externalIds ? `, and ${count(maxExternalIdsPerWrite)} external IDs together (${longExternalIds})` : ''}, and may be empty.`,
      repeatText(kind),
    ),
    parameters: writeParameters,
    requestBody: body(route, schema, `Each record has at most ${textLimit(limits)}.`),
    responses: {
      201: success(route, many(kind), 'The created records, in the order sent.', writeHeaders),
      ...errors(route),
    },
  };
}

function update(route: Route, limits: Limits): Json {
  const { kind, operation } = route;
  return {
    operationId: `update${kind.name}`,
    summary: `Change ${withArticle(kind.label)}`,
    description: sentences(
      `Changes the fields that are sent, and returns the whole ${kind.label}. Absent fields stay as they are, null clears a field, and \`externalIds\` is replaced as a whole. An empty object changes nothing, including \`updatedAt\`. If any field is invalid, nothing is changed.`,
      'Sent again without an `Idempotency-Key`, the request changes only `updatedAt`.',
    ),
    parameters: [
      {
        name: 'id',
        in: 'path',
        required: true,
        description: `ID of the ${kind.label}, from the response that created it. If there is none yet, create one first.`,
        schema: { type: 'string' },
      },
      ...writeParameters,
    ],
    requestBody: body(
      route,
      ref('schemas', requestName(kind, operation)),
      `The changes have at most ${textLimit(limits)}.`,
    ),
    responses: {
      200: success(route, ref('schemas', kind.name), `The changed ${kind.label}, with all its fields.`, writeHeaders),
      ...errors(route),
    },
  };
}

function list(route: Route): Json {
  const { kind } = route;
  return {
    operationId: `list${kind.plural}`,
    summary: `List all ${kind.pluralLabel}`,
    description: `Returns all ${kind.pluralLabel} of the workspace as one array, oldest first, from one consistent snapshot. To read them page by page, or single ones, use GraphQL.`,
    parameters: [ref('parameters', 'IfNoneMatch')],
    responses: {
      200: success(route, many(kind), `All ${kind.pluralLabel}, oldest first.`, ['ETag']),
      304: {
        description: 'The response that the client has is still current.',
        headers: responseHeaders('ETag'),
      },
      ...errors(route),
    },
  };
}

const writeParameters = ['Prefer', 'IdempotencyKey', 'XChangeMessage'].map((name) => ref('parameters', name));

const writeHeaders: readonly HeaderName[] = ['Preference-Applied', 'Idempotency-Replayed'];

const many = ({ name }: RecordKind): Json => ({ type: 'array', items: ref('schemas', name) });

const body = (route: Route, schema: Json, description: string): Json => ({
  description,
  required: true,
  content: { 'application/json': { schema, example: validBody(route) } },
});

const success = (route: Route, schema: Json, description: string, headers: readonly HeaderName[]): Json => ({
  description,
  headers: responseHeaders(...headers),
  content: { 'application/json': { schema, example: successBody(route) } },
});

const errors = (route: Route): Json => errorResponses(`${route.method} ${route.template}`, errorsOf(route));

const textLimit = ({ maxRecordLength }: Limits): string =>
  `${count(maxRecordLength)} characters in all texts, external IDs included`;

const sentences = (...texts: readonly string[]): string => texts.join('\n\n');

function repeatText({ fields, label }: RecordKind): string {
  const unique = Object.keys(fields).find((name) => fields[name]?.unique);
  return unique === undefined
    ? 'Sent again without an `Idempotency-Key`, the request creates the records again.'
    : `Sent again without an \`Idempotency-Key\`, the request creates the records again, unless they have a \`${unique}\`: it is unique in the workspace, and if another ${label} has it, the response is 409.`;
}

const files = [...recordKinds.flatMap((kind) => [`${pathName(kind)}.csv`, `${pathName(kind)}.ndjson`]), 'all.ndjson'];

const queryParameter = (name: string, description: string): Json => ({
  name,
  in: 'query',
  description,
  schema: { type: 'string' },
});

const exportPath = '/export/{file}';

const exportOperation = (): Json => ({
  operationId: 'exportRecords',
  tags: ['Export'],
  summary: 'Export records',
  description:
    'Returns all records of a kind, or of all kinds, as CSV or NDJSON, oldest first, from one state of the database. A workspace can have one export at a time; others wait.',
  parameters: [
    {
      name: 'file',
      in: 'path',
      required: true,
      description: 'The kind of the records, and the format. All kinds together are in the order that links need.',
      schema: { type: 'string', enum: files },
    },
    queryParameter(
      'where',
      'Only records that match this filter, which is that of GraphQL as JSON: `{"name":{"eq":"Crane"}}`. Not with all kinds.',
    ),
    queryParameter(
      'externalIds',
      'The names of up to 10 systems, `erp,crm`: their IDs have columns of their own, also those of linked records.',
    ),
    {
      name: 'excel',
      in: 'query',
      description:
        'Only for CSV: with a byte order mark, and with an apostrophe before texts that a spreadsheet program would execute.',
      schema: { type: 'boolean' },
    },
  ],
  responses: {
    200: {
      description: 'The records.',
      headers: responseHeaders('Export-Count'),
      content: {
        'text/csv': { schema: { type: 'string' }, example: 'id,name,uid\nasset_01kq5xyz,Crane,C-7\n' },
        'application/x-ndjson': {
          schema: { type: 'string' },
          example: '{"kind":"ASSET","id":"asset_01kq5xyz","name":"Crane"}\n',
        },
      },
    },
    ...errorResponses(`GET ${exportPath}`, exportErrors),
  },
});

const requestName = (kind: RecordKind, operation: Route['operation']) =>
  operation === 'update' ? `${kind.name}Changes` : `New${kind.name}`;

/** Returns the schemas of a kind: `Asset`, `NewAsset`, and `AssetChanges` where there is an update. */
function kindSchemas(kind: RecordKind, limits: Limits): Json {
  const requests = routes.filter((route) => route.kind === kind && route.operation !== 'list');
  return {
    [kind.name]: responseSchema(kind, limits),
    ...Object.fromEntries(
      requests.map(({ operation }) => [requestName(kind, operation), requestSchema(kind, operation, limits)]),
    ),
  };
}

function requestSchema(kind: RecordKind, operation: Route['operation'], limits: Limits): Json {
  const fields = Object.entries(kind.fields);
  const required = operation === 'create' ? fields.filter(([, field]) => field.required).map(([name]) => name) : [];
  return {
    type: 'object',
    additionalProperties: false,
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(fields.map(([name, field]) => [name, requestFieldSchema(field, limits)])),
  };
}

function responseSchema(kind: RecordKind, limits: Limits): Json {
  const fields = Object.entries(kind.storedFields);
  const nullable = kind.unset === 'null';
  return {
    type: 'object',
    description: kind.description,
    required: fields.filter(([, field]) => nullable || field.required).map(([name]) => name),
    properties: Object.fromEntries(
      fields.map(([name, field]) => {
        const schema = fieldSchema(field, limits, { nullable: nullable && !field.required });
        return [name, field.type === 'id' ? { ...schema, examples: [exampleId(kind)] } : schema];
      }),
    ),
  };
}

/** Returns the schema of a field in requests, where a datetime may also be a date, and a field that is not required may be null. */
function requestFieldSchema(field: Field, limits: Limits): Json {
  if (field.type !== 'dateTime') return fieldSchema(field, limits, { nullable: !field.required });
  const { format: _, examples, ...type } = typeSchema(field, limits);
  const formats = ['date-time', 'date'].map((format) => ({ ...type, format }));
  return { ...anyOf(formats, { nullable: !field.required }), description: field.description, examples };
}

/** Client generators lose the null in `type: ['object', 'null']`, and the type of an `anyOf` branch that has only a format. */
function fieldSchema(field: Field, limits: Limits, { nullable }: { nullable: boolean }): Json {
  const { type, examples, ...rules } = typeSchema(field, limits);
  const schema =
    nullable && type === 'object'
      ? anyOf([{ type, ...rules }], { nullable })
      : { type: nullable ? [type, 'null'] : type, ...rules };
  return { ...schema, description: field.description, ...(examples !== undefined && { examples }) };
}

const anyOf = (schemas: readonly Json[], { nullable }: { nullable: boolean }): Json => ({
  anyOf: [...schemas, ...(nullable ? [{ type: 'null' }] : [])],
});

function typeSchema(field: Field, limits: Limits): Json {
  switch (field.type) {
    case 'id':
      return { type: 'string' };
    case 'text':
      return { type: 'string', maxLength: maxLengthOf(field, limits) };
    case 'number':
      return { type: 'number', minimum: field.min, maximum: field.max };
    case 'boolean':
      return { type: 'boolean' };
    case 'dateTime':
      return { type: 'string', format: 'date-time', examples: ['2026-03-01T07:30:00.000Z'] };
    case 'externalIds':
      return {
        type: 'object',
        propertyNames: { maxLength: maxLengthOf(field, limits) },
        additionalProperties: { type: 'string', maxLength: maxLengthOf(field, limits) },
        maxProperties: limits.maxExternalIds,
        examples: [{ erp: '4711' }],
      };
    case 'reference':
    case 'foreignReference':
      return { type: 'string', minLength: 1, maxLength: maxIdentifierLength };
  }
}

/** A change of the only kind that an operation changes. */
const change = { name: 'Harbour wall, phase 2', startDate: null };

function validBody({ kind, operation }: Route): unknown {
  return operation === 'create' ? [kind.example] : change;
}

const exampleId = ({ idPrefix }: RecordKind): string => `${idPrefix}_01h455vb4pex5vsknk084sn02q`;

function successBody({ kind, operation }: Route): unknown {
  if (operation !== 'update') return [storedExample(kind, kind.example, '2026-03-01T07:30:00.000Z')];
  return storedExample(kind, { ...kind.example, ...change }, '2026-03-01T07:45:00.000Z');
}

function storedExample(kind: RecordKind, sent: object, updatedAt: string): object {
  const set: Record<string, unknown> = {
    ...sent,
    id: exampleId(kind),
    workspaceId: 'acme',
    createdAt: '2026-03-01T07:30:00.000Z',
    updatedAt,
    createdBy: 'erp-sync',
    updatedBy: 'erp-sync',
  };
  const stored = Object.entries(kind.storedFields).map(([name, { type }]) => {
    const value = set[name] ?? null;
    return [name, type === 'dateTime' && value !== null ? new Date(String(value)).toISOString() : value];
  });
  return toResponse(kind, Object.fromEntries(stored));
}
