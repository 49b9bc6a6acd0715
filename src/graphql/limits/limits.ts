/**
 * Rejects documents and operations over the limits. Plans a document in one walk, and caches the plan with it: which columns it reads, and
 * the maximum cost of each operation. A field costs one, more for an object, multiplied by the sizes of the lists that contain it: aliases,
 * fragments, pages and batches multiply, and a few hundred characters can request millions of fields. Costs are added up once per document;
 * per request, only what depends on variables is evaluated. A document is planned before it is validated, and may be invalid.
 */
import {
  type ASTVisitor,
  type DocumentNode,
  type ExecutionArgs,
  type FieldNode,
  type FragmentDefinitionNode,
  type FragmentSpreadNode,
  GraphQLError,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  getOperationAST,
  type InlineFragmentNode,
  isInterfaceType,
  isIntrospectionType,
  isListType,
  isObjectType,
  Kind,
  type NamedTypeNode,
  type OperationDefinitionNode,
  SchemaMetaFieldDef,
  type SelectionNode,
  type SelectionSetNode,
  TypeMetaFieldDef,
  type ValidationContext,
  type ValueNode,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Limits } from '../../config.ts';
import { ServiceError } from '../../errors.ts';
import { count, cut, maxQuoted } from '../../model/issues.ts';
import {
  type ArgumentExtensions,
  argumentExtensions,
  type FieldCost,
  fieldExtensions,
  type SentArguments,
} from './extensions.ts';

export interface DocumentPlan {
  readonly operations: ReadonlyMap<OperationDefinitionNode, OperationPlan>;
  /** The aliases as written in the document: those of a fragment count once, however often it is spread. */
  readonly aliases: number;
  /** The directives, counted like the aliases. */
  readonly directives: number;
  /** Fields with their costs, those of a fragment once, and the selections of the fragments: they show where an operation is dear. */
  readonly costs: ReadonlyMap<FieldNode, Cost>;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  /** The stored fields that any operation reads, by the name of the record kind; every record has its ID. */
  readonly storedFields: ReadonlyMap<string, ReadonlySet<string>>;
}

interface OperationPlan {
  /** Levels of fields, including fragments. */
  readonly depth: number;
  /** Those of a fragment count once for each spread. */
  readonly fields: number;
  readonly cost: Cost;
  readonly defaults: ReadonlyMap<string, unknown>;
}

/** The selection on an object. All spreads of a fragment share one. */
interface Selection {
  readonly depth: number;
  readonly fields: number;
  readonly cost: Cost;
  /** Lists whose items are not included in `cost`. */
  readonly sentLists: readonly SentList[];
}

const plans = new WeakMap<DocumentNode, DocumentPlan>();

export function documentPlan(schema: GraphQLSchema, document: DocumentNode, limits: Limits): DocumentPlan {
  const cached = plans.get(document);
  if (cached) return cached;
  const plan = planDocument(schema, document, limits);
  plans.set(document, plan);
  return plan;
}

const empty: Selection = { depth: 0, fields: 0, cost: 0, sentLists: [] };

/** Undefined where an invalid document names a type or field that does not exist. */
type Type = GraphQLNamedType | null | undefined;

function planDocument(schema: GraphQLSchema, document: DocumentNode, limits: Limits): DocumentPlan {
  const fragments = new Map<string, FragmentDefinitionNode>();
  const fragmentSelections = new Map<FragmentDefinitionNode, Selection>();
  const operations = new Map<OperationDefinitionNode, OperationPlan>();
  const costs = new Map<FieldNode, Cost>();
  const storedFields = new Map<string, Set<string>>();
  const typeCount = Object.keys(schema.getTypeMap()).length;
  let aliases = 0;
  let directives = 0;

  function planOperation(operation: OperationDefinitionNode): OperationPlan {
    const { selectionSet, variableDefinitions = [] } = operation;
    const defaults = new Map<string, unknown>();
    for (const { variable, defaultValue, directives: own } of variableDefinitions) {
      countDirectives(own);
      if (defaultValue) defaults.set(variable.name.value, valueIn(defaultValue));
    }
    countDirectives(operation.directives);
    const { depth, fields, cost } = planSelectionSet(schema.getRootType(operation.operation), selectionSet);
    return { depth, fields, cost, defaults };
  }

  /** Plans a fragment once, however often it is spread. */
  function planFragment(fragment: FragmentDefinitionNode): Selection {
    const planned = fragmentSelections.get(fragment);
    if (planned) return planned;
    // Ends the walk for a fragment that spreads itself, which validation rejects.
    fragmentSelections.set(fragment, empty);
    countDirectives(fragment.directives);
    const selection = planSelectionSet(typeNamed(fragment.typeCondition), fragment.selectionSet);
    fragmentSelections.set(fragment, selection);
    return selection;
  }

  function planSelectionSet(parent: Type, { selections }: SelectionSetNode): Selection {
    const planned = selections.map((node) => planSelection(parent, node));
    return {
      depth: planned.reduce((most, { depth }) => Math.max(most, depth), 0),
      fields: planned.reduce((sum, { fields }) => sum + fields, 0),
      cost: sumOf(planned.map(({ cost }) => cost)),
      sentLists: planned.flatMap(({ sentLists }) => sentLists),
    };
  }

  function planSelection(parent: Type, node: SelectionNode): Selection {
    countDirectives(node.directives);
    return node.kind === Kind.FIELD ? planField(parent, node) : planSpread(parent, node);
  }

  function planField(parent: Type, node: FieldNode): Selection {
    if (node.alias) aliases += 1;
    const definition = definitionOf(parent, node.name.value);
    const { storedField, cost } = fieldExtensions(definition);
    const below = node.selectionSet
      ? planSelectionSet(definition && getNamedType(definition.type), node.selectionSet)
      : empty;
    if (parent && storedField !== undefined) {
      const read = storedFields.get(parent.name) ?? new Set(['id']);
      storedFields.set(parent.name, read.add(storedField));
    }
    const own = fieldCost(node, definition, cost?.isSent ? empty : below, { typeCount, limits });
    costs.set(node, own);
    return {
      depth: 1 + below.depth,
      fields: 1 + below.fields,
      cost: own,
      sentLists: cost?.isSent ? [{ name: node.name.value, cost: below.cost }] : [],
    };
  }

  function planSpread(parent: Type, node: FragmentSpreadNode | InlineFragmentNode): Selection {
    if (node.kind === Kind.INLINE_FRAGMENT) {
      return planSelectionSet(node.typeCondition ? typeNamed(node.typeCondition) : parent, node.selectionSet);
    }
    const fragment = fragments.get(node.name.value);
    return fragment ? planFragment(fragment) : empty;
  }

  function countDirectives(nodes: readonly unknown[] = []): void {
    directives += nodes.length;
  }

  const typeNamed = ({ name }: NamedTypeNode): Type => schema.getType(name.value);

  for (const node of document.definitions) {
    if (node.kind === Kind.FRAGMENT_DEFINITION) fragments.set(node.name.value, node);
  }
  for (const node of document.definitions) {
    if (node.kind === Kind.FRAGMENT_DEFINITION) planFragment(node);
    if (node.kind === Kind.OPERATION_DEFINITION) operations.set(node, planOperation(node));
  }
  return { operations, aliases, directives, costs, fragments, storedFields };
}

const introspectionFields = [SchemaMetaFieldDef, TypeMetaFieldDef];

function definitionOf(parent: Type, name: string): GraphQLField<unknown, unknown> | undefined {
  if (!isObjectType(parent) && !isInterfaceType(parent)) return undefined;
  return parent.getFields()[name] ?? introspectionFields.find((field) => field.name === name);
}

/** The cost of a selection: waiting for a link's loader takes at least ten times as long as reading a value. */
const objectCost = 5;

/** The cost of an alias: the same long text under a hundred names makes a response of hundreds of megabytes. */
const aliasCost = 50;

/** Typical lengths of introspection's lists: GraphQL defines these fields, so they cannot declare a cost. */
const introspectionSizes: Readonly<Record<string, number>> = { fields: 20, inputFields: 12, args: 1 };
const otherIntrospectionSize = 4;

type Cost = number | CostSum;

/** The cost of a fragment is shared by all its spreads, not copied: chains of fragments would multiply it. */
interface CostSum {
  fixed: number;
  readonly parts: { readonly cost: Cost; readonly times: Size }[];
}

type Size = number | ((readVariable: ReadVariable) => number);

type ReadVariable = (name: string) => unknown;

const noVariables: ReadVariable = () => undefined;

type Field = GraphQLField<unknown, unknown>;

function sumOf(costs: readonly Cost[]): Cost {
  const sum: CostSum = { fixed: 0, parts: [] };
  for (const cost of costs) add(sum, cost, 1);
  return folded(sum);
}

/** A list that is as long as one sent to the field that returns it, and the cost of each of its items. */
interface SentList {
  readonly name: string;
  readonly cost: Cost;
}

interface CostContext {
  readonly typeCount: number;
  readonly limits: Limits;
}

/** Returns the cost of a field and its selection. `definition` is undefined only in an invalid document. */
function fieldCost(
  node: FieldNode,
  definition: Field | undefined,
  selection: Pick<Selection, 'cost' | 'sentLists'>,
  { typeCount, limits }: CostContext,
): Cost {
  const { base = 0, perRecord = 0, listSize, listSizes } = fieldExtensions(definition).cost ?? {};
  const args = sentArguments(node, definition);
  const sum: CostSum = { fixed: base + ownCost(node, definition), parts: [] };
  for (const { cost, ...arg } of args)
    if (cost)
      add(
        sum,
        1,
        dependentOn([arg.value], ([sent]) => {
          requireSize(arg, sent, limits);
          return cost(sent, limits);
        }),
      );
  add(sum, sumOf([perRecord, selection.cost]), sizeOf(definition, args, { typeCount, limits }, listSize));
  for (const { name, cost } of selection.sentLists) {
    const size = listSizes && ((sent: SentArguments) => listSizes(sent, limits)[name] ?? 0);
    add(sum, cost, sizeOf(definition, args, { typeCount, limits }, size));
  }
  return folded(sum);
}

function add(sum: CostSum, cost: Cost, times: Size): void {
  if (typeof cost === 'number' && typeof times === 'number') sum.fixed += cost * times;
  else sum.parts.push({ cost, times });
}

const folded = (sum: CostSum): Cost => (sum.parts.length > 0 ? sum : sum.fixed);

function ownCost({ alias, selectionSet }: FieldNode, definition: Field | undefined): number {
  if (!selectionSet) return alias ? aliasCost : 1;
  return definition && isIntrospectionType(getNamedType(definition.type)) ? 1 : objectCost;
}

interface SentArgument extends ArgumentExtensions {
  readonly name: string;
  readonly value: ValueNode;
}

type SizedArgument = Omit<SentArgument, 'cost' | 'requireContent'> & {
  readonly requireContent?: SentArgument['requireContent'] | undefined;
};

function sentArguments({ arguments: sent = [] }: FieldNode, definition: Field | undefined): SentArgument[] {
  return (definition?.args ?? []).flatMap((declared) => {
    const argument = sent.find(({ name }) => name.value === declared.name);
    return argument ? [{ name: declared.name, value: argument.value, ...argumentExtensions(declared) }] : [];
  });
}

/** Returns the size of the field's list; 1 if it returns no list, or if its connection counts the page. */
function sizeOf(
  definition: Field | undefined,
  args: readonly SentArgument[],
  { typeCount, limits }: CostContext,
  listSize: FieldCost['listSize'],
): Size {
  if (!definition) return 1;
  if (isIntrospectionType(getNamedType(definition.type))) return introspectionSize(definition, typeCount);
  if (!listSize) return 1;
  return dependentOn(
    args.map(({ value }) => value),
    (values) => {
      for (const [index, arg] of args.entries()) {
        // Where an argument has a cost of its own, its content is checked with that, once for all lists of the field.
        requireSize(arg.cost ? { ...arg, requireContent: undefined } : arg, values[index], limits);
      }
      return listSize(Object.fromEntries(args.map(({ name }, index) => [name, values[index]])), limits);
    },
  );
}

/** Throws a ServiceError for a value in a variable that is too large; the resolver checks those in the document. */
function requireSize(arg: SizedArgument, sent: unknown, limits: Limits): void {
  const { name, value, requireLength, lengthIn, requireContent } = arg;
  if (lengthIn && hasVariable(value)) requireLength?.(lengthIn(sent), name, limits);
  if (value.kind === Kind.VARIABLE && Array.isArray(sent)) requireLength?.(sent.length, value.name.value, limits);
  if (hasVariable(value)) requireContent?.(sent);
}

function dependentOn(nodes: readonly ValueNode[], evaluate: (values: readonly unknown[]) => number): Size {
  const size = (readVariable: ReadVariable) => evaluate(nodes.map((node) => valueIn(node, readVariable)));
  return nodes.some(hasVariable) ? size : size(noVariables);
}

function introspectionSize({ name, type }: Field, typeCount: number): number {
  if (!isListType(getNullableType(type))) return 1;
  if (name === 'types') return typeCount;
  return introspectionSizes[name] ?? otherIntrospectionSize;
}

function hasVariable(node: ValueNode): boolean {
  if (node.kind === Kind.LIST) return node.values.some(hasVariable);
  if (node.kind === Kind.OBJECT) return node.fields.some(({ value }) => hasVariable(value));
  return node.kind === Kind.VARIABLE;
}

/** Returns the value as it would be sent in a variable; for a variable, whatever was sent. */
function valueIn(node: ValueNode, readVariable: ReadVariable = noVariables): unknown {
  switch (node.kind) {
    case Kind.VARIABLE:
      return readVariable(node.name.value);
    case Kind.LIST:
      return node.values.map((value) => valueIn(value, readVariable));
    case Kind.OBJECT:
      return Object.fromEntries(node.fields.map(({ name, value }) => [name.value, valueIn(value, readVariable)]));
    case Kind.INT:
    case Kind.FLOAT:
      return Number(node.value);
    case Kind.NULL:
      return null;
    default:
      return node.value;
  }
}

/** Returns a function that evaluates costs for one request, each once. It throws a ServiceError for a list in a variable that is too long. */
function costEvaluator(readVariable: ReadVariable): (cost: Cost) => number {
  const evaluated = new Map<CostSum, number>();
  const evaluate = (part: Cost): number => {
    if (typeof part === 'number') return part;
    const cached = evaluated.get(part);
    if (cached !== undefined) return cached;
    let total = part.fixed;
    for (const { cost: each, times } of part.parts) {
      total += evaluate(each) * (typeof times === 'number' ? times : times(readVariable));
    }
    evaluated.set(part, total);
    return total;
  };
  return evaluate;
}

/** At each level, the field that costs more than all others together, as `locations.nodes.workOrders`. A fragment counts once. */
function dearestPath(
  { costs, fragments }: Pick<DocumentPlan, 'costs' | 'fragments'>,
  selectionSet: SelectionSetNode,
  evaluate: (cost: Cost) => number,
): string {
  const path: string[] = [];
  const descend = (level: SelectionSetNode): void => {
    const priced = fieldsIn(level, fragments).map((node) => ({ node, cost: evaluate(costs.get(node) ?? 0) }));
    const half = priced.reduce((sum, { cost }) => sum + cost, 0) / 2;
    const dearest = priced.find(({ cost }) => cost > half)?.node;
    if (!dearest?.selectionSet) return;
    path.push((dearest.alias ?? dearest.name).value);
    descend(dearest.selectionSet);
  };
  descend(selectionSet);
  return path.join('.');
}

function fieldsIn(
  { selections }: SelectionSetNode,
  fragments: DocumentPlan['fragments'],
  spread = new Set<string>(),
): FieldNode[] {
  return selections.flatMap((node) => {
    if (node.kind === Kind.FIELD) return [node];
    if (node.kind === Kind.INLINE_FRAGMENT) return fieldsIn(node.selectionSet, fragments, spread);
    const { value } = node.name;
    const fragment = spread.has(value) ? undefined : fragments.get(value);
    spread.add(value);
    return fragment ? fieldsIn(fragment.selectionSet, fragments, spread) : [];
  });
}

/** The part of a request's context that tells its response the cost of the operation, and its log line the name. */
interface Costed {
  readonly client?: { cost?: number };
  readonly requestLog?: { operation: string | undefined };
}

export const useOperationLimits = (limits: Limits): Plugin<Costed> => ({
  onValidate({ addValidationRule }) {
    addValidationRule(documentRule(limits));
  },
  onExecute({ args, setResultAndStopExecution }) {
    const error = refusal(args, limits);
    if (error) setResultAndStopExecution({ errors: [error] });
  },
  onSubscribe({ args, setResultAndStopExecution }) {
    const error = refusal(args, limits);
    if (error) setResultAndStopExecution({ errors: [error] });
  },
});

function refusal(args: ExecutionArgs & { contextValue: Costed }, limits: Limits): GraphQLError | undefined {
  const { maxCost } = limits;
  const operation = getOperationAST(args.document, args.operationName);
  const document = documentPlan(args.schema, args.document, limits);
  const plan = operation && document.operations.get(operation);
  if (!plan) return undefined;
  const { client, requestLog } = args.contextValue;
  if (requestLog) requestLog.operation = operation.name?.value;
  const variables = args.variableValues ?? {};
  const evaluate = costEvaluator((name) =>
    Object.hasOwn(variables, name) ? variables[name] : plan.defaults.get(name),
  );
  try {
    const requested = evaluate(plan.cost);
    if (client) client.cost = requested;
    if (requested <= maxCost) return undefined;
    // Also NaN: an infinite cost times the size of an empty list.
    return tooCostly(requested, maxCost, dearestPath(document, operation.selectionSet, evaluate));
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const { message, status } = error;
    return new GraphQLError(message, { extensions: { http: { status } } });
  }
}

/** Returns a validation rule that reads only the document's plan. The cost limits repetition by fragments. */
const documentRule =
  (limits: Limits) =>
  (context: ValidationContext): ASTVisitor => ({
    Document(document: DocumentNode) {
      const { maxDepth, maxAliases, maxDirectives } = limits;
      const { operations, aliases, directives } = documentPlan(context.getSchema(), document, limits);
      const reject = (message: string) => context.reportError(new GraphQLError(message));
      for (const { depth } of operations.values()) {
        if (depth > maxDepth) reject(`the operation is more than ${maxDepth} levels deep`);
      }
      if (aliases > maxAliases) reject(`the document has more than ${maxAliases} aliases`);
      if (directives > maxDirectives) reject(`the document has more than ${maxDirectives} directives`);
      return false;
    },
  });

function tooCostly(requested: number, limit: number, path: string): GraphQLError {
  const cost = Number.isFinite(requested) ? ` (it costs ${count(Math.ceil(requested))})` : '';
  const place = path && `, above all in ${cut(path, maxQuoted)}`;
  return new GraphQLError(
    `the operation costs more than ${count(limit)}${cost}: select fewer fields or aliases, or use smaller pages or batches${place}`,
    { extensions: { cost: { requested, limit } } },
  );
}
