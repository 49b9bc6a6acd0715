/**
 * The headers of responses, and the errors of each operation: what they mean, and as examples what the service has responded, recorded in
 * `error-examples.json`: `npm run schema` sends requests that get them (test/rest/openapi-examples.test.ts), and writes the file.
 */
import { capitalized, uncapitalized } from '../../model/labels.ts';
import type { RecordKind } from '../../model/record-kind.ts';
import type { Route } from '../routes.ts';
import recorded from './error-examples.json';

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
  readonly examples: readonly string[];
}

const withoutKey =
  'the service has no API key yet, and the request comes from a page of another origin or through a proxy.';

export const sharedErrors = {
  Unauthorized: {
    description: 'The request has no valid API key.',
    headers: ['WWW-Authenticate'],
    examples: ['no-key', 'invalid-key', 'two-keys'],
  },
  Forbidden: {
    description: `The API key is read-only. Or ${withoutKey}`,
    examples: ['read-only-key', 'other-origin', 'proxy'],
  },
  UnsupportedMediaType: {
    description: 'The content type is not `application/json`, or the charset is not UTF-8.',
    examples: ['content-type', 'charset'],
  },
  TooManyRequests: {
    description: 'The API key, or the address, has sent too many requests: retry after `Retry-After` seconds.',
    headers: ['Retry-After'],
    examples: ['rate-limit'],
  },
  Unexpected: {
    description: 'An unexpected error. The message has the ID of the request, which is also in the log, and no detail.',
    examples: ['unexpected'],
  },
  Unavailable: {
    description:
      'The database is unavailable: retry after `Retry-After` seconds. Without this header, it is unknown whether the commit succeeded, usually because the connection was lost (the problem type is `urn:yardgraph:may-be-stored`): send the request again with the same `Idempotency-Key`; if it had none, check first whether the records were stored.',
    headers: ['Retry-After'],
    examples: ['unavailable', 'may-be-stored'],
  },
} satisfies Record<string, ErrorDescription>;

/** The errors of an operation, by their status: its own, or the names of shared ones. */
type Errors = Readonly<Record<number | string, ErrorDescription | keyof typeof sharedErrors>>;

const everywhere: Errors = { 401: 'Unauthorized', 429: 'TooManyRequests', 500: 'Unexpected' };

const readErrors: Errors = {
  400: {
    description: 'The service has no API key yet, and the request was sent to a host name that is not a loopback name.',
    examples: ['invalid-host'],
  },
  403: { description: capitalized(withoutKey), examples: ['other-origin', 'proxy'] },
  503: {
    description: 'The database is unavailable: retry after `Retry-After` seconds.',
    headers: ['Retry-After'],
    examples: ['unavailable'],
  },
  ...everywhere,
};

export const exportErrors: Errors = {
  ...readErrors,
  400: {
    description: 'A parameter is invalid, or unknown.',
    examples: ['unknown-parameter', 'invalid-filter'],
  },
  413: { description: 'The records cannot be read within the time for an export.', examples: ['too-long'] },
};

export function errorsOf({ kind, operation }: Route): Errors {
  if (operation === 'list') return readErrors;
  const size = operation === 'create' ? ['too-many-records', 'body-too-large'] : ['body-too-large'];
  return {
    400: {
      description: 'The request is invalid, and nothing is stored. The response lists every invalid field.',
      headers: ['Preference-Applied'],
      examples: ['invalid-fields', 'not-json', 'invalid-host'],
    },
    403: 'Forbidden',
    ...(operation === 'update' && {
      404: { description: `The workspace has no ${kind.label} with this ID.`, examples: ['unknown-id'] },
    }),
    409: conflicts(kind),
    413: {
      description: `The body ${operation === 'create' ? 'or the batch ' : ''}is larger than allowed.`,
      examples: size,
    },
    415: 'UnsupportedMediaType',
    503: 'Unavailable',
    ...everywhere,
  };
}

/** Not every kind has a unique field. */
function conflicts({ fields, label }: RecordKind): ErrorDescription {
  const reused = 'The `Idempotency-Key` was sent with another request. Nothing is stored.';
  const [name] = Object.entries(fields).find(([, { unique }]) => unique) ?? [];
  if (name === undefined) return { description: reused, examples: ['key-reused'] };
  return {
    description: `The value of \`${name}\` is taken by another ${label} of the workspace or of the batch, or ${uncapitalized(reused)}`,
    examples: [`taken-${name}`, 'key-reused'],
  };
}

export const errorResponses = (operation: string, errors: Errors): Json =>
  Object.fromEntries(
    Object.entries(errors).map(([status, error]) => [
      status,
      typeof error === 'string' ? ref('responses', error) : errorResponse(operation, error),
    ]),
  );

const schemas = { 'application/json': 'ErrorResponse', 'application/problem+json': 'Problem' } as const;

type Recorded = Readonly<Record<keyof typeof schemas, unknown>>;

const examples: Readonly<Record<string, Readonly<Record<string, Recorded>>>> = recorded;

function errorResponse(operation: string, error: ErrorDescription): Json {
  const known = { ...examples.shared, ...examples[operation] };
  const shown = error.examples.flatMap((name) => (known[name] ? [[name, known[name]] as const] : []));
  const contentAs = (mediaType: keyof typeof schemas) => ({
    schema: ref('schemas', schemas[mediaType]),
    examples: Object.fromEntries(shown.map(([name, example]) => [name, { value: example[mediaType] }])),
  });
  return {
    description: error.description,
    headers: responseHeaders(...(error.headers ?? [])),
    content: {
      'application/json': contentAs('application/json'),
      'application/problem+json': contentAs('application/problem+json'),
    },
  };
}

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
