/** The document is derived from the routes and the record kinds. */
import type { FastifyInstance } from 'fastify';
import type { Limits } from '../../config.ts';
import { createPage, loadOnce } from '../../http/pages.ts';
import { idempotencyKeyPattern, maxMessageLength, mergePatchType } from '../../http/request.ts';
import { apiVersion } from '../../http/server.ts';
import { externalIds, type Field, longExternalIds, maxExternalIdsPerWrite } from '../../model/fields.ts';
import { formatCount } from '../../model/issues.ts';
import { capitalized, pathName, withArticle } from '../../model/labels.ts';
import type { RecordKind } from '../../model/record-kind.ts';
import { maxIdentifierLength, maxLengthOf } from '../../model/schemas.ts';
import { recordKinds } from '../../records/index.ts';
import { toResponse } from '../handler.ts';
import { type Route, routes } from '../routes.ts';
import {
  errorResponses,
  errorSchemas,
  errorsOf,
  type HeaderName,
  headers,
  type Json,
  ref,
  responseHeaders,
} from './responses.ts';

export function serveOpenApi(app: FastifyInstance, limits: Limits): void {
  // At the first request: it is a seventh of the work of a start, and seldom needed.
  const page = loadOnce(async () =>
    createPage(JSON.stringify(openApiDocument(limits)), 'application/json; charset=utf-8'),
  );
  app.get('/openapi.json', async (request, reply) => (await page())(request, reply));
}

/** Has no schemas of kinds without a route. The client's types are generated from all kinds. */
export function openApiDocument(limits: Limits, kinds: readonly RecordKind[] = recordKinds.filter(hasRoute)): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    const { template } = route;
    paths[template] = {
      ...paths[template],
      [route.method.toLowerCase()]: { tags: [tagOf(route.kind)], ...operations[route.operation](route, limits) },
    };
  }
  paths[exportPath] = { get: exportOperation() };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Yardgraph',
      version: apiVersion,
      summary: `A workspace's operational records: ${recordKinds.map(({ pluralLabel }) => pluralLabel).join(', ')}.`,
      description: introduction(limits),
      license: { name: 'MIT', identifier: 'MIT' },
    },
    // Relative to the document: a proxy may add a path.
    servers: [{ url: '.', description: 'This service' }],
    // The empty requirement: requests need no key until the first key is created.
    security: [{ bearer: [] }, {}],
    tags: [
      ...kinds.map((kind) => ({ name: tagOf(kind), description: kind.description })),
      { name: 'Export', description: 'Files of all records.' },
    ],
    paths,
    components: {
      schemas: {
        ...Object.assign({}, ...kinds.map((kind) => kindSchemas(kind, limits))),
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
      responses: errorResponses,
    },
  };
}

const introduction = ({ maxBodyBytes, maxNesting }: Limits): string =>
  `
Records are created in batches, all or nothing, and returned in the order sent. To read them with everything they \
refer to, and to update, upsert or delete them, use GraphQL at \`/graphql\`. All rules are on the page \
[Interface](/documentation/docs/interface.md).

**Requests.** Bodies are JSON in UTF-8, with the content type \`application/json\`, plain or with \`Content-Encoding: \
gzip\`. They have at most ${formatCount(maxBodyBytes)} bytes and ${maxNesting} levels. Unknown fields are rejected, \
unless the request has \`Prefer: handling=lenient\`. Times are RFC 3339 with a zone, or a date, which means midnight \
UTC.

**References.** In a field such as \`locationId\`, an ID of this service must be the ID of a stored record of the \
right kind. Any other text is stored as sent, as an ID of another system. A \`parentId\` must be the ID of a stored \
record.

**Errors** are \`{ "error": "…", "code": "400" }\`. For a batch, the message lists up to ten invalid fields and counts \
the rest. With \`Accept: application/problem+json\`, the response is a problem (RFC 9457) that lists all of them.

**Retries.** A write with an \`Idempotency-Key\` can be sent again with the same key and the same body, also after a \
lost connection: it runs once, and a repeat gets the first response. Without a key, a repeated create creates the \
records again: retry it only after a 429, or after a 503 unless its problem has the type \
\`urn:yardgraph:may-be-stored\`.
`.trim();

const hasRoute = (kind: RecordKind): boolean => routes.some((route) => route.kind === kind);

const tagOf = ({ pluralLabel }: RecordKind): string => capitalized(pluralLabel);

const requestHeaders = {
  Prefer: '`handling=lenient` (RFC 7240): unknown fields are ignored instead of rejected.',
  'Idempotency-Key':
    'A value unique to this request, such as the random UUID `6ec0bd7f-11c0-43da-975e-2a8ad9ebae0b`. Requests with the same key and the same body run once, and repeats get the first response. See **Retries**.',
  'X-Change-Message': `Why the records are created or changed, in UTF-8 and at most ${formatCount(maxMessageLength)} characters: it is kept with each change, beside the user of the key and the ID of the request.`,
  'X-Import-Run':
    'The ID of an import, of 1 to 64 letters, digits, `_` and `-`: GraphQL lists imports with their changes.',
  'If-None-Match':
    'The `ETag` of a response that the client has: if it is still current, the response is 304 without a body.',
};

/** Named after the headers, without hyphens. */
const parameters = Object.fromEntries(
  Object.entries(requestHeaders).map(([name, description]) => {
    const schema = { type: 'string', ...(name === 'Idempotency-Key' && { pattern: idempotencyKeyPattern }) };
    return [name.replaceAll('-', ''), { name, in: 'header', description, schema }];
  }),
);

const writes = ['Prefer', 'IdempotencyKey', 'XChangeMessage', 'XImportRun'];
const writeParameters = writes.map((name) => ref('parameters', name));
const writeHeaders: readonly HeaderName[] = ['Preference-Applied', 'Idempotency-Replayed'];

const inPath = (name: string, description: string, rules: Json = {}): Json => ({
  name,
  in: 'path',
  required: true,
  description,
  schema: { type: 'string', ...rules },
});

const operations: Record<Route['operation'], (route: Route, limits: Limits) => Json> = {
  create: createOperation,
  update: updateOperation,
  list: listOperation,
};

function createOperation(route: Route, limits: Limits): Json {
  const { kind } = route;
  const { maxBatch } = limits;
  const ids = `${formatCount(maxExternalIdsPerWrite)} external IDs together (${longExternalIds})`;
  const batch = [`${formatCount(maxBatch)} records`, ...(kind.fields.externalIds ? [ids] : [])].join(', and ');
  const unique = Object.keys(kind.fields).find((name) => kind.fields[name]?.unique);
  const unless = `, unless they have a \`${unique}\`: it is unique in the workspace, and if another ${kind.label} has it, the response is 409`;
  return {
    operationId: `create${kind.plural}`,
    summary: `Create ${kind.pluralLabel}`,
    description: `Creates all records of the batch in one transaction, or none of them if any is invalid, and returns them in the order sent. A batch has at most ${batch}, and may be empty.\n\nSent again without an \`Idempotency-Key\`, the request creates the records again${unique ? unless : ''}.`,
    parameters: writeParameters,
    requestBody: {
      description: `Each record has at most ${textLimit(limits)}.`,
      required: true,
      content: jsonContent({ type: 'array', maxItems: maxBatch, items: ref('schemas', `New${kind.name}`) }, [
        kind.example,
      ]),
    },
    responses: responses(route, writeHeaders, 'The created records, in the order sent.', many(kind), [stored(kind)]),
  };
}

function updateOperation(route: Route, limits: Limits): Json {
  const { kind } = route;
  // A project: no other kind has this operation.
  const change = { name: 'Harbour wall, phase 2', startDate: null };
  const changed = stored(kind, { ...kind.example, ...change }, '2026-03-01T07:45:00.000Z');
  return {
    operationId: `update${kind.name}`,
    summary: `Change ${withArticle(kind.label)}`,
    description: `Changes the fields that are sent, and returns the whole ${kind.label}. Absent fields stay as they are, null clears a field, and \`externalIds\` is replaced as a whole, or merged if the content type is \`application/merge-patch+json\` (RFC 7396): null removes an ID, and those that are not sent stay. An empty object changes nothing, including \`updatedAt\`. If any field is invalid, nothing is changed.\n\nSent again without an \`Idempotency-Key\`, the request changes only \`updatedAt\`.`,
    parameters: [
      inPath(
        'id',
        `ID of the ${kind.label}, from the response that created it. If there is none yet, create one first.`,
      ),
      ...writeParameters,
    ],
    requestBody: {
      description: `The changes have at most ${textLimit(limits)}.`,
      required: true,
      content: {
        ...jsonContent(ref('schemas', `${kind.name}Changes`), change),
        [mergePatchType]: {
          schema: ref('schemas', `${kind.name}MergePatch`),
          example: { externalIds: { erp: '4711', crm: null } },
        },
      },
    },
    responses: responses(
      route,
      writeHeaders,
      `The changed ${kind.label}, with all its fields.`,
      ref('schemas', kind.name),
      changed,
    ),
  };
}

function listOperation(route: Route): Json {
  const { kind } = route;
  return {
    operationId: `list${kind.plural}`,
    summary: `List all ${kind.pluralLabel}`,
    description: `Returns all ${kind.pluralLabel} of the workspace as one array, oldest first. Up to 1,000 and a million characters are of one moment; longer lists are read while they are sent. To read them page by page, or single ones, use GraphQL.`,
    parameters: [ref('parameters', 'IfNoneMatch')],
    responses: {
      304: { description: 'The response that the client has is still current.', headers: responseHeaders('ETag') },
      ...responses(route, ['ETag'], `All ${kind.pluralLabel}, oldest first.`, many(kind), [stored(kind)]),
    },
  };
}

const jsonContent = (schema: Json, example: unknown): Json => ({ 'application/json': { schema, example } });

const errorStatuses = { create: [409, 413, 415], update: [404, 409, 413, 415], list: [] };

function responses(route: Route, names: readonly HeaderName[], description: string, schema: Json, example: unknown) {
  const success = { description, headers: responseHeaders(...names), content: jsonContent(schema, example) };
  return { [route.success]: success, ...errorsOf(...errorStatuses[route.operation]) };
}

const many = ({ name }: RecordKind): Json => ({ type: 'array', items: ref('schemas', name) });

const textLimit = ({ maxRecordLength }: Limits): string =>
  `${formatCount(maxRecordLength)} characters in all texts, external IDs included`;

const exportPath = '/export/{file}';

const exportQuery = {
  where:
    'Only records that match this filter, which is that of GraphQL as JSON: `{"name":{"eq":"Crane"}}`. Not with all kinds.',
  externalIds:
    'The names of up to 10 systems, `erp,crm`: their IDs have columns of their own, also those of linked records.',
  names: 'With the names of the records that links lead to, beside their IDs: `location.name`.',
  excel:
    'Only for CSV: with a byte order mark, with an apostrophe before texts that a spreadsheet program would execute, and with texts that it would change as formulas, `="00815"`. A language instead of `true`, such as `de-DE`, also chooses the delimiter, the order of dates and the decimal sign, and has IDs after the names of what they lead to.',
  delimiter: 'Only for CSV: `,`, `;` or `tab`, between the columns.',
  dates: 'Only for CSV: how 31 December 2026 is written: `31.12.2026`, `31/12/2026` or `12/31/2026`.',
  timeZone:
    'Only for CSV: the zone in which times are written, `Europe/Berlin`. Times that are ambiguous there are in UTC, and end with `UTC`.',
  decimalComma: 'Only for CSV: numbers are written as `53,08`.',
};

const exportTypes: Json = { names: 'boolean', excel: ['boolean', 'string'], decimalComma: 'boolean' };

const exportOperation = (): Json => ({
  operationId: 'exportRecords',
  tags: ['Export'],
  summary: 'Export records',
  description:
    'Returns all records of a kind, or of all kinds, as CSV or NDJSON, oldest first, from one state of the database. A workspace can have two exports at a time: a third gets 429.',
  parameters: [
    inPath('file', 'The kind of the records, and the format. All kinds together are in the order that links need.', {
      enum: [...recordKinds.map(pathName).flatMap((name) => [`${name}.csv`, `${name}.ndjson`]), 'all.ndjson'],
    }),
    ...Object.entries(exportQuery).map(([name, description]) => {
      return { name, in: 'query', description, schema: { type: exportTypes[name] ?? 'string' } };
    }),
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
    ...errorsOf(413),
  },
});

/** `Asset`, `NewAsset`, and `AssetChanges` if an operation updates assets. */
function kindSchemas(kind: RecordKind, limits: Limits): Json {
  const sent = Object.entries(kind.fields);
  const stored = Object.entries(kind.storedFields);
  const isNullable = (name: string) => !kind.storedFields[name]?.required && !kind.omittedFields.includes(name);
  const required = sent.flatMap(([name, field]) => (field.required ? [name] : []));
  const properties = Object.fromEntries(
    sent.map(([name, field]) => [name, fieldSchema(field, limits, { isNullable: !field.required, isSent: true })]),
  );
  const request = { type: 'object', additionalProperties: false };
  return {
    [kind.name]: {
      type: 'object',
      description: kind.description,
      required: stored.flatMap(([name, field]) => (isNullable(name) || field.required ? [name] : [])),
      properties: Object.fromEntries(
        stored.map(([name, field]) => {
          const schema = fieldSchema(field, limits, { isNullable: isNullable(name) });
          return [name, field.type === 'id' ? { ...schema, examples: [exampleId(kind)] } : schema];
        }),
      ),
    },
    [`New${kind.name}`]: { ...request, ...(required.length > 0 && { required }), properties },
    ...(routes.some((route) => route.kind === kind && route.operation === 'update') && {
      [`${kind.name}Changes`]: { ...request, properties },
      [`${kind.name}MergePatch`]: { ...request, properties: { ...properties, externalIds: mergedIds(limits) } },
    }),
  };
}

/** In requests, a datetime may be a date, and an optional field may be null. */
function fieldSchema(field: Field, limits: Limits, { isNullable = false, isSent = false }): Json {
  const { examples, ...schema } = typeSchema(field, limits);
  const mayBeDate = isSent && field.type === 'dateTime';
  const options = mayBeDate ? ['date-time', 'date'].map((format) => ({ ...schema, format })) : [schema];
  // Client generators lose the null in `type: ['object', 'null']`, and the type of an `anyOf` branch with only a
  // format.
  const described =
    mayBeDate || (isNullable && schema.type === 'object')
      ? { anyOf: isNullable ? [...options, { type: 'null' }] : options }
      : { ...schema, type: isNullable ? [schema.type, 'null'] : schema.type };
  return { ...described, description: field.description, ...(examples !== undefined && { examples }) };
}

/** No `maxProperties`: the limit is for the merged external IDs. */
function mergedIds(limits: Limits): Json {
  const { maxProperties: _, additionalProperties: text, ...schema } = typeSchema(externalIds(), limits);
  const additionalProperties = { ...(text as Json), type: ['string', 'null'] };
  const description = 'The IDs to set in other systems; null removes one, and all others stay.';
  return {
    anyOf: [{ ...schema, additionalProperties, examples: [{ erp: '4711', crm: null }] }, { type: 'null' }],
    description,
  };
}

function typeSchema(field: Field, limits: Limits): Json {
  switch (field.type) {
    case 'id':
      return { type: 'string' };
    case 'text':
      return {
        type: 'string',
        maxLength: maxLengthOf(field, limits),
        ...(field.form && { pattern: field.form.pattern.source }),
      };
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

const exampleId = ({ idPrefix }: RecordKind): string => `${idPrefix}_01h455vb4pex5vsknk084sn02q`;

const createdAt = '2026-03-01T07:30:00.000Z';

function stored(kind: RecordKind, sent: object = kind.example, updatedAt = createdAt): object {
  const set: Record<string, unknown> = {
    ...sent,
    id: exampleId(kind),
    workspaceId: 'acme',
    createdAt,
    updatedAt,
    createdBy: 'erp-sync',
    updatedBy: 'erp-sync',
  };
  const record = Object.entries(kind.storedFields).map(([name, { type }]) => {
    const value = set[name] ?? null;
    return [name, type === 'dateTime' && value !== null ? new Date(String(value)).toISOString() : value];
  });
  return toResponse(kind, Object.fromEntries(record));
}
