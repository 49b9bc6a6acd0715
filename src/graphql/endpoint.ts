/** GraphQL over HTTP at /graphql, with yoga's open defaults closed: JSON only, one operation a request, no CORS. */
import type { FastifyInstance } from 'fastify';
import { execute } from 'graphql';
import { _createLRUCache as createCache, createYoga, type Plugin } from 'graphql-yoga';
import type { Config } from '../config.ts';
import type { Caller } from '../error-answer.ts';
import type { Session } from '../services/session.ts';
import type { Context } from './context.ts';
import { useDepthLimit } from './document-limits.ts';
import { sendGraphqlError, useErrorAnswers } from './errors.ts';
import { graphiqlOptions, renderGraphiql } from './graphiql.ts';
import { createLoaders } from './loaders.ts';
import { useCostLimit } from './query-cost.ts';
import { acceptJson, requireGraphqlRequest } from './request.ts';
import { createGraphqlSchema } from './schema.ts';

const path = '/graphql';

/** Documents are kept whole, so their number times MAX_QUERY_LENGTH is memory that anybody can fill. */
const cachedDocuments = 200;

interface ServerContext {
  readonly session: Session;
  readonly caller: Caller;
}

export function serveGraphql(app: FastifyInstance, { limits, graphiql }: Config): void {
  const yoga = createYoga<ServerContext, Context>({
    schema: createGraphqlSchema(limits),
    // Fastify has matched the path, and unescaped it; yoga would match it as it was sent.
    graphqlEndpoint: '/*',
    context: ({ session }) => ({ session, loaders: createLoaders(session.store) }),
    plugins: [useDepthLimit(limits), useCostLimit(limits), useErrorAnswers(), useGraphqlExecute()],
    maskedErrors: false,
    parserAndValidationCache: {
      documentCache: createCache({ max: cachedDocuments }),
      errorCache: createCache({ max: cachedDocuments }),
    },
    graphiql: graphiql && graphiqlOptions,
    renderGraphiQL: renderGraphiql,
    landingPage: false,
    batching: false,
    multipart: false,
    cors: false,
    logging: false,
  });

  app.setErrorHandler(sendGraphqlError);
  app.route({
    method: ['GET', 'POST'],
    url: path,
    exposeHeadRoute: false,
    handler: async (request, reply) => {
      const isPage = graphiql && request.method === 'GET' && request.headers.accept?.includes('text/html');
      if (!isPage) acceptJson(request);
      requireGraphqlRequest(request, limits);
      const context = { session: request.session, caller: request };
      const response = await yoga.handleNodeRequestAndResponse(request, reply, context);
      reply.code(response.status);
      for (const [name, value] of response.headers) reply.header(name, value);
      return reply.send(await response.text());
    },
  });
}

/** Fields answer in the order they were asked for; yoga's own executor writes them as they come in. */
const useGraphqlExecute = (): Plugin => ({
  onExecute: ({ setExecuteFn }) => setExecuteFn(execute),
});
