/**
 * Reads the variables of an operation, and rejects it over the limits, before anything is executed. A field costs 1, more for an object, and
 * everything inside a list once for each of its items: aliases, fragments, pages and batches multiply, and a few hundred characters can
 * request millions of fields. One walk measures a validated operation with its arguments. It visits a fragment once, however often it is
 * spread, and once more for each mutation: chains of fragments that spread each other twice would otherwise take longer to measure than to
 * refuse.
 */
import { MapperKind, mapSchema } from '@graphql-tools/utils';
import {
  type DocumentNode,
  type ExecutionArgs,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLField,
  GraphQLInputObjectType,
  type GraphQLNamedType,
  type GraphQLSchema,
  getArgumentValues,
  getNamedType,
  getNullableType,
  getOperationAST,
  getVariableValues,
  isListType,
  Kind,
  type NamedTypeNode,
  type OperationDefinitionNode,
  SchemaMetaFieldDef,
  type SelectionNode,
  type SelectionSetNode,
  TypeMetaFieldDef,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Config, Limits } from '../config.ts';
import { badRequest, ServiceError } from '../errors.ts';
import { expected, formatCount, maxQuoted, truncate } from '../model/issues.ts';
import { maxErrors } from './errors.ts';

/** The GraphQL extensions of this schema's fields. */
export interface FieldExtensions {
  /** The stored field that the field of a record, of a group of records or of a change is read from. */
  readonly storedField?: string;
  readonly cost?: CostFunction;
}

/** Returns what a field costs besides the 1 of a value or the 5 of an object. Throws a ServiceError for a list that is too long. */
export type CostFunction = (args: Arguments, limits: Limits) => FieldCost;

// biome-ignore lint/suspicious/noExplicitAny: they have the types that the field declares.
type Arguments = Readonly<Record<string, any>>;

interface FieldCost {
  readonly own?: number;
  /** The most objects that the field returns: the selection is counted once for each. 1 unless set. */
  readonly items?: number;
  readonly lists?: Lists;
}

/** The lengths of lists in the object that a field returns, or in an object of that, by name, where they depend on the field's arguments. */
interface Lists {
  readonly [name: string]: number | Lists;
}

const defaultPageSize = ({ maxPageSize }: Limits): number => Math.min(50, maxPageSize);

/** All fields of a page are counted once for each of its records. */
export const pageCost = ({ first, last }: Arguments, limits: Limits) => ({
  items: Math.max(1, first ?? last ?? defaultPageSize(limits)),
});

export const describePageSize = (counted: string, least = 0): string =>
  `The number of ${counted}, from ${least} to the setting \`MAX_PAGE_SIZE\`; 50 unless set, or as many as it allows.`;

/** Returns the size of a page, also if none was sent. Throws a ServiceError 400 unless a page may have it. */
export function pageSize(name: string, sent: number | null | undefined, limits: Limits, least = 0): number {
  const { maxPageSize } = limits;
  const size = sent ?? defaultPageSize(limits);
  if (size >= least && size <= maxPageSize) return size;
  throw badRequest(`${name}: ${expected(`a whole number from ${least} to ${maxPageSize}`, size)}`);
}

/** The cost of an object: waiting for a link's loader takes at least ten times as long as reading a value. */
export const objectCost = 5;

/** The cost of a value with an alias: the same long text under a hundred names makes a response of hundreds of megabytes. */
const aliasCost = 50;

/** Typical lengths of introspection's lists: GraphQL defines these fields, so they cannot declare a cost. */
const introspectionSizes: Readonly<Record<string, number>> = { fields: 15, inputFields: 12, args: 1 };
const otherIntrospectionSize = 4;

const introspectionFields: Readonly<Record<string, SchemaField>> = {
  __schema: SchemaMetaFieldDef,
  __type: TypeMetaFieldDef,
};

type SchemaField = GraphQLField<unknown, unknown>;

interface Measurement {
  /** Levels of fields, including fragments. */
  readonly depth: number;
  /** Those of a fragment count once for each spread, those of a list once. */
  readonly fields: number;
  readonly cost: number;
  /** The dearest of the fields, whether in a fragment or not. */
  readonly dearest?: { readonly node: FieldNode; readonly cost: number; readonly below: Measurement } | undefined;
}

interface OperationMeasurement extends Measurement {
  /** As written: those of a fragment count once, however often it is spread. */
  readonly aliases: number;
}

const nothing: Measurement = { depth: 0, fields: 0, cost: 0 };

/** Where a selection is: the lengths of lists in its object, and what its fragments measure there. */
interface SelectionContext {
  readonly lists: Lists;
  readonly fragments: Map<string, Measurement>;
}

/** Measures a validated operation. Throws a ServiceError for a list in an argument that is too long. */
export function measure(
  { schema, document, variableValues }: ExecutionArgs,
  operation: OperationDefinitionNode,
  limits: Limits,
): OperationMeasurement {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const node of document.definitions) {
    if (node.kind === Kind.FRAGMENT_DEFINITION) fragments.set(node.name.value, node);
  }
  const usual: SelectionContext = { lists: {}, fragments: new Map() };
  let aliases = 0;

  function measureAll(type: GraphQLNamedType, { selections }: SelectionSetNode, place: SelectionContext): Measurement {
    let { depth, fields, cost, dearest } = nothing;
    for (const node of selections) {
      const measured = measureSelection(type, node, place);
      depth = Math.max(depth, measured.depth);
      fields += measured.fields;
      cost += measured.cost;
      if (measured.dearest && measured.dearest.cost > (dearest?.cost ?? 0)) dearest = measured.dearest;
    }
    return { depth, fields, cost, dearest };
  }

  function measureSelection(type: GraphQLNamedType, node: SelectionNode, place: SelectionContext): Measurement {
    switch (node.kind) {
      case Kind.FIELD:
        return measureField(type, node, place);
      case Kind.FRAGMENT_SPREAD:
        return measureFragment(node.name.value, place);
      case Kind.INLINE_FRAGMENT: {
        const condition = node.typeCondition && schema.getType(node.typeCondition.name.value);
        return measureAll(condition ?? type, node.selectionSet, place);
      }
    }
  }

  function measureFragment(name: string, place: SelectionContext): Measurement {
    const known = place.fragments.get(name);
    if (known) return known;
    const fragment = fragments.get(name);
    const type = fragment && schema.getType(fragment.typeCondition.name.value);
    const measured = type ? measureAll(type, fragment.selectionSet, place) : nothing;
    place.fragments.set(name, measured);
    return measured;
  }

  function measureField(parent: GraphQLNamedType, node: FieldNode, { lists }: SelectionContext): Measurement {
    if (node.alias) aliases += 1;
    const field = findField(parent, node.name.value);
    const declared = costOf(node, field);
    const { [node.name.value]: listed } = lists;
    const listsBelow = typeof listed === 'object' ? listed : declared.lists;
    // Only fields of Mutation set the lengths of lists. What fragments measured elsewhere cannot be reused there.
    const place = listsBelow ? { lists: listsBelow, fragments: new Map() } : usual;
    const type = field && getNamedType(field.type);
    const below = type && node.selectionSet ? measureAll(type, node.selectionSet, place) : nothing;
    const times = typeof listed === 'number' ? listed : (declared.items ?? 1);
    const cost = baseCost(node, type) + (declared.own ?? 0) + times * below.cost;
    return { depth: 1 + below.depth, fields: 1 + below.fields, cost, dearest: { node, cost, below } };
  }

  function costOf(node: FieldNode, field: SchemaField | undefined): FieldCost {
    if (!field) return {};
    if (isIntrospection(getNamedType(field.type))) return { items: introspectionSize(schema, field) };
    const { cost } = field.extensions as FieldExtensions;
    const args = cost && argumentsOf(field, node);
    return args ? cost(args, limits) : {};
  }

  /** Undefined if they are not valid: the field fails before it reads anything. */
  function argumentsOf(field: SchemaField, node: FieldNode): Arguments | undefined {
    try {
      return getArgumentValues(field, node, variableValues);
    } catch {
      return undefined;
    }
  }

  const type = schema.getRootType(operation.operation);
  return { ...(type ? measureAll(type, operation.selectionSet, usual) : nothing), aliases };
}

/** Undefined for `__typename`. */
const findField = (type: GraphQLNamedType, name: string): SchemaField | undefined =>
  ('getFields' in type ? (type.getFields()[name] as SchemaField | undefined) : undefined) ?? introspectionFields[name];

function baseCost({ alias, selectionSet }: FieldNode, type: GraphQLNamedType | undefined): number {
  if (!selectionSet) return alias ? aliasCost : 1;
  return type && isIntrospection(type) ? 1 : objectCost;
}

/** The names are reserved. graphql-js compares with all names of introspection, which took two thirds of the walk. */
const isIntrospection = ({ name }: GraphQLNamedType): boolean => name.startsWith('__');

function introspectionSize(schema: GraphQLSchema, { name, type }: SchemaField): number {
  if (!isListType(getNullableType(type))) return 1;
  if (name === 'types') return Object.keys(schema.getTypeMap()).length;
  return introspectionSizes[name] ?? otherIntrospectionSize;
}

/** Returns `locations.nodes.workOrders`: at each level the dearest field, while it has more than a third of the cost. */
function dearestPath({ cost, dearest }: Measurement): string[] {
  if (!dearest?.node.selectionSet || dearest.cost <= cost / 3) return [];
  const { alias, name } = dearest.node;
  return [(alias ?? name).value, ...dearestPath(dearest.below)];
}

/** The part of a request's context that tells its response the cost of the operation. */
interface Costed {
  readonly client?: { cost?: number };
}

/** What is executed: the operation of the document, and its variables as they were read, which are not read again. */
export interface Prepared {
  readonly operation: OperationDefinitionNode;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** A scalar of the schema that accepts any value. */
const anyValue: NamedTypeNode = { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: 'FieldValue' } };

/** Returns the document with a type for its variables that leaves them as they are: an executor would read them a second time. */
export function withReadVariables(document: DocumentNode, operation: OperationDefinitionNode): DocumentNode {
  const variableDefinitions = operation.variableDefinitions?.map(({ kind, variable }) => ({
    kind,
    variable,
    type: anyValue,
  }));
  const definitions = document.definitions.map((node) =>
    node === operation ? { ...node, variableDefinitions } : node,
  );
  return { ...document, definitions } as DocumentNode;
}

export function useOperationLimits(
  schema: GraphQLSchema,
  { limits, suggestions }: Pick<Config, 'limits' | 'suggestions'>,
): Plugin<Costed & Prepared> {
  const variableOptions = { maxErrors, hideSuggestions: !suggestions };
  const lenientSchema = withoutRequiredFields(schema);
  const check: Plugin<Costed & Prepared>['onExecute'] & Plugin<Costed & Prepared>['onSubscribe'] = ({
    args,
    extendContext,
    setResultAndStopExecution,
  }) => {
    const { document, operationName, variableValues, contextValue } = args;
    const operation = getOperationAST(document, operationName);
    if (!operation) return;
    const { variableDefinitions = [] } = operation;
    const read = getVariableValues(lenientSchema, variableDefinitions, variableValues ?? {}, variableOptions);
    const { errors, coerced: variables = {} } = read;
    const refused = errors ?? refusal({ ...args, variableValues: variables }, operation, limits, contextValue);
    if (refused) setResultAndStopExecution({ errors: refused });
    else extendContext({ operation, variables });
  };
  return { onExecute: check, onSubscribe: check };
}

/**
 * Returns the schema to read variables with. Items may lack required fields: the service lists them with all else that is wrong, whereas
 * GraphQL would stop at the first few. The schema that clients see, and that documents are validated against, says what is required.
 */
const withoutRequiredFields = (schema: GraphQLSchema): GraphQLSchema =>
  mapSchema(schema, {
    [MapperKind.INPUT_OBJECT_TYPE](type) {
      if (type.extensions.isItem !== true) return undefined;
      const { fields, ...config } = type.toConfig();
      const optional = Object.entries(fields).map(([name, field]) => [
        name,
        { ...field, type: getNullableType(field.type) },
      ]);
      return new GraphQLInputObjectType({ ...config, fields: Object.fromEntries(optional) });
    },
  });

function refusal(
  args: ExecutionArgs,
  operation: OperationDefinitionNode,
  limits: Limits,
  { client }: Costed,
): GraphQLError[] | undefined {
  try {
    const measured = measure(args, operation, limits);
    const { depth, aliases, cost } = measured;
    const { maxDepth, maxAliases, maxCost } = limits;
    if (depth > maxDepth) return tooLarge(`the operation is more than ${maxDepth} levels deep`);
    if (aliases > maxAliases) return tooLarge(`the operation has more than ${maxAliases} aliases`);
    if (client) client.cost = cost;
    // Also NaN: an infinite cost times the length of an empty list.
    return cost <= maxCost ? undefined : tooCostly(measured, maxCost);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return [new GraphQLError(error.message, { extensions: { http: { status: error.status } } })];
  }
}

const tooLarge = (message: string) => [
  new GraphQLError(message, { extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }),
];

function tooCostly(measured: Measurement, limit: number): GraphQLError[] {
  const requested = measured.cost;
  const path = dearestPath(measured).join('.');
  const cost = Number.isFinite(requested) ? ` (it costs ${formatCount(Math.ceil(requested))})` : '';
  const advice = 'select fewer fields or aliases, or use smaller pages or batches';
  const place = path && `, above all in ${truncate(path, maxQuoted)}`;
  return [
    new GraphQLError(`the operation costs more than ${formatCount(limit)}${cost}: ${advice}${place}`, {
      extensions: { cost: { requested, limit } },
    }),
  ];
}
