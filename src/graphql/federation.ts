/** Makes the schema a subgraph of Apollo Federation 2. A gateway loads objects by their IDs through the same loaders as every query. */
import {
  extendSchema,
  type FieldDefinitionNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  type InterfaceTypeDefinitionNode,
  isObjectType,
  type ObjectTypeDefinitionNode,
  parse,
  print,
  printSchema,
  visit,
} from 'graphql';
import { foreignTypes } from '../model/fields.ts';
import { expected, isObject } from '../model/issues.ts';
import { recordKinds } from '../records/index.ts';
import { type FieldExtensions, lengthWithinPage } from './limits.ts';
import { type Context, parseArgument, refused } from './schema/builder.ts';

const foreignNames = Object.keys(foreignTypes);

export function createSubgraph(schema: GraphQLSchema): GraphQLSchema {
  // Those with an ID and at least one more field here: a gateway has no reason to load the others.
  const entities = [...recordKinds.map(({ name }) => name), ...foreignNames].filter((name) => {
    const type = schema.getType(name);
    return isObjectType(type) && Object.keys(type.getFields()).length > 1;
  });
  const subgraph = extendSchema(schema, parse(additions(entities)));
  // The cast is safe: both queries have just been added.
  const { _entities, _service } = (subgraph.getQueryType() as GraphQLObjectType).getFields() as Added;
  const sdl = subgraphSdl(schema, entities);
  _service.resolve = () => ({ sdl });
  _entities.resolve = (_root, { representations }, context) => loadAll(context, representations, entities);
  _entities.extensions = {
    cost: ({ representations }, limits) => ({
      items: lengthWithinPage('representations', 'representations', representations, limits),
    }),
  } satisfies FieldExtensions;
  return subgraph;
}

type Added = Record<'_entities' | '_service', GraphQLField<unknown, Context>>;

const additions = (entities: readonly string[]) => `
  "Something that a gateway can load by its ID."
  union _Entity = ${entities.join(' | ')}
  """The type and the ID of something, as an object: \`{ "__typename": "Company", "id": "ERP-COMPANY-5" }\`."""
  scalar _Any
  "This service as a part of a larger graph."
  type _Service {
    "The schema to compose with those of the other services."
    sdl: String!
  }
  extend type Query {
    "For gateways: what the representations stand for, in their order; null for what is unknown. At most \`MAX_PAGE_SIZE\`."
    _entities("The types and IDs of what to load." representations: [_Any!]!): [_Entity]!
    "This service as a part of a larger graph, for the composition of that graph."
    _service: _Service!
  }`;

/** Ignores other fields of representations, as the specification allows. Throws a ServiceError 400 before anything is loaded. */
function loadAll({ limits, loaders }: Context, representations: readonly unknown[], entities: readonly string[]) {
  const keys = representations.map((sent, index) => {
    const at = ['representations', index];
    if (!isObject(sent)) throw refused(at, expected('an object with __typename and id', sent));
    const { __typename: type, id } = sent;
    if (typeof type !== 'string' || !entities.includes(type))
      throw refused([...at, '__typename'], expected(`one of ${entities.join(', ')}`, type));
    return { type, id: String(parseArgument([...at, 'id'], { type: 'id' }, id, limits.maxTextLength)) };
  });
  return keys.map(async ({ type, id }) => {
    const kind = recordKinds.find(({ name }) => name === type);
    // Objects kept elsewhere are not looked up: only their reverse links are here.
    const found = kind ? await loaders.of(kind).load(id) : { id };
    return found && { ...found, __typename: type };
  });
}

/** Not every composition knows @oneOf, which is part of GraphQL since 2025. */
const preamble = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.0", import: ["@key", "@shareable"])

directive @oneOf on INPUT_OBJECT
`;

function subgraphSdl(schema: GraphQLSchema, entities: readonly string[]): string {
  const visitor = { InterfaceTypeDefinition: withoutShared, ObjectTypeDefinition: withoutShared };
  const types = print(visit(parse(printSchema(schema)), visitor));
  const withDirectives = types.replace(/^type (\w+)[^\n{]*(?= \{)/gm, (head, name: string) => {
    if (entities.includes(name)) return `${head} @key(fields: "id")`;
    if (foreignNames.includes(name)) return `${head} @key(fields: "id", resolvable: false)`;
    return name === 'PageInfo' ? `${head} @shareable` : head;
  });
  return `${preamble}\n${withDirectives}\n`;
}

/** What other services may have, too, with descriptions of their own: the composition would choose some of them. */
const shared = new Set(['Query', 'Mutation', 'Subscription', 'Node', 'PageInfo', ...foreignNames]);

function withoutShared(type: ObjectTypeDefinitionNode | InterfaceTypeDefinitionNode) {
  const { name, fields = [] } = type;
  if (!shared.has(name.value)) return undefined;
  // No two services may have the same query for an object, such as `company(id)` or `node(id)`.
  const isOwn = (field: FieldDefinitionNode) => !shared.has(print(field.type).replace(/[[\]!]/g, ''));
  const undescribed = fields.map((field) => (field.arguments?.length ? field : { ...field, description: undefined }));
  return { ...type, description: undefined, fields: name.value === 'Query' ? fields.filter(isOwn) : undescribed };
}
