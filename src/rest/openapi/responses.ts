/** The headers of responses, and the errors of each operation: what they mean, and an example of each as the service responds. */
import {
  badRequest,
  conflict,
  forbidden,
  idempotencyKeyReused,
  invalid,
  notFound,
  ServiceError,
  tooLarge,
  tooManyRequests,
  unauthorized,
  unavailable,
} from '../../errors.ts';
import { type ErrorResponse, errorBody, problem } from '../../http/error-response.ts';
import { capitalized, uncapitalized } from '../../model/labels.ts';
import type { RecordKind } from '../../model/record-kind.ts';
import type { Route } from '../routes.ts';

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

export const headers: Json = Object.fromEntries(
  Object.entries(headerDescriptions).map(([name, description]) => {
    const type = /^(?:Export-Count|Retry-After|RateLimit-.*)$/.test(name) ? 'integer' : 'string';
    const isAlwaysSent = /^(?:X-Request-Id|API-Version|Export-Count|ETag|WWW-Authenticate)$/.test(name);
    return [name, { description, schema: { type }, ...(isAlwaysSent && { required: true }) }];
  }),
);

export type HeaderName = keyof typeof headerDescriptions;

export function responseHeaders(...names: readonly HeaderName[]): Json {
  const rateLimit = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'] as const;
  const all: readonly HeaderName[] = ['X-Request-Id', 'API-Version', ...names, ...rateLimit];
  return Object.fromEntries(all.map((name) => [name, ref('headers', name)]));
}

interface ErrorDescription {
  readonly description: string;
  /** The headers besides those of every response. */
  readonly headers?: readonly HeaderName[];
  readonly example: ErrorResponse;
}

const withoutKey =
  'the service has no API key yet, and the request comes from a page of another origin or through a proxy.';

export const sharedErrors = {
  Unauthorized: {
    description: 'The request has no valid API key.',
    headers: ['WWW-Authenticate'],
    example: unauthorized('an API key is required: send it as Authorization: Bearer KEY, or as X-API-Key: KEY'),
  },
  Forbidden: {
    description: `The API key is read-only. Or ${withoutKey}`,
    example: forbidden('this API key is read-only'),
  },
  UnsupportedMediaType: {
    description: 'The content type is not `application/json`, or the charset is not UTF-8.',
    example: new ServiceError(415, 'expected the header Content-Type: application/json'),
  },
  TooManyRequests: {
    description: 'The API key, or the address, has sent too many requests: retry after `Retry-After` seconds.',
    headers: ['Retry-After'],
    example: tooManyRequests('at most 600 requests per minute: try again in 42 s'),
  },
  Unexpected: {
    description: 'An unexpected error. The message has the ID of the request, which is also in the log, and no detail.',
    example: {
      status: 500,
      message: 'unexpected error, request 7f0c9a4e-5d0b-4c8e-9d5e-0a1b2c3d4e5f',
      issues: [],
    },
  },
  Unavailable: {
    description:
      'The database is unavailable: retry after `Retry-After` seconds. Without this header, it is unknown whether the commit succeeded, usually because the connection was lost (the problem type is `urn:yardgraph:may-be-stored`): send the request again with the same `Idempotency-Key`; if it had none, check first whether the records were stored.',
    headers: ['Retry-After'],
    example: unavailable('the database is not available, try again', ''),
  },
} satisfies Record<string, ErrorDescription>;

/** The errors of an operation, by their status: its own, or the names of shared ones. */
type Errors = Readonly<Record<number | string, ErrorDescription | keyof typeof sharedErrors>>;

const everywhere: Errors = { 401: 'Unauthorized', 429: 'TooManyRequests', 500: 'Unexpected' };

const readErrors: Errors = {
  400: {
    description: 'The service has no API key yet, and the request was sent to a host name that is not a loopback name.',
    example: badRequest(
      'Host: expected a loopback name such as 127.0.0.1 or localhost while there is no API key, received "yard.example.com"',
    ),
  },
  403: {
    description: capitalized(withoutKey),
    example: forbidden(
      'without an API key, pages of other origins may call this service only if CORS_ORIGINS lists them',
    ),
  },
  503: {
    description: 'The database is unavailable: retry after `Retry-After` seconds.',
    headers: ['Retry-After'],
    example: sharedErrors.Unavailable.example,
  },
  ...everywhere,
};

export const exportErrors: Errors = {
  ...readErrors,
  400: {
    description: 'A parameter is invalid, or unknown.',
    example: badRequest('were: unknown parameter, did you mean "where"?'),
  },
  413: {
    description: 'The records cannot be read within the time for an export.',
    example: tooLarge('an export is read for at most 100,000 ms: export fewer records at a time, with `where`'),
  },
};

export function errorsOf({ kind, operation }: Route): Errors {
  if (operation === 'list') return readErrors;
  const isBatch = operation === 'create';
  const unknownField = { path: isBatch ? [1, 'nmae'] : ['nmae'], message: 'unknown field, did you mean "name"?' };
  return {
    400: {
      description: 'The request is invalid, and nothing is stored. The response lists every invalid field.',
      headers: ['Preference-Applied'],
      example: invalid([unknownField]),
    },
    403: 'Forbidden',
    ...(!isBatch && {
      404: {
        description: `The workspace has no ${kind.label} with this ID.`,
        example: notFound(`there is no ${kind.label} with the ID "${exampleId(kind)}" in this workspace`),
      },
    }),
    409: conflicts(kind),
    413: {
      description: `The body ${isBatch ? 'or the batch ' : ''}is larger than allowed.`,
      example: tooLarge('expected a body of at most 10,485,760 bytes: split it into several requests'),
    },
    415: 'UnsupportedMediaType',
    503: 'Unavailable',
    ...everywhere,
  };
}

export const exampleId = ({ idPrefix }: RecordKind): string => `${idPrefix}_01h455vb4pex5vsknk084sn02q`;

/** Not every kind has a unique field. */
function conflicts({ fields, label }: RecordKind): ErrorDescription {
  const reused = 'The `Idempotency-Key` was sent with another request. Nothing is stored.';
  const [name, field] = Object.entries(fields).find(([, { unique }]) => unique) ?? [];
  if (name === undefined || field?.type !== 'text') return { description: reused, example: idempotencyKeyReused() };
  return {
    description: `The value of \`${name}\` is taken by another ${label} of the workspace or of the batch, or ${uncapitalized(reused)}`,
    example: conflict([{ path: [0, name], message: `another ${label} has the ${name} "${field.example}"` }]),
  };
}

export const errorResponses = (errors: Errors): Json =>
  Object.fromEntries(
    Object.entries(errors).map(([status, error]) => [
      status,
      typeof error === 'string' ? ref('responses', error) : errorResponse(error),
    ]),
  );

const errorResponse = ({ description, headers: names = [], example }: ErrorDescription): Json => ({
  description,
  headers: responseHeaders(...names),
  content: {
    'application/json': { schema: ref('schemas', 'ErrorResponse'), example: errorBody(example) },
    'application/problem+json': { schema: ref('schemas', 'Problem'), example: problem(example) },
  },
});

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
          required: ['message'],
          properties: {
            index: { type: 'integer', description: 'position in the batch' },
            field: { type: 'string' },
            message: { type: 'string' },
          },
        },
      },
    },
  },
};
