/** The eight operations in the OpenAPI document, and the export, which has no route of theirs. */
import type { Limits } from '../../config.ts';
import { count } from '../../model/issues.ts';
import { capitalized, pathName, withArticle } from '../../model/labels.ts';
import type { RecordKind } from '../../model/record-kind.ts';
import { recordKinds } from '../../records/index.ts';
import { longExternalIds, maxExternalIdsPerWrite } from '../../store/writes/write.ts';
import type { Route } from '../routes.ts';
import { errorResponses, errorsOf, exportErrors } from './errors.ts';
import { type HeaderName, type Json, ref, responseHeaders } from './parts.ts';
import { requestName, successBody, validBody } from './schemas.ts';

export const tagOf = ({ pluralLabel }: RecordKind): string => capitalized(pluralLabel);

export const operation = (route: Route, limits: Limits): Json => ({
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

export const exportPath = '/export/{file}';

export const exportOperation = (): Json => ({
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
