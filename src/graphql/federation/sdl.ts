/**
 * Prints the schema for the composition of a larger graph: with the directives of Apollo Federation 2, and without what
 * other services of that graph also have. Must not decide what can be executed.
 */
import {
  type ConstArgumentNode,
  type ConstDirectiveNode,
  type ConstValueNode,
  type FieldDefinitionNode,
  type GraphQLSchema,
  type InterfaceTypeDefinitionNode,
  Kind,
  type ObjectTypeDefinitionNode,
  parse,
  print,
  printSchema,
  type TypeNode,
  visit,
} from 'graphql';
import { foreignTypes } from '../../model/fields.ts';

/** Not every composition knows @oneOf, which is part of GraphQL since 2025. */
const preamble = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.0", import: ["@key", "@shareable"])

directive @oneOf on INPUT_OBJECT
`;

/** `entities` are the names of the types that a gateway can load here by their IDs. */
export function subgraphSdl(schema: GraphQLSchema, entities: ReadonlySet<string>): string {
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

/**
 * True if the query leads to objects that other services may also have: `node(id)`, `company(id)`. No two services may
 * have the same query. Nothing is lost without it: the other service returns the company, and this one its projects.
 */
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
