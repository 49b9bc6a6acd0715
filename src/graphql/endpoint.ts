/** GraphQL over HTTP at /graphql: JSON only, one operation per request, no CORS. */
import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  coerceInputValue,
  type DocumentNode,
  GraphQLError,
  type GraphQLInputType,
  getOperationAST,
  Lexer,
  NoSchemaIntrospectionCustomRule,
  printSchema,
  Source,
  TokenKind,
  validate,
} from 'graphql';
import {
  _createLRUCache as createCache,
  createYoga,
  type GraphQLParams,
  type Plugin,
  processRegularResult,
} from 'graphql-yoga';
import type { Config, Limits } from '../config.ts';
import { badRequest, ServiceError, unavailable } from '../errors.ts';
import { errorResponseFor, setErrorHeaders } from '../http/error-response.ts';
import { createPage } from '../http/pages.ts';
import { parseJson, readIdempotencyKey } from '../http/request.ts';
import { formatCount, isObject } from '../model/issues.ts';
import type { RecordKind } from '../model/record-kind.ts';
import type { Condition } from '../store/query/record-query.ts';
import { errorCodeOf, formatErrors, maxErrors, shortMessage, shortSegment, withReason } from './errors.ts';
import { useExecutor, type WrittenResult } from './execution/execute.ts';
import { useOperationLimits } from './limits.ts';
import { badArgument, type Context } from './schema/builder.ts';
import { type Filter, filterCost, parseFilter } from './schema/filter.ts';
import { createItemParsers } from './schema/item-parsers.ts';
import { schema } from './schema/schema.ts';
import {
  asEventStream,
  createEventStreams,
  eventStreamType,
  type ServerContext,
  singleEvent,
  useSubscriptions,
  type YogaContext,
} from './subscription.ts';

const maxDocuments = 200;

export function createEndpoint(config: Config, closing: AbortSignal) {
  const documents = createCache<DocumentNode>({ max: maxDocuments });
  const endpoint: Endpoint = {
    config,
    documents,
    yoga: createYogaServer(config, documents),
    sendEvents: createEventStreams(closing),
    reserveUntilClosed: createResponseBudget(),
  };
  return {
    executeQuery: (request: FastifyRequest, reply: FastifyReply) => executeQuery(endpoint, request, reply),
    sendSchema: createPage(`${printSchema(schema)}\n`, 'text/plain; charset=utf-8'),
    readFilter: (kind: RecordKind, where: unknown) => coerceFilter(config, kind, where),
    sendError: sendGraphqlError,
  };
}

interface Endpoint {
  readonly config: Config;
  readonly documents: ReturnType<typeof createCache<DocumentNode>>;
  readonly yoga: ReturnType<typeof createYogaServer>;
  readonly sendEvents: ReturnType<typeof createEventStreams>;
  readonly reserveUntilClosed: ReturnType<typeof createResponseBudget>;
}

function createYogaServer(config: Config, documentCache: Endpoint['documents']) {
  const { limits } = config;
  return createYoga<ServerContext, YogaContext>({
    schema,
    context: { limits, parsersOf: createItemParsers(limits) },
    plugins: [
      useOperationName(),
      // Gives the executors the operation and variables.
      useOperationLimits(schema, config),
      useLimitedValidation(config),
      useExecutor(schema, config),
      useSubscriptions(limits),
    ],
    maskedErrors: false,
    parserAndValidationCache: { documentCache, errorCache: createCache({ max: maxDocuments }) },
    logging: false,
  });
}

async function executeQuery(endpoint: Endpoint, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { config, documents, yoga } = endpoint;
  const acceptable = chooseType(request);
  const params = graphqlParams(request, config.limits, (document) => documents.get(document) !== undefined);
  const { session } = request;
  const sessionFor = (responseName: string) =>
    session.with({ key: readIdempotencyKey(request, reply, `mutation ${responseName}`) });
  const client: ServerContext['client'] = {
    acceptsEvents: acceptable.events,
    lastEventId: String(request.headers['last-event-id'] ?? '') || undefined,
    response: reply.raw,
    reserveResponse: endpoint.reserveUntilClosed(reply.raw),
  };
  const context = { session, sessionFor, requestLog: request, client };
  // Yoga's Request and Response took a fifth of the time of a list. Plugins read the method only.
  const method = { method: request.method } as Request;
  const result = isPersistedQuery(params)
    ? { errors: [persistedQueryNotSupported()] }
    : await yoga.getResultForParams({ params, request: method }, context);
  const { subscription, cost } = client;
  if (subscription) return endpoint.sendEvents(request, reply, subscription);
  if (cost !== undefined) reply.header('query-cost', cost);
  const text = await writeResult(endpoint, result as WrittenResult, acceptable.mediaType, request, reply);
  if (acceptable.json || reply.statusCode !== 200) return reply.send(text);
  return asEventStream(reply).send(singleEvent(text));
}

async function writeResult(
  { config, yoga }: Endpoint,
  result: WrittenResult,
  mediaType: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<string> {
  if (!result.errors) {
    const { stringify = JSON.stringify } = result;
    reply.type(`${mediaType}; charset=utf-8`);
    return stringify(result);
  }
  const formatted = formatErrors(result, request, config.suggestions ? schema : undefined);
  const response = processRegularResult(formatted, yoga.fetchAPI, mediaType);
  reply.code(response.status);
  for (const [name, value] of response.headers) reply.header(name, value);
  return response.text();
}

/**
 * With more characters in open responses, new ones are rejected: a hundred of the longest, to clients that read
 * nothing, took 8 GB and ended the process. Now they take 0.6 GB.
 */
const maxReserved = 25_000_000;

export function createResponseBudget() {
  let reservedByAll = 0;
  return (response: Pick<ServerResponse, 'closed' | 'destroyed' | 'once'>): Context['reserveResponse'] => {
    let reserved = 0;
    let isClosed = response.closed || response.destroyed;
    response.once('close', () => {
      isClosed = true;
      reservedByAll -= reserved;
    });
    return (length) => {
      if (isClosed) return;
      if (reserved === 0 && reservedByAll > maxReserved) {
        throw unavailable('too many long responses are being sent, try again', 'RESPONSES_UNSENT');
      }
      reserved += length;
      reservedByAll += length;
    };
  };
}

const useLimitedValidation = ({ introspection, suggestions }: Config): Plugin => ({
  onValidate({ addValidationRule, setValidationFn }) {
    if (!introspection) addValidationRule(NoSchemaIntrospectionCustomRule);
    setValidationFn((schema, document, rules) =>
      validate(schema, document, rules, { maxErrors, hideSuggestions: !suggestions }).map(withReason),
    );
  },
});

const mediaTypes = ['application/graphql-response+json', 'application/json'] as const;

/** The types that the client accepts, and the media type of JSON, also within events. Throws a 406. */
function chooseType({ headers }: FastifyRequest) {
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

const preferredJson = ({ headers }: Pick<FastifyRequest, 'headers'>) =>
  mediaTypes.find((type) => headers.accept?.toLowerCase().includes(type));

/** Throws a 400 for a document over the limits. */
function graphqlParams(
  { method, body, query }: FastifyRequest,
  limits: Limits,
  isCached: (document: string) => boolean,
): GraphQLParams {
  // Safe: yoga checks the types of the parameters.
  const params = (method === 'POST' ? withoutEmpty(body) : parametersIn(query, limits)) as GraphQLParams;
  const document = params?.query;
  if (typeof document === 'string' && !isCached(document)) requireSmallDocument(document, limits);
  return params;
}

/** Forms send an empty text for an empty input. */
function withoutEmpty(body: unknown): unknown {
  if (!isObject(body)) return body;
  const { operationName, variables, extensions } = body;
  if (operationName !== '' && variables !== '' && extensions !== '') return body;
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== ''));
}

/** An automatic persisted query is a hash. Once it is rejected, the client sends the document. */
const isPersistedQuery = (params: GraphQLParams): boolean =>
  isObject(params) && !params.query && isObject(params.extensions) && isObject(params.extensions.persistedQuery);

const persistedQueryNotSupported = () =>
  new GraphQLError('PersistedQueryNotSupported', {
    extensions: { code: 'PERSISTED_QUERY_NOT_SUPPORTED', http: { status: 200 } },
  });

function parametersIn(query: unknown, limits: Limits): GraphQLParams {
  const sent = query as Readonly<Record<string, unknown>>;
  const parsed = (name: string) => (sent[name] ? parseJson(name, Buffer.from(String(sent[name])), limits) : undefined);
  return {
    query: sent.query || undefined,
    operationName: sent.operationName || undefined,
    variables: parsed('variables'),
    extensions: parsed('extensions'),
  } as GraphQLParams;
}

const useOperationName = (): Plugin<ServerContext> => ({
  onParse:
    () =>
    ({ result, context: { params, requestLog } }) => {
      if (!result || result instanceof Error) return;
      requestLog.operation = getOperationAST(result, params?.operationName)?.name?.value;
    },
});

/** Errors and their paths repeat names of the document. */
const maxNameLength = 100;

const opening: readonly string[] = [TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L];
const closing: readonly string[] = [TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R];

/** Reads tokens one by one; the parser would recurse at each level. Throws a 400. */
function requireSmallDocument(text: string, { maxQueryLength, maxTokens, maxNesting }: Limits): void {
  if (text.length > maxQueryLength)
    throw badRequest(`the document is longer than ${formatCount(maxQueryLength)} characters`);
  const lexer = new Lexer(new Source(text));
  let nesting = 0;
  try {
    for (let tokens = 1; lexer.advance().kind !== TokenKind.EOF; tokens += 1) {
      const { kind, value } = lexer.token;
      if (opening.includes(kind)) nesting += 1;
      if (closing.includes(kind)) nesting -= 1;
      if (tokens > maxTokens)
        throw badRequest(
          `the document has more than ${formatCount(maxTokens)} tokens (names, punctuation and values): send the records as variables`,
        );
      if (nesting > maxNesting) throw badRequest(`the document is nested more than ${maxNesting} levels deep`);
      if (kind === TokenKind.NAME && value.length > maxNameLength)
        throw badRequest(`the document has a name longer than ${maxNameLength} characters`);
    }
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
  }
}

function sendGraphqlError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const thrown = error instanceof GraphQLError ? badRequest(shortMessage(error)) : error;
  const response = errorResponseFor(thrown, request);
  const { status, message } = response;
  setErrorHeaders(reply, response);
  reply.type(`${preferredJson(request) ?? 'application/json'}; charset=utf-8`);
  return reply.code(status).send({ errors: [{ message, extensions: { code: errorCodeOf(status) } }] });
}

function coerceFilter({ limits, suggestions }: Config, kind: RecordKind, where: unknown): Condition | undefined {
  // Safe: every kind has an input type of this name, and the value has been coerced to it.
  const type = schema.getType(`${kind.name}Filter`) as GraphQLInputType;
  const coerced = coerceInputValue(
    where,
    type,
    (path, _value, error) => {
      throw badArgument(['where', ...path.map(shortSegment)], shortMessage(error));
    },
    !suggestions,
  );
  const filter = coerced as Filter | null;
  if (filterCost(kind, filter, limits) <= limits.maxCost) return parseFilter(kind, filter, limits);
  const most = `a filter that costs at most ${formatCount(limits.maxCost)}`;
  throw badArgument(['where'], `expected ${most}, received one that costs more`);
}
