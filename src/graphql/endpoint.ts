/** GraphQL over HTTP at /graphql, with yoga's open defaults closed: JSON only, one operation a request, no CORS. */
import type { FastifyInstance } from 'fastify';
import { execute } from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import type { Config } from '../config.ts';
import { badRequest } from '../errors.ts';
import { expected, formatPath } from '../model/issues.ts';
import { requireBatchSize } from '../services/batch-size.ts';
import type { Session } from '../services/session.ts';
import type { Context } from './context.ts';
import { useDocumentLimits } from './document-limits.ts';
import { maskErrors, sendGraphqlError, useShortMessages } from './error-answer.ts';
import { graphiqlOptions, renderGraphiql } from './graphiql.ts';
import { createLoaders } from './loaders.ts';
import { createGraphqlSchema } from './schema.ts';

const path = '/graphql';

export function serveGraphql(app: FastifyInstance, { limits, graphiql }: Config): void {
  const yoga = createYoga<{ session: Session }, Context>({
    schema: createGraphqlSchema(limits),
    graphqlEndpoint: path,
    context: ({ session }) => ({ session, loaders: createLoaders(session.store) }),
    plugins: [useDocumentLimits(limits), useShortMessages(), useGraphqlExecute()],
    maskedErrors: { maskError: maskErrors((error) => app.log.error({ err: error }, 'unexpected error')) },
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
    handler: async (request, reply) => {
      if (request.method === 'POST') requireOperation(request.body, limits.maxBatch);
      else requireJson(request.query);
      const response = await yoga.handleNodeRequestAndResponse(request, reply, { session: request.session });
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

/** yoga would answer 500 to parameters of the address that are not JSON. */
function requireJson(query: unknown): void {
  const sent = new Map(Object.entries(query ?? {}));
  for (const name of ['variables', 'extensions']) {
    const value = sent.get(name);
    try {
      if (value) JSON.parse(String(value));
    } catch {
      throw badRequest(`${name}: ${expected('JSON', value)}`);
    }
  }
}

const parameters = ['query', 'variables', 'operationName', 'extensions'];

/** Only what GraphQL over HTTP knows reaches yoga; a batch too large is refused before each of its items is read. */
function requireOperation(body: unknown, maxBatch: number): void {
  if (typeof body !== 'object' || body === null || Array.isArray(body) || !('query' in body)) {
    throw badRequest(expected('a JSON object with a GraphQL query', body));
  }
  const unknown = Object.keys(body).find((name) => !parameters.includes(name));
  if (unknown !== undefined) throw badRequest(`${formatPath([unknown])}: unknown parameter`);
  const variables = 'variables' in body ? body.variables : undefined;
  for (const variable of Object.values(variables ?? {})) {
    if (Array.isArray(variable)) requireBatchSize(variable.length, maxBatch);
  }
}
