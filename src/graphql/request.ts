/** Checks what yoga does not: the accepted type, the size of the document, and which of its operations to execute. */
import type { FastifyRequest } from 'fastify';
import { type DocumentNode, GraphQLError, getOperationAST, Kind, Lexer, Source, TokenKind } from 'graphql';
import type { GraphQLParams, Plugin } from 'graphql-yoga';
import type { Limits } from '../config.ts';
import { badRequest, ServiceError } from '../errors.ts';
import { jsonProblem } from '../http/json-problem.ts';
import { requireSmallJson } from '../http/request.ts';
import { count, cut, expected, maxQuoted } from '../model/issues.ts';

export const eventStreamType = 'text/event-stream';

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

/** Throws a ServiceError 400 for a document over the limits. A cached one is not checked again. Yoga checks the parameters themselves. */
export function graphqlParams(
  { method, body, query }: FastifyRequest,
  limits: Limits,
  isCached: (document: string) => boolean,
): GraphQLParams {
  // The cast is safe: yoga checks the types before it uses them.
  const params = (method === 'POST' ? body : parametersIn(query, limits)) as GraphQLParams;
  const document = params?.query;
  if (typeof document === 'string' && !isCached(document)) requireSmallDocument(document, limits);
  return params;
}

/** Returns the parameters of a GET: an empty one is absent. */
function parametersIn(query: unknown, limits: Limits): GraphQLParams {
  const sent = query as Readonly<Record<string, unknown>>;
  const parsed = (name: string) => (sent[name] ? parseParameter(name, String(sent[name]), limits) : undefined);
  return {
    query: sent.query || undefined,
    operationName: sent.operationName || undefined,
    variables: parsed('variables'),
    extensions: parsed('extensions'),
  } as GraphQLParams;
}

function parseParameter(name: string, text: string, limits: Limits): unknown {
  requireSmallJson(Buffer.from(text), limits);
  try {
    return JSON.parse(text);
  } catch {
    throw badRequest(`${name}: not valid JSON: ${jsonProblem(text)}`);
  }
}

/** Yoga rejects the same requests, without the names to choose from. */
export const useOperationChoice = (): Plugin => ({
  onParse:
    () =>
    ({ result, context: { params } }) => {
      if (!result || result instanceof Error) return;
      const document: DocumentNode = result;
      if (getOperationAST(document, params?.operationName)) return;
      const operations = document.definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION);
      const names = operations.map(({ name }) => name?.value ?? 'one without a name').join(', ');
      const problem =
        operations.length === 0
          ? 'the document has no operation to execute'
          : `operationName: ${expected(`the name of an operation in the document (${cut(names, maxQuoted)})`, params?.operationName)}`;
      throw new GraphQLError(problem, { extensions: { code: 'OPERATION_RESOLUTION_FAILURE', http: { status: 400 } } });
    },
});

/** GraphQL's errors, and the paths in them, repeat names of the document. */
const maxNameLength = 100;

const opening: readonly string[] = [TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L];
const closing: readonly string[] = [TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R];

/** Reads the tokens one by one, before the parser calls itself for each level. Throws a ServiceError 400. */
function requireSmallDocument(text: string, { maxQueryLength, maxTokens, maxNesting }: Limits): void {
  if (text.length > maxQueryLength) throw badRequest(`the document is longer than ${count(maxQueryLength)} characters`);
  const lexer = new Lexer(new Source(text));
  let nesting = 0;
  try {
    for (let tokens = 1; lexer.advance().kind !== TokenKind.EOF; tokens += 1) {
      const { kind, value } = lexer.token;
      if (opening.includes(kind)) nesting += 1;
      if (closing.includes(kind)) nesting -= 1;
      if (tokens > maxTokens)
        throw badRequest(`the document has more than ${count(maxTokens)} tokens (names, punctuation and values)`);
      if (nesting > maxNesting) throw badRequest(`the document is nested more than ${maxNesting} levels deep`);
      if (kind === TokenKind.NAME && value.length > maxNameLength)
        throw badRequest(`the document has a name longer than ${maxNameLength} characters`);
    }
  } catch (error) {
    // The parser will find the first syntax error again, and report it.
    if (!(error instanceof GraphQLError)) throw error;
  }
}
