/**
 * Which documents may be compiled: one query of plain fields, whose values are passed as variables. A compiled document becomes
 * code, so no part of it may be text that a client chose freely. Names consist of letters, digits and underscores, and must not
 * start with two underscores. (The compiler would run code hidden in a string, and mishandles conditions on fragments.)
 */
import { type ASTNode, BREAK, type DocumentNode, Kind, OperationTypeNode, specifiedScalarTypes, visit } from 'graphql';

/** The only nodes that a compiled document may have. */
const plainNodes: ReadonlySet<string> = new Set([
  Kind.DOCUMENT,
  Kind.OPERATION_DEFINITION,
  Kind.VARIABLE_DEFINITION,
  Kind.VARIABLE,
  Kind.NAMED_TYPE,
  Kind.NON_NULL_TYPE,
  Kind.LIST_TYPE,
  Kind.SELECTION_SET,
  Kind.FIELD,
  Kind.ARGUMENT,
  Kind.INT,
  Kind.NAME,
]);

/** The compiled code grows with the number of fields. */
const maxFields = 100;

export function mayBeCompiled(document: DocumentNode): boolean {
  const [operation, ...others] = document.definitions;
  if (operation?.kind !== Kind.OPERATION_DEFINITION || operation.operation !== OperationTypeNode.QUERY) return false;
  let fields = 0;
  let isPlain = others.length === 0;
  // A separate pass over every node, whatever its kind: a check of selected kinds would miss new syntax.
  visit(document, {
    enter(node: ASTNode) {
      if (node.kind === Kind.FIELD) fields += 1;
      // The compiler does not check the rules of input objects.
      if (node.kind === Kind.NAMED_TYPE && !specifiedScalarTypes.some(({ name }) => name === node.name.value))
        isPlain = false;
      if (!plainNodes.has(node.kind) || (node.kind === Kind.NAME && node.value.startsWith('__'))) isPlain = false;
      return isPlain ? undefined : BREAK;
    },
  });
  return isPlain && fields <= maxFields;
}
