/**
 * The maximum cost of an operation: one for each field, more for an object, multiplied by the sizes of the lists that contain
 * it. Aliases, fragments, pages and batches multiply: a few hundred characters can request millions of fields. Costs are added
 * up once per document; per request, only what depends on variables is evaluated.
 */
import {
  type FieldNode,
  type GraphQLField,
  getNamedType,
  getNullableType,
  isIntrospectionType,
  isListType,
  Kind,
  type ValueNode,
} from 'graphql';
import type { Limits } from '../../config.ts';
import {
  type ArgumentExtensions,
  argumentExtensions,
  type FieldCost,
  fieldExtensions,
  type SentArguments,
} from './extensions.ts';

/** The cost of a selection: waiting for a link's loader takes at least ten times as long as reading a value. */
const objectCost = 5;

/** The cost of an alias: the same long text under a hundred names makes a response of hundreds of megabytes. */
const aliasCost = 50;

/** Typical lengths of introspection's lists: GraphQL defines these fields, so they cannot declare a cost. */
const introspectionSizes: Readonly<Record<string, number>> = { fields: 20, inputFields: 12, args: 1 };
const otherIntrospectionSize = 4;

/** A number, or a sum with parts that depend on variables. */
export type Cost = number | CostSum;

/** The cost of a fragment is shared by all its spreads, not copied: chains of fragments would multiply it. */
interface CostSum {
  fixed: number;
  readonly parts: { readonly cost: Cost; readonly times: Size }[];
}

type Size = number | ((readVariable: ReadVariable) => number);

/** Returns the value of the variable with this name, as sent, or its default. */
type ReadVariable = (name: string) => unknown;

const noVariables: ReadVariable = () => undefined;

type Field = GraphQLField<unknown, unknown>;

export function sumOf(costs: readonly Cost[]): Cost {
  const sum: CostSum = { fixed: 0, parts: [] };
  for (const cost of costs) add(sum, cost, 1);
  return folded(sum);
}

interface SelectionCost {
  readonly cost: Cost;
  readonly sentLists: readonly SentList[];
}

/** A list that is as long as one sent to the field that returns it, and the cost of each of its items. */
export interface SentList {
  readonly name: string;
  readonly cost: Cost;
}

/** What costs depend on besides the document: the number of the schema's types, and the settings. */
interface CostContext {
  readonly typeCount: number;
  readonly limits: Limits;
}

/** Returns the cost of a field and its selection. `definition` is undefined only in an invalid document. */
export function fieldCost(
  node: FieldNode,
  definition: Field | undefined,
  selection: SelectionCost,
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

/** Evaluates the values: at once, unless they contain variables. */
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
export function valueIn(node: ValueNode, readVariable: ReadVariable = noVariables): unknown {
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

/** Returns the cost of one request. Throws a ServiceError for a list in a variable that is too long. */
export function evaluateCost(cost: Cost, readVariable: ReadVariable): number {
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
  return evaluate(cost);
}
