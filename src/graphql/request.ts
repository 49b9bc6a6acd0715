/** Checks a request before GraphQL reads it: one small document with one operation to execute, and its variables, from a client that accepts JSON. */
import type { FastifyRequest } from 'fastify';
import { type DocumentNode, GraphQLError, getOperationAST, Kind, Lexer, Source, type Token, TokenKind } from 'graphql';
import type { GraphQLParams, Plugin } from 'graphql-yoga';
import type { Limits } from '../config.ts';
import { badRequest, ServiceError } from '../errors.ts';
import { requireSmallJson } from '../http/json-body.ts';
import { jsonProblem } from '../http/json-problem.ts';
import { count, cut, expected, formatPath, isObject, maxQuoted } from '../model/issues.ts';
import { eventStreamType } from './subscription/event-stream.ts';

const mediaTypes = ['application/graphql-response+json', 'application/json'] as const;

interface Acceptable {
  readonly json: boolean;
  readonly events: boolean;
  /** The type of the JSON, also in events. */
  readonly mediaType: string;
}

/** Chooses a type before anything is executed. Throws a ServiceError 406. */
export function chooseType({ headers }: FastifyRequest): Acceptable {
  const accepted = headers.accept?.toLowerCase() ?? '*/*';
  const isAny = accepted.includes('*/*');
  const isAnyJson = isAny || accepted.includes('application/*');
  const mediaType = preferredJson({ headers }) ?? (isAnyJson ? mediaTypes[1] : undefined);
  const events = isAny || accepted.includes('text/*') || accepted.includes(eventStreamType);
  if (!mediaType && !events) {
    throw new ServiceError(406, `expected an Accept header that allows ${mediaTypes.join(', ')} or ${eventStreamType}`);
  }
  return { json: mediaType !== undefined, events, mediaType: mediaType ?? mediaTypes[1] };
}

/** GraphQL's own type, if the client names both. */
export const preferredJson = ({ headers }: Pick<FastifyRequest, 'headers'>) =>
  mediaTypes.find((type) => headers.accept?.toLowerCase().includes(type));

export const lastEventId = ({ headers }: FastifyRequest): string | undefined =>
  String(headers['last-event-id'] ?? '') || undefined;

/** The type of each parameter. All but the query may be null or absent. */
const parameters: Readonly<Record<string, 'text' | 'an object'>> = {
  query: 'text',
  variables: 'an object',
  operationName: 'text',
  extensions: 'an object',
};

/** Throws a ServiceError 400 if it is no GraphQL request, or its document over the limits. A cached document is not checked again. */
export function graphqlParams(
  { method, body, query }: FastifyRequest,
  limits: Limits,
  isCached: (document: string) => boolean,
): GraphQLParams {
  const sent = method === 'POST' ? operationIn(body) : parametersIn(query, limits);
  for (const [name, what] of Object.entries(parameters)) requireShape(name, what, sent[name]);
  const document = String(sent.query);
  if (!isCached(document)) requireSmallDocument(document, limits);
  return sent;
}

function requireShape(name: string, what: 'text' | 'an object', value: unknown): void {
  if (name === 'query') {
    if (value === undefined || value === '') throw badRequest(`query: required, a document such as ${exampleQuery}`);
  } else if (value === undefined || value === null) return;
  const fits = what === 'text' ? typeof value === 'string' : isObject(value);
  if (!fits) throw badRequest(`${name}: ${expected(what, value)}`);
}

const exampleQuery = '{ assets { nodes { name } } }';

function operationIn(body: unknown): Readonly<Record<string, unknown>> {
  if (!isObject(body)) {
    throw badRequest(expected(`one operation as a JSON object such as {"query":"${exampleQuery}"}`, body));
  }
  const unknown = Object.keys(body).find((name) => !Object.hasOwn(parameters, name));
  if (unknown !== undefined && body.query !== undefined) {
    const known = Object.keys(parameters).join(', ');
    throw badRequest(`${formatPath([unknown])}: unknown parameter, expected one of ${known}`);
  }
  return body;
}

/** Returns the query parameters: an empty one is absent. */
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
    throw badRequest(`${name}: not valid JSON: ${jsonProblem(text)}`);
  }
}

/** Yoga's own plugins, which it puts after those of a service, reject the same requests. */
export const useOperationChoice = (): Plugin => ({
  onParse() {
    return ({ result, context: { params } }) => {
      if (result instanceof Error) return;
      const problem = choiceProblem(result, params?.operationName);
      if (problem === undefined) return;
      const extensions = { code: 'OPERATION_RESOLUTION_FAILURE', http: { status: 400 } };
      throw new GraphQLError(problem, { extensions });
    };
  },
});

function choiceProblem(document: DocumentNode, operationName: string | null | undefined): string | undefined {
  if (getOperationAST(document, operationName)) return undefined;
  const operations = document.definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  const names = operations.flatMap(({ name }) => name?.value ?? []);
  const listed = cut(names.join(', '), maxQuoted);
  if (operations.length === 0) return 'the document has no operation to execute';
  if (operationName === null || operationName === undefined) {
    return names.length === 0
      ? 'the document has several operations: name each of them, and send the operationName of one'
      : `operationName: required, because the document has several operations: ${listed}`;
  }
  const what =
    names.length === 0
      ? 'none, because the operation has no name'
      : `one of the operations in the document (${listed})`;
  return `operationName: ${expected(what, operationName)}`;
}

/** GraphQL's errors, and the paths in them, repeat names of the document. */
const maxNameLength = 100;

const opening: readonly string[] = [TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L];
const closing: readonly string[] = [TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R];

/** Reads the tokens one by one and builds nothing from them. Throws a ServiceError 400. */
function requireSmallDocument(text: string, { maxQueryLength, maxTokens, maxNesting }: Limits): void {
  if (text.length > maxQueryLength) throw badRequest(`the document is longer than ${count(maxQueryLength)} characters`);
  let tokens = 0;
  let nesting = 0;
  for (const { kind, value } of tokensOf(text)) {
    tokens += 1;
    if (opening.includes(kind)) nesting += 1;
    if (closing.includes(kind)) nesting -= 1;
    if (tokens > maxTokens)
      throw badRequest(`the document has more than ${count(maxTokens)} tokens (names, punctuation and values)`);
    if (nesting > maxNesting) throw badRequest(`the document is nested more than ${maxNesting} levels deep`);
    if (kind === TokenKind.NAME && value.length > maxNameLength) {
      throw badRequest(`the document has a name longer than ${maxNameLength} characters`);
    }
  }
}

/** Yields the tokens up to the first syntax error, which the parser will find again and report. */
function* tokensOf(text: string): Generator<Token> {
  const lexer = new Lexer(new Source(text));
  try {
    while (lexer.advance().kind !== TokenKind.EOF) yield lexer.token;
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
  }
}
