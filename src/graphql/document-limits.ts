/**
 * Limits a GraphQL document must keep before anything recursive reads it: graphql-js parses, validates and executes by
 * recursion, and a document nested a few thousand levels deep would end the stack.
 */
import {
  type ASTVisitor,
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  Lexer,
  type SelectionSetNode,
  Source,
  TokenKind,
  type ValidationContext,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Limits } from '../config.ts';

export const useDocumentLimits = (limits: Limits): Plugin => ({
  onParse({ parseFn, setParseFn }) {
    setParseFn((source: string | Source, options: object) => {
      requireSmall(source, limits);
      return parseFn(source, options);
    });
  },
  onValidate({ addValidationRule }) {
    addValidationRule(depthRule(limits.maxDepth));
  },
});

const refuse = (message: string) =>
  new GraphQLError(message, { extensions: { code: 'BAD_USER_INPUT', http: { status: 400 } } });

const opening: readonly string[] = [TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L];
const closing: readonly string[] = [TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R];

/** Reads the tokens one after the other, without building anything from them. */
function requireSmall(source: string | Source, { maxTokens, maxNesting }: Limits): void {
  const lexer = new Lexer(typeof source === 'string' ? new Source(source) : source);
  let tokens = 0;
  let nesting = 0;
  for (let token = lexer.advance(); token.kind !== TokenKind.EOF; token = lexer.advance()) {
    tokens += 1;
    if (tokens > maxTokens) throw refuse(`the document has more than ${maxTokens} tokens`);
    if (opening.includes(token.kind)) nesting += 1;
    if (closing.includes(token.kind)) nesting -= 1;
    if (nesting > maxNesting) throw refuse(`the document is nested more than ${maxNesting} levels deep`);
  }
}

/** A validation rule: how deep the fields of each operation reach, with the fragments they spread. */
const depthRule =
  (maxDepth: number) =>
  (context: ValidationContext): ASTVisitor => ({
    Document(document: DocumentNode) {
      const depthOf = depthReader(context);
      for (const definition of document.definitions) {
        if (definition.kind === Kind.OPERATION_DEFINITION && depthOf(definition.selectionSet) > maxDepth) {
          context.reportError(refuse(`the operation is more than ${maxDepth} levels deep`));
        }
      }
    },
  });

/** Each fragment is measured once, however often it is spread; one that spreads itself is another rule's to refuse. */
function depthReader(context: ValidationContext): (selectionSet: SelectionSetNode) => number {
  const fragmentDepths = new Map<string, number>();

  const fragmentDepth = (name: string, fragment: FragmentDefinitionNode): number => {
    const known = fragmentDepths.get(name);
    if (known !== undefined) return known;
    fragmentDepths.set(name, 0);
    const depth = depthOf(fragment.selectionSet);
    fragmentDepths.set(name, depth);
    return depth;
  };

  const depthOf = ({ selections }: SelectionSetNode): number => {
    let depth = 0;
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) {
        depth = Math.max(depth, 1 + (selection.selectionSet ? depthOf(selection.selectionSet) : 0));
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        depth = Math.max(depth, depthOf(selection.selectionSet));
      } else {
        const name = selection.name.value;
        const fragment = context.getFragment(name);
        if (fragment) depth = Math.max(depth, fragmentDepth(name, fragment));
      }
    }
    return depth;
  };
  return depthOf;
}
