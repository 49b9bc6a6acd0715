/** Makes the schema a subgraph of Apollo Federation 2. Adds the two queries of the specification, and changes nothing else. */
import { GraphQLNonNull, GraphQLObjectType, GraphQLSchema, GraphQLString, isObjectType } from 'graphql';
import type { Limits } from '../../config.ts';
import { foreignTypes } from '../../model/fields.ts';
import { recordKinds } from '../../records/index.ts';
import type { Context } from '../execution/context.ts';
import { entitiesQuery, type Query } from './entities.ts';
import { subgraphSdl } from './sdl.ts';

export function createSubgraph(schema: GraphQLSchema, limits: Limits): GraphQLSchema {
  const config = schema.toConfig();
  const query = schema.getQueryType();
  if (!query) throw new Error('the schema has no queries');
  const entities = entityTypes(schema);
  const { fields, ...rest } = query.toConfig();
  const extended = new GraphQLObjectType({
    ...rest,
    fields: {
      ...fields,
      _entities: entitiesQuery(entities, limits),
      _service: serviceQuery(subgraphSdl(schema, new Set(entities.map(({ name }) => name)))),
    },
  });
  const types = config.types.map((type) => (type === query ? extended : type));
  return new GraphQLSchema({ ...config, query: extended, types });
}

/** Returns the types with an ID and at least one more field here: a gateway has no reason to load the others. */
const entityTypes = (schema: GraphQLSchema): GraphQLObjectType[] =>
  [...recordKinds.map(({ name }) => name), ...Object.keys(foreignTypes)]
    .map((name) => schema.getType(name))
    .filter(isObjectType)
    .filter((type) => Object.keys(type.getFields()).length > 1);

function serviceQuery(sdl: string): Query {
  const service = new GraphQLObjectType<unknown, Context>({
    name: '_Service',
    description: 'This service as a part of a larger graph.',
    fields: {
      sdl: {
        type: new GraphQLNonNull(GraphQLString),
        description: 'The schema to compose with those of the other services.',
        resolve: () => sdl,
      },
    },
  });
  return {
    type: new GraphQLNonNull(service),
    description: 'This service as a part of a larger graph, for the composition of that graph.',
    resolve: () => ({}),
  };
}
