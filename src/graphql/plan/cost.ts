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
import { argumentExtensions, fieldExtensions } from './extensions.ts';

/** A field with a selection: waiting for a link's loader takes at least ten times as long as reading a value. */
const objectCost = 5;

/** A value with an alias: the same long text under a hundred names makes a response of hundreds of megabytes. */
const aliasCost = 50;

/** Typical lengths of introspection's lists in this schema: GraphQL defines these fields, so they cannot declare a cost. */
const introspectionSizes: Readonly<Record<string, number>> = { types: 60, fields: 20, inputFields: 12, args: 1 };
const otherIntrospectionSize = 4;

/** A number, or a sum with parts that depend on variables. */
export type Cost = number | CostSum;

/** The cost of a fragment is shared by all its spreads, not copied: chains of fragments would multiply it. */
interface CostSum {
  fixed: number;
  readonly parts: { readonly cost: Cost; readonly times: Size }[];
}

type Size = number | ((readVariable: ReadVariable) => number);

/** The value of the variable with this name, as sent, or its default. */
type ReadVariable = (name: string) => unknown;

const noVariables: ReadVariable = () => undefined;

type Field = GraphQLField<unknown, unknown>;

export function sumOf(costs: readonly Cost[]): Cost {
  const sum: CostSum = { fixed: 0, parts: [] };
  for (const cost of costs) add(sum, cost, 1);
  return folded(sum);
}

/** The cost of a field and of what is selected on it. Its definition is undefined only in an invalid document. */
export function fieldCost(node: FieldNode, definition: Field | undefined, selectionCost: Cost): Cost {
  const { perRecord = 0 } = fieldExtensions(definition).cost ?? {};
  const sum: CostSum = { fixed: ownCost(node, definition), parts: [] };
  add(sum, sumOf([perRecord, selectionCost]), sizeOf(node, definition));
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

/** The size of the field's list; 1 for a field that returns no list, or a list whose page is counted by its connection. */
function sizeOf({ arguments: sent = [] }: FieldNode, definition: Field | undefined): Size {
  if (!definition) return 1;
  if (isIntrospectionType(getNamedType(definition.type))) return introspectionSize(definition);
  const { listSize } = fieldExtensions(definition).cost ?? {};
  if (!listSize) return 1;
  const args = definition.args.flatMap((declared) => {
    const argument = sent.find(({ name }) => name.value === declared.name);
    return argument ? [{ name: declared.name, value: argument.value, ...argumentExtensions(declared) }] : [];
  });
  const size = (readVariable: ReadVariable): number => {
    const values: Record<string, unknown> = {};
    for (const { name, value: node, requireLength } of args) {
      const value = valueIn(node, readVariable);
      values[name] = value;
      if (node.kind === Kind.VARIABLE && Array.isArray(value)) requireLength?.(value.length, node.name.value);
    }
    return listSize(values);
  };
  return args.some(({ value }) => value.kind === Kind.VARIABLE) ? size : size(noVariables);
}

function introspectionSize({ name, type }: Field): number {
  if (!isListType(getNullableType(type))) return 1;
  return introspectionSizes[name] ?? otherIntrospectionSize;
}

/** A value that a size can depend on: a whole number or a list. For a variable, whatever was sent. */
export function valueIn(node: ValueNode, readVariable: ReadVariable = noVariables): unknown {
  if (node.kind === Kind.VARIABLE) return readVariable(node.name.value);
  if (node.kind === Kind.INT) return Number(node.value);
  return node.kind === Kind.LIST ? node.values : undefined;
}

/** The cost of one request. Throws a ServiceError for a list in a variable that is longer than its argument allows. */
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
