/** What a request must be before GraphQL reads it: one small document and its variables, to be answered as JSON. */
import type { FastifyRequest } from 'fastify';
import type { Limits } from '../config.ts';
import { badRequest, ServiceError } from '../errors.ts';
import { expected, formatPath } from '../model/issues.ts';
import { requireBatchSize } from '../services/batch-size.ts';
import { requireSmallDocument } from './document-limits.ts';

const mediaTypes = ['application/graphql-response+json', 'application/json'] as const;

/**
 * Settles on a JSON type before anything is executed: yoga would execute first and then find nothing acceptable, or
 * answer as a stream. Throws a ServiceError 406.
 */
export function acceptJson({ headers }: FastifyRequest): void {
  const accepted = headers.accept?.toLowerCase() ?? '*/*';
  const isAny = accepted.includes('*/*') || accepted.includes('application/*');
  const mediaType = mediaTypes.find((type) => accepted.includes(type)) ?? (isAny ? mediaTypes[1] : undefined);
  if (!mediaType) throw new ServiceError(406, `expected to be asked for ${mediaTypes.join(' or ')}`);
  headers.accept = mediaType;
}

const parameters = ['query', 'variables', 'operationName', 'extensions'];

/** Throws a ServiceError: 400 for what is no GraphQL request or has a document over the limits, 413 for a batch too large. */
export function requireGraphqlRequest({ method, body, query }: FastifyRequest, limits: Limits): void {
  const sent = method === 'POST' ? operationIn(body) : parametersIn(query);
  const document = sent.get('query');
  if (typeof document === 'string') requireSmallDocument(document, limits);
  for (const [name, value] of Object.entries(sent.get('variables') ?? {})) requireBatch(name, value, limits);
}

function operationIn(body: unknown): Map<string, unknown> {
  if (typeof body !== 'object' || body === null || Array.isArray(body) || !('query' in body)) {
    throw badRequest(expected('a JSON object with a GraphQL query', body));
  }
  const unknown = Object.keys(body).find((name) => !parameters.includes(name));
  if (unknown !== undefined) throw badRequest(`${formatPath([unknown])}: unknown parameter`);
  return new Map(Object.entries(body));
}

/** Parameters of the address, read as yoga would; it answers 500 to JSON that is none. */
function parametersIn(query: unknown): Map<string, unknown> {
  const sent = new Map<string, unknown>(Object.entries(query ?? {}));
  for (const name of parameters) {
    if (Array.isArray(sent.get(name))) throw badRequest(`${name}: expected once, received more than once`);
  }
  for (const name of ['variables', 'extensions']) {
    const value = sent.get(name);
    try {
      if (value) sent.set(name, JSON.parse(String(value)));
    } catch {
      throw badRequest(`${name}: ${expected('JSON', value)}`);
    }
  }
  return sent;
}

/** A list that is too long is refused before each of its records, or ids, is read. */
function requireBatch(name: string, variable: unknown, { maxBatch, maxPageSize }: Limits): void {
  if (!Array.isArray(variable)) return;
  if (typeof variable[0] === 'object') requireBatchSize(variable.length, maxBatch);
  else if (variable.length > maxPageSize) {
    throw badRequest(`${formatPath([name])}: expected at most ${maxPageSize} IDs, received ${variable.length}`);
  }
}
