/**
 * A larger graph: the service, a small service that knows the names of companies, and a gateway in front of both. The services listen on
 * loopback; requests to the gateway are injected.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGatewayRuntime } from '@graphql-hive/gateway-runtime';
import { composeServices } from '@theguild/federation-composition';
import type { FastifyInstance } from 'fastify';
import { parse } from 'graphql';
import { createSchema, createYoga } from 'graphql-yoga';
import { listen } from './service.ts';

/** Like the schema of the service, it has Relay's types, and queries named `node` and `company`. */
export const companiesSdl = `
  extend schema @link(url: "https://specs.apollo.dev/federation/v2.0", import: ["@key", "@shareable"])
  type Query { company(id: ID!): Company node(id: ID!): Node companies(orderBy: OrderDirection): CompanyConnection! }
  interface Node { id: ID! }
  type Company implements Node @key(fields: "id") { id: ID! name: String! foundedAt: DateTime planned: [WorkOrder!]! }
  type CompanyConnection { nodes: [Company!]! pageInfo: PageInfo! }
  type PageInfo @shareable { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
  type WorkOrder @key(fields: "id", resolvable: false) { id: ID! }
  enum OrderDirection { ASC DESC }
  scalar DateTime
`;

/** Throws what the composition finds wrong. The URLs are where the gateway sends its requests. */
export function compose(sdl: string, urls = { yardgraph: '', companies: '' }): string {
  const { supergraphSdl, errors } = composeServices([
    { name: 'yardgraph', typeDefs: parse(sdl), url: urls.yardgraph },
    { name: 'companies', typeDefs: parse(companiesSdl), url: urls.companies },
  ]);
  if (!supergraphSdl) throw new Error(errors?.map(({ message }) => message).join('\n'));
  return supergraphSdl;
}

interface SentRequest {
  readonly service: 'yardgraph' | 'companies';
  readonly query: string;
  readonly representations: readonly unknown[] | undefined;
}

/** Starts the other service and the gateway. The caller must stop them. */
export async function startGateway({ app }: { app: FastifyInstance }, sdl: string) {
  const companies = await startCompanies();
  const yardgraph = `${await listen(app)}/graphql`;
  const sent: SentRequest[] = [];
  const gateway = createGatewayRuntime({
    supergraph: compose(sdl, { yardgraph, companies: companies.url }),
    logging: false,
    propagateHeaders: {
      fromClientToSubgraphs: ({ request }) => ({ authorization: request.headers.get('authorization') ?? '' }),
    },
    plugins: () => [
      {
        onFetch({ url, options }) {
          const { query, variables } = JSON.parse(String(options.body));
          const service = url === companies.url ? 'companies' : 'yardgraph';
          sent.push({ service, query, representations: variables?.representations });
        },
      },
    ],
  });

  return {
    /** Sends a query to the gateway, and returns the response with the requests that the gateway sent for it. */
    async send(query: string, headers: Record<string, string> = {}) {
      sent.length = 0;
      const response = await gateway.fetch('http://gateway/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ query }),
      });
      const { data, errors } = await response.json();
      return { data, errors, sent: [...sent] };
    },
    /** What the other service returns as the work orders that a company has planned. */
    plan: companies.plan,
    async stop(): Promise<void> {
      await gateway[Symbol.asyncDispose]();
      await companies.stop();
    },
  };
}

/** The service that knows companies. There is a company for every ID. */
async function startCompanies() {
  let planned: readonly string[] = [];
  const company = ({ id }: { readonly id: string }) => ({
    __typename: 'Company',
    id,
    name: `The company ${id}`,
    planned: planned.map((workOrder) => ({ id: workOrder })),
  });
  const schema = createSchema({
    typeDefs: [
      companiesSdl.replace(/extend schema .*/, ''),
      `extend type Query { _entities(representations: [_Any!]!): [_Entity]! }
      union _Entity = Company
      scalar _Any
      directive @key(fields: String!, resolvable: Boolean) on OBJECT
      directive @shareable on OBJECT`,
    ],
    resolvers: {
      Query: {
        company: (_root, key) => company(key),
        companies: () => ({ nodes: ['company-0', 'company-1', 'company-2'].map((id) => company({ id })) }),
        _entities: (_root, { representations }) => representations.map(company),
      },
    },
  });
  const server = createServer(createYoga({ schema, logging: false }));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`,
    plan(workOrderIds: readonly string[]): void {
      planned = workOrderIds;
    },
    async stop(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
