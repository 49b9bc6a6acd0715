/**
 * The meaning of the operations' error responses, with an example of each text that a client is likely to get, made as the service makes
 * it, except for those about keys, which this layer does not know. A test gets every one of them from the service. Builds no OpenAPI.
 */
import { errorCodes } from 'fastify';
import type { Limits } from '../../config.ts';
import {
  badRequest,
  conflict,
  forbidden,
  idempotencyKeyReused,
  invalid,
  notFound,
  tooLarge,
  tooManyRequests,
  unauthorized,
} from '../../errors.ts';
import { type ErrorResponse, responseTo } from '../../http/error-response.ts';
import { parseJson, requireUtf8 } from '../../http/json-body.ts';
import { capitalized } from '../../model/labels.ts';
import type { RecordKind } from '../../model/record-kind.ts';
import { createParser, updateParser } from '../../model/schemas.ts';
import { requireBatchSize } from '../../services/checks/batch-size.ts';
import { noRecord } from '../../services/checks/unknown-ids.ts';
import { commitError, databaseUnavailable } from '../../store/connections/database-error.ts';
import type { Route } from '../routes.ts';
import { exampleId, invalidBody } from './examples.ts';
import type { HeaderName } from './parts.ts';

/** Keyed by a name, which the reference shows. */
type Examples = Readonly<Record<string, ErrorResponse>>;

export interface ErrorDescription {
  readonly description: string;
  /** The headers besides those of every response. */
  readonly headers?: readonly HeaderName[];
  readonly examples: Examples;
}

const responseToExample = (error: unknown, maxBytes = 0): ErrorResponse =>
  responseTo(error, { id: '7f0c9a4e-5d0b-4c8e-9d5e-0a1b2c3d4e5f', maxBytes });

/** Returns the response to the error of work that fails. */
function failureOf(work: () => unknown): ErrorResponse {
  try {
    work();
  } catch (error) {
    return responseToExample(error);
  }
  throw new Error('expected the work to fail');
}

export const invalidParameter: ErrorDescription = {
  description: 'A parameter is invalid, or unknown.',
  examples: {
    'unknown-parameter': badRequest('were: unknown parameter, did you mean "where"?'),
    'invalid-filter': badRequest('where: expected a filter as JSON, such as {"name":{"eq":"Crane"}}, received "Crane"'),
  },
};

export const invalidHost: ErrorDescription = {
  description: 'The service has no API key yet, and the request was sent to a host name that is not a loopback name.',
  examples: {
    'invalid-host': badRequest(
      'Host: expected a loopback name such as 127.0.0.1 or localhost while there is no API key, received "yard.example.com"',
    ),
  },
};

export const invalidRequest = (route: Route, limits: Limits): ErrorDescription => ({
  description: 'The request is invalid, and nothing is stored. The response lists every invalid field.',
  headers: ['Preference-Applied'],
  examples: {
    'invalid-fields': invalidFields(route, limits),
    'not-json': failureOf(() => parseJson(Buffer.from('[{'), limits)),
    ...invalidHost.examples,
  },
});

/** Returns the service's error for the example of an invalid body. */
function invalidFields(route: Route, limits: Limits): ErrorResponse {
  const { kind, operation } = route;
  const body = invalidBody(route);
  if (operation === 'update') return invalid(updateParser(kind, limits)(body).issues ?? []);
  const parse = createParser(kind, limits);
  const issues = (body as object[]).flatMap((record, index) =>
    (parse(record).issues ?? []).map((issue) => ({ ...issue, path: [index, ...issue.path] })),
  );
  return invalid(issues);
}

export const unauthorizedRequest: ErrorDescription = {
  description: 'The request has no valid API key.',
  headers: ['WWW-Authenticate'],
  examples: {
    'no-key': unauthorized('an API key is required: send it as Authorization: Bearer KEY, or as X-API-Key: KEY'),
    'invalid-key': unauthorized('the API key is not valid'),
    'two-keys': unauthorized('expected one API key, received different ones in Authorization and X-API-Key'),
  },
};

const readOnlyKey: Examples = { 'read-only-key': forbidden('this API key is read-only') };

const forbiddenWithoutKey: Examples = {
  'other-origin': forbidden(
    'without an API key, pages of other origins may call this service only if CORS_ORIGINS lists them',
  ),
  proxy: forbidden('without an API key, requests through a proxy are rejected: create a key first'),
};

export const forbiddenWrite: ErrorDescription = {
  description:
    'The API key is read-only. Or the service has no API key yet, and the request comes from a page of another origin or through a proxy.',
  examples: { ...readOnlyKey, ...forbiddenWithoutKey },
};

export const forbiddenRead: ErrorDescription = {
  description:
    'The service has no API key yet, and the request comes from a page of another origin or through a proxy.',
  examples: forbiddenWithoutKey,
};

export const unknownRecord = (kind: RecordKind): ErrorDescription => ({
  description: `The workspace has no ${kind.label} with this ID.`,
  examples: { 'unknown-id': notFound(noRecord(kind, exampleId(kind))) },
});

/** Not every kind has a unique field. */
export function conflicting({ fields, label }: RecordKind): ErrorDescription {
  const reused = 'the `Idempotency-Key` was sent with another request. Nothing is stored.';
  const examples = { 'key-reused': idempotencyKeyReused() };
  const [name] = Object.entries(fields).find(([, { unique }]) => unique) ?? [];
  if (name === undefined) return { description: capitalized(reused), examples };
  const message = `another ${label} has the ${name} "CR-1"`;
  return {
    description: `The value of \`${name}\` is taken by another ${label} of the workspace or of the batch, or ${reused}`,
    examples: { [`taken-${name}`]: conflict([{ path: [0, name], message }]), ...examples },
  };
}

const largeBody = ({ maxBodyBytes }: Limits) => ({
  'body-too-large': responseToExample(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE(), maxBodyBytes),
});

export const tooLargeChange = (limits: Limits): ErrorDescription => ({
  description: 'The body is larger than allowed.',
  examples: largeBody(limits),
});

export const tooLargeBatch = (limits: Limits): ErrorDescription => ({
  description: 'The body or the batch is larger than allowed.',
  examples: {
    'too-many-records': failureOf(() => requireBatchSize(limits.maxBatch + 1, limits.maxBatch)),
    ...largeBody(limits),
  },
});

export const unsupportedMediaType: ErrorDescription = {
  description: 'The content type is not `application/json`, or the charset is not UTF-8.',
  examples: {
    'content-type': responseToExample(new errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE()),
    charset: failureOf(() => requireUtf8({ headers: { 'content-type': 'application/json; charset=latin1' } })),
  },
};

export const rateLimited: ErrorDescription = {
  description: 'The API key, or the address, has sent too many requests: retry after `Retry-After` seconds.',
  headers: ['Retry-After'],
  examples: { 'rate-limit': tooManyRequests('at most 600 requests per minute: try again in 42 s') },
};

export const unexpected: ErrorDescription = {
  description: 'An unexpected error. The message has the ID of the request, which is also in the log, and no detail.',
  examples: {
    unexpected: responseToExample(new Error()),
  },
};

const unavailableDatabase: Examples = {
  unavailable: databaseUnavailable(''),
};

export const unavailableForReading: ErrorDescription = {
  description: 'The database is unavailable: retry after `Retry-After` seconds.',
  headers: ['Retry-After'],
  examples: unavailableDatabase,
};

export const unavailableForWriting: ErrorDescription = {
  description:
    'The database is unavailable: retry after `Retry-After` seconds. Without this header, it is unknown whether the commit succeeded, usually because the connection was lost (the problem type is `urn:yardgraph:may-be-stored`): send the request again with the same `Idempotency-Key`; if it had none, check first whether the records were stored.',
  headers: ['Retry-After'],
  examples: {
    ...unavailableDatabase,
    'may-be-stored': responseToExample(commitError(new Error(), true)),
  },
};

export const tooLongExport: ErrorDescription = {
  description: 'The records cannot be read within the time for an export.',
  examples: {
    'too-long': tooLarge('an export is read for at most 100,000 ms: export fewer records at a time, with `where`'),
  },
};
