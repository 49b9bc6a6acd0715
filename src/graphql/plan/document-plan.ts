/**
 * Plans a document: which columns it reads, and what each operation costs. The plan is made in one walk over the document, and
 * cached with it. The document may be invalid, because validation uses the plan to reject documents over the limits.
 */
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type FragmentSpreadNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  type InlineFragmentNode,
  isInterfaceType,
  isObjectType,
  Kind,
  type NamedTypeNode,
  type OperationDefinitionNode,
  SchemaMetaFieldDef,
  type SelectionNode,
  type SelectionSetNode,
  TypeMetaFieldDef,
} from 'graphql';
import type { Limits } from '../../config.ts';
import { type Cost, fieldCost, type SentList, sumOf, valueIn } from './cost.ts';
import { fieldExtensions } from './extensions.ts';

export interface DocumentPlan {
  readonly operations: ReadonlyMap<OperationDefinitionNode, OperationPlan>;
  /** The aliases as written in the document: those of a fragment count once, however often it is spread. */
  readonly aliases: number;
  /** The directives, counted like the aliases. */
  readonly directives: number;
  /** The stored fields that any operation reads, by the name of the record kind; every record has its ID. */
  readonly storedFields: ReadonlyMap<string, ReadonlySet<string>>;
}

export interface OperationPlan {
  /** Levels of fields, including fragments. */
  readonly depth: number;
  /** The number of fields, those of a fragment once for each spread. */
  readonly fields: number;
  readonly cost: Cost;
  /** The default values of variables. */
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
    return {
      depth: 1 + below.depth,
      fields: 1 + below.fields,
      cost: fieldCost(node, definition, cost?.isSent ? empty : below, { typeCount, limits }),
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
  return { operations, aliases, directives, storedFields };
}

const introspectionFields = [SchemaMetaFieldDef, TypeMetaFieldDef];

function definitionOf(parent: Type, name: string): GraphQLField<unknown, unknown> | undefined {
  if (!isObjectType(parent) && !isInterfaceType(parent)) return undefined;
  return parent.getFields()[name] ?? introspectionFields.find((field) => field.name === name);
}
