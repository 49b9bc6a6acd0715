/** The error responses of each operation: their headers, schemas and examples, in both media types. */
import type { Limits } from '../../config.ts';
import type { ErrorResponse } from '../../http/error-response.ts';
import { plainError, problem } from '../../http/send-error.ts';
import type { Route } from '../routes.ts';
import {
  conflicting,
  type ErrorDescription,
  forbiddenRead,
  forbiddenWrite,
  invalidHost,
  invalidParameter,
  invalidRequest,
  rateLimited,
  tooLargeBatch,
  tooLargeChange,
  tooLongExport,
  unauthorizedRequest,
  unavailableForReading,
  unavailableForWriting,
  unexpected,
  unknownRecord,
  unsupportedMediaType,
} from './error-texts.ts';
import { type Json, ref, responseHeaders } from './parts.ts';

function errorResponse({ description, headers = [], examples }: ErrorDescription): Json {
  const render = (form: (error: ErrorResponse) => object) =>
    Object.fromEntries(Object.entries(examples).map(([name, error]) => [name, { value: form(error) }]));
  return {
    description,
    headers: responseHeaders(...headers),
    content: {
      'application/json': { schema: ref('schemas', 'ErrorResponse'), examples: render(plainError) },
      'application/problem+json': { schema: ref('schemas', 'Problem'), examples: render(problem) },
    },
  };
}

/** Returns the responses that are the same for several operations. */
export const sharedErrors = (): Json =>
  Object.fromEntries(
    Object.entries({
      Unauthorized: unauthorizedRequest,
      Forbidden: forbiddenWrite,
      UnsupportedMediaType: unsupportedMediaType,
      TooManyRequests: rateLimited,
      Unexpected: unexpected,
      Unavailable: unavailableForWriting,
    }).map(([name, described]) => [name, errorResponse(described)]),
  );

const everywhere: Json = {
  401: ref('responses', 'Unauthorized'),
  429: ref('responses', 'TooManyRequests'),
  500: ref('responses', 'Unexpected'),
};

const readErrors = (invalid: ErrorDescription): Json => ({
  400: errorResponse(invalid),
  403: errorResponse(forbiddenRead),
  503: errorResponse(unavailableForReading),
  ...everywhere,
});

export const exportErrors = (): Json => ({ ...readErrors(invalidParameter), 413: errorResponse(tooLongExport) });

/** Returns the error responses of an operation, by status. */
export function errorResponses(route: Route, limits: Limits): Json {
  const { kind, operation } = route;
  if (operation === 'list') return readErrors(invalidHost);
  return {
    400: errorResponse(invalidRequest(route, limits)),
    403: ref('responses', 'Forbidden'),
    ...(operation === 'update' && { 404: errorResponse(unknownRecord(kind)) }),
    409: errorResponse(conflicting(kind)),
    413: errorResponse(operation === 'create' ? tooLargeBatch(limits) : tooLargeChange(limits)),
    415: ref('responses', 'UnsupportedMediaType'),
    503: ref('responses', 'Unavailable'),
    ...everywhere,
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
