/**
 * What executing an operation costs at most, before it is executed: aliases, fragments, pages and batches multiply, and a
 * few hundred characters can stand for millions of fields.
 */
import {
  type ExecutionArgs,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  getOperationAST,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  SchemaMetaFieldDef,
  type SelectionNode,
  type SelectionSetNode,
  TypeMetaFieldDef,
  type ValueNode,
} from 'graphql';
import { isAsyncIterable, type Plugin } from 'graphql-yoga';
import type { Limits } from '../../config.ts';
import { defaultPageSize } from '../schema/connection.ts';

/** A field with fields of its own: a link waits for its loader, which takes ten times and more of a value that is there. */
const objectCost = 5;

/** A value under another name: the same long text a hundred times over makes an answer of hundreds of megabytes. */
const aliasCost = 50;

/** A record to be created, before any field of it is answered. */
const createCost = 10;

/** How long the lists of introspection are about, in this schema. */
const introspectionSizes: Readonly<Record<string, number>> = { types: 60, fields: 20, inputFields: 12, args: 1 };
const otherIntrospectionSize = 4;

/** Refuses operations that cost more than the limit; every answer says in `extensions.cost` what its operation costs. */
export const useCostLimit = ({ maxCost }: Limits): Plugin => ({
  onExecute({ args, setResultAndStopExecution }) {
    const operation = getOperationAST(args.document, args.operationName);
    if (!operation) return;
    const requested = costOf(operation, args);
    const extensions = { cost: { requested, limit: maxCost } };
    if (requested > maxCost) {
      const message = `the operation costs more than ${maxCost}: ask for fewer fields or aliases, smaller pages or batches`;
      const errors = [new GraphQLError(message, { extensions: { code: 'BAD_USER_INPUT' } })];
      return void setResultAndStopExecution({ errors, extensions });
    }
    return {
      onExecuteDone({ result, setResult }) {
        if (!isAsyncIterable(result)) setResult({ ...result, extensions });
      },
    };
  },
});

/** One for each field, more for those above, times the size of the list it is in; at most, for @skip may leave it out. */
function costOf(operation: OperationDefinitionNode, { schema, document, variableValues }: ExecutionArgs): number {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  }
  /** Each fragment is costed once, however often it is spread. */
  const fragmentCosts = new Map<string, number>();

  const selectionSetCost = (type: GraphQLNamedType, { selections }: SelectionSetNode): number =>
    selections.reduce((sum, selection) => sum + selectionCost(type, selection), 0);

  const selectionCost = (type: GraphQLNamedType, selection: SelectionNode): number => {
    switch (selection.kind) {
      case Kind.FIELD:
        return fieldCost(type, selection);
      case Kind.INLINE_FRAGMENT:
        return selectionSetCost(typeNamed(schema, selection.typeCondition?.name.value) ?? type, selection.selectionSet);
      case Kind.FRAGMENT_SPREAD:
        return fragmentCost(selection.name.value);
    }
  };

  const fragmentCost = (name: string): number => {
    const known = fragmentCosts.get(name);
    if (known !== undefined) return known;
    const fragment = fragments.get(name);
    const type = typeNamed(schema, fragment?.typeCondition.name.value);
    const cost = fragment && type ? selectionSetCost(type, fragment.selectionSet) : 0;
    fragmentCosts.set(name, cost);
    return cost;
  };

  const fieldCost = (parent: GraphQLNamedType, field: FieldNode): number => {
    const type = fieldType(parent, field.name.value);
    if (!type || !field.selectionSet) return field.alias ? aliasCost : 1;
    const inner = selectionSetCost(type, field.selectionSet) + (parent === schema.getMutationType() ? createCost : 0);
    if (isIntrospectionType(type)) return 1 + inner * introspectionSize(field.name.value);
    return objectCost + inner * listSize(field, type, operation, variableValues ?? {});
  };

  const root = schema.getRootType(operation.operation);
  return root ? selectionSetCost(root, operation.selectionSet) : 0;
}

const typeNamed = (schema: GraphQLSchema, name: string | undefined) => (name ? schema.getType(name) : undefined);

function fieldType(parent: GraphQLNamedType, name: string): GraphQLNamedType | undefined {
  if (name === SchemaMetaFieldDef.name) return getNamedType(SchemaMetaFieldDef.type);
  if (name === TypeMetaFieldDef.name) return getNamedType(TypeMetaFieldDef.type);
  if (!isObjectType(parent) && !isInterfaceType(parent)) return undefined;
  const field = parent.getFields()[name];
  return field && getNamedType(field.type);
}

/** `type` and `ofType` lead to one type, the others to a list. */
const introspectionSize = (name: string): number =>
  ['__schema', '__type', 'type', 'ofType', 'queryType', 'mutationType', 'subscriptionType'].includes(name)
    ? 1
    : (introspectionSizes[name] ?? otherIntrospectionSize);

/** A page, the ids asked for, or the records to create; 1 for a field that is no list, or a list whose page is counted above. */
function listSize(
  { arguments: args = [] }: FieldNode,
  type: GraphQLNamedType,
  { variableDefinitions = [] }: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
): number {
  const read = (node: ValueNode): unknown => {
    if (node.kind === Kind.VARIABLE) {
      const name = node.name.value;
      const fallback = variableDefinitions.find(({ variable }) => variable.name.value === name)?.defaultValue;
      return Object.hasOwn(variables, name) ? variables[name] : fallback && read(fallback);
    }
    if (node.kind === Kind.INT) return Number(node.value);
    return node.kind === Kind.LIST ? node.values : undefined;
  };
  const value = (name: string): unknown => {
    const argument = args.find((it) => it.name.value === name);
    return argument && read(argument.value);
  };

  const list = value('ids') ?? value('input');
  if (Array.isArray(list)) return list.length;
  if (!type.name.endsWith('Connection')) return 1;
  const size = value('first') ?? value('last') ?? defaultPageSize;
  return typeof size === 'number' ? Math.max(1, size) : 1;
}
