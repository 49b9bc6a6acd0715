/** What a request must be before GraphQL reads it: one small document and its variables, to be answered as JSON. */
import type { FastifyRequest } from 'fastify';
import type { Limits } from '../config.ts';
import { badRequest, ServiceError } from '../errors.ts';
import { requireSmallJson } from '../http/json-body.ts';
import { expected, formatPath } from '../model/issues.ts';
import { requireBatchSize } from '../services/batch-size.ts';
import { requireSmallDocument } from './limits/document.ts';

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

/** What each parameter must be. All but the query may be null, or left out. */
const parameters: Readonly<Record<string, 'text' | 'an object'>> = {
  query: 'text',
  variables: 'an object',
  operationName: 'text',
  extensions: 'an object',
};

/** Throws a ServiceError: 400 for what is no GraphQL request or has a document over the limits, 413 for a batch too large. */
export function requireGraphqlRequest({ method, body, query }: FastifyRequest, limits: Limits): void {
  const sent = method === 'POST' ? operationIn(body) : parametersIn(query, limits);
  // First of all: a text in the place of an object would have an entry for each of its characters.
  for (const [name, what] of Object.entries(parameters)) requireShape(name, what, sent[name]);
  requireSmallDocument(String(sent.query), limits);
  for (const [name, value] of Object.entries(sent.variables ?? {})) requireBatch(name, value, limits);
}

function requireShape(name: string, what: 'text' | 'an object', value: unknown): void {
  if (name !== 'query' && (value === undefined || value === null)) return;
  const fits = what === 'text' ? typeof value === 'string' : isObject(value);
  if (!fits) throw badRequest(`${name}: ${expected(what, value)}`);
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function operationIn(body: unknown): Readonly<Record<string, unknown>> {
  if (!isObject(body)) throw badRequest(expected('a JSON object with a GraphQL query', body));
  const unknown = Object.keys(body).find((name) => !Object.hasOwn(parameters, name));
  if (unknown !== undefined) throw badRequest(`${formatPath([unknown])}: unknown parameter`);
  return body;
}

/** Parameters of the address, read as yoga would, for which an empty one is not there; it returns 500 for JSON that is none. */
function parametersIn(query: unknown, limits: Limits): Readonly<Record<string, unknown>> {
  const sent: Record<string, unknown> = {};
  for (const [name, what] of Object.entries(parameters)) {
    const value = (query as Readonly<Record<string, unknown>>)[name];
    if (Array.isArray(value)) throw badRequest(`${name}: expected once, received more than once`);
    if (value === undefined || value === '') continue;
    sent[name] = what === 'text' ? value : parseParameter(name, String(value), limits);
  }
  return sent;
}

function parseParameter(name: string, text: string, limits: Limits): unknown {
  requireSmallJson(Buffer.from(text), limits);
  try {
    return JSON.parse(text);
  } catch {
    throw badRequest(`${name}: ${expected('JSON', text)}`);
  }
}

/** A list that is too long is refused before each of its records, or ids, is read. */
function requireBatch(name: string, variable: unknown, { maxBatch, maxPageSize }: Limits): void {
  if (!Array.isArray(variable)) return;
  if (typeof variable[0] === 'object') requireBatchSize(variable.length, maxBatch);
  else if (variable.length > maxPageSize) {
    throw badRequest(`${formatPath([name])}: expected at most ${maxPageSize} IDs, received ${variable.length}`);
  }
}
