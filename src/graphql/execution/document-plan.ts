/** What an operation asks for, known before anything is read: fields become columns, and links are followed page by page. */
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNamedType,
  type InlineFragmentNode,
  isObjectType,
  Kind,
  type SelectionSetNode,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';

/** What a field of an object type is made from; noted on it as its extensions. */
export interface FieldSource {
  /** The stored field. */
  readonly storedField: string;
  /** The name of the record kind that it leads to. */
  readonly target?: string;
}

/** A link that is followed for every record of a list, and those that are followed from there. */
export interface Link {
  readonly storedField: string;
  readonly target: string;
  readonly links: readonly Link[];
}

/** The stored fields that a document asks for, by the name of the record kind. */
export type AskedFields = ReadonlyMap<string, ReadonlySet<string>>;

const sourceOf = (field: GraphQLField<unknown, unknown> | null | undefined): FieldSource | undefined =>
  // Sound because nothing else is noted on fields.
  field?.extensions.source as FieldSource | undefined;

const askedFieldsOf = new WeakMap<DocumentNode, AskedFields>();

/** All operations of the document, fragments included, whatever is skipped. Every record has its ID. */
export function askedFields(schema: GraphQLSchema, document: DocumentNode): AskedFields {
  const known = askedFieldsOf.get(document);
  if (known) return known;
  const asked = new Map<string, Set<string>>();
  const types = new TypeInfo(schema);
  const Field = () => {
    const source = sourceOf(types.getFieldDef());
    const kind = types.getParentType()?.name;
    if (!source || !kind) return;
    const fields = asked.get(kind) ?? new Set(['id']);
    asked.set(kind, fields.add(source.storedField));
  };
  visit(document, visitWithTypeInfo(types, { Field }));
  askedFieldsOf.set(document, asked);
  return asked;
}

type FragmentNode = FragmentDefinitionNode | InlineFragmentNode;

const linksOf = new WeakMap<FieldNode, readonly Link[]>();

/** The links below a field that lists records. One that a directive may leave out is not among them: it is followed late. */
export function linksBelow({ fieldNodes, returnType, schema, fragments }: GraphQLResolveInfo): readonly Link[] {
  /** Each fragment is read once, however often it is spread. */
  const linksOfFragments = new Map<FragmentNode, readonly Link[]>();

  const linksIn = (type: GraphQLNamedType, selectionSet: SelectionSetNode | undefined): readonly Link[] =>
    merged(
      (selectionSet?.selections ?? []).flatMap((selection) => {
        if (selection.directives && selection.directives.length > 0) return [];
        if (selection.kind === Kind.FIELD) return linksOfField(type, selection);
        const fragment = selection.kind === Kind.INLINE_FRAGMENT ? selection : fragments[selection.name.value];
        return fragment ? linksOfFragment(type, fragment) : [];
      }),
    );

  const linksOfFragment = (type: GraphQLNamedType, fragment: FragmentNode): readonly Link[] => {
    const on = fragment.typeCondition ? schema.getType(fragment.typeCondition.name.value) : type;
    if (on !== type) return [];
    const links = linksOfFragments.get(fragment) ?? linksIn(type, fragment.selectionSet);
    linksOfFragments.set(fragment, links);
    return links;
  };

  const linksOfField = (type: GraphQLNamedType, { name, selectionSet }: FieldNode): readonly Link[] => {
    const field = isObjectType(type) ? type.getFields()[name.value] : undefined;
    if (!field || !selectionSet) return [];
    const links = linksIn(getNamedType(field.type), selectionSet);
    const source = sourceOf(field);
    // What has no source is the node of an edge, which is the record itself.
    if (!source) return links;
    return source.target ? [{ storedField: source.storedField, target: source.target, links }] : [];
  };

  return merged(
    fieldNodes.flatMap((node) => {
      const links = linksOf.get(node) ?? linksIn(getNamedType(returnType), node.selectionSet);
      linksOf.set(node, links);
      return links;
    }),
  );
}

/** A link under several names is followed once, and from there whatever any of them leads to. */
function merged(links: readonly Link[]): readonly Link[] {
  const byField = new Map<string, Link>();
  for (const link of links) {
    const { storedField } = link;
    const same = byField.get(storedField);
    byField.set(storedField, same ? { ...same, links: merged([...same.links, ...link.links]) } : link);
  }
  return [...byField.values()];
}
