/**
 * Plans a document: which columns it reads, which links it follows, and what each operation costs. The plan is made in
 * one walk over the document, and cached with it. The document may be invalid, because validation uses the plan to
 * reject documents over the limits.
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
  getNullableType,
  type InlineFragmentNode,
  isInterfaceType,
  isListType,
  isObjectType,
  Kind,
  type NamedTypeNode,
  type OperationDefinitionNode,
  SchemaMetaFieldDef,
  type SelectionNode,
  type SelectionSetNode,
  TypeMetaFieldDef,
} from 'graphql';
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
  /** The stored fields read from records that a link leads to, by the kind and the reference: `WorkOrder.projectId`. */
  readonly linkedFields: ReadonlyMap<string, ReadonlySet<string>>;
  /** The selections on each field that returns a connection, and on the items of each that returns another list. */
  readonly listSelections: ReadonlyMap<FieldNode, Selection>;
}

export interface OperationPlan {
  /** Levels of fields, including fragments. */
  readonly depth: number;
  readonly cost: Cost;
  /** The default values of variables. */
  readonly defaults: ReadonlyMap<string, unknown>;
}

/** The selection on an object. */
export interface Selection {
  readonly depth: number;
  readonly cost: Cost;
  /** Lists whose items are not included in `cost`. */
  readonly sentLists: readonly SentList[];
  /** The stored fields read from the object, even where a directive may skip them. */
  readonly storedFields: ReadonlySet<string>;
  /** Links to stored records, except those with a directive, which may skip them: their resolvers follow them. */
  readonly links: readonly Link[];
  /** Selections on the same object, such as those of fragments, which all spreads share: they are not copied. */
  readonly parts: readonly Selection[];
  /** For a connection: the selections on the records of its page. A directive has the same effect as on links. */
  readonly records: readonly Selection[];
  /** For a connection: true if its page must be read; a directive may skip it. */
  readonly readsPage: boolean;
  /** For a connection: true if its count must be read; a directive may skip it. */
  readonly readsCount: boolean;
}

export interface Link {
  readonly storedField: string;
  /** The name of the record kind. */
  readonly target: string;
  readonly selection: Selection;
}

const plans = new WeakMap<DocumentNode, DocumentPlan>();

export function documentPlan(schema: GraphQLSchema, document: DocumentNode): DocumentPlan {
  const cached = plans.get(document);
  if (cached) return cached;
  const plan = planDocument(schema, document);
  plans.set(document, plan);
  return plan;
}

const empty: Selection = {
  depth: 0,
  cost: 0,
  sentLists: [],
  storedFields: new Set(),
  links: [],
  parts: [],
  records: [],
  readsPage: false,
  readsCount: false,
};

/** Undefined where an invalid document names a type or field that does not exist. */
type Type = GraphQLNamedType | null | undefined;

function planDocument(schema: GraphQLSchema, document: DocumentNode): DocumentPlan {
  const fragments = new Map<string, FragmentDefinitionNode>();
  const fragmentSelections = new Map<FragmentDefinitionNode, Selection>();
  const operations = new Map<OperationDefinitionNode, OperationPlan>();
  const storedFields = new Map<string, Set<string>>();
  const linkedFields = new Map<string, Set<string>>();
  const listSelections = new Map<FieldNode, Selection>();
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
    const { depth, cost } = planSelectionSet(schema.getRootType(operation.operation), selectionSet);
    return { depth, cost, defaults };
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

  const planSelectionSet = (parent: Type, { selections }: SelectionSetNode): Selection =>
    joined(selections.map((node) => planSelection(parent, node)));

  function planSelection(parent: Type, node: SelectionNode): Selection {
    countDirectives(node.directives);
    const selection = node.kind === Kind.FIELD ? planField(parent, node) : planSpread(parent, node);
    return node.directives?.length ? { ...selection, links: [], parts: [], records: [] } : selection;
  }

  function planField(parent: Type, node: FieldNode): Selection {
    if (node.alias) aliases += 1;
    const definition = definitionOf(parent, node.name.value);
    const { source, connection, connectionPart, cost } = fieldExtensions(definition);
    const below = node.selectionSet
      ? planSelectionSet(definition && getNamedType(definition.type), node.selectionSet)
      : empty;
    if (parent && source) {
      readFields(storedFields, parent.name, [source.storedField]);
      if (source.target) readFields(linkedFields, `${parent.name}.${source.storedField}`, below.storedFields);
    }
    const returnsList = !connectionPart && definition && isListType(getNullableType(definition.type));
    if (connection || returnsList) listSelections.set(node, below);
    return {
      depth: 1 + below.depth,
      cost: fieldCost(node, definition, cost?.isSent ? empty : below, typeCount),
      sentLists: cost?.isSent ? [{ name: node.name.value, cost: below.cost }] : [],
      storedFields: new Set(source && [source.storedField]),
      links: source?.target ? [{ storedField: source.storedField, target: source.target, selection: below }] : [],
      parts: connectionPart === 'node' ? [below] : [],
      records: connectionPart === 'nodes' || connectionPart === 'edges' ? [below] : [],
      readsPage: connectionPart !== undefined && connectionPart !== 'totalCount',
      readsCount: connectionPart === 'totalCount',
    };
  }

  /**
   * Plans a spread of a fragment. The links of a fragment on another type, such as an interface, are followed by their resolvers.
   */
  function planSpread(parent: Type, node: FragmentSpreadNode | InlineFragmentNode): Selection {
    const fragment = node.kind === Kind.INLINE_FRAGMENT ? node : fragments.get(node.name.value);
    if (!fragment) return empty;
    const type = fragment.typeCondition ? typeNamed(fragment.typeCondition) : parent;
    const selection =
      fragment.kind === Kind.INLINE_FRAGMENT ? planSelectionSet(type, fragment.selectionSet) : planFragment(fragment);
    return { ...selection, links: [], records: [], parts: type === parent ? [selection] : [] };
  }

  function readFields(fieldsByKey: Map<string, Set<string>>, key: string, fields: Iterable<string>): void {
    const known = fieldsByKey.get(key) ?? new Set(['id']);
    fieldsByKey.set(key, known);
    for (const field of fields) known.add(field);
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
  return { operations, aliases, directives, storedFields, linkedFields, listSelections };
}

const joined = (selections: readonly Selection[]): Selection => ({
  depth: selections.reduce((most, { depth }) => Math.max(most, depth), 0),
  cost: sumOf(selections.map(({ cost }) => cost)),
  sentLists: selections.flatMap(({ sentLists }) => sentLists),
  storedFields: new Set(selections.flatMap(({ storedFields }) => [...storedFields])),
  links: selections.flatMap(({ links }) => links),
  parts: selections.flatMap(({ parts }) => parts),
  records: selections.flatMap(({ records }) => records),
  readsPage: selections.some(({ readsPage }) => readsPage),
  readsCount: selections.some(({ readsCount }) => readsCount),
});

const introspectionFields = [SchemaMetaFieldDef, TypeMetaFieldDef];

function definitionOf(parent: Type, name: string): GraphQLField<unknown, unknown> | undefined {
  if (!isObjectType(parent) && !isInterfaceType(parent)) return undefined;
  return parent.getFields()[name] ?? introspectionFields.find((field) => field.name === name);
}
