/** GraphQL over HTTP at /graphql, with yoga's open defaults closed: JSON only, one operation a request, no CORS. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { NoSchemaIntrospectionCustomRule } from 'graphql';
import { _createLRUCache as createCache, createYoga, type Plugin } from 'graphql-yoga';
import type { Config } from '../config.ts';
import type { Caller } from '../http/error-response.ts';
import { sendGraphqlError, useErrorResponses } from './errors.ts';
import { type Context, useLoaders } from './execution/context.ts';
import { useExecutor } from './execution/execute.ts';
import { graphiqlPage } from './graphiql.ts';
import { useCostLimit } from './limits/cost.ts';
import { useDocumentLimits } from './limits/document.ts';
import { createResponseSize } from './limits/response-size.ts';
import { acceptJson, requireGraphqlRequest } from './request.ts';
import { createGraphqlSchema } from './schema/schema.ts';

/** Documents are kept whole, so their number times MAX_QUERY_LENGTH is memory that anybody can fill. */
const cachedDocuments = 200;

interface ServerContext {
  readonly session: Context['session'];
  readonly caller: Caller;
}

/** Answers a request with a query, or with GraphiQL; `isOpen` tells whether that needs a place for a key. */
export function createEndpoint(config: Config, isOpen: () => Promise<boolean>) {
  const { limits, introspection } = config;
  const yoga = createYoga<ServerContext, Omit<Context, 'loaders'>>({
    schema: createGraphqlSchema(limits),
    // Fastify has matched the path, and unescaped it; yoga would match it as it was sent.
    graphqlEndpoint: '/*',
    context: ({ session }) => ({
      session,
      responseSize: createResponseSize(limits.maxResponseLength),
    }),
    plugins: [
      useDocumentLimits(limits),
      useCostLimit(limits),
      useErrorResponses(config),
      useLoaders(limits),
      useExecutor(),
      ...(introspection ? [] : [useNoIntrospection()]),
    ],
    maskedErrors: false,
    parserAndValidationCache: {
      documentCache: createCache({ max: cachedDocuments }),
      errorCache: createCache({ max: cachedDocuments }),
    },
    graphiql: false,
    landingPage: false,
    batching: false,
    multipart: false,
    cors: false,
    logging: false,
  });

  return {
    async sendPage(reply: FastifyReply): Promise<FastifyReply> {
      const { html, policy } = await graphiqlPage(await isOpen());
      return reply.type('text/html; charset=utf-8').header('content-security-policy', policy).send(html);
    },

    async executeQuery(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
      acceptJson(request);
      requireGraphqlRequest(request, limits);
      const context = { session: request.session, caller: request };
      const response = await yoga.handleNodeRequestAndResponse(request, reply, context);
      reply.code(response.status);
      for (const [name, value] of response.headers) reply.header(name, value);
      return reply.send(await response.text());
    },

    sendError: sendGraphqlError,
  };
}

/** The schema is not told: `__typename` is all that is left. */
const useNoIntrospection = (): Plugin => ({
  onValidate: ({ addValidationRule }) => addValidationRule(NoSchemaIntrospectionCustomRule),
});
