/**
 * Coerces variables, and rejects operations over the limits before execution: a few hundred characters could request
 * millions of fields. A field costs 1, an object more, and a list multiplies the cost of its items. Fragments are
 * measured once, and once more for each mutation: in a chain of fragments, each spread twice, the work would double
 * with each link.
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

export interface FieldExtensions {
  /** Fields of the record that the field reads. */
  readonly storedFields?: readonly string[];
  readonly cost?: CostFunction;
}

/** The cost above the base cost. Throws a ServiceError for too long a list. */
export type CostFunction = (args: Arguments, limits: Limits) => FieldCost;

// biome-ignore lint/suspicious/noExplicitAny: the field declares the types of its arguments.
type Arguments = Readonly<Record<string, any>>;

interface FieldCost {
  readonly fieldCost?: number;
  /** The most objects returned: multiplies the cost of the selection. 1 unless set. */
  readonly items?: number;
  readonly lists?: Lists;
}

/** By name, the lengths of lists below a field, which depend on its arguments. */
interface Lists {
  readonly [name: string]: number | Lists;
}

const defaultPageSize = ({ maxPageSize }: Limits): number => Math.min(50, maxPageSize);

export const pageCost = ({ first, last }: Arguments, limits: Limits) => ({
  items: Math.max(1, first ?? last ?? defaultPageSize(limits)),
});

export const describePageSize = (counted: string, least = 0): string =>
  `The number of ${counted}, from ${least} to the setting \`MAX_PAGE_SIZE\`; 50 unless set, or as many as it allows.`;

export function pageSize(name: string, sent: number | null | undefined, limits: Limits, least = 0): number {
  const { maxPageSize } = limits;
  const size = sent ?? defaultPageSize(limits);
  if (size >= least && size <= maxPageSize) return size;
  throw badRequest(`${name}: ${expected(`a whole number from ${least} to ${maxPageSize}`, size)}`);
}

/** A link waits for its loader, at least ten times as long as a value takes to read. */
export const objectCost = 5;

/** Under a hundred aliases, a long text makes a response of hundreds of megabytes. */
const aliasCost = 50;

/** Typical lengths of lists in introspection, whose fields GraphQL defines without a cost. */
const introspectionSizes: Readonly<Record<string, number>> = { fields: 15, inputFields: 12, args: 1 };
const otherIntrospectionSize = 4;

const introspectionFields: Readonly<Record<string, SchemaField>> = {
  __schema: SchemaMetaFieldDef,
  __type: TypeMetaFieldDef,
};

type SchemaField = GraphQLField<unknown, unknown>;

interface Measurement {
  readonly depth: number;
  /** Fields of a fragment count for each spread, of a list once. */
  readonly fields: number;
  readonly cost: number;
  readonly dearest?: { readonly node: FieldNode; readonly cost: number; readonly below: Measurement } | undefined;
}

interface OperationMeasurement extends Measurement {
  /** As written: those in a fragment count once, however often it is spread. */
  readonly aliases: number;
}

const nothing: Measurement = { depth: 0, fields: 0, cost: 0 };

interface SelectionContext {
  readonly lists: Lists;
  readonly fragments: Map<string, Measurement>;
}

/** Measures a validated operation. */
export function measure(args: ExecutionArgs, operation: OperationDefinitionNode, limits: Limits): OperationMeasurement {
  return new OperationMeter(args, limits).measure(operation);
}

class OperationMeter {
  readonly #args: ExecutionArgs;
  readonly #limits: Limits;
  readonly #definitions = new Map<string, FragmentDefinitionNode>();
  readonly #usual: SelectionContext = { lists: {}, fragments: new Map() };
  #aliases = 0;

  constructor(args: ExecutionArgs, limits: Limits) {
    this.#args = args;
    this.#limits = limits;
    for (const node of args.document.definitions) {
      if (node.kind === Kind.FRAGMENT_DEFINITION) this.#definitions.set(node.name.value, node);
    }
  }

  measure({ operation, selectionSet }: OperationDefinitionNode): OperationMeasurement {
    const type = this.#args.schema.getRootType(operation);
    const measured = type ? this.#measureAll(type, selectionSet, this.#usual) : nothing;
    return { ...measured, aliases: this.#aliases };
  }

  #measureAll(type: GraphQLNamedType, { selections }: SelectionSetNode, context: SelectionContext): Measurement {
    let { depth, fields, cost, dearest } = nothing;
    for (const node of selections) {
      const measured = this.#measureSelection(type, node, context);
      depth = Math.max(depth, measured.depth);
      fields += measured.fields;
      cost += measured.cost;
      if (measured.dearest && measured.dearest.cost > (dearest?.cost ?? 0)) dearest = measured.dearest;
    }
    return { depth, fields, cost, dearest };
  }

  #measureSelection(type: GraphQLNamedType, node: SelectionNode, context: SelectionContext): Measurement {
    switch (node.kind) {
      case Kind.FIELD:
        return this.#measureField(type, node, context);
      case Kind.FRAGMENT_SPREAD:
        return this.#measureFragment(node.name.value, context);
      case Kind.INLINE_FRAGMENT: {
        const condition = node.typeCondition && this.#args.schema.getType(node.typeCondition.name.value);
        return this.#measureAll(condition ?? type, node.selectionSet, context);
      }
    }
  }

  #measureFragment(name: string, context: SelectionContext): Measurement {
    const known = context.fragments.get(name);
    if (known) return known;
    const fragment = this.#definitions.get(name);
    const type = fragment && this.#args.schema.getType(fragment.typeCondition.name.value);
    const measured = type ? this.#measureAll(type, fragment.selectionSet, context) : nothing;
    context.fragments.set(name, measured);
    return measured;
  }

  #measureField(parent: GraphQLNamedType, node: FieldNode, { lists }: SelectionContext): Measurement {
    if (node.alias) this.#aliases += 1;
    const field = findField(parent, node.name.value);
    const declared = this.#costOf(node, field);
    const { [node.name.value]: length } = lists;
    const listsBelow = typeof length === 'object' ? length : declared.lists;
    // Only fields of Mutation set lengths of lists, which change the cost of fragments.
    const context = listsBelow ? { lists: listsBelow, fragments: new Map() } : this.#usual;
    const type = field && getNamedType(field.type);
    const below = type && node.selectionSet ? this.#measureAll(type, node.selectionSet, context) : nothing;
    const times = typeof length === 'number' ? length : (declared.items ?? 1);
    const cost = baseCost(node, type) + (declared.fieldCost ?? 0) + times * below.cost;
    return { depth: 1 + below.depth, fields: 1 + below.fields, cost, dearest: { node, cost, below } };
  }

  #costOf(node: FieldNode, field: SchemaField | undefined): FieldCost {
    if (!field) return {};
    if (isIntrospection(getNamedType(field.type))) return { items: introspectionSize(this.#args.schema, field) };
    const { cost } = field.extensions as FieldExtensions;
    const args = cost && this.#argumentsOf(field, node);
    return args ? cost(args, this.#limits) : {};
  }

  /** Undefined for invalid arguments: the field fails before it reads. */
  #argumentsOf(field: SchemaField, node: FieldNode): Arguments | undefined {
    try {
      return getArgumentValues(field, node, this.#args.variableValues);
    } catch {
      return undefined;
    }
  }
}

const findField = (type: GraphQLNamedType, name: string): SchemaField | undefined =>
  ('getFields' in type ? (type.getFields()[name] as SchemaField | undefined) : undefined) ?? introspectionFields[name];

function baseCost({ alias, selectionSet }: FieldNode, type: GraphQLNamedType | undefined): number {
  if (!selectionSet) return alias ? aliasCost : 1;
  return type && isIntrospection(type) ? 1 : objectCost;
}

/** graphql-js compares all names: that took two thirds of the walk. */
const isIntrospection = ({ name }: GraphQLNamedType): boolean => name.startsWith('__');

function introspectionSize(schema: GraphQLSchema, { name, type }: SchemaField): number {
  if (!isListType(getNullableType(type))) return 1;
  if (name === 'types') return Object.keys(schema.getTypeMap()).length;
  return introspectionSizes[name] ?? otherIntrospectionSize;
}

/** `locations.nodes.workOrders`: the dearest field of each level, while it has more than a third of the cost. */
function dearestPath({ cost, dearest }: Measurement): string[] {
  if (!dearest?.node.selectionSet || dearest.cost <= cost / 3) return [];
  const { alias, name } = dearest.node;
  return [(alias ?? name).value, ...dearestPath(dearest.below)];
}

interface CostContext {
  readonly client?: { cost?: number };
}

export interface PreparedOperation {
  readonly operation: OperationDefinitionNode;
  readonly variables: Readonly<Record<string, unknown>>;
}

const anyValue: NamedTypeNode = { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: 'FieldValue' } };

/** Gives variables a type that accepts any value: an executor would coerce them again. */
export function withCoercedVariables(document: DocumentNode, operation: OperationDefinitionNode): DocumentNode {
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
): Plugin<CostContext & PreparedOperation> {
  const variableOptions = { maxErrors, hideSuggestions: !suggestions };
  const lenientSchema = withoutRequiredFields(schema);
  const check: Plugin<CostContext & PreparedOperation>['onExecute'] &
    Plugin<CostContext & PreparedOperation>['onSubscribe'] = ({ args, extendContext, setResultAndStopExecution }) => {
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

/** For variables: GraphQL would stop at a few missing fields, the service lists all issues. */
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
  { client }: CostContext,
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
