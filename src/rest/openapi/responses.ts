import {
  forbidden,
  invalid,
  notFound,
  ServiceError,
  tooLarge,
  tooManyRequests,
  unauthorized,
  unavailable,
} from '../../errors.ts';
import { type ErrorResponse, errorBody, problem } from '../../http/error-response.ts';
import { sentence } from '../../model/sentences.ts';

export type Json = Readonly<Record<string, unknown>>;

export const ref = (section: string, name: string): Json => ({ $ref: `#/components/${section}/${name}` });

const headerDescriptions = {
  'X-Request-Id':
    'The ID that the request has in the logs: the `X-Request-Id` of the request if it is valid, otherwise a new one.',
  'API-Version': 'The version of this interface.',
  'Export-Count': 'The number of records in the file.',
  ETag: 'Changes whenever the response changes.',
  'Idempotency-Replayed': '`true` if this is the response to an earlier request with the same `Idempotency-Key`.',
  'Preference-Applied': '`handling=lenient`, if the request asked for it.',
  'WWW-Authenticate': 'How to send the key.',
  'Retry-After': 'Seconds until a retry may succeed. Absent if the request may have been stored.',
  'RateLimit-Limit': 'Requests per minute. These three headers are sent if the service limits requests.',
  'RateLimit-Remaining': 'Requests left in this minute.',
  'RateLimit-Reset': 'Seconds until the minute ends.',
};

const integerHeaders: readonly string[] = [
  ...['Export-Count', 'Retry-After', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'],
];

export const headers: Json = Object.fromEntries(
  Object.entries(headerDescriptions).map(([name, description]) => {
    return [name, { description, schema: { type: integerHeaders.includes(name) ? 'integer' : 'string' } }];
  }),
);

export type HeaderName = keyof typeof headerDescriptions;

export function responseHeaders(...names: readonly HeaderName[]): Json {
  const rateLimit = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'] as const;
  const all: readonly HeaderName[] = ['X-Request-Id', 'API-Version', ...names, ...rateLimit];
  return Object.fromEntries(all.map((name) => [name, ref('headers', name)]));
}

const errors: Readonly<Record<number, [name: string, description: string, ErrorResponse, ...HeaderName[]]>> = {
  400: [
    'BadRequest',
    'The request is invalid, and nothing is stored. The response lists every invalid field. Or the service has no API key yet, and the request was sent to a host name that is not a loopback name.',
    invalid([{ path: [1, 'nmae'], code: 'unknown-field', suggestion: 'name' }]),
  ],
  401: [
    'Unauthorized',
    'The request has no valid API key.',
    unauthorized('an API key is required: send it as Authorization: Bearer KEY, or as X-API-Key: KEY'),
    'WWW-Authenticate',
  ],
  403: [
    'Forbidden',
    'The API key is read-only, or may not write this kind. Or the service has no API key yet, and the request comes from a page of another origin or through a proxy.',
    forbidden('this API key is read-only'),
  ],
  404: [
    'NotFound',
    'The workspace has no record with this ID.',
    notFound(
      sentence({ code: 'no-record', kind: 'project', by: { field: 'id' }, text: 'project_01h455vb4pex5vsknk084sn02q' }),
    ),
  ],
  409: [
    'Conflict',
    'A unique value, such as the `uid` of an asset, is taken by another record of the workspace or of the batch. Or the `Idempotency-Key` was sent with another request. Nothing is stored.',
    invalid([{ path: [0, 'uid'], code: 'taken', kind: 'asset', by: { field: 'uid' }, text: 'C-7' }]),
  ],
  413: [
    'TooLarge',
    'The body or the batch is larger than allowed, or the records of an export cannot be read within its time.',
    tooLarge('expected a body of at most 10,485,760 bytes: split it into several requests'),
  ],
  415: [
    'UnsupportedMediaType',
    'The content type is not `application/json`, or the charset is not UTF-8.',
    new ServiceError(415, 'expected the header Content-Type: application/json'),
  ],
  429: [
    'TooManyRequests',
    'The API key, or the address, has sent too many requests, or the workspace has as many exports as it can have: retry after `Retry-After` seconds.',
    tooManyRequests('at most 600 requests per minute: try again in 42 s'),
    'Retry-After',
  ],
  500: [
    'Unexpected',
    'An unexpected error. The message has the ID of the request, which is also in the log, and no detail.',
    { status: 500, message: 'unexpected error, request 7f0c9a4e-5d0b-4c8e-9d5e-0a1b2c3d4e5f', issues: [] },
  ],
  503: [
    'Unavailable',
    'The database is unavailable: retry after `Retry-After` seconds. Without this header, it is unknown whether the commit succeeded, usually because the connection was lost (the problem type is `urn:yardgraph:may-be-stored`): send the request again with the same `Idempotency-Key`; if it had none, check first whether the records were stored.',
    unavailable('the database is not available, try again', ''),
    'Retry-After',
  ],
};

export const errorResponses: Json = Object.fromEntries(
  Object.values(errors).map(([name, description, example, ...headers]) => [
    name,
    {
      description,
      headers: responseHeaders(...headers),
      content: {
        'application/json': { schema: ref('schemas', 'ErrorResponse'), example: errorBody(example) },
        'application/problem+json': { schema: ref('schemas', 'Problem'), example: problem(example) },
      },
    },
  ]),
);

export const errorsOf = (...statuses: readonly number[]): Json =>
  Object.fromEntries(
    [400, 401, 403, ...statuses, 429, 500, 503].map((status) => [status, ref('responses', errors[status]?.[0] ?? '')]),
  );

export const errorSchemas: Json = {
  ErrorResponse: {
    type: 'object',
    required: ['error', 'code'],
    properties: {
      error: { type: 'string', description: 'human-readable message' },
      code: { type: 'string', description: 'the HTTP status as text' },
    },
  },
  Problem: {
    type: 'object',
    description: 'RFC 9457, for requests with `Accept: application/problem+json`.',
    required: ['type', 'title', 'status', 'detail'],
    properties: {
      type: {
        type: 'string',
        description:
          '`about:blank`, `urn:yardgraph:may-be-stored` for a 503 after which the request may have been stored, `urn:yardgraph:disk-full` for one because the disk of the database is full, or `urn:yardgraph:idempotency-key-reused` for a 409 because of the `Idempotency-Key`',
      },
      title: { type: 'string' },
      status: { type: 'integer' },
      detail: { type: 'string' },
      errors: {
        type: 'array',
        description: 'every invalid field',
        items: {
          type: 'object',
          required: ['message', 'code'],
          properties: {
            index: { type: 'integer', description: 'position in the batch' },
            field: { type: 'string' },
            message: { type: 'string' },
            code: { type: 'string', description: 'what programs tell issues apart by, such as `required`' },
            other: { type: 'string', description: 'another item of the batch that it involves, such as `[0]`' },
          },
        },
      },
    },
  },
};
