/** Collects an object's fields in a response, by response name, in order. GraphQL specification: "CollectFields()". */
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLIncludeDirective,
  type GraphQLObjectType,
  type GraphQLSchema,
  GraphQLSkipDirective,
  getDirectiveValues,
  type InlineFragmentNode,
  isAbstractType,
  Kind,
  type SelectionNode,
} from 'graphql';

interface Execution {
  readonly schema: GraphQLSchema;
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>;
  readonly variables: { readonly [name: string]: unknown };
}

/** A field that is selected several times has several nodes, whose selections are merged. */
export type FieldNodes = [FieldNode, ...FieldNode[]];

/** Returns the fragments of a document by name. */
export function fragmentsIn({ definitions }: DocumentNode): Execution['fragments'] {
  const fragments: Record<string, FragmentDefinitionNode> = Object.create(null);
  for (const definition of definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments[definition.name.value] = definition;
  }
  return fragments;
}

export function collectFields(
  { schema, fragments, variables }: Execution,
  type: GraphQLObjectType,
  selections: readonly SelectionNode[],
): ReadonlyMap<string, FieldNodes> {
  const fields = new Map<string, FieldNodes>();
  const spread = new Set<string>();

  function collect(node: SelectionNode): void {
    if (!isIncluded(node)) return;
    if (node.kind === Kind.FIELD) {
      const name = (node.alias ?? node.name).value;
      const sameName = fields.get(name);
      if (sameName) sameName.push(node);
      else fields.set(name, [node]);
      return;
    }
    if (node.kind === Kind.FRAGMENT_SPREAD) {
      if (spread.has(node.name.value)) return;
      spread.add(node.name.value);
    }
    const fragment = node.kind === Kind.INLINE_FRAGMENT ? node : fragments[node.name.value];
    if (fragment && appliesTo(fragment)) fragment.selectionSet.selections.forEach(collect);
  }

  const isIncluded = (node: SelectionNode): boolean =>
    !node.directives?.length ||
    (getDirectiveValues(GraphQLSkipDirective, node, variables)?.if !== true &&
      getDirectiveValues(GraphQLIncludeDirective, node, variables)?.if !== false);

  function appliesTo({ typeCondition }: InlineFragmentNode | FragmentDefinitionNode): boolean {
    const condition = typeCondition ? schema.getType(typeCondition.name.value) : type;
    return condition === type || (isAbstractType(condition) && schema.isSubType(condition, type));
  }

  selections.forEach(collect);
  return fields;
}
