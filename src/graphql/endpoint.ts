/** GraphQL over HTTP at /graphql. Stricter than yoga's defaults: JSON only, one operation per request, no CORS. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  coerceInputValue,
  type DocumentNode,
  type GraphQLInputType,
  type GraphQLSchema,
  NoSchemaIntrospectionCustomRule,
  printSchema,
} from 'graphql';
import { _createLRUCache as createCache, createYoga, type Plugin, processRegularResult } from 'graphql-yoga';
import type { Config } from '../config.ts';
import { createPage } from '../http/pages.ts';
import { idempotencyKeyOf, markReplayed } from '../http/request.ts';
import { count } from '../model/issues.ts';
import type { RecordKind } from '../model/record-kind.ts';
import { withIdempotencyKey } from '../services/write.ts';
import type { Condition } from '../store/query/record-query.ts';
import { responseFormatter, sendGraphqlError, shortMessage, shortSegment, useLimitedValidation } from './errors.ts';
import { useExecutor, type WrittenResult } from './execution/execute.ts';
import { createItemParsers } from './execution/item-parsers.ts';
import { createSubgraph } from './federation.ts';
import { useOperationLimits } from './limits.ts';
import { chooseType, graphqlParams, useOperationChoice } from './request.ts';
import { refused } from './schema/argument.ts';
import { filterCost, parseFilter } from './schema/filter.ts';
import { schema as ownSchema } from './schema/schema.ts';
import {
  asEventStream,
  createEventStreams,
  type ServerContext,
  singleEvent,
  useSubscriptions,
  type YogaContext,
} from './subscription.ts';

/** The cache holds whole documents: clients can make it use this number times maxQueryLength of memory. */
const cachedDocuments = 200;

/** Executes GraphQL requests. Event streams end when the signal is aborted. */
export function createEndpoint(config: Config, closing: AbortSignal) {
  const { limits, introspection, federation } = config;
  const schema = federation ? createSubgraph(ownSchema) : ownSchema;
  const parsers = createItemParsers(limits);
  const toResponse = responseFormatter(schema, config);
  const sendEvents = createEventStreams(closing);
  const documentCache = createCache<DocumentNode>({ max: cachedDocuments });
  const yoga = createYoga<ServerContext, YogaContext>({
    schema,
    // Also of each event of a subscription.
    context: { limits, parsers },
    plugins: [
      useOperationChoice(),
      useOperationLimits(limits),
      useLimitedValidation(config),
      useExecutor(schema, config),
      useSubscriptions(limits, toResponse),
      ...(introspection ? [] : [useNoIntrospection()]),
    ],
    maskedErrors: false,
    parserAndValidationCache: {
      documentCache,
      errorCache: createCache({ max: cachedDocuments }),
    },
    logging: false,
  });

  async function textOf(result: WrittenResult, mediaType: string, request: FastifyRequest, reply: FastifyReply) {
    if (!result.errors) {
      const { stringify = JSON.stringify } = result;
      reply.type(`${mediaType}; charset=utf-8`);
      return stringify(result);
    }
    const response = processRegularResult(toResponse(result, request), yoga.fetchAPI, mediaType);
    reply.code(response.status);
    for (const [name, value] of response.headers) reply.header(name, value);
    return response.text();
  }

  return {
    async executeQuery(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
      const acceptable = chooseType(request);
      const params = graphqlParams(request, limits, (document) => documentCache.get(document) !== undefined);
      const { session } = request;
      const sessionFor = (responseName: string) =>
        withIdempotencyKey(session, idempotencyKeyOf(request, `mutation ${responseName}`), () => markReplayed(reply));
      const client: ServerContext['client'] = {
        acceptsEvents: acceptable.events,
        lastEventId: String(request.headers['last-event-id'] ?? '') || undefined,
        response: reply.raw,
      };
      const context = { session, sessionFor, requestLog: request, client };
      // Without yoga's own Request and Response, which took a fifth of the time of a list. Its plugins read only the method of a request.
      const method = { method: request.method } as Request;
      const result = await yoga.getResultForParams({ params, request: method }, context);
      const { subscription, cost } = client;
      if (subscription) return sendEvents(request, reply, subscription);
      if (cost !== undefined) reply.header('query-cost', cost);
      const text = await textOf(result as WrittenResult, acceptable.mediaType, request, reply);
      if (acceptable.json || reply.statusCode !== 200) return reply.send(text);
      return asEventStream(reply).send(singleEvent(text));
    },

    sendSchema: createPage(`${printSchema(schema)}\n`, 'text/plain; charset=utf-8'),

    readFilter: (kind: RecordKind, where: unknown) => readWhere(ownSchema, config, kind, where),

    sendError: sendGraphqlError,
  };
}

/** Rejects introspection of the schema, except `__typename`. */
const useNoIntrospection = (): Plugin => ({
  onValidate: ({ addValidationRule }) => addValidationRule(NoSchemaIntrospectionCustomRule),
});

/** Throws a ServiceError 400 for the first thing that is wrong with the filter. */
function readWhere(
  schema: GraphQLSchema,
  { limits, suggestions }: Pick<Config, 'limits' | 'suggestions'>,
  kind: RecordKind,
  where: unknown,
): Condition | undefined {
  if (filterCost(kind, where, limits.maxCost) > limits.maxCost) {
    throw refused(
      ['where'],
      `expected a filter that costs at most ${count(limits.maxCost)}, received one that costs more`,
    );
  }
  // The cast is safe: every kind has an input type of this name.
  const type = schema.getType(`${kind.name}Filter`) as GraphQLInputType;
  const coerced = coerceInputValue(
    where,
    type,
    (path, _value, error) => {
      throw refused(['where', ...path.map(shortSegment)], shortMessage(error));
    },
    !suggestions,
  );
  return parseFilter(kind, coerced as Parameters<typeof parseFilter>[1], limits);
}
