/** GraphQL over HTTP at /graphql, with yoga's open defaults closed: JSON only, one operation a request, no CORS. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { execute, NoSchemaIntrospectionCustomRule } from 'graphql';
import { _createLRUCache as createCache, createYoga, type Plugin } from 'graphql-yoga';
import type { Config } from '../config.ts';
import type { Caller } from '../error-answer.ts';
import type { Session } from '../services/session.ts';
import { createAnswerSize } from './answer-size.ts';
import type { Context } from './context.ts';
import { useDocumentLimits } from './document-limits.ts';
import { sendGraphqlError, useErrorAnswers } from './errors.ts';
import { graphiqlPage } from './graphiql.ts';
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

/** `isOpen` tells whether GraphiQL needs a place for a key. */
export function serveGraphql(app: FastifyInstance, config: Config, isOpen: () => Promise<boolean>): void {
  const { limits, graphiql, introspection } = config;
  const yoga = createYoga<ServerContext, Context>({
    schema: createGraphqlSchema(limits),
    // Fastify has matched the path, and unescaped it; yoga would match it as it was sent.
    graphqlEndpoint: '/*',
    context: ({ session }) => ({
      session,
      loaders: createLoaders(session.store),
      answerSize: createAnswerSize(limits.maxAnswerLength),
    }),
    plugins: [
      useDocumentLimits(limits),
      useCostLimit(limits),
      useErrorAnswers(config),
      useGraphqlExecute(),
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

  const isPage = ({ method, headers }: FastifyRequest) =>
    graphiql && method === 'GET' && !!headers.accept?.includes('text/html');

  app.setErrorHandler(sendGraphqlError);
  app.route({
    config: { isPublic: isPage },
    method: ['GET', 'POST'],
    url: path,
    exposeHeadRoute: false,
    handler: async (request, reply) => {
      if (isPage(request)) {
        const { html, policy } = await graphiqlPage(await isOpen());
        return reply.type('text/html; charset=utf-8').header('content-security-policy', policy).send(html);
      }
      acceptJson(request);
      requireGraphqlRequest(request, limits);
      const context = { session: request.session, caller: request };
      const response = await yoga.handleNodeRequestAndResponse(request, reply, context);
      reply.code(response.status);
      for (const [name, value] of response.headers) reply.header(name, value);
      return reply.send(await response.text());
    },
  });
}

/** The schema is not told: `__typename` is all that is left. */
const useNoIntrospection = (): Plugin => ({
  onValidate: ({ addValidationRule }) => addValidationRule(NoSchemaIntrospectionCustomRule),
});

/** Fields answer in the order they were asked for; yoga's own executor writes them as they come in. */
const useGraphqlExecute = (): Plugin => ({
  onExecute: ({ setExecuteFn }) => setExecuteFn(execute),
});
