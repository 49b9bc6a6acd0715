/** Makes the schema a subgraph of Apollo Federation 2. A gateway loads objects by their IDs through the same loaders as every query. */
import {
  type ConstArgumentNode,
  type ConstDirectiveNode,
  type ConstValueNode,
  type FieldDefinitionNode,
  type GraphQLFieldConfig,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLScalarType,
  GraphQLSchema,
  GraphQLString,
  GraphQLUnionType,
  type InterfaceTypeDefinitionNode,
  isObjectType,
  Kind,
  type ObjectTypeDefinitionNode,
  parse,
  print,
  printSchema,
  type TypeNode,
  visit,
} from 'graphql';
import { foreignTypes } from '../model/fields.ts';
import { expected, isObject, type Path } from '../model/issues.ts';
import { kindOfId, recordKinds } from '../records/index.ts';
import type { Context } from './execution/context.ts';
import type { FieldExtensions } from './limits.ts';
import { lengthWithinPage, parseArgument, refused } from './schema/argument.ts';

export function createSubgraph(schema: GraphQLSchema): GraphQLSchema {
  const config = schema.toConfig();
  const query = schema.getQueryType();
  if (!query) throw new Error('the schema has no queries');
  const entities = entityTypes(schema);
  const { fields, ...rest } = query.toConfig();
  const extended = new GraphQLObjectType({
    ...rest,
    fields: {
      ...fields,
      _entities: entitiesQuery(entities),
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

type Query = GraphQLFieldConfig<unknown, Context>;

/** `types` are the types that a gateway can load by their IDs. */
function entitiesQuery(types: readonly GraphQLObjectType[]): Query {
  const names = new Set(types.map(({ name }) => name));
  const entity = new GraphQLUnionType({
    name: '_Entity',
    description: 'Something that a gateway can load by its ID.',
    types,
    resolveType: ({ __typename, id }) => __typename ?? kindOfId(id)?.name,
  });
  const representation = new GraphQLScalarType({
    name: '_Any',
    description:
      'The type and the ID of something, as an object: `{ "__typename": "Company", "id": "ERP-COMPANY-5" }`.',
  });
  return {
    type: new GraphQLNonNull(new GraphQLList(entity)),
    description: `For gateways: what the representations stand for, in the same order; null where there is no such record. At most as many as the setting \`MAX_PAGE_SIZE\`.`,
    extensions: {
      cost: ({ representations }, limits) => ({
        items: lengthWithinPage('representations', 'representations', representations, limits),
      }),
    } satisfies FieldExtensions,
    args: {
      representations: {
        type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(representation))),
        description: 'The types and IDs of what to load.',
      },
    },
    resolve: (_root, { representations }, context) => {
      const { limits } = context;
      const keys = representations.map((sent: unknown, index: number) =>
        keyIn(sent, ['representations', index], names, limits.maxTextLength),
      );
      return Promise.all(keys.map((key: Key) => loadEntity(context, key)));
    },
  };
}

interface Key {
  readonly type: string;
  readonly id: string;
}

/** Parses a representation. Ignores other fields, as the specification allows. Throws a ServiceError 400. */
function keyIn(sent: unknown, at: Path, types: ReadonlySet<string>, maxLength: number): Key {
  if (!isObject(sent)) throw refused(at, expected('an object with __typename and id', sent));
  const { __typename: type, id } = sent;
  if (typeof type !== 'string' || !types.has(type))
    throw refused([...at, '__typename'], expected(`one of ${[...types].join(', ')}`, type));
  return { type, id: String(parseArgument([...at, 'id'], { type: 'id' }, id, maxLength)) };
}

/** Objects kept elsewhere are not looked up: only their reverse links are here. */
function loadEntity({ loaders }: Context, { type, id }: Key) {
  const kind = recordKinds.find(({ name }) => name === type);
  return kind ? loaders.of(kind).load(id) : { __typename: type, id };
}

/** Not every composition knows @oneOf, which is part of GraphQL since 2025. */
const preamble = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.0", import: ["@key", "@shareable"])

directive @oneOf on INPUT_OBJECT
`;

/** `entities` are the names of the types that a gateway can load here by their IDs. */
function subgraphSdl(schema: GraphQLSchema, entities: ReadonlySet<string>): string {
  const document = visit(parse(printSchema(schema)), {
    InterfaceTypeDefinition: withoutSharedDescriptions,
    ObjectTypeDefinition: (type) => ({
      ...withoutSharedDescriptions(type),
      ...(type.name.value === 'Query' && { fields: type.fields?.filter((field) => !isLookup(field)) }),
      directives: directivesOf(type.name.value, entities),
    }),
  });
  return `${preamble}\n${print(document)}\n`;
}

function directivesOf(name: string, entities: ReadonlySet<string>): ConstDirectiveNode[] {
  const byId = argument('fields', { kind: Kind.STRING, value: 'id' });
  if (entities.has(name)) return [directive('key', [byId])];
  if (isForeign(name)) return [directive('key', [byId, argument('resolvable', { kind: Kind.BOOLEAN, value: false })])];
  return name === 'PageInfo' ? [directive('shareable')] : [];
}

/** Queries for objects that other services may also have, such as `company(id)`: no two services may have the same query. */
function isLookup({ type }: FieldDefinitionNode): boolean {
  const name = nameOf(type);
  return name === 'Node' || isForeign(name);
}

/** Removes descriptions that other services word differently: the composition would choose some of them. */
function withoutSharedDescriptions<T extends ObjectTypeDefinitionNode | InterfaceTypeDefinitionNode>(type: T): T {
  const name = type.name.value;
  if (!['Query', 'Mutation', 'Subscription', 'Node', 'PageInfo'].includes(name) && !isForeign(name)) return type;
  const fields = type.fields?.map((field) => (field.arguments?.length ? field : { ...field, description: undefined }));
  return { ...type, description: undefined, fields };
}

const isForeign = (name: string): boolean => Object.hasOwn(foreignTypes, name);

const nameOf = (type: TypeNode): string => (type.kind === Kind.NAMED_TYPE ? type.name.value : nameOf(type.type));

const directive = (name: string, args: readonly ConstArgumentNode[] = []): ConstDirectiveNode => ({
  kind: Kind.DIRECTIVE,
  name: { kind: Kind.NAME, value: name },
  arguments: args,
});

const argument = (name: string, value: ConstValueNode): ConstArgumentNode => ({
  kind: Kind.ARGUMENT,
  name: { kind: Kind.NAME, value: name },
  value,
});
